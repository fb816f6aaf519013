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

    def test_each_reply_is_bounded(self):
        self.assertEqual(set(SENTENCES), set(hostile_server.KINDS))
        for kind, sentence in SENTENCES.items():
            with self.subTest(kind=kind), self.serving(kind) as server, self.watching_the_disk():
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

    def requests_at_once(self, **settings):
        with self.serving("silent") as server:
            process = self.start(20, server.url, **settings)
            counts = []
            for _ in range(30):
                time.sleep(0.1)
                counts.append(len(server.requests))
            process.terminate()
            self.end(process)
        self.assertEqual(counts[-1], counts[-10], "still growing")
        return counts[-1]

    def test_downloads_wait_for_room(self):
        """All downloads together stay below 4 GB, so fewer run at once if each may be large."""
        self.assertEqual(self.requests_at_once(), 4)
        self.assertEqual(self.requests_at_once(DEBUGINFOD_MAXSIZE=str(2 * 10**9)), 2)
        self.assertEqual(self.requests_at_once(DEBUGINFOD_MAXSIZE=str(10**8)), 8)
        self.assertEqual(self.requests_at_once(DEBUGINFOD_MAXSIZE=str(9 * 10**9)), 1)

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

    def test_the_client_has_no_file_of_the_conversion(self):
        """Neither the capture nor an output is open in the process that talks to the server."""
        with self.serving("silent") as server:
            process = self.start(1, server.url)
            while not server.requests and process.poll() is None:
                time.sleep(0.01)
            with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
                children = file.read().split()
            opened = [os.readlink(f"/proc/{pid}/fd/{fd}") for pid in children for fd in os.listdir(f"/proc/{pid}/fd")]
            process.terminate()
            self.end(process)
        self.assertTrue(any(path.startswith("socket:") for path in opened), opened)
        mine = [path for path in opened if path.startswith(self.directory) and not path.startswith(self.cache)]
        self.assertEqual(mine, [])


if __name__ == "__main__":
    rec.main()
