# SPDX-License-Identifier: MIT
"""Readers of the four formats, written from the formats' descriptions and knowing nothing of rec.

Each returns a Tally; names are made plain() so that the formats can be compared.
"""
import collections
import gzip
import json

from tally import Tally, plain, unnamed


def read_bytes(path):
    with open(path, 'rb') as file:
        content = file.read()
    return gzip.decompress(content) if content[:2] == b'\x1f\x8b' else content


def read_json(path):
    """Strictly: no NaN, no key twice in an object."""
    def once(pairs):
        found = dict(pairs)
        assert len(found) == len(pairs), f'a key twice among {[key for key, _ in pairs]}'
        return found

    def refuse(word):
        raise ValueError(f'{word} is not JSON')

    return json.loads(read_bytes(path).decode(), object_pairs_hook=once, parse_constant=refuse)


# ---- pprof ----

def varint(run, at):
    value = shift = 0
    while True:
        byte = run[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(run):
    """(number, value) of a protobuf message; value is an int or bytes."""
    at = 0
    while at < len(run):
        tag, at = varint(run, at)
        value, at = varint(run, at)
        if tag & 7 == 2:
            size = value
            assert at + size <= len(run), 'a field runs past its message'
            value, at = run[at:at + size], at + size
        elif tag & 7 != 0:
            raise ValueError(f'wire type {tag & 7} in a profile')
        yield tag >> 3, value


def packed(run):
    """The numbers of a packed field."""
    numbers = []
    at = 0
    while at < len(run):
        number, at = varint(run, at)
        numbers.append(number)
    return numbers


def message(value):
    """{field: [values]}"""
    found = {}
    for number, content in fields(value):
        found.setdefault(number, []).append(content)
    return found


def one(found, number, default=0):
    return found.get(number, [default])[0]


def signed(number):
    """An int64, which protobuf writes in two's complement."""
    return number - (1 << 64) if number >> 63 else number


class Pprof:
    """A decoded profile.proto, checked for the rules that readers rely on."""

    def __init__(self, path):
        self.root = message(read_bytes(path))
        self.strings = [text.decode() for text in self.root[6]]
        assert self.strings[0] == ''
        self.sample_types = [(self.text(one(m, 1)), self.text(one(m, 2)))
                             for m in map(message, self.root[1])]
        self.mappings = self.table(3)
        self.locations = self.table(4)
        self.functions = self.table(5)
        self.samples = [self.sample(message(m)) for m in self.root.get(2, [])]

    def text(self, number):
        return self.strings[number]

    def table(self, number):
        found = {}
        for entry in map(message, self.root.get(number, [])):
            key = one(entry, 1)
            assert key > 0 and key not in found, 'ids are unique and not 0'
            found[key] = entry
        return found

    def frames(self, location):
        """[(function name, file, line)], innermost first."""
        lines = [message(line) for line in self.locations[location].get(4, [])]
        assert lines, 'a location without a line is dropped by speedscope'
        result = []
        for line in lines:
            function = self.functions[one(line, 1)]
            result.append((self.text(one(function, 2)), self.text(one(function, 4)), one(line, 2)))
        return result

    def sample(self, found):
        stack = [frame for run in found.get(1, []) for location in packed(run)
                 for frame in self.frames(location)]
        values = [number for run in found[2] for number in packed(run)]
        assert len(values) == len(self.sample_types)
        labels = {}
        for label in map(message, found.get(3, [])):
            key = self.text(one(label, 1))
            assert key not in labels
            labels[key] = self.text(one(label, 2)) if 2 in label else signed(one(label, 3))
        return stack, values, labels


def read_pprof(path, sample_type='cpu'):
    profile = Pprof(path)
    column = profile.sample_types.index((sample_type, 'nanoseconds'))
    tally = Tally()
    for stack, values, _ in profile.samples:
        tally.add([plain(name) for name, _, _ in reversed(stack)], values[column])
    return tally


# ---- Firefox ----

def firefox_stacks(profile):
    """Function names, root first, of every row of stackTable."""
    shared = profile['shared']
    strings, funcs, frames = shared['stringArray'], shared['funcTable'], shared['frameTable']
    resources = shared['resourceTable']

    def name(frame):
        func = frames['func'][frame]
        module = ''
        if funcs['flags'][func] & 4:
            module = strings[resources['name'][funcs['resource'][func]]].strip('[]')
        return plain(unnamed(strings[funcs['name'][func]], module))

    names = [name(frame) for frame in range(frames['length'])]
    stacks = []
    for row, offset in enumerate(shared['stackTable']['prefixOffset']):
        parent = stacks[row - offset] if offset else []
        stacks.append(parent + [names[shared['stackTable']['frame'][row]]])
    return stacks


def read_firefox(path):
    profile = read_json(path)
    stacks = firefox_stacks(profile)
    tally = Tally()
    for thread in profile['threads']:
        samples = thread['samples']
        assert samples['weightType'] == 'tracing-ms'
        for stack, weight in zip(samples['stack'], samples['weight']):
            tally.add(stacks[stack] if stack is not None else [], weight * 1e6)
    return tally


# ---- speedscope ----

def read_speedscope(path):
    """Of the threads' own profiles; the profile of all threads must say the same."""
    profile = read_json(path)
    names = [plain(frame['name']) for frame in profile['shared']['frames']]
    tallies = []
    for part in profile['profiles']:
        assert part['type'] == 'sampled' and part['unit'] == 'nanoseconds'
        assert len(part['samples']) == len(part['weights'])
        assert part['endValue'] - part['startValue'] == sum(part['weights'])
        tallies.append(collections.Counter())
        for stack, weight in zip(part['samples'], part['weights']):
            tallies[-1][tuple(stack)] += weight
    if len(tallies) > 1:
        together = tallies.pop(0)
        assert together == sum(tallies, collections.Counter())
    tally = Tally()
    for stack, weight in sum(tallies, collections.Counter()).items():
        tally.add([names[frame] for frame in stack], weight)
    return tally


# ---- collapsed ----

def collapsed_lines(path):
    """[([process, root, ..., leaf], count)]"""
    lines = []
    for line in read_bytes(path).decode().split('\n')[:-1]:
        stack, count = line.rsplit(' ', 1)
        lines.append((stack.split(';'), int(count)))
    return lines


def read_collapsed(path, period_ns):
    """The first name of a line is the process, not a function."""
    tally = Tally()
    for stack, count in collapsed_lines(path):
        tally.add(stack[1:], count * period_ns)
    return tally
