# SPDX-License-Identifier: MIT
"""What a profile says, whoever reads it: CPU time in all, and by function in itself and in total.

Every reader of a file (decoders.py, by our own hands; clients.py, through a viewer) returns a
Tally, so that any two of them can be compared.
"""
import re


class Tally:
    """Weights in ns: total, and {function: [self, total]}."""

    def __init__(self):
        self.total = 0.0
        self.functions = {}

    def add(self, stack, weight):
        """stack: function names, root first."""
        self.total += weight
        for name in set(stack):
            self.functions.setdefault(name, [0.0, 0.0])[1] += weight
        if stack:
            self.functions[stack[-1]][0] += weight

    def add_function(self, name, own, total):
        """For viewers that only tell the sums; a name seen twice (two files) is added up."""
        sums = self.functions.setdefault(name, [0.0, 0.0])
        sums[0] += own
        sums[1] += total

    def renamed(self, rename):
        """A copy under other names, for viewers that replace characters."""
        copy = Tally()
        copy.total = self.total
        for name, (own, total) in self.functions.items():
            copy.add_function(rename(name), own, total)
        return copy

    def hottest(self, column, count=20):
        """The names with the largest weights; column 0: self, 1: total."""
        ranked = sorted(self.functions.items(), key=lambda item: (-item[1][column], item[0]))
        return [name for name, sums in ranked[:count] if sums[column] > 0]


def plain(name):
    """A name as all formats can hold it: what collapsed stacks must replace is replaced."""
    name = re.sub(r'[\x00-\x1f\x7f]', ' ', name.replace(';', ':')).strip(' ')
    return re.sub(r' ([0-9.]+)$', r'_\1', name) or '[unknown]'


def unnamed(name, module):
    """The name that stands for all unknown addresses of a module, where a format lists each."""
    if re.fullmatch(r'0x[0-9a-fA-F]+', name):
        return f'[{module}]' if module else '[unknown]'
    return name


def differences(truth, seen, slack_ns, count=20):
    """What does not agree, as sentences. slack_ns: how much any one weight may be off."""
    found = []
    if abs(truth.total - seen.total) > slack_ns:
        found.append(f'total is {seen.total:.0f} ns, not {truth.total:.0f}')
    for column, what in enumerate(('self', 'total')):
        for name in truth.hottest(column, count):
            expected = truth.functions[name][column]
            actual = seen.functions.get(name, [0.0, 0.0])[column]
            if abs(expected - actual) > slack_ns:
                found.append(f'{what} of {name!r} is {actual:.0f} ns, not {expected:.0f}')
        for name in seen.hottest(column, count):
            expected = truth.functions.get(name, [0.0, 0.0])[column]
            if abs(expected - seen.functions[name][column]) > slack_ns:
                found.append(f'{what} of {name!r} is {seen.functions[name][column]:.0f} ns, '
                             f'not {expected:.0f}')
    return sorted(set(found))
