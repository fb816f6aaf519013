#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPU time, off-CPU time and wall time of the hand-made capture of demo/write_waits.c in all viewers."""
import json
import os
import re
import subprocess
import tempfile

import check
import clients
import decoders

MS = 1_000_000
TOTALS_MS = {'cpu': 15, 'off-cpu': 14555, 'wall': 14570}
REASONS_MS = {'condition variable': 6030, 'join': 3000, 'lock': 2500, 'read': 3015, 'runnable': 10}


def rec(directory, *words):
    done = subprocess.run([os.environ['REC'], *words], cwd=directory, capture_output=True, text=True,
                          timeout=60, check=False)
    if done.returncode:
        raise AssertionError(f'{words}: {done.stderr}')
    return done.stdout


def pprof_has_a_sample_type_for_each_time(directory):
    for metric, total in TOTALS_MS.items():
        text = clients.go_pprof(f'{directory}/w.pb.gz', '-top', f'-sample_index={metric}')
        seen = clients.pprof_ns(re.search(r'% of (\S+) total', text).group(1)) / MS
        if abs(seen - total) > 0.005 * total:  # three digits
            raise AssertionError(f'{metric}: {seen} ms, not {total}\n{text}')


def pprof_samples_add_up_and_name_the_reason(directory):
    profile = decoders.Pprof(f'{directory}/w.pb.gz')
    names = [name for name, _ in profile.sample_types]
    check.same({'samples', 'cpu', 'off-cpu', 'wall'}, set(names))
    reasons = {}
    for _, values, labels in profile.samples:
        value = dict(zip(names, values))
        check.same(value['wall'], value['cpu'] + value['off-cpu'])
        check.same(bool(value['off-cpu']), 'reason' in labels)
        check.same('0x5008, held by 104 reader' if labels.get('reason') == 'lock' else None, labels.get('object'))
        if value['off-cpu']:
            reasons[labels['reason']] = reasons.get(labels['reason'], 0) + value['off-cpu'] // MS
    check.same(REASONS_MS, reasons)


def formats_of_a_single_weight_have_the_metric(directory):
    for metric, total in TOTALS_MS.items():
        rec(directory, 'convert', '-q', 'w.data', '--metric', metric, '-o', f'{metric}.folded', '-o',
            f'{metric}.speedscope.json', '-o', f'{metric}.svg', '-o', f'{metric}.html')
        # Microseconds, but for CPU time counts of a period of 1 ms.
        period_ns = MS if metric == 'cpu' else 1000
        check.same(total * MS, decoders.read_collapsed(f'{directory}/{metric}.folded',
                                                       period_ns).total)
        with open(f'{directory}/{metric}.svg', encoding='utf-8') as svg:
            noun = {'cpu': 'CPU', 'off-cpu': 'off CPU', 'wall': 'wall time'}[metric]
            check.same(True, f'{noun}</text>' in svg.read(), metric)


def the_viewers_of_a_single_weight_agree(directory):
    for metric, total in TOTALS_MS.items():
        truth = decoders.read_speedscope(f'{directory}/{metric}.speedscope.json')
        check.same(total * MS, truth.total)
        shown = clients.speedscope_tally(clients.speedscope(f'{directory}/{metric}.speedscope.json'))
        check.agree(truth, shown, 1)
        period_ns = MS if metric == 'cpu' else 1000
        check.agree(truth, clients.flamegraph(f'{directory}/{metric}.folded', period_ns), 10_000_000)


def firefox_has_an_off_cpu_track_beside_each_thread(directory):
    with clients.FirefoxProfiler(f'{directory}/w.json.gz') as viewer:
        threads = sorted(viewer.threads(), key=lambda thread: thread['threadIndex'])
        names = [thread['name'] for thread in threads]
        check.same([name for thread in ('app', 'worker', 'pool', 'pool', 'reader')
                    for name in (thread, f'{thread} (off-cpu)')], names)
        check.same([], [thread['name'] for thread in threads
                        if '(off-cpu)' in thread['name'] and thread['cpuMs']])
        check.same((5, 2510), tuple(viewer.call_tree(handle)['totalSamples']
                                    for handle in ('t-2', 't-3')))
        text = viewer.run('thread', 'markers', '--thread', 't-2', '--list')
        for line in (r'Waiting +t=5ms +2\.500s +✓ +lock', r'Runnable +t=2\.505s +10ms +✓ +runnable'):
            if not re.search(line, text):
                raise AssertionError(f'no marker {line} in\n{text}')
        shown = viewer.run('thread', 'samples', '--thread', 't-3')
        for category in ('Waiting', 'Runnable'):
            check.same(True, category in shown, shown)


def firefox_draws_waits_to_their_ends(directory):
    profile = decoders.read_json(f'{directory}/w.json.gz')
    samples = profile['threads'][3]['samples']
    times, rows = 0, []
    for delta, stack, weight in zip(samples['timeDeltas'], samples['stack'], samples['weight']):
        times += delta
        rows.append((round(times, 3), stack is not None, weight))
    markers = profile['threads'][2]['markers']['data']
    check.same([('lock', '0x5008, held by 104 reader')], [(data['reason'], data.get('object')) for data in markers
                                                    if data.get('reason') == 'lock'])
    check.same([(5, True, 2500), (2504.999, True, 0), (2505, True, 10), (2514.999, True, 0),
                (2515, False, 0)], rows)


