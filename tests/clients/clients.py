# SPDX-License-Identifier: MIT
"""Opens files in the viewers that people use, and tells what these show.

Each returns a Tally (weights in ns), like the decoders do. A viewer that is not installed ends the
test with status 77, which ctest counts as skipped.
"""
import bisect
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from tally import Tally, plain, unnamed

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = os.path.join(HERE, 'node_modules')
FLAMEGRAPH = '/usr/share/perl5/Devel/NYTProf/flamegraph.pl'
DAEMON_TIMEOUT_S = 120


def skip(reason):
    print(f'skipped: {reason}')
    sys.exit(77)


def need_program(name, package):
    path = shutil.which(name)
    if not path:
        skip(f'{name} is missing: install {package}')
    return path


def need_module(*path):
    found = os.path.join(MODULES, *path)
    if not os.path.exists(found):
        skip(f'{path[-1]} is missing: run tests/clients/setup')
    return found


def output_of(command, **options):
    """stdout; what went wrong is shown in full."""
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=250,
                         check=False, **options)
    if run.returncode != 0:
        raise AssertionError(f'{" ".join(command)}: status {run.returncode}\n'
                             f'{run.stderr.decode(errors="replace")}'
                             f'{run.stdout.decode(errors="replace")}')
    return run.stdout.decode()


# ---- Firefox Profiler, by its command line ----

