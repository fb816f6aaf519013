#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real programs leave the same output, status and files under rec, 10 000 times a second, as
without it. What time itself makes different is cleaned away by name, in each test."""
import json
import os
import shutil
import signal
import subprocess
import time

import harm
import rec

PYTHON = "/usr/bin/python3"
# Runs tests of Python's own suite, and says how each ended.
PYTHON_TESTS = """
import json, socket, sys, unittest

# In a virtual machine whose host does not answer, those of vsock wait for ever, with or without rec.
vars(socket).pop("IOCTL_VM_SOCKETS_GET_LOCAL_CID", None)

class Outcomes(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.outcomes = {}
    def addSuccess(self, test): self.outcomes[test.id()] = "ok"
    def addFailure(self, test, error): self.outcomes[test.id()] = "failure"
    def addError(self, test, error): self.outcomes[test.id()] = "error"
    def addSkip(self, test, reason): self.outcomes[test.id()] = "skipped"

result = Outcomes()
for name in sys.argv[2:]:
    unittest.defaultTestLoader.loadTestsFromName("test." + name).run(result)
with open(sys.argv[1], "w") as file:
    json.dump(result.outcomes, file)
"""
# In the quick set those that take a second or two.
PYTHON_MODULES = rec.figure(
    ("test_thread", "test_signal.PendingSignalsTests.test_sigwait", "test_os.SpawnTests",
     "test_socket.BasicSocketPairTest"),
    ("test_select", "test_thread", "test_signal", "test_threading", "test_subprocess", "test_socket",
     "test_os"))
# Runtimes and tools that Debian installs quickly; those that are missing are left out. In the long set only.
RUNTIMES = (
    ("ruby", "-e", "p 4.times.map { |i| Thread.new { (1..20000).sum { |x| x * x % 7 } } }.map(&:value); "
                   "Process.wait(fork { exit 3 }); p $?.exitstatus"),
    ("lua5.4", "-e", "local s = 0 for i = 1, 5e6 do s = s + i % 7 end print(s)"),
    ("luajit", "-e", "local s = 0 for i = 1, 5e7 do s = s + i % 7 end print(s)"),
    ("perl", "-e", "$h{$_ % 1000} += $_ for 1..400000; print $h{7}; exit 7"),
    ("php", "-r", "$f = new Fiber(function() { Fiber::suspend(array_sum(range(1, 300000))); }); "
                  "echo $f->start(); exit(7);"),
    ("erl", "-noshell", "-eval", "io:format(\"~p~n\", [lists:sum(lists:seq(1, 300000))]), halt(3)."),
    ("sbcl", "--noinform", "--eval", "(print (loop for i below 10000000 sum (mod i 7)))", "--quit"),
    ("guile", "--no-auto-compile", "-c", "(define (f n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))) (display (f 27))"),
    ("swipl", "-g", "numlist(1, 60000, L), sum_list(L, S), write(S), nl", "-t", "halt(4)"),
    ("octave-cli", "--no-gui", "--eval", "disp(trace(inv(magic(61))) > -1)"),
    ("Rscript", "-e", "cat(sum(solve(matrix(c(2, 1, 1, 3), 2))))"),
    ("pypy3", "-c", "print(sum(i * i % 7 for i in range(5000000)))"),
    ("java", "-version"),
    ("shellcheck", "--norc", "/usr/bin/ldd"),
    ("pandoc", "-f", "markdown", "-t", "html", os.path.join(rec.SOURCE, "README.md")),
    ("node", "-e", "let s = 0; for (let i = 0; i < 3e7; i++) s += i % 7; console.log(s); process.exit(6)"),
    ("qemu-x86_64", PYTHON, "-c", "print(sum(range(300000)))"),
    ("chrt", "-f", "1", PYTHON, "-c", "print(sum(range(3000000)))"),
    ("busybox", "sha256sum", PYTHON),
    ("busybox", "ash", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo $i; exit 9"),
    ("openssl", "dgst", "-sha512", PYTHON),
    ("ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=duration=2:size=320x240:rate=25", "-c:v", "libx264",
     "-threads", "1", "-f", "h264", "-"),
    ("xz", "-T2", "-1c", PYTHON),
    ("eatmydata", PYTHON, "-c", "print(1)"),
    ("faketime", "2020-01-01", "date", "+%Y"),
    ("fakeroot", "id", "-u"),
    ("bwrap", "--dev-bind", "/", "/", "--unshare-all", "id", "-u"),
    ("bash", "-c", "trap 'echo caught' TERM; kill -TERM $$; sleep 0.1 & wait; kill -9 $$"),
    ("sh", "-c", "kill -SEGV $$"),
    ("sh", "-c", "kill -TRAP $$"),
    ("sh", "-c", "kill -PROF $$"),
)
GO = """package main

import (
    "fmt"
    "net"
    "sync"
)

func main() {
    _, _ = net.LookupHost("localhost")
    var group sync.WaitGroup
    sums := make([]int, 8)
    for n := range sums {
        group.Add(1)
        go func(n int) {
            defer group.Done()
            for i := 0; i < 20000000; i++ {
                sums[n] = (sums[n]*31 + i) % 1000003
            }
        }(n)
    }
    group.Wait()
    fmt.Println(sums)
}
"""


class Programs(harm.Identical):
    @rec.only_long
    def test_runtimes_and_tools(self):
        for command in RUNTIMES:
            if shutil.which(command[0]):
                self.identical(*command, may_have_no_samples=True)

    def test_make(self):
        script = ("cp -r \"$SOURCE/src/base\" base; "
                  "printf 'all: $(patsubst %%.c,%%.o,$(wildcard base/text/*.c base/containers/*.c))\\n"
                  "%%.o: %%.c\\n\\t@gcc -O1 -D_GNU_SOURCE -I. -c $< -o $@\\n' > Makefile; "
                  "make -s -j2 && ls base/*/*.o | wc -l")
        self.need_program("make")
        self.identical("sh", "-c", script, status=0)

    def test_pythons_own_tests(self):
        done = subprocess.run([PYTHON, "-c", "import test.test_select"], capture_output=True)
        if done.returncode:
            self.skipTest("Python's tests are not installed (Debian: libpython3.11-testsuite)")
        bare = self.outcomes([], PYTHON_MODULES)
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                self.same_outcomes(engine, bare)

    def same_outcomes(self, engine, bare):
        """What failed under rec is tried again, with and without: some depend on the load."""
        names = PYTHON_MODULES
        for turn in range(3):
            if turn > 0:
                bare = self.outcomes([], names)
            recorded = self.outcomes(
                [rec.REC, "-q", "-F", harm.FAST_HZ, f"--engine={engine}", "-o", self.profile, "--"], names)
            different = [name for name in bare if recorded.get(name) != bare[name]]
            if not different:
                return
            names = [name.removeprefix("test.") for name in different if name.startswith("test.")]
        self.assertEqual({name: recorded.get(name) for name in different},
                         {name: bare[name] for name in different})

    def outcomes(self, prefix, names):
        directory = self.new_directory()
        self.watched([*prefix, PYTHON, "-c", PYTHON_TESTS, "outcomes.json", *names], directory,
                     timeout_s=rec.figure(100, 1500))
        with open(os.path.join(directory, "outcomes.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_openssl(self):
        self.need_program("openssl")
        self.identical("sh", "-c", "openssl speed -seconds 1 -bytes 1024 sha256; echo status $?; "
                       "head -c 30000000 /dev/zero | openssl sha512",
                       differs=(rb"[0-9.]+s", rb" +[0-9.]+k", rb"[0-9]+ sha256", rb"CPUINFO[^\n]*"))

    def test_tar_and_xz(self):
        self.need_program("xz")
        script = ("tar -C \"$SOURCE\" --sort=name --mtime=@0 -cf - src docs | xz -T2 -1 > a.tar.xz; "
                  "mkdir out; xz -dc a.tar.xz | tar -C out -xf -; find out -type f | wc -l; sha256sum a.tar.xz")
        self.identical("sh", "-c", script)

    def test_a_go_program_with_the_c_library(self):
        go = self.need_program("go")
        path = os.path.join(self.directory, "goroutines")
        with open(path + ".go", "w", encoding="utf-8") as file:
            file.write(GO)
        environment = dict(os.environ, CGO_ENABLED="1", GO111MODULE="off",
                           GOCACHE=rec.GO_CACHE)
        built = subprocess.run([go, "build", "-o", path, path + ".go"], env=environment,
                               capture_output=True, timeout=200)
        if built.returncode:
            self.skipTest("go cannot build a program that uses the C library here")
        self.identical(path, may_have_no_samples=True)


class Server(harm.Case):
    def test_redis_under_its_benchmark(self):
        for program in ("redis-server", "redis-benchmark", "redis-cli"):
            self.need_program(program)
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                self.serve(engine)

    def serve(self, engine):
        directory = self.new_directory()
        socket = os.path.join(directory, "socket")
        server = subprocess.Popen([rec.REC, "-q", "-F", str(harm.FAST_HZ), f"--engine={engine}", "--",
                                   "redis-server", "--port", "0", "--unixsocket", socket, "--save", ""],
                                  cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        end = time.monotonic() + 20
        while not os.path.exists(socket) and time.monotonic() < end:
            time.sleep(0.05)
        count = rec.figure(20000, 500000)
        done = self.watched(["redis-benchmark", "-s", socket, "-q", "-n", count, "-c", 20, "-r", 1000, "-t",
                             "set,get,incr,lpush"])
        self.assertEqual((done.status, done.stderr), (0, b""))
        length = self.watched(["redis-cli", "-s", socket, "llen", "mylist"])
        self.assertEqual(length.stdout, b"%d\n" % count)
        server.send_signal(signal.SIGTERM)
        output = server.communicate(timeout=rec.TIMEOUT_S)[0]
        self.assertEqual(server.returncode, 0, output)
        self.assertIn(b"bye bye", output)
        run = rec.Run(subprocess.CompletedProcess((), 0, b"", b""), directory, 0)
        self.assertGreater(run.count("samples"), 20)


if __name__ == "__main__":
    rec.main()
