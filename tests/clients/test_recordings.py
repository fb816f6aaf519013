#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings of real programs say the same in every format, to every viewer that opens them."""
import collections
import math
import os
import re
import tempfile

import check
import clients
import decoders
import firefox_strict
import pprof_strict
import recordings
from tally import Tally, plain

# Weights of Firefox are numbers of periods: what is lost of a total in floating point.
FLOAT_NS = 5
QUEENS = os.path.join(recordings.SOURCE, 'examples', 'queens.c')
TOUR = os.path.join(recordings.SOURCE, 'examples', 'tour.cc')


# ---- the files, for whatever program reads them ----

def firefox_speedscope_and_report_have_pprof_s_functions_and_weights(recorded):
    for recording in recorded.values():
        path = recording.path
        check.agree(recording.truth, decoders.read_firefox(path('rec.json.gz')), FLOAT_NS)
        check.agree(recording.truth, decoders.read_speedscope(path('rec.speedscope.json')), 0)
        check.agree(recording.truth, report_tally(recording.report), 0)


def report_tally(report):
    tally = Tally()
    tally.total = report['total_ns']
    for row in report['functions']:
        module = os.path.basename(row.get('module', '')).strip('[]')
        name = f'[{module}]' if row['name'] == '[no name]' else row['name']
        tally.add_function(plain(name), row['self_ns'], row['total_ns'])
    return tally


def collapsed_stacks_are_pprof_s_in_whole_periods(recorded):
    for recording in recorded.values():
        period_ns = recording.info['period_ns']
        exact = collections.Counter()
        for stack, values, labels in recording.pprof.samples:
            exact[(labels['comm'], *(plain(name) for name, _, _ in reversed(stack)))] += values[1]
        rounded = collections.Counter()
        for stack, count in decoders.collapsed_lines(recording.path('rec.folded')):
            rounded[tuple(stack)] += count * period_ns
        for stack in exact.keys() | rounded.keys():
            if abs(exact[stack] - rounded[stack]) >= period_ns:
                raise AssertionError(f'{recording.name}: {stack} has {rounded[stack]} ns, '
                                     f'not {exact[stack]}')
        check_total_is_rounded(recording, sum(rounded.values()))


def check_total_is_rounded(recording, rounded_ns):
    if abs(recording.truth.total - rounded_ns) > recording.info['period_ns'] / 2:
        raise AssertionError(f'{recording.name}: {rounded_ns} ns, not {recording.truth.total}')


def samples_stand_for_the_cpu_time_that_the_kernel_billed(recorded):
    """Nearly: a processor that others want too makes the samples' clock run ahead of the bill."""
    for recording in recorded.values():
        billed_ns = int(recording.info['notes']['cpu_billed_ns'])
        if not math.isclose(recording.truth.total, billed_ns, rel_tol=0.05, abs_tol=3e6):
            raise AssertionError(f'{recording.name}: {recording.truth.total} of {billed_ns} ns')


def firefox_s_rules_are_kept(recorded):
    for recording in recorded.values():
        for name in ('rec.json.gz', 'embedded.json.gz'):
            check.same([], firefox_strict.violations(recording.path(name)), recording.name)


def pprof_s_rules_are_kept(recorded):
    for recording in recorded.values():
        check.same([], pprof_strict.violations(recording.path('rec.pb.gz')), recording.name)


def separate_debug_files_are_not_needed_for_stacks_and_own_names(recorded):
    """None was read: no function of the C library has a file. The program has its own lines."""
    frames = {frame for stack, _, _ in recorded['bare'].pprof.samples for frame in stack}
    check.same(set(), {file for name, file, _ in frames if name == 'start_thread' or
                       name.startswith('__libc_start')} - {''})
    for own, file in (('place_row', QUEENS), ('tour::squared_length', TOUR),
                      ('tour::count_words', TOUR)):
        check.same({file}, {place for name, place, _ in frames if name == own}, own)
    notes = recorded['bare'].info['notes']
    check.same(notes['samples'], notes['complete'])


def stacks_are_complete_but_for_one_in_200_and_none_is_lost_but_at_the_end_of_a_thread(recorded):
    for recording in recorded.values():
        notes = recording.info['notes']
        lost = sum(int(value) for key, value in notes.items() if key.startswith('lost.'))
        if lost > int(notes['threads']):
            raise AssertionError(f'{recording.name}: {lost} lost')
        # A few instructions of the C runtime that a library brings along have no unwind data.
        cut = int(notes['samples']) - int(notes['complete'])
        if cut > max(1, int(notes['samples']) / 200):
            causes = {key: value for key, value in notes.items() if key.startswith('cut.')}
            raise AssertionError(f'{recording.name}: {causes} of {notes["samples"]}')


# ---- perf ----

def perf(command, recording, *options):
    """Without --max-stack it shows the innermost 127 frames; inlined ones it would find itself."""
    program = clients.need_program('perf', 'linux-perf')
    return clients.output_of([program, command, '-i', recording.path('rec.data'), '--no-inline',
                              *options])