class FirefoxProfiler:
    """A file opened in profiler-cli, which loads it with the code of the web front-end.

    It works through a daemon: always leave the `with` block.
    """

    def __init__(self, path):
        node = need_program('node', 'nodejs')
        script = need_module('@firefox-devtools', 'profiler-cli', 'dist', 'profiler-cli.js')
        self.command = [node, script]
        self.path = path
        # A short path: the daemon's socket is in it.
        self.directory = tempfile.mkdtemp(prefix='fp', dir='/tmp')
        self.environment = dict(os.environ, PROFILER_CLI_SESSION_DIR=self.directory,
                                PROFILER_CLI_NO_SYMBOLICATE='1')

    def run(self, *arguments):
        return output_of([*self.command, *arguments, '--session', 'test'], env=self.environment)

    def query(self, *arguments):
        return json.loads(self.run(*arguments, '--json'))

    def __enter__(self):
        try:
            self.load()
        except BaseException:
            self.__exit__()
            raise
        return self

    def load(self):
        """It gives its daemon half a second to start, which a busy machine may not have: the daemon
        goes on starting, and answers when it has the file."""
        try:
            self.run('load', self.path)
        except AssertionError as error:
            if 'did not become ready' not in str(error):
                raise
            self.wait_for_daemon(time.monotonic() + DAEMON_TIMEOUT_S)

    def wait_for_daemon(self, deadline_s):
        while True:
            try:
                self.threads()
                return
            except AssertionError:
                if time.monotonic() > deadline_s:
                    raise
            time.sleep(0.2)

    def __exit__(self, *_):
        subprocess.run([*self.command, 'stop', 'test'], env=self.environment, check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
        shutil.rmtree(self.directory, ignore_errors=True)

    def meta(self):
        return self.query('profile', 'meta')

    def threads(self):
        return self.query('thread', 'list')['threads']

    def functions(self, thread):
        """The rows of the function list: name, nameWithLibrary, selfSamples, totalSamples, …"""
        return self.query('thread', 'functions', '--thread', thread, '--include-idle', '--limit',
                          '0')['functions']

    def call_tree(self, thread):
        """The root node: name, totalSamples, selfSamples, inlineStatus?, children."""
        return self.query('thread', 'samples-top-down', '--thread', thread, '--include-idle',
                          '--max-lines', '10000000')['regularCallTree']

    def annotate(self, thread, function):
        """The source view of a function, by its handle, as text."""
        self.run('thread', 'select', thread)
        return self.query('function', 'annotate', function, '--mode', 'src', '--context', 'file')

    def tally(self, has=lambda thread: True):
        """Of weights in ms, of the threads that the function accepts."""
        tally = Tally()
        for thread in filter(has, self.threads()):
            add_tree(tally, self.call_tree(thread['threadHandle']), 1e6)
        return tally


def node_name(node):
    name = node['name']
    module = node['nameWithLibrary'].removesuffix('!' + name)
    return plain(unnamed(name, '' if module == name else module.strip('[]')))


def add_tree(tally, root, period_ns):
    todo = [(child, []) for child in root['children']]
    while todo:
        node, path = todo.pop()
        path = path + [node_name(node)]
        if node['selfSamples']:
            tally.add(path, node['selfSamples'] * period_ns)
        todo.extend((child, path) for child in node['children'])


# ---- go tool pprof ----

def go_pprof(path, *options):
    go = need_program('go', 'golang-go')
    # From the root: a part of a source's path that is the name of the working directory would be
    # taken for that directory.
    return output_of([go, 'tool', 'pprof', '-symbolize=none', '-unit=ns', *options,
                      os.path.abspath(path)], cwd='/')


def pprof_ns(text):
    return float(text.removesuffix('ns'))


def pprof_top(path):
    """pprof -top, by function."""
    row = re.compile(r'\s*(\S+)\s+\S+%\s+\S+%\s+(\S+)\s+\S+%  (.*?)(?: \((?:partial-)?inline\))?')
    tally = Tally()
    text = go_pprof(path, '-top', '-nodecount=0', '-nodefraction=0', '-edgefraction=0')
    total = re.search(r'Total samples = (\S+)ns', text) or re.search(r'of (\S+)ns total', text)
    tally.total = float(total[1]) if total else 0.0
    for line in text.split('flat%', 1)[1].split('\n')[1:]:
        match = row.fullmatch(line)
        if match:
            tally.add_function(plain(match[3]), pprof_ns(match[1]), pprof_ns(match[2]))
    return tally


def pprof_traces(path, *options):
    """pprof -traces: each stack with all its inlined frames."""
    tally = Tally()
    text = go_pprof(path, '-traces', *options)
    for block in re.split(r'-+\+-+\n', text)[1:]:
        first = re.search(r'^ *(\d+(?:\.\d+)?)ns   (.*)$', block, re.MULTILINE)
        if not first:
            continue
        stack = [first[2], *block[first.end() + 1:].splitlines()]
        names = [re.sub(r' \((partial-)?inline\)$', '', name.strip()) for name in stack]
        tally.add([plain(name) for name in reversed(names) if name], float(first[1]))
    return tally


def pprof_list(path, pattern):
    """pprof -list: {(file, line): (self ns, total ns)} of the functions that match."""
    found = {}
    file = None
    for line in go_pprof(path, f'-list={pattern}').split('\n'):
        routine = re.match(r'ROUTINE =+ .* in (.*)$', line)
        row = re.match(r'\s*(\S+)\s+(\S+)\s+(\d+):', line)
        if routine:
            file = routine[1]
        elif row and file:
            own, total = (0.0 if text == '.' else pprof_ns(text) for text in row.groups()[:2])
            if own or total:
                found[file, int(row[3])] = (own, total)
    return found


# ---- speedscope ----

def speedscope(path):
    """What its importer makes of the file: {"importer", "profiles"}."""
    node = need_program('node', 'nodejs')
    need_module('speedscope', 'dist', 'release')
    report = json.loads(output_of([node, os.path.join(HERE, 'speedscope_headless.cjs'), path]))
    if 'error' in report:
        raise AssertionError(f'speedscope: {path}: {report["error"]}')
    return report


def speedscope_tally(report, period_ns=None):
    """period_ns: of a count, for files that have counts only. Of several profiles the first has all threads."""
    tally = Tally()
    for profile in report['profiles'][:1]:
        scale = 1.0 if profile['unit'] == 'nanoseconds' else period_ns
        tally.total += profile['total'] * scale
        for frame in profile['frames']:
            tally.add_function(plain(frame['name']), frame['self'] * scale, frame['total'] * scale)
    return tally


# ---- flamegraph.pl ----

def flamegraph(path, period_ns):
    """The boxes of the picture: a box's self weight is what no box above it covers."""
    need_program('perl', 'perl')
    if not os.path.exists(FLAMEGRAPH):
        skip('flamegraph.pl is missing: install libdevel-nytprof-perl')
    svg = output_of(['perl', FLAMEGRAPH, '--minwidth', '0', '--width', '100000', path])
    box = re.compile(r'<title>(.*) \(([\d,]+) samples, [\d.]+%\)</title>'
                     r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"')
    boxes = [(html.unescape(name), int(count.replace(',', '')), float(x), float(y), float(width))
             for name, count, x, y, width in box.findall(svg)]
    return boxes_tally(boxes, period_ns)


def boxes_tally(boxes, period_ns):
    """From the bottom ("all") up; the box below is the one whose range holds the middle."""
    levels = {}
    for box in sorted(boxes, key=lambda box: box[2]):
        levels.setdefault(box[3], []).append(box)
    tally = Tally()
    below = []
    for y in sorted(levels, reverse=True):
        starts = [entry['x'] for entry in below]
        row = []
        for name, count, x, _, width in levels[y]:
            at = bisect.bisect_right(starts, x + width / 2) - 1
            path = [name]
            if at >= 0:
                below[at]['self'] -= count
                path = below[at]['path'] + path
            row.append({'path': path, 'x': x, 'self': count})
        finish(tally, below, period_ns)
        below = row
    finish(tally, below, period_ns)
    return tally


def finish(tally, row, period_ns):
    """The first two names of a path are "all" and the process."""
    for entry in row:
        if entry['self']:
            tally.add(entry['path'][2:], entry['self'] * period_ns)
