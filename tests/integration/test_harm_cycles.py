#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A thousand recordings, snapshots and lists of modules of a running program change none of its calls and replies, and
the last costs rec as much memory and as many descriptors as the first."""
import os
import socket
import statistics
import subprocess
import threading
import time

import rec

NOBODY = 65534
AS_NOBODY = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
CYCLES = rec.figure(5, 1000)
PART_SECONDS = rec.figure(1, 100)
CYCLE_SECONDS = rec.figure(0.6, 90)  # of a part: the last cycle ends before the calls, on a busy machine, too
KILOBYTES, DESCRIPTORS = 512, 3  # more at the end: noise of the allocator, and descriptors open for a moment
COMMANDS = {
    "record": ["-q", "--duration", "0.05", "-o", "rec.data"],
    "stacks": ["stacks", "--json", "--timeout", "60s"],
    "threads": ["threads", "--json", "--timeout", "60s"],
    "images": ["images", "--json", "--timeout", "60s"],
}


def used_by(pid):
    """Memory at its highest in KiB, and descriptors; None: it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            lines = dict(line.split(":", 1) for line in file)
        return int(lines["VmHWM"].split()[0]), len(os.listdir(f"/proc/{pid}/fd"))
    except (OSError, KeyError):
        return None


class Cycles(rec.Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.directory, 0o777)

    def start(self, *command, **options):
        target = subprocess.Popen([str(word) for word in command], cwd=self.directory, text=True, **options, **AS_NOBODY)
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        return target

    def cycle(self, words):
        """One run of rec: memory and descriptors at their highest."""
        done = subprocess.Popen([rec.REC, *map(str, words)], cwd=self.directory, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, **AS_NOBODY)
        memory = descriptors = 0
        while done.poll() is None:
            used = used_by(done.pid)
            if used:
                memory, descriptors = max(memory, used[0]), max(descriptors, used[1])
            time.sleep(0.002)
        errors = done.stderr.read()
        done.stderr.close()
        self.assertEqual((done.returncode, errors), (0, ""), words)
        return memory, descriptors

    def assert_flat(self, name, costs):
        """The last tenth and the first: median of the memory, most descriptors. A busy machine looks at each run a few
        times only, and not always when it has most descriptors."""
        tenth = max(len(costs) // 10, 1)
        first, last = ((statistics.median(memory), max(descriptors)) for memory, descriptors in
                       (zip(*part) for part in (costs[:tenth], costs[-tenth:])))
        print(f"{name}: {len(costs)} cycles; memory {first[0]} and {last[0]} KiB, descriptors {first[1]} and {last[1]}",
              flush=True)
        if rec.LONG:
            self.assertLess(last[0], first[0] + KILOBYTES, name)
            self.assertLessEqual(last[1], first[1] + DESCRIPTORS, name)

    def check_calls(self, name):
        costs = []
        while len(costs) < CYCLES:
            target = self.start(rec.target("blocked_calls"), PART_SECONDS, stdout=subprocess.PIPE)
            self.assertEqual(target.stdout.readline(), "ready\n")
            end = time.monotonic() + CYCLE_SECONDS
            while time.monotonic() < end and len(costs) < CYCLES:
                costs.append(self.cycle([*COMMANDS[name], "-p", target.pid]))
            self.assertEqual(target.stdout.read(), "0 of 50 differ\n", name)
            target.stdout.close()
        self.assert_flat(name, costs)


class BlockingCalls(Cycles):
    def test_recordings(self):
        self.check_calls("record")

    def test_stacks(self):
        self.check_calls("stacks")

    def test_threads(self):
        self.check_calls("threads")

    def test_images(self):
        self.check_calls("images")


def encoded(*words):
    return b"".join([b"*%d\r\n" % len(words), *(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)])


def conversation():
    """The same commands in each call; the last one marks the end of the replies."""
    commands = [(b"DEL", b"list", b"counter", b"text")]
    for i in range(100):
        number = b"%d" % i
        commands += [(b"SET", b"key" + number, number * 50), (b"GET", b"key" + number), (b"INCR", b"counter"),
                     (b"RPUSH", b"list", number), (b"APPEND", b"text", number), (b"LRANGE", b"list", b"0", b"-1"),
                     (b"INCR", b"text-" + number + b"x", b"too many")]
    commands += [(b"GET", b"text"), (b"ECHO", b"the end")]
    return b"".join(encoded(*words) for words in commands)


class Client(threading.Thread):
    """Repeats the conversation and compares the replies with those before rec."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(rec.TIMEOUT_S)
        self.connection.connect(path)
        self.replies()  # makes the keys
        self.expected = self.replies()
        self.rounds, self.different, self.is_over = 0, 0, threading.Event()

    def replies(self):
        self.connection.sendall(conversation())
        got = b""
        while not got.endswith(b"the end\r\n"):
            part = self.connection.recv(65536)
            if not part:
                return got
            got += part
        return got

    def run(self):
        while not self.is_over.wait(0.005):
            self.rounds += 1
            self.different += self.replies() != self.expected

    def end(self):
        self.is_over.set()
        self.join()
        self.connection.close()


class Redis(Cycles):
    def start_server(self):
        path = f"{self.directory}/socket"
        server = self.start(self.need_program("redis-server"), "--port", 0, "--unixsocket", path, "--save", "",
                            stdout=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while not os.path.exists(path) and time.monotonic() < end:
            time.sleep(0.05)
        return server, path

    def status_of(self, path, section):
        done = subprocess.run([self.need_program("redis-cli"), "-s", path, "info", section], capture_output=True, text=True,
                              check=True)
        return dict(line.split(":", 1) for line in done.stdout.splitlines() if ":" in line)

    def test_under_its_benchmark(self):
        server, path = self.start_server()
        client = Client(path)
        self.assertEqual(self.status_of(path, "stats")["total_error_replies"], "200")
        load = self.start(self.need_program("redis-benchmark"), "-s", path, "-l", "-q", "-c", 20, "-r", 1000, "-t",
                          "set,get,incr,hset,zadd,mset", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(0.2)
        descriptors = len(os.listdir(f"/proc/{server.pid}/fd"))
        client.start()
        for name, words in COMMANDS.items():
            self.assert_flat(name, [self.cycle([*words, "-p", server.pid]) for _ in range(CYCLES)])
        client.end()
        self.assertIsNone(load.poll())
        load.kill()
        self.assertEqual(load.stderr.read(), "")
        load.stderr.close()
        print(f"{client.rounds} conversations, {client.different} differ", flush=True)
        self.assertGreater(client.rounds, CYCLES)
        self.assertEqual(client.different, 0)
        self.assertEqual(int(self.status_of(path, "stats")["total_error_replies"]), 100 * (client.rounds + 2))
        self.assertEqual(self.status_of(path, "server")["process_id"], str(server.pid))
        self.assertLessEqual(len(os.listdir(f"/proc/{server.pid}/fd")), descriptors)


class OneProcess(Cycles):
    """`--count`: rec repeats by itself, and grows neither in memory nor in descriptors."""

    def check(self, command):
        target = self.start(rec.target("blocked_calls"), 10 * PART_SECONDS, stdout=subprocess.PIPE)
        self.addCleanup(target.stdout.close)
        self.assertEqual(target.stdout.readline(), "ready\n")
        watched = subprocess.Popen([rec.REC, command, "--json", "-p", str(target.pid), "--timeout", "60s", "--interval", "1ms",
                                    "--count", str(CYCLES)], stdout=subprocess.PIPE, **AS_NOBODY)
        costs = [used_by(watched.pid) for _ in watched.stdout]
        watched.stdout.close()
        self.assertEqual((watched.wait(), len(costs)), (0, CYCLES))
        self.assert_flat(command, [cost for cost in costs if cost])

    def test_stacks(self):
        self.check("stacks")

    def test_threads(self):
        self.check("threads")


if __name__ == "__main__":
    rec.main()
