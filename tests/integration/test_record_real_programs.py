#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that people run have the same output, status and files under rec as without it."""
import os
import subprocess

import rec

BASH = ("trap 'echo trapped' USR1; trap 'echo leaving' EXIT; kill -USR1 $$; "
        "seq 20000 | sort -rn | head -3; for i in $(seq 30); do (exit $((i % 7))); echo -n $?; done; "
        "wait; diff <(seq 5) <(seq 6); sleep 0.05 & wait $!; exit 9")
PYTHON = ("import subprocess, sys, threading, hashlib\n"
          "def work(n): results[n] = hashlib.sha256(b'x' * 3000000 * n).hexdigest()\n"
          "results = {}\n"
          "threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]\n"
          "[t.start() for t in threads]; [t.join() for t in threads]\n"
          "print(sorted(results.items()))\n"
          "print(subprocess.run(['sh', '-c', 'echo out; echo err >&2; exit 4'], capture_output=True))\n"
          "print(subprocess.check_output('seq 10 | tail -2', shell=True))\n"
          "sys.exit(6)\n")
PERL = ("$SIG{ALRM} = sub { print \"alarm\\n\" }; alarm 1; my %h; $h{$_ % 977} += $_ for 1 .. 900000; "
        "print join(',', map { $h{$_} } 0 .. 9), \"\\n\"; sleep 2; print `echo child`; exit 3")
SQL = ("create table t(a, b); with recursive c(n) as (select 1 union all select n + 1 from c where "
       "n < 100000) insert into t select n, hex(n * 7919 % 10007) from c; "
       "select b, count(*) from t group by b order by 2 desc, 1 limit 3; select nonsense;")
NODE = ("const { Worker, isMainThread } = require('worker_threads');"
        "if (isMainThread) { const w = new Worker(__filename); w.on('message', m => console.log(m));"
        "setTimeout(() => console.log('timer'), 50); } else { let s = 0;"
        "for (let i = 0; i < 2e7; i++) s = (s * 31 + i) % 1000003;"
        "require('worker_threads').parentPort.postMessage(s); }")
CGO = """package main

// #include <stdlib.h>
// static int twice(int x) { return 2 * x; }
import "C"
import "fmt"

func main() {
    sum := 0
    for i := 0; i < 3000000; i++ {
        sum += int(C.twice(C.int(i))) % 7
    }
    fmt.Println(sum)
}
"""


class RealPrograms(rec.Case):
    def compare(self, *command, turns=2, clean=None, **options):
        """Also twice under each engine: what goes wrong here goes wrong now and then."""
        bare = self.bare(*command, **options)
        for engine in rec.ENGINES:
            for turn in range(turns):
                with self.subTest(program=command[0], engine=engine, turn=turn):
                    self.need_engine(engine)
                    run = self.record(*command, rec_options=["-q", "-F", "9999", f"--engine={engine}"],
                                      **options)
                    errors = [clean(text) if clean else text for text in (run.stderr, bare.stderr)]
                    errors[0] = b"".join(line for line in errors[0].splitlines(keepends=True)
                                         if not line.startswith(b"rec: "))
                    self.assertEqual((run.status, run.stdout, errors[0]),
                                     (bare.status, bare.stdout, errors[1]))
        return bare

    def test_bash_with_traps_and_pipes(self):
        self.compare("bash", "-c", BASH)

    def test_git(self):
        self.need_program("git")
        if subprocess.run(["git", "-C", rec.SOURCE, "rev-parse"], capture_output=True).returncode:
            self.skipTest("the sources are not in a git repository")
        self.compare("git", "-C", rec.SOURCE, "--no-pager", "log", "--stat", "-n", "40")

    def test_gcc_writes_the_same_object(self):
        gcc = self.need_program("gcc")
        source = str(rec.SOURCE / "src" / "base" / "containers" / "buffer.c")
        objects = []
        for prefix in ([], [rec.REC, "-q", "-F", "9999", "--"]):
            directory = self.new_directory()
            self.run_in(directory, [*prefix, gcc, "-O2", "-c", source, "-I", str(rec.SOURCE / "src"),
                                    "-D_GNU_SOURCE", "-o", "out.o"])
            with open(os.path.join(directory, "out.o"), "rb") as file:
                objects.append(file.read())
        self.assertEqual(objects[0], objects[1])

    def test_python_with_threads_and_subprocesses(self):
        self.compare("/usr/bin/python3", "-c", PYTHON)

    def test_perl_with_alarm(self):
        self.compare(self.need_program("/usr/bin/perl"), "-e", PERL, turns=1)

    def test_sqlite(self):
        self.compare(self.need_program("sqlite3"), ":memory:", SQL)

    def test_xz_with_threads(self):
        xz = self.need_program("xz")
        self.compare(xz, "-c", "-T2", "--block-size=200KiB", "-2", rec.REC)

    def test_node_with_a_worker(self):
        node = self.need_program("node")
        path = os.path.join(self.directory, "worker.js")
        with open(path, "w", encoding="utf-8") as file:
            file.write(NODE)
        self.compare(node, path, turns=1)

    def test_a_go_program_that_calls_c(self):
        go = self.need_program("go")
        path = os.path.join(self.directory, "cgo")
        with open(path + ".go", "w", encoding="utf-8") as file:
            file.write(CGO)
        environment = dict(os.environ, CGO_ENABLED="1", GOFLAGS="-mod=mod", GO111MODULE="off",
                           GOCACHE=rec.GO_CACHE)
        built = subprocess.run([go, "build", "-o", path, path + ".go"], env=environment,
                               capture_output=True, timeout=200)
        if built.returncode:
            self.skipTest("go cannot build a program that calls C here")
        bare = self.bare(path)
        run = self.record(path)
        self.assertEqual(run.stdout, bare.stdout)
        self.assertEqual(run.status, 0)

    def test_threads_with_blocked_signals_see_their_own_masks(self):
        self.compare(rec.target("signals_blocked"), "200")


if __name__ == "__main__":
    rec.main()
