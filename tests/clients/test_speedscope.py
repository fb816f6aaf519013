#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""speedscope imports all three formats that it knows, and shows the hand-made profile as it is."""
import check
import clients
import demo
from tally import Tally


def its_own_format_loses_nothing(prefix):
    for suffix in ('.speedscope.json', '.speedscope.json.gz'):
        report = clients.speedscope(prefix + suffix)
        check.same('Importing as speedscope json file', report['importer'])
        check.agree(demo.truth(), clients.speedscope_tally(report), 0)
        check.same(5, len(report['profiles']), 'all threads, and each of four')


def definitions_have_file_and_line(prefix):
    frames = {frame['name']: frame for profile in
              clients.speedscope(prefix + '.speedscope.json')['profiles']
              for frame in profile['frames']}
    check.same((demo.SOURCE, 3), (frames['inner']['file'], frames['inner']['line']))
    check.same((demo.SOURCE, 15), (frames['outer']['file'], frames['outer']['line']))


def pprof_keeps_all_weight_under_the_outermost_function(prefix):
    """Its pprof importer takes the outermost function of an address only: inlined ones are lost,
    and their own weight goes to the outer one."""
    truth = demo.truth()
    expected = Tally()
    expected.total = truth.total
    for name, (own, total) in truth.functions.items():
        if name == 'outer':
            own += truth.functions['inner'][0]
        if name not in ('mid', 'inner'):
            expected.add_function(name, own, total)
    for suffix in ('.pb.gz', '.pb', '.pprof'):
        report = clients.speedscope(prefix + suffix)
        check.same('Importing as protobuf encoded pprof file', report['importer'])
        check.same('nanoseconds', report['profiles'][0]['unit'])
        check.agree(expected, clients.speedscope_tally(report), 0)


def collapsed_stacks_come_through(prefix):
    expected = demo.collapsed_truth()
    # The process is a frame like all others there.
    expected.add_function('app', 0, 9 * demo.PERIOD_NS)
    expected.add_function('helper_2', 0, 1 * demo.PERIOD_NS)
    for suffix in ('.folded', '.collapsed', '.txt'):
        report = clients.speedscope(prefix + suffix)
        check.same('Importing as collapsed stack format', report['importer'])
        check.agree(expected, clients.speedscope_tally(report, demo.PERIOD_NS), 0)


TESTS = [
    its_own_format_loses_nothing,
    definitions_have_file_and_line,
    pprof_keeps_all_weight_under_the_outermost_function,
    collapsed_stacks_come_through,
]

if __name__ == '__main__':
    clients.need_program('node', 'nodejs')
    clients.need_module('speedscope', 'dist', 'release')
    with demo.files() as files:
        check.run(TESTS, files)
