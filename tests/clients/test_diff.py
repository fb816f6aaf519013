#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files of rec diff in the viewers: pprof shows the same as with -diff_base, flamegraph.pl draws both counts, and
Firefox Profiler has a track of the difference."""
import json
import os
import re
import subprocess
import tempfile

import check
import clients
import firefox_strict

REC, SOURCE = os.environ['REC'], os.environ['SOURCE']
RUNS = 2
TOLERANCE_NS = 1_001_001  # a period


def record(here):
    subprocess.run(['cc', '-O1', '-g', '-o', f'{here}/slowed', f'{SOURCE}/tests/bench/slowed.c'], check=True)
    for side, arguments in (('base', ['100', '100', '0']), ('new', ['100', '300', '10'])):
        subprocess.run([REC, '-q', '--repeat', str(RUNS), '-o', f'{here}/{side}/', '--', f'{here}/slowed', *arguments],
                       check=True, stdout=subprocess.DEVNULL)


def diff(here, *words):
    done = subprocess.run([REC, 'diff', '--json', *words], cwd=here, check=False, capture_output=True, text=True)
    check.same(True, done.returncode in (0, 1))
    return json.loads(done.stdout)


def differences(result):
    """{function: difference in ns}, of functions with one."""
    return {row['name']: row['difference'] for row in result['functions'] if row['difference']}


def near(expected, found, what):
    if abs(expected - found) > TOLERANCE_NS:
        raise AssertionError(f'{what}: {found}, expected {expected}')


def pprof_flat(path, *options):
    """{function: flat ns} and the total of pprof -top."""
    text = clients.go_pprof(path, *options, '-top', '-nodecount=1000', '-nodefraction=0', '-edgefraction=0')
    rows = re.findall(r'^ *(-?[0-9.]+)(?:ns)? +-?[0-9.]+% +-?[0-9.]+% +-?[0-9.]+(?:ns)? +-?[0-9.]+%  (.*)$', text, re.M)
    total = re.search(r' of ([0-9.]+)ns total', text)
    return {name.removesuffix(' (inline)'): float(flat) for flat, name in rows}, float(total.group(1))


def pprof_shows_the_same_as_with_diff_base(here):
    pair = ['base/run-01.data', 'new/run-01.data']
    diff(here, *pair, '-o', 'pair.pb.gz')
    for name, path in zip(('before', 'after'), pair):
        subprocess.run([REC, 'convert', '-q', path, '-o', f'{name}.pb.gz'], cwd=here, check=True)
    expected = pprof_flat(f'{here}/after.pb.gz', f'-diff_base={here}/before.pb.gz')
    check.same(expected, pprof_flat(f'{here}/pair.pb.gz'))


def pprof_shows_the_means_of_several_runs(here):
    result = diff(here, 'base', 'new', '-o', 'all.pb.gz')
    flat, total = pprof_flat(f'{here}/all.pb.gz')
    near(result['total']['before'], total, 'total')
    for name, expected in differences(result).items():
        near(expected, flat.get(name, 0), name)
    check.same(True, flat['seventh'] > 0 and flat['added'] > 0)


def collapsed_stacks_have_two_counts_for_flamegraph_pl(here):
    result = diff(here, 'base', 'new', '-o', 'all.folded')
    period = 1e9 / 999
    with open(f'{here}/all.folded', encoding='utf-8') as file:
        lines = [line.rsplit(' ', 2) for line in file.read().splitlines()]
    for index, key in ((1, 'before'), (2, 'after')):
        near(result['total'][key], period * sum(int(line[index]) for line in lines), key)
    seventh = [line for line in lines if line[0].endswith(';seventh')]
    row = next(row for row in result['functions'] if row['name'] == 'seventh')
    near(row['after'], period * sum(int(line[2]) for line in seventh), 'seventh')
    if os.path.exists(clients.FLAMEGRAPH):
        drawn = subprocess.run(['perl', clients.FLAMEGRAPH, 'all.folded'], cwd=here, check=True, capture_output=True, text=True)
        check.same(True, re.search(r'<title>seventh \(.*\+[0-9.]+%\)</title>', drawn.stdout) is not None)


def firefox_shows_a_track_of_the_difference(here):
    result = diff(here, 'base', 'new', '-o', 'all.json.gz')
    check.same([], firefox_strict.violations(f'{here}/all.json.gz'))
    with clients.FirefoxProfiler(f'{here}/all.json.gz') as viewer:
        threads = viewer.threads()
        comparison, = [thread for thread in threads if thread['processName'] == 'comparison']
        shown = {row['name']: 1e6 * row['selfSamples'] for row in viewer.functions(comparison['threadHandle'])}
        # not cpuMs: the viewer has no CPU time for the first row of a thread
        sides = {side: sum(1e6 * row['selfSamples'] for thread in threads if thread['processName'] == f'{side}: slowed'
                           for row in viewer.functions(thread['threadHandle'])) for side in ('before', 'after')}
    for name, expected in differences(result).items():
        near(expected, shown.get(name, 0), name)
    near(result['total']['difference'], sum(shown.values()), 'all functions')
    for side, found in sides.items():
        near(result['total'][side], found, side)


TESTS = [
    pprof_shows_the_same_as_with_diff_base,
    pprof_shows_the_means_of_several_runs,
    collapsed_stacks_have_two_counts_for_flamegraph_pl,
    firefox_shows_a_track_of_the_difference,
]

if __name__ == '__main__':
    clients.need_program('go', 'golang-go')
    with tempfile.TemporaryDirectory() as directory:
        record(directory)
        check.run(TESTS, directory)
