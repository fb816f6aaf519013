#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The text of `perf script` is what speedscope and the Firefox Profiler take for such: for whoever feeds other
tools with it."""
import check
import clients
import demo


def names_of_frames(report):
    return {frame['name'] for profile in report['profiles'] for frame in profile['frames']}


def speedscope_reads_it(prefix):
    report = clients.speedscope(prefix + '.perf.txt')
    names = names_of_frames(report)
    check.same(True, {'main', 'run', 'outer', 'mid', 'inner', '[kernel]', '[exit]'} <= names)
    worker = next(one for one in report['profiles'] if one['name'].endswith('pid: 100 tid: 101'))
    check.same(True, worker['name'].startswith('work;er "1"'))
    main = next(one for one in report['profiles'] if one['name'] == 'app pid: 100 tid: 100')
    totals = {frame['name']: frame for frame in main['frames']}
    check.same(True, totals['outer']['total'] == totals['inner']['self'] > 0)


def firefox_reads_it(prefix):
    with clients.FirefoxProfiler(prefix + '.perf.txt') as viewer:
        tally = viewer.tally()
        names = set(tally.functions)
        check.same(True, {'main', 'run', 'outer'} <= names, names)
        threads = {thread['tid']: thread for thread in viewer.threads()}
        check.same(True, any(str(tid) == '101' for tid in threads), threads)


TESTS = [
    speedscope_reads_it,
    firefox_reads_it,
]

if __name__ == '__main__':
    clients.need_program('node', 'nodejs')
    clients.need_module('speedscope', 'dist', 'release')
    with demo.files() as files:
        check.run(TESTS, files)