def firefox_has_one_time_line_of_both_for_wall_time(directory):
    rec(directory, 'convert', '-q', 'w.data', '--metric=wall', '-o', 'wall.json.gz')
    with clients.FirefoxProfiler(f'{directory}/wall.json.gz') as viewer:
        threads = viewer.threads()
        check.same(['app', 'pool', 'pool', 'reader', 'worker'],
                   sorted(thread['name'] for thread in threads))
        handle = next(thread['threadHandle'] for thread in threads if thread['name'] == 'worker')
        check.same(2515, viewer.call_tree(handle)['totalSamples'])
        shown = viewer.run('thread', 'samples', '--thread', handle)
        for category in ('Waiting', 'Runnable', 'Other'):
            check.same(True, category in shown, shown)


def the_report_of_waits_has_the_same_times(directory):
    report = json.loads(rec(directory, 'report', 'w.data', '--off-cpu', '--idle', '--json'))
    check.same({key: value * MS for key, value in REASONS_MS.items()},
               {row['reason']: row['total_ns'] for row in report['reasons']})
    check.same(TOTALS_MS['off-cpu'] * MS, report['total_ns'])
    text = rec(directory, 'report', 'w.data', '--off-cpu')
    for line in (r' 35\.4 % .* read', r' 29\.3 %  lock: 2\.5 s, 1 wait, 1 thread: 101 worker\n    \[transfer\]',
                 r'Idle: .*\n +6\.0 s  condition variable in \[pool\]; 2 threads: 102 pool, 103 pool'):
        if not re.search(line, text):
            raise AssertionError(f'no {line} in\n{text}')


def threads_with_long_waits_have_their_age_and_reason(directory):
    found = json.loads(rec(directory, 'report', 'w.data', '--stuck-after=2600ms', '--json'))
    check.same([('reader', 'read', 3015 * MS, True), ('app', 'join', 3000 * MS, True)],
               [(thread['name'], thread['reason'], thread['age_ns'], thread['is_at_end'])
                for thread in found['threads']])
    check.same(['[read]', '[main]'], found['threads'][0]['calls'])
    text = rec(directory, 'report', 'w.data', '--stuck')
    check.same(True, 'no threads waiting at the end, for 5.0 s or more' in text, text)


def info_has_the_times_of_each_thread(directory):
    threads = json.loads(rec(directory, 'info', '--json', 'w.data'))['threads']
    check.same([('app', 10, 3000, 0), ('worker', 5, 2500, 10), ('pool', 0, 3015, 0),
                ('pool', 0, 3015, 0), ('reader', 0, 3015, 0)],
               [(thread['name'], *(thread[key] // MS for key in
                                   ('cpu_ns', 'waiting_ns', 'runnable_ns'))) for thread in threads])
    for thread in threads:
        parts = sum(thread[key] for key in ('cpu_ns', 'waiting_ns', 'runnable_ns'))
        if abs(parts - thread['lifetime_ns']) > 5 * MS:
            raise AssertionError(f'{thread}: {parts}')


def other_commands_take_the_event(directory):
    os.makedirs(f'{directory}/b', exist_ok=True)
    subprocess.run([os.environ['WRITE_WAITS'], f'{directory}/b/w.data'], check=True, timeout=60)
    for words in (['--event', 'off-cpu'], ['--metric=off-cpu']):
        difference = json.loads(rec(directory, 'diff', '--json', 'w.data', 'b/w.data', *words))
        check.same(('off-cpu', 'ns', TOTALS_MS['off-cpu'] * MS),
                   (difference['event'], difference['unit'], difference['total']['before']))
        report = json.loads(rec(directory, 'report', '--json', 'w.data', *words))
        check.same(TOTALS_MS['off-cpu'] * MS, report['total_ns'])
        annotated = json.loads(rec(directory, 'annotate', '--json', '[transfer]', 'w.data', *words))
        check.same(2510 * MS, annotated['total_ns'])
    text = rec(directory, 'diff', 'w.data', 'b/w.data', '--metric=wall')
    check.same(True, 'wall time for each run, in ms' in text, text)


TESTS = [
    the_report_of_waits_has_the_same_times,
    threads_with_long_waits_have_their_age_and_reason,
    info_has_the_times_of_each_thread,
    other_commands_take_the_event,
    pprof_has_a_sample_type_for_each_time,
    pprof_samples_add_up_and_name_the_reason,
    formats_of_a_single_weight_have_the_metric,
    the_viewers_of_a_single_weight_agree,
    firefox_has_an_off_cpu_track_beside_each_thread,
    firefox_draws_waits_to_their_ends,
    firefox_has_one_time_line_of_both_for_wall_time,
]

if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([os.environ['WRITE_WAITS'], f'{made}/w.data'], check=True, timeout=60)
        rec(made, 'convert', '-q', 'w.data', '-o', 'w.pb.gz', '-o', 'w.json.gz')
        check.run(TESTS, made)
