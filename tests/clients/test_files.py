#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files say what the hand-made profile says, to decoders that know only the formats."""
import gzip

import check
import decoders
import demo
import firefox_strict
import pprof_strict


def every_format_tells_the_same_functions_and_total(prefix):
    truth = demo.truth()
    for suffix in ('.pb.gz', '.pb', '.pprof'):
        check.agree(truth, decoders.read_pprof(prefix + suffix), 0)
    for suffix in ('.speedscope.json', '.speedscope.json.gz'):
        check.agree(truth, decoders.read_speedscope(prefix + suffix), 0)
    for suffix in ('.json.gz', '.json'):
        check.agree(truth, decoders.read_firefox(prefix + suffix), 0.01)
    for suffix in ('.folded', '.collapsed', '.txt'):
        check.agree(demo.collapsed_truth(),
                    decoders.read_collapsed(prefix + suffix, demo.PERIOD_NS), 0)


def collapsed_stacks_keep_the_total_and_are_sorted(prefix):
    text = decoders.read_bytes(prefix + '.folded').decode()
    check.same(demo.COLLAPSED, text)
    stacks = [line.rsplit(' ', 1)[0].encode() for line in text.splitlines()]
    check.same(sorted(stacks), stacks)
    check.same(round(demo.TOTAL / demo.PERIOD_NS),
               sum(count for _, count in decoders.collapsed_lines(prefix + '.folded')))


def compressed_and_plain_files_have_one_content(prefix):
    for suffix in ('.pb', '.json', '.speedscope.json'):
        with open(prefix + suffix, 'rb') as plain, open(prefix + suffix + '.gz', 'rb') as packed:
            content = packed.read()
            check.same(plain.read(), gzip.decompress(content), suffix)
            check.same(b'\0\0\0\0', content[4:8], 'no time stamp: equal input, equal file')


def firefox_rules_are_kept(prefix):
    check.same([], firefox_strict.violations(prefix + '.json.gz'))


def firefox_tells_the_machine_and_the_summary(prefix):
    meta = decoders.read_json(prefix + '.json.gz')['meta']
    check.same(('app', 'Linux 6.1.0 x86_64', 'Demo CPU @ 3 GHz', 8, './app --"fast"'),
               (meta['product'], meta['oscpu'], meta['CPUName'], meta['logicalCPUs'],
                meta['arguments']))
    check.same(1, meta['interval'])
    check.same(1700000000123.456789, meta['startTime'])
    check.same([row[:3] for row in demo.RECORDING],
               [(entry['label'], entry['format'], entry['value'])
                for entry in meta['extra'][0]['entries']])
    check.same(('Recording', False), (meta['extra'][0]['label'], 'debug' in meta))
    check.same(([0, 1, 2, 3], [1]),
               (meta['initialVisibleThreads'], meta['initialSelectedThreads']))


def firefox_libs_are_known_by_their_ids(prefix):
    libs = {lib['name']: lib for lib in decoders.read_json(prefix + '.json.gz')['libs']}
    check.same({'app', 'libdemo.so.1'}, set(libs))
    check.same('8CFC5A131B6D029E356CCE218BF0109C0', libs['app']['breakpadId'])
    check.same('135afc8c6d1b9e02356cce218bf0109c3687ad9f', libs['app']['codeId'])
    check.same(None, libs['libdemo.so.1']['codeId'])
    check.same('/usr/lib/libdemo.so.1', libs['libdemo.so.1']['path'])


def firefox_addresses_count_from_the_lib_s_first_segment(prefix):
    shared = decoders.read_json(prefix + '.json.gz')['shared']
    funcs, frames = shared['funcTable'], shared['frameTable']
    found = {shared['stringArray'][funcs['name'][func]]: frames['address'][frame]
             for frame, func in enumerate(frames['func'])}
    check.same(0x0abc, found['0x10abc'])
    check.same(0x1128, found['inner'])


def firefox_threads_have_times_weights_and_unique_ids(prefix):
    threads = decoders.read_json(prefix + '.json.gz')['threads']
    check.same([('app', 'app', '100', 100, True), ('app', demo.WORKER, '100', 101, False),
                ('helper 2', 'helper 2', '200', 200, True),
                ('helper 2', 'helper 2', '200.1', 200, True)],
               [(t['processName'], t['name'], t['pid'], t['tid'], t['isMainThread'])
                for t in threads])
    worker = threads[1]['samples']
    # The sample of 2.5 periods, 0.5 ms after the previous one, is three rows in that time.
    check.same([3.5, 0.166, 0.167, 0.167, 3], worker['timeDeltas'])
    check.same([1, 0.833333, 0.833333, 0.833334, 1], worker['weight'])
    check.same([1000000, 833333, 833333, 833334, 1000000], worker['threadCPUDelta'])
    check.same(('tracing-ms', 5), (worker['weightType'], worker['length']))
    check.same(1.000001, threads[0]['samples']['weight'][-1])
    check.same([None, 8.5, 9.5], [threads[i]['processShutdownTime'] for i in (0, 2, 3)])


def firefox_carries_the_source_text(prefix):
    shared = decoders.read_json(prefix + '.json.gz')['shared']
    for path in (demo.SOURCE, demo.INCLUDE):
        row = shared['sources']['filename'].index(shared['stringArray'].index(path))
        with open(path, encoding='utf-8') as file:
            check.same(file.read(), shared['sources']['content'][row])


