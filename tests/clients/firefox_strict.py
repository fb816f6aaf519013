#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks a Firefox processed profile of version 75 against its rules.

    firefox_strict.py FILE...

The front-end is lenient: an index out of range shows some other function, a missing column shows
nothing. What it tolerates in silence is what this looks for.
"""
import re
import sys

import decoders

COLUMNS = {
    'stackTable': ['frame', 'prefixOffset'],
    'frameTable': ['flags', 'address', 'lib', 'category', 'subcategory', 'func', 'nativeSymbol',
                   'innerWindowID', 'line', 'column', 'originalLocation'],
    'funcTable': ['flags', 'name', 'resource', 'source', 'lineNumber', 'columnNumber',
                  'originalLocation'],
    'resourceTable': ['name', 'host', 'type'],
    'nativeSymbols': ['libIndex', 'address', 'name', 'functionSize'],
    'sources': ['id', 'filename', 'startLine', 'startColumn', 'sourceMapURL', 'content'],
    'sourceLocationTable': ['source', 'line', 'column'],
}
MARKER_COLUMNS = ['data', 'name', 'startTime', 'endTime', 'phase', 'category']
META = ['interval', 'startTime', 'processType', 'product', 'stackwalk', 'version', 'markerSchema',
        'categories', 'symbolicated', 'sampleUnits']
THREAD = ['processType', 'processName', 'processStartupTime', 'processShutdownTime', 'registerTime',
          'unregisterTime', 'pausedRanges', 'name', 'isMainThread', 'pid', 'tid', 'samples',
          'markers']
LIB = ['name', 'path', 'debugName', 'debugPath', 'breakpadId', 'codeId', 'arch']
COLORS = ['transparent', 'purple', 'green', 'orange', 'yellow', 'lightblue', 'blue', 'brown',
          'magenta', 'red', 'lightred', 'lightgreen', 'darkgrey', 'grey']

INLINED, HAS_ADDRESS, HAS_CATEGORY, HAS_SYMBOL, HAS_LINE, HAS_COLUMN = 1, 2, 4, 8, 16, 32
FUNC_RESOURCE, FUNC_SOURCE, FUNC_LINE = 4, 8, 16


class Checker:
    def __init__(self, profile):
        self.profile = profile
        self.meta = profile['meta']
        self.shared = profile['shared']
        self.found = []

    def expect(self, holds, *sentence):
        if not holds:
            self.found.append(' '.join(map(str, sentence)))

    def check(self):
        self.check_meta()
        self.check_libs()
        self.check_tables()
        self.check_frames()
        self.check_funcs()
        self.check_symbols()
        self.check_stacks()
        self.check_threads()
        return self.found

    # ---- meta and libs ----

    def check_meta(self):
        for key in META:
            self.expect(key in self.meta, 'meta has no', key)
        self.expect(self.meta['preprocessedProfileVersion'] == 75, 'version is not 75')
        self.expect(self.meta['interval'] > 0, 'interval is not positive')
        categories = self.meta['categories']
        self.expect(any(c['color'] == 'grey' for c in categories), 'no default (grey) category')
        for category in categories:
            self.expect(category['subcategories'][:1] == ['Other'], 'subcategories of', category)
            self.expect(category['color'] in COLORS, 'color of', category)
        for section in self.meta.get('extra', []):
            for entry in section['entries']:
                self.expect(set(entry) == {'label', 'format', 'value'}, 'extra entry', entry)

    def check_libs(self):
        keys = set()
        for lib in self.profile['libs']:
            self.expect(set(LIB) == set(lib), 'members of lib', lib)
            self.expect('/' not in lib['debugName'], 'a slash in', lib['debugName'])
            breakpad = lib['breakpadId']
            self.expect(re.fullmatch('[0-9A-F]{32}0', breakpad), 'breakpadId', breakpad)
            if lib['codeId']:
                code = bytes.fromhex(lib['codeId'])[:16].ljust(16, b'\0')
                guid = code[3::-1] + code[5:3:-1] + code[7:5:-1] + code[8:]
                self.expect(breakpad == guid.hex().upper() + '0', 'ids of', lib['name'], 'differ')
                key = lib['debugName'], breakpad
                self.expect(key not in keys, 'two libs are', key)
                keys.add(key)

    # ---- tables ----

    def check_columns(self, table, name, columns):
        self.expect(set(table) == {'length', *columns}, 'columns of', name, sorted(table))
        for column in columns:
            if column in table:
                self.expect(len(table[column]) == table['length'], 'length of', name, column)

    def check_tables(self):
        for name, columns in COLUMNS.items():
            self.check_columns(self.shared[name], name, columns)
        for name in ('stackTable', 'frameTable', 'funcTable', 'nativeSymbols'):
            for column in COLUMNS[name]:
                self.expect(all(type(value) is int for value in self.shared[name][column]),
                            name, column, 'is not all integers')
        strings = self.shared['stringArray']
        self.expect(len(set(strings)) == len(strings), 'stringArray has duplicates')

    def check_index(self, name, column, limit, flags=None, bit=0):
        """Each index below limit; with flags: those whose bit is set, the others being 0."""
        for row, value in enumerate(column):
            if flags is not None and not flags[row] & bit:
                self.expect(value == 0, name, 'row', row, 'is unset and not 0')
            else:
                self.expect(0 <= value < limit, name, 'row', row, 'is', value, 'of', limit)

    def check_set(self, name, column, flags, bit):
        """A number is there exactly when its flag is."""
        for row, value in enumerate(column):
            self.expect((value > 0) == bool(flags[row] & bit), name, 'row', row, 'against its flag')

    def check_frames(self):
        frames = self.shared['frameTable']
        flags = frames['flags']
        self.check_index('frame.func', frames['func'], self.shared['funcTable']['length'])
        self.check_index('frame.lib', frames['lib'], len(self.profile['libs']), flags, HAS_ADDRESS)
        self.check_index('frame.address', frames['address'], 1 << 32, flags, HAS_ADDRESS)
        self.check_index('frame.category', frames['category'], len(self.meta['categories']), flags,
                         HAS_CATEGORY)
        self.check_index('frame.nativeSymbol', frames['nativeSymbol'],
                         self.shared['nativeSymbols']['length'], flags, HAS_SYMBOL)
        self.check_set('frame.line', frames['line'], flags, HAS_LINE)
        self.check_set('frame.column', frames['column'], flags, HAS_COLUMN)
        # A function that is inlined into itself, a call further out each, has rows that are equal.
        rows = [row for row in zip(*(frames[column] for column in COLUMNS['frameTable']))
                if not row[0] & INLINED]
        self.expect(len(set(rows)) == len(rows), 'frameTable has duplicates')

    def check_funcs(self):
        funcs = self.shared['funcTable']
        flags = funcs['flags']
        strings = len(self.shared['stringArray'])
        self.check_index('func.name', funcs['name'], strings)
        self.check_index('func.resource', funcs['resource'],
                         self.shared['resourceTable']['length'], flags, FUNC_RESOURCE)
        self.check_index('func.source', funcs['source'], self.shared['sources']['length'], flags,
                         FUNC_SOURCE)
        self.check_set('func.lineNumber', funcs['lineNumber'], flags, FUNC_LINE)
        self.check_index('resource.name', self.shared['resourceTable']['name'], strings)
        self.check_index('source.filename', self.shared['sources']['filename'], strings)
        keys = list(zip(funcs['name'], funcs['resource'], funcs['source'],
                        (flag & (FUNC_RESOURCE | FUNC_SOURCE) for flag in flags)))
        self.expect(len(set(keys)) == len(keys), 'funcTable has duplicates')

    def check_symbols(self):
        symbols = self.shared['nativeSymbols']
        self.check_index('symbol.lib', symbols['libIndex'], len(self.profile['libs']))
        self.check_index('symbol.name', symbols['name'], len(self.shared['stringArray']))
        self.expect(all(size == -1 or size > 0 for size in symbols['functionSize']),
                    'a symbol of no bytes')
        frames = self.shared['frameTable']
        for row, flags in enumerate(frames['flags']):
            if not flags & HAS_SYMBOL:
                continue
            symbol = frames['nativeSymbol'][row]
            start, size = symbols['address'][symbol], symbols['functionSize'][symbol]
            offset = frames['address'][row] - start
            self.expect(frames['lib'][row] == symbols['libIndex'][symbol] and offset >= 0 and
                        (size == -1 or offset < size), 'frame', row, 'is not in its symbol')

    def check_stacks(self):
        stacks, frames = self.shared['stackTable'], self.shared['frameTable']
        self.check_index('stack.frame', stacks['frame'], frames['length'])
        nodes = set()
        for row, (frame, offset) in enumerate(zip(stacks['frame'], stacks['prefixOffset'])):
            self.expect(0 <= offset <= row, 'stack', row, 'has prefixOffset', offset)
            parent = row - offset if offset else None
            self.expect((parent, frame) not in nodes, 'stack', row, 'is there twice')
            nodes.add((parent, frame))
            if frames['flags'][frame] & INLINED:
                self.check_inlined(row, frame, None if parent is None else stacks['frame'][parent])

    def check_inlined(self, row, frame, outer):
        frames = self.shared['frameTable']
        if outer is None:
            self.expect(False, 'stack', row, 'is inlined into nothing')
            return
        for column in ('address', 'lib', 'nativeSymbol'):
            self.expect(frames[column][frame] == frames[column][outer], 'stack', row,
                        'is inlined into another', column)

    # ---- threads ----

    def check_threads(self):
        threads = self.profile['threads']
        self.expect(threads, 'no threads')
        seen = set()
        for index, thread in enumerate(threads):
            self.expect(set(thread) >= set(THREAD), 'members of thread', index)
            self.expect(isinstance(thread['pid'], str), 'pid of thread', index, 'is no string')
            key = thread['pid'], thread['tid']
            self.expect(key not in seen, 'two threads are', key)
            seen.add(key)
            self.check_samples(f'thread {index}', thread['samples'])
            self.check_markers(f'thread {index}', thread['markers'])
        for pid in {thread['pid'] for thread in threads}:
            mains = sum(thread['isMainThread'] for thread in threads if thread['pid'] == pid)
            self.expect(mains == 1, 'process', pid, 'has', mains, 'main threads')

    def check_samples(self, name, samples):
        length = samples['length']
        for column in ('stack', 'timeDeltas', 'weight', 'threadCPUDelta'):
            values = samples.get(column)
            self.expect(values is not None or column == 'weight', name, 'has no', column)
            self.expect(values is None or len(values) == length, name, 'length of', column)
        self.expect(all(delta >= 0 for delta in samples['timeDeltas']), name, 'goes back in time')
        self.expect(samples['weightType'] in ('samples', 'tracing-ms', 'bytes'), name, 'weightType')
        stacks = self.shared['stackTable']['length']
        for stack in samples['stack']:
            self.expect(stack is None or 0 <= stack < stacks, name, 'has stack', stack)

    def check_markers(self, name, markers):
        self.check_columns(markers, f'{name} markers', MARKER_COLUMNS)
        schemas = {schema['name'] for schema in self.meta['markerSchema']}
        for data in markers['data']:
            self.expect(data is None or data['type'] in schemas, name, 'marker', data)


def violations(path):
    """Sentences; none for a good file."""
    return Checker(decoders.read_json(path)).check()


def main():
    bad = False
    for path in sys.argv[1:]:
        for sentence in violations(path):
            print(f'{path}: {sentence}')
            bad = True
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
