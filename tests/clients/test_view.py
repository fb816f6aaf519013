#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Viewers on the server of `rec view`: profiler-cli annotates functions with the numbers of `rec annotate`, and
speedscope shows the profile in a browser."""
import json
import os
import subprocess
import sys
import tempfile

import check
import clients
import recordings

sys.path.insert(0, os.path.join(recordings.SOURCE, 'tests', 'integration'))
import browser  # noqa: E402

MS_NS = 1e6
ENOUGH = 0.99


class Served(clients.FirefoxProfiler):
    """A capture opened with `rec view` in the place of samply."""

    def __init__(self, capture, directory):
        super().__init__(capture)
        program = os.path.join(directory, 'samply')
        with open(program, 'w', encoding='utf-8') as file:
            file.write(f'#!/bin/sh\nshift\nexec {recordings.REC} view "$@"\n')
        os.chmod(program, 0o755)
        self.environment['PROFILER_CLI_SAMPLY_PATH'] = program
        del self.environment['PROFILER_CLI_NO_SYMBOLICATE']
        self.selected = None

    def run(self, *arguments):
        more = ['--with-samply'] if arguments[0] == 'load' else []
        return super().run(*arguments, *more)

    def annotations(self, thread, function):
        if self.selected != thread:
            self.run('thread', 'select', thread)
            self.selected = thread
        return self.query('function', 'annotate', function, '--mode', 'all', '--context', 'file')


class Recorded:
    def __init__(self, directory):
        source = os.path.join(recordings.SOURCE, 'examples')
        program, self.directory = os.path.join(directory, 'tour'), directory
        queens = os.path.join(directory, 'queens.o')
        subprocess.run(['gcc', '-O2', '-g', '-c', f'{source}/queens.c', '-o', queens], check=True)
        subprocess.run(['g++', '-O2', '-g', '-pthread', f'{source}/tour.cc', queens, '-o', program], check=True)
        recordings.rec('-q', '-o', 'rec.data', '--', program, cwd=directory)
        self.capture = os.path.join(directory, 'rec.data')

    def annotate(self, function):
        return json.loads(recordings.rec('annotate', '--json', '--asm', function, cwd=self.directory))


def rows_of(viewer):
    """(thread, function row) of all functions of the program with 4 samples or more."""
    for thread in viewer.threads():
        for row in viewer.functions(thread['threadHandle']):
            if row['selfSamples'] > 4 and row['nameWithLibrary'].startswith('tour!'):
                yield thread['threadHandle'], row


def self_time_is_on_lines_and_instructions(recorded, viewer):
    total = on_code = 0
    files = {}  # a file's lines have the time of all of its functions
    for thread, row in rows_of(viewer):
        seen = viewer.annotations(thread, row['functionHandle'])
        total += row['selfSamples']
        if seen['srcAnnotation']:
            files[thread, seen['srcAnnotation']['filename']] = seen['srcAnnotation']['lines']
        if seen['asmAnnotations']:
            on_code += min(row['selfSamples'], sum(
                item['selfSamples'] for code in seen['asmAnnotations'] for item in code['instructions']))
    on_lines = sum(line['selfSamples'] for lines in files.values() for line in lines)
    if total == 0 or on_lines < ENOUGH * total or on_code < ENOUGH * total:
        raise AssertionError(f'of {total:.1f} ms {on_lines:.1f} are on lines, {on_code:.1f} on instructions')


def lines_have_the_numbers_of_rec_annotate(recorded, viewer):
    rows = [(thread, row) for thread, row in rows_of(viewer) if row['name'] == 'place_row']
    check.same(len(rows), 1, 'threads with place_row')
    seen = viewer.annotations(rows[0][0], rows[0][1]['functionHandle'])
    ours = recorded.annotate('place_row')
    lines = {line['line']: line for file in ours['files'] for line in file['lines']}
    theirs_of = {line['lineNumber']: line for line in seen['srcAnnotation']['lines']}
    for number, own in lines.items():  # the viewer has the lines of the file's other functions, too
        line = theirs_of[number]
        for theirs, mine in (('selfSamples', 'self_ns'), ('totalSamples', 'total_ns')):
            if abs(line[theirs] * MS_NS - own[mine]) > 1e5:
                raise AssertionError(f'line {line["lineNumber"]}: {theirs} {line[theirs]} ms, {mine} {own[mine]}')
        check.same(line['sourceText'].rstrip(), own['text'].rstrip(), 'text')


def instructions_have_the_numbers_of_rec_annotate(recorded, viewer):
    rows = [(thread, row) for thread, row in rows_of(viewer) if row['name'] == 'place_row']
    seen = viewer.annotations(rows[0][0], rows[0][1]['functionHandle'])
    ours = {int(item['address'], 16): item
            for symbol in recorded.annotate('place_row')['symbols'] for item in symbol['instructions']}
    code = seen['asmAnnotations'][0]
    check.same(code['fetchError'], None, 'assembly')
    for item in code['instructions']:
        own = ours[item['address']]
        check.same(item['decodedString'], own['text'], hex(item['address']))
        if abs(item['selfSamples'] * MS_NS - own['self_ns']) > 1e5:
            raise AssertionError(f'{own}: {item["selfSamples"]} ms')


def speedscope_shows_the_profile(recorded, viewer):
    if not browser.CHROMIUM:
        clients.skip('chromium is missing: run tools/setup')
    folder = os.path.dirname(clients.need_module('speedscope', 'dist', 'release', 'index.html'))
    server = subprocess.Popen([recordings.REC, 'view', '--no-open', f'--speedscope={folder}', recorded.capture],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        page, messages = browser.dump(server.stdout.readline().strip(), virtual_ms=10000)
    finally:
        server.terminate()
        server.wait()
    if 'all 4 threads' not in page:
        raise AssertionError(f'speedscope shows no profile: {messages}')


def main():
    with tempfile.TemporaryDirectory() as directory:
        recorded = Recorded(directory)
        with Served(recorded.capture, directory) as viewer:
            check.run([self_time_is_on_lines_and_instructions, lines_have_the_numbers_of_rec_annotate,
                       instructions_have_the_numbers_of_rec_annotate, speedscope_shows_the_profile], recorded, viewer)


main()