def firefox_categories_follow_the_code(prefix):
    profile = decoders.read_json(prefix + '.json.gz')
    shared = profile['shared']
    names = [category['name'] for category in profile['meta']['categories']]
    found = {shared['stringArray'][shared['funcTable']['name'][func]]:
             names[shared['frameTable']['category'][frame]]
             for frame, func in enumerate(shared['frameTable']['func'])}
    check.same(('User', 'Library', 'Kernel', 'JIT', 'Other'),
               tuple(found[name] for name in
                     ('main', '0x10abc', '[kernel]', '0x7f1234567890', '[exit]')))


def pprof_header_names_the_program_and_the_units(prefix):
    profile = decoders.Pprof(prefix + '.pb.gz')
    check.same([('samples', 'count'), ('cpu', 'nanoseconds')], profile.sample_types)
    period_type = decoders.message(decoders.one(profile.root, 11))
    check.same(('cpu', 'nanoseconds'), tuple(profile.text(period_type[n][0]) for n in (1, 2)))
    check.same(demo.PERIOD_NS, decoders.one(profile.root, 12))
    check.same(1700000000123456789, decoders.one(profile.root, 9))
    check.same(12000000, decoders.one(profile.root, 10))
    check.same('cpu', profile.text(decoders.one(profile.root, 14)))
    comments = [profile.text(n) for run in profile.root[13] for n in decoders.packed(run)]
    check.same(['#engine=perf-trap', '#samples=12'], comments[:2])


def pprof_rules_are_kept(prefix):
    check.same([], pprof_strict.violations(prefix + '.pb.gz'))


def pprof_mappings_say_what_was_found(prefix):
    profile = decoders.Pprof(prefix + '.pb.gz')
    first = profile.mappings[1]
    check.same(('/opt/demo/app', '135afc8c6d1b9e02356cce218bf0109c3687ad9f'),
               tuple(profile.text(first[n][0]) for n in (5, 6)))
    check.same((0x555555555000, 0x555555559000, 0x1000), tuple(first[n][0] for n in (2, 3, 4)))
    check.same((1, 1, 1, 1), tuple(decoders.one(first, n) for n in (7, 8, 9, 10)))
    library = next(m for m in profile.mappings.values()
                   if profile.text(m[5][0]) == '/usr/lib/libdemo.so.1')
    check.same((0, 0, 0, 0), tuple(decoders.one(library, n) for n in (7, 8, 9, 10)))


def pprof_locations_are_runtime_addresses_with_inlined_lines_innermost_first(prefix):
    profile = decoders.Pprof(prefix + '.pb.gz')
    found = {decoders.one(location, 3): key for key, location in profile.locations.items()}
    check.same([('inner', demo.SOURCE, 6), ('mid', demo.INCLUDE, 2), ('outer', demo.SOURCE, 17)],
               profile.frames(found[0x555555555128]))
    check.same([('[libdemo.so.1]', '', 0)], profile.frames(found[0x7f0000010abc]))
    inner = next(f for f in profile.functions.values() if profile.text(f[2][0]) == 'inner')
    check.same(('_ZL5inneri', demo.SOURCE, 3),
               (profile.text(inner[3][0]), profile.text(inner[4][0]), inner[5][0]))


def pprof_samples_are_added_up_by_stack_and_thread(prefix):
    profile = decoders.Pprof(prefix + '.pb.gz')
    check.same(11, len(profile.samples))
    check.same(12, sum(values[0] for _, values, _ in profile.samples))
    stack, values, labels = profile.samples[0]
    check.same(['inner', 'mid', 'outer', 'main'], [name for name, _, _ in stack])
    check.same([2, 2000001], values)
    check.same({'pid': 100, 'tid': 100, 'comm': 'app', 'thread': 'app'}, labels)
    check.same({demo.WORKER}, {labels['thread'] for _, _, labels in profile.samples
                               if labels['tid'] == 101})


def speedscope_frames_are_functions_with_their_definition(prefix):
    profile = decoders.read_json(prefix + '.speedscope.json')
    frames = {frame['name']: frame for frame in profile['shared']['frames']}
    check.same({'name': 'inner', 'file': demo.SOURCE, 'line': 3}, frames['inner'])
    check.same({'name': demo.WEIRD}, frames[demo.WEIRD])
    check.same(['all 4 threads', 'app (100)', f'app (100) {demo.WORKER} (101)', 'helper 2 (200)',
                'helper 2 (200)'],
               [thread['name'] for thread in profile['profiles']])
    check.same(0, profile['activeProfileIndex'])


TESTS = [
    every_format_tells_the_same_functions_and_total,
    collapsed_stacks_keep_the_total_and_are_sorted,
    compressed_and_plain_files_have_one_content,
    firefox_rules_are_kept,
    firefox_tells_the_machine_and_the_summary,
    firefox_libs_are_known_by_their_ids,
    firefox_addresses_count_from_the_lib_s_first_segment,
    firefox_threads_have_times_weights_and_unique_ids,
    firefox_carries_the_source_text,
    firefox_categories_follow_the_code,
    pprof_header_names_the_program_and_the_units,
    pprof_rules_are_kept,
    pprof_mappings_say_what_was_found,
    pprof_locations_are_runtime_addresses_with_inlined_lines_innermost_first,
    pprof_samples_are_added_up_by_stack_and_thread,
    speedscope_frames_are_functions_with_their_definition,
]

if __name__ == '__main__':
    with demo.files() as files:
        check.run(TESTS, files)
