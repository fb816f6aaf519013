# SPDX-License-Identifier: MIT
"""What readers of profile.proto rely on and do not all check: violations(path) is a list of sentences."""
import re

import decoders
from decoders import message, one, packed

UNNAMED = re.compile(r'^\[[^\]]*\]$|\+0x[0-9a-f]+$')


class Checker:
    def __init__(self, path):
        self.profile = decoders.Pprof(path)
        self.found = []

    def expect(self, holds, *sentence):
        if not holds and len(self.found) < 20:
            self.found.append(' '.join(str(word) for word in sentence))

    def text(self, entry, number):
        return self.profile.text(one(entry, number))

    def check(self):
        self.check_header()
        self.check_mappings()
        self.check_locations()
        self.check_functions()
        self.check_samples()
        return self.found

    def check_header(self):
        root, types = self.profile.root, self.profile.sample_types
        self.expect(types[0] == ('samples', 'count'), 'the first value is no count:', types)
        self.expect(len({name for name, _ in types}) == len(types), 'two values of one name:', types)
        default = self.profile.text(one(root, 14))
        self.expect(default in [name for name, _ in types], 'default', default, 'is no sample type')
        period_type = message(one(root, 11))
        period_type = (self.text(period_type, 1), self.text(period_type, 2))
        self.expect(period_type in types, 'period', period_type, 'is of no sample type')
        self.expect(one(root, 12) > 0 and one(root, 9) > 0, 'no period or time')
        comments = [self.profile.text(n) for run in root.get(13, []) for n in packed(run)]
        shown = [text for text in comments if not text.startswith('#')]
        self.expect(all(text.startswith('damage=') for text in shown), 'shown on every view:', shown)
        self.expect(one(root, 7) == 0 and one(root, 8) == 0, 'frames are dropped')

    def check_mappings(self):
        mappings = self.profile.mappings
        first = self.text(mappings[1], 5)
        self.expect(not first.startswith('[') and '.so' not in first, 'the program is not', first)
        for mapping in mappings.values():
            build_id = self.text(mapping, 6)
            self.expect(re.fullmatch('([0-9a-f]{2})*', build_id), 'build-id', build_id)
            self.expect(one(mapping, 2) <= one(mapping, 3), 'a mapping ends before it begins')

    def check_locations(self):
        """Named or not, as the mapping says: unnamed ones may be looked up by the reader."""
        for key, location in self.profile.locations.items():
            mapping = self.profile.mappings.get(one(location, 2))
            self.expect(one(location, 2) == 0 or mapping, 'location', key, 'in no mapping')
            if not mapping or not self.text(mapping, 5).startswith('/'):
                continue
            frames = self.profile.frames(key)
            start, end, address = one(mapping, 2), one(mapping, 3), one(location, 3)
            self.expect(start <= address < end, frames, hex(address), 'is outside of', hex(start), hex(end))
            is_named = len(frames) > 1 or not UNNAMED.search(frames[0][0])
            self.expect(bool(one(mapping, 7)) == is_named, frames, 'in a mapping with has_functions',
                        one(mapping, 7))
            for name, file, line in frames:
                self.expect(not file or one(mapping, 8), name, 'has a file')
                self.expect(not line or one(mapping, 9), name, 'has a line')
            self.expect(len(frames) == 1 or one(mapping, 10), frames, 'are inlined')

    def check_functions(self):
        seen = set()
        for function in self.profile.functions.values():
            key = tuple(self.text(function, n) for n in (2, 3, 4)) + (one(function, 5),)
            self.expect(key not in seen, 'twice:', key)
            self.expect(key[0], 'a function without a name')
            self.expect(not key[3] or key[2], key, 'has a line and no file')
            seen.add(key)

    def check_samples(self):
        kinds = {}
        for stack, values, labels in self.profile.samples:
            self.expect(stack and any(values), 'an empty sample')
            for name, value in labels.items():
                self.expect(kinds.setdefault(name, type(value)) is type(value), name, 'is text and number')
                self.expect(not name.startswith('pprof::'), name, 'is a reserved label')
            self.expect({'pid', 'tid', 'comm', 'thread'} <= set(labels), 'labels', labels)


def violations(path):
    return Checker(path).check()
