# SPDX-License-Identifier: MIT
"""Real programs, each recorded once, in every file that rec writes of them."""
import functools
import json
import os
import subprocess
import sys

import clients
import decoders

REC, TARGETS, SOURCE = (os.environ[name] for name in ('REC', 'TARGETS', 'SOURCE'))
PYTHON = '/usr/bin/python3'
SCRIPT = f'''\
{TARGETS}/inlined 60 &
{TARGETS}/shares 60 &
wait
'''
PYTHON_PROGRAM = '''
import json
for _ in range(6000):
    json.loads(json.dumps([list(range(60)), {"key": "value"}]))
'''


def rec(*words, cwd):
    """stdout of rec, which must end well and soon."""
    run = subprocess.run([REC, *words], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True,
                         timeout=60, check=False)
    if run.returncode != 0:
        sys.exit(f'rec {" ".join(words)}: status {run.returncode}\n{run.stderr.decode()}')
    return run.stdout.decode()


class Recording:
    """The four usual files, and two that `rec convert` makes."""

    def __init__(self, directory, *command, options=()):
        self.name = os.path.basename(directory)
        self.directory = directory
        self.options = options
        os.makedirs(directory, exist_ok=True)
        rec(*options, '--', *command, cwd=directory)
        rec('convert', '-q', *options, '-o', 'rec.speedscope.json', cwd=directory)
        rec('convert', '-q', *options, '--embed-source', '-o', 'embedded.json.gz', cwd=directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    @functools.cached_property
    def pprof(self):
        return decoders.Pprof(self.path('rec.pb.gz'))

    @functools.cached_property
    def truth(self):
        """The pprof file has every sample's weight in ns: the others are compared with it."""
        return decoders.read_pprof(self.path('rec.pb.gz'))

    @functools.cached_property
    def info(self):
        return json.loads(rec('info', '--json', cwd=self.directory))

    @functools.cached_property
    def report(self):
        return json.loads(rec('report', '--json', *self.options, cwd=self.directory))

    def labels(self, key):
        return {labels[key] for _, _, labels in self.pprof.samples}


def build_tour(directory):
    examples = os.path.join(SOURCE, 'examples')
    queens, tour = os.path.join(directory, 'queens.o'), os.path.join(directory, 'tour')
    for command in (['gcc', '-O2', '-g', '-c', f'{examples}/queens.c', '-o', queens],
                    ['g++', '-O2', '-g', '-pthread', f'{examples}/tour.cc', queens, '-o', tour]):
        clients.output_of(command)
    return tour


def record_all(directory):
    """{name: Recording}"""
    if not os.path.exists(PYTHON):
        clients.skip(f'{PYTHON} is missing: install python3')
    tour = build_tour(directory)
    commands = {
        'tour': [tour],
        'python': [PYTHON, '-c', PYTHON_PROGRAM],
        'script': ['sh', '-c', SCRIPT],
        'kernel': ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1M', 'count=4000', 'status=none'],
        'deep': [f'{TARGETS}/depth', '300', '100'],
        'short': [f'{TARGETS}/short_run', '5'],
    }
    recorded = {name: Recording(os.path.join(directory, 'of-' + name), *command)
                for name, command in commands.items()}
    # Always: a capture keeps the names that were found, and the others are looked up again.
    recorded['bare'] = Recording(os.path.join(directory, 'of-bare'), tour,
                                 options=['--debug-dir=/nonexistent'])
    return recorded
