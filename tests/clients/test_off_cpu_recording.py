#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording of real waits has the same off-CPU and wall time in all viewers, by function, as perf script has in all."""
import os
import re
import tempfile

import check
import clients
import decoders
import recordings

US = 1000  # the count of collapsed stacks
FIREFOX_NS = 2000  # sums of weights in ms, in floating point
METRICS = ('off-cpu', 'wall')
WAITS = f'{recordings.TARGETS}/wait_places 1 & sleep 0.3 | cat; wait'


def record(directory):
    recordings.rec('--off-cpu', '-o', 'rec.data', '-o', 'rec.pb.gz', '-o', 'rec.json.gz', '--', 'sh', '-c', WAITS,
                   cwd=directory)
    for metric in METRICS:
        recordings.rec('convert', '-q', f'--metric={metric}', '-o', f'{metric}.speedscope.json', '-o',
                       f'{metric}.folded', cwd=directory)
    recordings.rec('convert', '-q', '--metric=wall', '-o', 'wall.json.gz', cwd=directory)


def truth_of(directory, metric):
    return decoders.read_pprof(f'{directory}/rec.pb.gz', metric)


def perf_script_has_the_total(directory):
    perf = clients.need_program('perf', 'linux-perf')
    text = clients.output_of([perf, 'script', '-f', '-i', f'{directory}/rec.data', '-G', '-F', 'event,period'])
    weights = {'cpu-clock': 0, 'off-cpu': 0}
    for period, event in re.findall(r'(\d+)\s+([\w-]+):', text):
        weights[event] += int(period)
    check.same(weights['off-cpu'], int(truth_of(directory, 'off-cpu').total))
    check.same(sum(weights.values()), int(truth_of(directory, 'wall').total))


def the_places_of_the_waits_are_there(directory):
    truth = truth_of(directory, 'off-cpu')
    check.same(True, truth.total > 4e9, truth.total)
    for name in ('often', 'sometimes', 'seldom'):
        check.same(True, truth.functions[name][1] > 0.02 * truth.total, name)


def go_tool_pprof_agrees(directory):
    for metric in METRICS:
        check.agree(truth_of(directory, metric),
                    clients.pprof_traces(f'{directory}/rec.pb.gz', f'-sample_index={metric}'), 0)


def speedscope_agrees(directory):
    for metric in METRICS:
        seen = clients.speedscope_tally(clients.speedscope(f'{directory}/{metric}.speedscope.json'))
        check.agree(truth_of(directory, metric), seen, 1)


def flamegraph_agrees(directory):
    for metric in METRICS:
        stacks = len(decoders.collapsed_lines(f'{directory}/{metric}.folded'))
        check.agree(truth_of(directory, metric), clients.flamegraph(f'{directory}/{metric}.folded', US), stacks * US)


def firefox_profiler_agrees(directory):
    """The tracks of off-CPU time, beside those of CPU time; a track of both for wall time."""
    with clients.FirefoxProfiler(f'{directory}/rec.json.gz') as viewer:
        tally = viewer.tally(lambda thread: '(off-cpu)' in thread['name'])
        check.agree(truth_of(directory, 'off-cpu'), tally, FIREFOX_NS)
    with clients.FirefoxProfiler(f'{directory}/wall.json.gz') as viewer:
        check.agree(truth_of(directory, 'wall'), viewer.tally(), FIREFOX_NS)


TESTS = [
    perf_script_has_the_total,
    the_places_of_the_waits_are_there,
    go_tool_pprof_agrees,
    speedscope_agrees,
    flamegraph_agrees,
    firefox_profiler_agrees,
]

if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as made:
        record(made)
        check.run(TESTS, made)
