#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Firefox Profiler shows the hand-made profile as it is."""
import check
import clients
import demo


def nodes(tree):
    for child in tree['children']:
        yield child
        yield from nodes(child)


def functions_and_total_are_the_profile_s(viewer):
    check.agree(demo.truth(), viewer.tally(), 1)


def the_function_list_agrees_with_the_call_tree(viewer):
    rows = {row['name']: (row['selfSamples'], row['totalSamples'])
            for row in viewer.functions('t-1')}
    check.same((1, 1), rows['inner'])
    check.same((2.5, 2.5), rows['[kernel]'])
    check.same((0, 2.5), rows['0x10abc'])
    check.same((0, 3.5), rows['run'])
    check.same((1, 1), rows['0x7f1234567890'])


def inlined_calls_are_marked_and_only_they(viewer):
    inlined = {node['name'] for node in nodes(viewer.call_tree('t-0'))
               if node.get('inlineStatus') == 'inlined'}
    check.same({'mid', 'inner'}, inlined)


def names_come_through_unchanged(viewer):
    rows = {row['name']: row['nameWithLibrary'] for row in viewer.functions('t-0')}
    check.same(f'app!{demo.WEIRD}', rows[demo.WEIRD])
    check.same('libdemo.so.1!0x10abc', rows['0x10abc'])
    threads = {thread['threadHandle']: thread for thread in viewer.threads()}
    check.same(demo.WORKER, threads['t-1']['name'])
    check.same(['100', '100', '200', '200.1'],
               [threads[f't-{i}']['pid'] for i in range(4)])


def source_view_counts_by_line(viewer):
    handle = next(row['functionHandle'] for row in viewer.functions('t-0')
                  if row['name'] == 'inner')
    annotated = viewer.annotate('t-0', handle)['srcAnnotation']
    check.same(demo.SOURCE, annotated['filename'])
    lines = {line['lineNumber']: line for line in annotated['lines']}
    check.same('    int square = x * x;', lines[5]['sourceText'])
    check.same((2.000001, 1), (lines[5]['selfSamples'], lines[6]['selfSamples']))


def the_info_panel_tells_the_machine_and_the_summary(viewer):
    meta = viewer.meta()
    check.same(('app', 'Linux 6.1.0 x86_64', 'Demo CPU @ 3 GHz', 8, True),
               (meta['product'], meta['platform'], meta['cpuName'], meta['logicalCPUs'],
                meta['symbolicated']))
    check.same([(label, shown) for label, _, _, shown in demo.RECORDING],
               [(entry['label'], entry['formatted']) for entry in meta['extra'][0]['entries']])


TESTS = [
    functions_and_total_are_the_profile_s,
    the_function_list_agrees_with_the_call_tree,
    inlined_calls_are_marked_and_only_they,
    names_come_through_unchanged,
    source_view_counts_by_line,
    the_info_panel_tells_the_machine_and_the_summary,
]

if __name__ == '__main__':
    with demo.files() as files, clients.FirefoxProfiler(files + '.json.gz') as profiler:
        check.run(TESTS, profiler)