def perf_script_counts_every_sample_with_its_thread(recorded):
    for recording in recorded.values():
        text = perf('script', recording, '-G', '-F', 'comm,tid,period')
        rows = [re.fullmatch(r'\s*(.*?)\s+(\d+)\s+(\d+)\s*', line).groups()
                for line in text.splitlines() if line.strip()]
        check.same(recording.truth.total, sum(int(period) for _, _, period in rows))
        check.same(recording.labels('tid'), {int(tid) for _, tid, _ in rows})
        check.same(recording.labels('thread'), {name for name, _, _ in rows}, recording.name)


def perf_script_shows_stacks_deeper_than_its_default(recorded):
    text = perf('script', recorded['deep'], '--max-stack', '1024', '-F', 'ip,sym')
    deepest = max(text.split('\n\n'), key=len)
    names = [line.split(maxsplit=1)[1].split('.')[0] for line in deepest.strip().splitlines()]
    check.same(300, names.count('recurse'))
    check.same('_start', names[-1])


def perf_report_has_the_functions_that_the_compiler_left(recorded):
    text = perf('report', recorded['tour'], '--stdio', '--no-children', '-g', 'none', '-s', 'sym')
    rows = {symbol: float(percent) for percent, symbol in
            re.findall(r'^\s*([\d.]+)%\s+\[\S\] (\S+)', text, re.MULTILINE)}
    truth = recorded['tour'].truth
    expected = 100 * truth.functions['place_row'][0] / truth.total
    if abs(rows['place_row'] - expected) > 0.01:
        raise AssertionError(f'{rows["place_row"]} %, not {expected}')
    check.same(str(int(truth.total)), re.search(r'Event count \(approx\.\): (\d+)', text)[1])


# ---- go tool pprof ----

def pprof_top_and_traces_have_the_functions_and_weights(recorded):
    for recording in recorded.values():
        check.agree(recording.truth, clients.pprof_top(recording.path('rec.pb.gz')), 0)
        check.agree(recording.truth, clients.pprof_traces(recording.path('rec.pb.gz')), 0)


def pprof_labels_name_processes_and_threads(recorded):
    check.same({'queens', 'mandel', 'words', 'tour'}, recorded['tour'].labels('thread'))
    check.same({'tour'}, recorded['tour'].labels('comm'))
    check.same({'sh', 'inlined', 'shares'}, recorded['script'].labels('comm'))
    text = clients.go_pprof(recorded['tour'].path('rec.pb.gz'), '-tags')
    for name in ('queens', 'mandel', 'words'):
        check.same(True, re.search(rf'%\): {name}$', text, re.MULTILINE) is not None, name)


def pprof_traces_show_inlined_calls_in_their_order(recorded):
    text = clients.go_pprof(recorded['tour'].path('rec.pb.gz'), '-traces')
    chain = r'tour::squared_length \(inline\)\s+tour::escape_time \(inline\)\s+tour::mandelbrot'
    check.same(True, re.search(chain, text) is not None, 'the chain in -traces')


def pprof_list_has_the_lines_that_the_samples_have(recorded):
    lines = collections.Counter()
    for stack, values, _ in recorded['tour'].pprof.samples:
        name, file, line = stack[0]
        if name == 'place_row':
            lines[file, line] += values[1]
    listed = clients.pprof_list(recorded['tour'].path('rec.pb.gz'), '^place_row$')
    check.same({QUEENS}, {file for file, _ in lines})
    check.same(dict(lines), {place: own for place, (own, _) in listed.items() if own})


# ---- Firefox Profiler ----

def firefox_shows_the_functions_and_weights(recorded):
    for name in ('tour', 'script'):
        with clients.FirefoxProfiler(recorded[name].path('rec.json.gz')) as viewer:
            check.agree(recorded[name].truth, viewer.tally(), 1000)


def firefox_has_a_track_for_each_process_and_thread(recorded):
    with clients.FirefoxProfiler(recorded['tour'].path('rec.json.gz')) as viewer:
        threads = viewer.threads()
        check.same({'queens', 'mandel', 'words', 'tour'}, {thread['name'] for thread in threads})
        check.same(1, len({thread['pid'] for thread in threads}))
    with clients.FirefoxProfiler(recorded['script'].path('rec.json.gz')) as viewer:
        threads = viewer.threads()
        check.same(['inlined', 'sh', 'shares'], sorted(thread['name'] for thread in threads))
        check.same(['inlined', 'sh', 'shares'],
                   sorted(thread['processName'] for thread in threads))
        check.same(3, len({thread['pid'] for thread in threads}))


