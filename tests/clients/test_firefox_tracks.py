#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Firefox Profiler's CPU graph, merged threads and first view show where the CPU time went."""
import collections
import json
import os
import tempfile

import check
import clients
import decoders
import recordings
from tally import Tally, plain

# Kernel-only processes have few heavy samples, the others many light ones.
MIX = '''
dd if=/dev/zero of=/dev/null bs=1M count=9000 status=none &
dd if=/dev/zero of=/dev/null bs=512 count=600000 status=none &
cat {libc} {libc} {libc} {libc} {libc} {libc} {libc} {libc} | xz -T2 -1 >/dev/null
wait
'''
BURSTS = '''
import time
zero, room = open('/dev/zero', 'rb', buffering=0), bytearray(100 << 20)
for _ in range(5):
    time.sleep(0.3)
    start, end_cpu = time.monotonic_ns(), time.thread_time_ns() + 30000000
    while time.thread_time_ns() < end_cpu:
        zero.readinto(room)
    print(start, time.monotonic_ns())
'''

# 50 processes, six of them busy.
CROWD = f'''
for _ in $(seq 43); do /bin/true; done
for time in 180 240 300 360 420 480; do {recordings.TARGETS}/shares $time & done
wait
'''


class Recorded:
    def __init__(self, directory, *command):
        self.directory = directory
        os.makedirs(directory)
        self.output = recordings.rec('--', *command, cwd=directory)
        self.path = os.path.join(directory, 'rec.json.gz')

    def report(self):
        return json.loads(recordings.rec('report', '--json', cwd=self.directory))


def merged_threads_keep_the_shares(recorded):
    mix = recorded['mix']
    expected = collections.Counter()
    for row in mix.report()['functions']:
        module = os.path.basename(row.get('module', '')).strip('[]')
        name = f'[{module}]' if row['name'] == '[no name]' else row['name']
        expected[plain(name)] += row['self_ns']
    whole = sum(expected.values())
    with clients.FirefoxProfiler(mix.path) as viewer:
        every = ','.join(thread['threadHandle'] for thread in viewer.threads())
        tally = Tally()
        clients.add_tree(tally, viewer.call_tree(every), 1)
    for name, weight in expected.most_common(20):
        merged = 100 * tally.functions.get(name, [0])[0] / tally.total
        if abs(merged - 100 * weight / whole) > 1:
            raise AssertionError(f'{name}: {merged:.1f} % of the rows, '
                                 f'{100 * weight / whole:.1f} % of the CPU time')


def two_threads_keep_the_shares(recorded):
    """The two busiest threads, merged and one by one."""
    with clients.FirefoxProfiler(recorded['mix'].path) as viewer:
        threads = sorted(viewer.threads(), key=lambda thread: -thread['cpuMs'])[:2]
        handles = [thread['threadHandle'] for thread in threads]
        single, merged = Tally(), Tally()
        for handle in handles:
            clients.add_tree(single, viewer.call_tree(handle), 1)
        clients.add_tree(merged, viewer.call_tree(','.join(handles)), 1)
    for name, (weight, *_) in single.functions.items():
        expected = 100 * weight / single.total
        found = 100 * merged.functions.get(name, [0])[0] / merged.total
        if abs(found - expected) > 1:
            raise AssertionError(f'{name}: {found:.1f} % of the rows, {expected:.1f} % of the time')


def bursts_are_drawn_where_the_time_was_spent(recorded):
    """By the front-end's rule: the CPU time of a row is spread over the time since the row before."""
    bursts = recorded['bursts']
    profile = decoders.read_json(bursts.path)
    start_ns = profile['meta']['startTimeAsClockMonotonicNanosecondsSinceBoot']
    spans = [[(int(word) - start_ns) / 1e6 for word in line.split()]
             for line in bursts.output.splitlines()]
    check.same(5, len(spans))
    inside = whole = now_ms = 0
    samples = profile['threads'][0]['samples']
    for delta_ms, cpu_ns in zip(samples['timeDeltas'], samples['threadCPUDelta']):
        before_ms, now_ms = now_ms, now_ms + delta_ms
        if not spans[0][0] < now_ms < spans[-1][1]:
            continue  # Python's start and end
        whole += cpu_ns
        near_ms = sum(max(0, min(now_ms, end + 10) - max(before_ms, start - 10))
                      for start, end in spans)
        inside += cpu_ns * (near_ms / delta_ms if delta_ms else 1)
    if inside < 0.9 * whole or whole < 100e6:
        raise AssertionError(f'{inside / 1e6:.1f} of {whole / 1e6:.1f} ms are near their burst')


def visible_tracks_hold_the_cpu_time(recorded):
    profile = decoders.read_json(recorded['crowd'].path)
    visible, selected = (profile['meta'][f'initial{which}Threads']
                         for which in ('Visible', 'Selected'))
    times = [sum(thread['samples']['weight']) for thread in profile['threads']]
    names = [profile['threads'][index]['name'] for index in visible]
    if sum(times[index] for index in visible) < 0.97 * sum(times) or names.count('shares') != 6:
        raise AssertionError(f'{names} are visible of {times}')
    if not len(visible) < len(times) or selected != [times.index(max(times))]:
        raise AssertionError(f'{visible} visible, {selected} selected of {times}')


TESTS = [
    merged_threads_keep_the_shares,
    two_threads_keep_the_shares,
    bursts_are_drawn_where_the_time_was_spent,
    visible_tracks_hold_the_cpu_time,
]

if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as directory:
        libc = '/usr/lib/x86_64-linux-gnu/libc.so.6'
        check.run(TESTS, {
            'mix': Recorded(f'{directory}/mix', 'sh', '-c', MIX.format(libc=libc)),
            'bursts': Recorded(f'{directory}/bursts', recordings.PYTHON, '-c', BURSTS),
            'crowd': Recorded(f'{directory}/crowd', 'sh', '-c', CROWD),
        })
