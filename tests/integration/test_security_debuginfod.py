#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A debuginfod server may send anything at any speed: each reply costs bounded time, memory and disk, the profile is
complete but for names, and one sentence names the failure."""
import contextlib
import os
import struct
import subprocess
import threading
import time

import hostile_captures
import hostile_server
import rec

MIB = 1 << 20
FILE_BYTES = rec.figure(16, 256) * MIB
SECONDS = rec.figure(2, 10)
TOTAL_BYTES = 4 * 10**9
TOTAL_S = 120
MEMORY_BYTES = 512 * MIB
MMAP2, HAS_BUILD_ID = 10, 1 << 14

TOO_LARGE, TOO_SLOW, OTHER = "MB (DEBUGINFOD_MAXSIZE)", "s (DEBUGINFOD_MAXTIME)", "not an ELF file with this build-id"
FAILED, NOT_FOUND = "downloads failed", "no names for"
SENTENCES = {
    "garbage": OTHER,
    "nothing": NOT_FOUND,
    "flood": TOO_LARGE,
    "bomb": TOO_LARGE,
    "broken_bomb": OTHER,
    "larger_than_stated": TOO_LARGE,
    "smaller_than_stated": NOT_FOUND,
    "negative_length": NOT_FOUND,
    "redirect_for_ever": FAILED,
    "redirect_to_file": NOT_FOUND,
    "slow": TOO_SLOW,
    "silent": TOO_SLOW,
    "headers_for_ever": FAILED,
    "header_without_end": FAILED,
    "other_file": OTHER,
    "not_there": NOT_FOUND,
}


def capture(count):
    """A sample in each of as many files with a build-id, none of which is there."""
    records = []
    for i in range(count):
        start = hostile_captures.CODE_AVMA + (i << 20)
        body = struct.pack("<IIQQQ", 1, 1, start, 4096, 0)
        body += struct.pack("<B3xQQI", 20, i + 1, 0, 0) + struct.pack("<II", 5, 2)
        body += hostile_captures.text(f"/none/module{i}") + hostile_captures.trailer(1, 1 + i)
        records.append(hostile_captures.record(MMAP2, body, hostile_captures.EXECUTABLE | HAS_BUILD_ID))
        records.append(hostile_captures.sample(1, 1000 + i, [start + 16]))
    return hostile_captures.capture(b"".join(records))


class Debuginfod(rec.Case):
    def setUp(self):
        super().setUp()
        self.cache = os.path.join(self.directory, "cache")
        self.largest_bytes = 0

    @contextlib.contextmanager
    def serving(self, kind):
        server = hostile_server.HostileServer(kind)
        try:
            yield server
        finally:
            server.close()

    def cached_bytes(self):
        total = 0
        for root, _, names in os.walk(self.cache):
            for name in names:
                with contextlib.suppress(OSError):
                    total += os.stat(os.path.join(root, name)).st_size
        return total

    @contextlib.contextmanager
    def watching_the_disk(self):
        self.largest_bytes, is_over = 0, threading.Event()

        def watch():
            while not is_over.wait(0.01):
                self.largest_bytes = max(self.largest_bytes, self.cached_bytes())

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            yield
        finally:
            is_over.set()
            watcher.join()

    def start(self, modules, url, **settings):
        subprocess.run(["rm", "-rf", self.cache], check=True)
        with open(os.path.join(self.directory, "c.data"), "wb") as file:
            file.write(capture(modules))
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DEBUGINFOD_")}
        return subprocess.Popen([rec.REC, "report", "--debuginfod", "c.data"], cwd=self.directory,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**kept, "DEBUGINFOD_URLS": url, "DEBUGINFOD_CACHE_PATH": self.cache,
                                     "HOME": self.directory, **settings})

    def end(self, process):
        """Output, errors, status, and the largest memory of the process and of its children."""
        out, errors = process.stdout.read(), process.stderr.read()
        process.stdout.close()
        process.stderr.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return out, errors, process.returncode, usage.ru_maxrss * 1024

    def check_reply(self, kind, sentence):
        with self.serving(kind) as server, self.watching_the_disk():
            begin = time.monotonic()
            out, errors, status, memory = self.end(self.start(
                1, server.url, DEBUGINFOD_MAXTIME=str(SECONDS), DEBUGINFOD_MAXSIZE=str(FILE_BYTES)))
            self.assertEqual(status, 0, errors)
            self.assertGreater(len(server.requests), 0)
            self.assertIn("module0", out)
            self.assertIn(sentence, errors)
            self.assertLessEqual(errors.count("--debuginfod"), 1, errors)
            self.assertEqual(errors.count("\n"), 1 + errors.count("--debuginfod"), errors)
            self.assertLess(time.monotonic() - begin, SECONDS + rec.figure(20, 30))
            self.assertLess(memory, MEMORY_BYTES)
            self.assertLess(self.largest_bytes, FILE_BYTES + MIB)
            self.assertLess(self.cached_bytes(), 2 * MIB, "left behind")

    def test_there_is_a_sentence_for_each_kind_of_reply(self):
        self.assertEqual(set(SENTENCES), set(hostile_server.KINDS))

    def assert_requests_at_once(self, count, **settings):
        with self.serving("silent") as server:
            process = self.start(20, server.url, **settings)
            end = time.monotonic() + rec.TIMEOUT_S
            while len(server.requests) < count and time.monotonic() < end:
                time.sleep(0.02)
            time.sleep(0.7)  # for one request more
            process.terminate()
            self.end(process)
            self.assertEqual(len(server.requests), count)

    def test_downloads_wait_for_room(self):
        """All downloads together stay below 4 GB, so fewer run at once if each may be large."""
        self.assert_requests_at_once(4)
        self.assert_requests_at_once(2, DEBUGINFOD_MAXSIZE=str(2 * 10**9))
        self.assert_requests_at_once(8, DEBUGINFOD_MAXSIZE=str(10**8))
        self.assert_requests_at_once(1, DEBUGINFOD_MAXSIZE=str(9 * 10**9))

    def test_many_floods_together(self):
        modules, settings = rec.figure((12, {"DEBUGINFOD_MAXSIZE": str(FILE_BYTES)}), (12, {}))
        with self.serving("flood") as server, self.watching_the_disk():
            begin = time.monotonic()
            _, errors, status, memory = self.end(self.start(modules, server.url, **settings))
        self.assertEqual(status, 0)
        self.assertIn(f"{modules} of {modules} downloads failed", errors)
        self.assertLess(time.monotonic() - begin, TOTAL_S + 10)
        self.assertLess(self.largest_bytes, TOTAL_BYTES + MIB)
        self.assertLess(memory, MEMORY_BYTES)

    def descriptors(self, pid):
        return [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd") if int(fd) > 2]

    def test_the_process_that_parses_has_no_network_and_the_client_has_no_file(self):
        """report starts the download process, which starts the client of a download. report is confined; neither the
        capture nor an output is open in the others."""
        with self.serving("silent") as server:
            process = self.start(1, server.url)
            while not server.requests and process.poll() is None:
                time.sleep(0.01)
            pids = [process.pid, *descendants(process.pid)]
            opened = [self.descriptors(pid) for pid in pids]
            with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
                state = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
            with open("/proc/net/tcp", encoding="ascii") as file:
                connections = {line.split()[9] for line in file.readlines()[1:]}
            process.terminate()
            self.end(process)
        self.assertEqual((state["NoNewPrivs"], state["Seccomp"]), ("1", "2"))
        connected = [any(f"socket:[{inode}]" in paths for inode in connections) for paths in opened]
        self.assertEqual(connected, [False, False, True], opened)
        self.assertEqual([path.split(":")[0] for path in opened[1]], ["socket"])
        mine = [path for path in opened[2] if path.startswith(self.directory) and not path.startswith(self.cache)]
        self.assertEqual(mine, [])
        for pid in pids:
            self.assert_ends(pid)

    def assert_ends(self, pid):
        for _ in range(500):
            if not os.path.exists(f"/proc/{pid}"):
                return
            time.sleep(0.02)
        self.fail(f"process {pid} is left behind")


for each_kind, each_sentence in SENTENCES.items():
    setattr(Debuginfod, f"test_the_reply_{each_kind}_is_bounded".replace(" ", "_"),
            lambda case, kind=each_kind, sentence=each_sentence: case.check_reply(kind, sentence))


def descendants(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        children = file.read().split()
    return [found for child in children for found in (child, *descendants(child))]


if __name__ == "__main__":
    rec.main(at_once=4)