def firefox_marks_inlined_calls_and_shows_embedded_source(recorded):
    with clients.FirefoxProfiler(recorded['tour'].path('embedded.json.gz')) as viewer:
        thread = next(thread['threadHandle'] for thread in viewer.threads()
                      if thread['name'] == 'mandel')
        chain = path_to(viewer.call_tree(thread), 'tour::squared_length')
        check.same(['tour::mandelbrot', 'tour::escape_time', 'tour::squared_length'],
                   [node['name'] for node in chain[-3:]])
        check.same(['inlined'] * 3, [node.get('inlineStatus') for node in chain[-3:]])
        handle = next(row['functionHandle'] for row in viewer.functions(thread)
                      if row['name'] == 'tour::squared_length')
        annotated = viewer.annotate(thread, handle)['srcAnnotation']
        check.same(TOUR, annotated['filename'])
        counts = {line['sourceText'].strip(): line['selfSamples'] for line in annotated['lines']}
        check.same(True, counts['return p.x * p.x + p.y * p.y;'] > 0, 'samples at the line')


def path_to(node, name):
    for child in node['children']:
        if child['name'] == name:
            return [child]
        below = path_to(child, name)
        if below:
            return [child, *below]
    return []


# ---- speedscope and flamegraph.pl ----

def speedscope_shows_its_own_format_whole(recorded):
    for recording in recorded.values():
        report = clients.speedscope(recording.path('rec.speedscope.json'))
        check.agree(recording.truth, clients.speedscope_tally(report), 0)


def speedscope_imports_pprof_and_collapsed_stacks(recorded):
    for recording in recorded.values():
        report = clients.speedscope(recording.path('rec.pb.gz'))
        check.same(recording.truth.total, clients.speedscope_tally(report).total, recording.name)
        report = clients.speedscope(recording.path('rec.folded'))
        period_ns = recording.info['period_ns']
        check.agree(folded_tally(recording, 0), clients.speedscope_tally(report, period_ns), 0)


def flamegraph_draws_the_collapsed_stacks(recorded):
    shown = str.maketrans('<>', '()')
    for recording in recorded.values():
        expected = folded_tally(recording, 1).renamed(lambda name: name.translate(shown))
        drawn = clients.flamegraph(recording.path('rec.folded'), recording.info['period_ns'])
        check.agree(expected, drawn, 0)


def folded_tally(recording, first):
    """first: 0 with the process as a frame, 1 without."""
    tally = Tally()
    for stack, count in decoders.collapsed_lines(recording.path('rec.folded')):
        tally.add(stack[first:], count * recording.info['period_ns'])
    return tally


# ---- what the programs did is in there ----

def kernel_time_is_shown_where_it_was_asked_for(recorded):
    own, _ = recorded['kernel'].truth.functions['[kernel]']
    if own < 0.6 * recorded['kernel'].truth.total:
        raise AssertionError(f'[kernel] has {own} of {recorded["kernel"].truth.total} ns')
    readers = [stack for stack, _, _ in recorded['kernel'].pprof.samples
               if stack[0][0] == '[kernel]' and 'read' in stack[1][0]]
    check.same(True, len(readers) > 0, 'reads with kernel time')


def a_short_program_has_its_samples(recorded):
    _, total = recorded['short'].truth.functions['burn_until_ns']
    if total < 1e6:  # of 5 ms, with what it took to start
        raise AssertionError(f'{total} ns in burn_until_ns')


TESTS = [
    firefox_speedscope_and_report_have_pprof_s_functions_and_weights,
    collapsed_stacks_are_pprof_s_in_whole_periods,
    samples_stand_for_the_cpu_time_that_the_kernel_billed,
    firefox_s_rules_are_kept,
    pprof_s_rules_are_kept,
    separate_debug_files_are_not_needed_for_stacks_and_own_names,
    stacks_are_complete_but_for_one_in_200_and_none_is_lost_but_at_the_end_of_a_thread,
    perf_script_counts_every_sample_with_its_thread,
    perf_script_shows_stacks_deeper_than_its_default,
    perf_report_has_the_functions_that_the_compiler_left,
    pprof_top_and_traces_have_the_functions_and_weights,
    pprof_labels_name_processes_and_threads,
    pprof_traces_show_inlined_calls_in_their_order,
    pprof_list_has_the_lines_that_the_samples_have,
    firefox_shows_the_functions_and_weights,
    firefox_has_a_track_for_each_process_and_thread,
    firefox_marks_inlined_calls_and_shows_embedded_source,
    speedscope_shows_its_own_format_whole,
    speedscope_imports_pprof_and_collapsed_stacks,
    flamegraph_draws_the_collapsed_stacks,
    kernel_time_is_shown_where_it_was_asked_for,
    a_short_program_has_its_samples,
]


def main():
    clients.need_program('go', 'golang-go')
    clients.need_program('perf', 'linux-perf')
    clients.need_module('@firefox-devtools', 'profiler-cli', 'dist', 'profiler-cli.js')
    clients.need_module('speedscope', 'dist', 'release')
    with tempfile.TemporaryDirectory() as directory:
        check.run(TESTS, recordings.record_all(directory))


if __name__ == '__main__':
    main()
