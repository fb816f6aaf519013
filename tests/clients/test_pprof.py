#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""go tool pprof shows the hand-made profile as it is."""
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import check
import clients
import demo


def top_has_the_profile_s_functions_and_total(prefix):
    check.agree(demo.truth(), clients.pprof_top(prefix + '.pb.gz'), 0)


def traces_add_up_to_the_profile(prefix):
    truth = demo.truth()
    traces = clients.pprof_traces(prefix + '.pb.gz')
    check.agree(truth, traces, 0)


def plain_files_are_read_too(prefix):
    for suffix in ('.pb', '.pprof'):
        check.agree(demo.truth(), clients.pprof_top(prefix + suffix), 0)


def list_counts_by_line_and_file_also_of_inlined_functions(prefix):
    check.same({(demo.SOURCE, 5): (3700001, 3700001),
                (demo.SOURCE, 6): (1000000, 1000000),
                (demo.SOURCE, 11): (0, 3700001),
                (demo.INCLUDE, 2): (0, 1000000)},
               clients.pprof_list(prefix + '.pb.gz', '^(mid|inner)$'))


def the_header_names_program_and_build_id(prefix):
    text = clients.go_pprof(prefix + '.pb.gz', '-top')
    for line in ('File: app', 'Build ID: 135afc8c6d1b9e02356cce218bf0109c3687ad9f', 'Type: cpu'):
        if line not in text.splitlines():
            raise AssertionError(f'no line {line!r} in\n{text}')


def the_recording_s_account_is_shown_where_it_is_asked_for(prefix):
    check.same(False, 'engine' in clients.go_pprof(prefix + '.pb.gz', '-top'))
    text = clients.go_pprof(prefix + '.pb.gz', '-comments')
    check.same(True, '#engine=perf-trap' in text.splitlines())


def raw_shows_every_stack_and_label(prefix):
    text = clients.go_pprof(prefix + '.pb.gz', '-raw')
    check.same(11, text.count('comm:['))
    check.same(3, text.count('thread:[work;er "1"\n]'))
    line = re.escape('M=1 inner ' + demo.SOURCE) + r':6(:5)? s=3\(_ZL5inneri\)'  # Go 1.22: columns
    check.same(1, len(re.findall(line, text)))


def the_flame_graph_is_served_without_graphviz(prefix):
    with socket.socket() as probe:
        probe.bind(('localhost', 0))
        address = f'localhost:{probe.getsockname()[1]}'
    path = os.path.dirname(clients.need_program('go', 'golang-go'))
    server = subprocess.Popen(
        ['go', 'tool', 'pprof', f'-http={address}', '-no_browser', prefix + '.pb.gz'],
        env={**os.environ, 'PATH': path}, cwd='/', start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        page = get(f'http://{address}/ui/flamegraph')
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
    check.same(True, '"inner"' in page, 'the page carries the function names')


def get(url):
    deadline_s = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return answer.read().decode()
        except ConnectionError:
            pass
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionError):
                raise
        if time.monotonic() > deadline_s:
            raise AssertionError(f'{url}: no answer')
        time.sleep(0.1)


TESTS = [
    top_has_the_profile_s_functions_and_total,
    traces_add_up_to_the_profile,
    plain_files_are_read_too,
    list_counts_by_line_and_file_also_of_inlined_functions,
    the_header_names_program_and_build_id,
    the_recording_s_account_is_shown_where_it_is_asked_for,
    raw_shows_every_stack_and_label,
    the_flame_graph_is_served_without_graphviz,
]

if __name__ == '__main__':
    clients.need_program('go', 'golang-go')
    with demo.files() as files:
        check.run(TESTS, files)
