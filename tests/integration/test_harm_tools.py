#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that run under other tools at the same time, or with other allocators and sanitizers in them,
leave the same output, status and files under rec, 10 000 times a second, as without it."""
import os
import shutil
import subprocess

import harm
import rec

PYTHON = "/usr/bin/python3"
SANITIZED = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long sum;
static void *work(void *argument)
{
    for (long i = 0; i < 20000; i++) {
        char *bytes = malloc(i % 500 + 1);
        memset(bytes, (int)i, i % 500 + 1);
        pthread_mutex_lock(&mutex);
        sum += bytes[0];
        pthread_mutex_unlock(&mutex);
        free(bytes);
    }
    return argument;
}
int main(int argc, char **argv)
{
    (void)argv;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\\n", sum);
    if (argc > 1) {
        char *volatile lost = malloc(4711);
        lost = NULL;
    }
    return 0;
}
"""

# It says how many seconds it has used, which is what gmon.out says, too.
PROFILED = """
#include <stdio.h>
#include <time.h>
__attribute__((noinline)) unsigned long work(unsigned long sum)
{
    for (unsigned long i = 0; i < 1000000; i++)
        sum = (sum * 31 + i) % 1000003;
    return sum;
}
int main(void)
{
    unsigned long sum = 1;
    while (clock() < CLOCKS_PER_SEC)
        sum = work(sum);
    printf("%f\\n", (double)clock() / CLOCKS_PER_SEC + (sum == 0));
    return 0;
}
"""


TRACED = r"""
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static void burn(unsigned long rounds)
{
    for (volatile unsigned long i = 0; i < rounds; i++)
        ;
}

int main(void)
{
    int stops = 0;
    burn(30000000);
    for (int turn = 0; turn < 30; turn++) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) {
            ptrace(PTRACE_TRACEME, 0, NULL, NULL);
            burn(2000000);
            raise(SIGSTOP);
            _exit(7);
        }
        while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
            stops += WSTOPSIG(status) != SIGSTOP;
            ptrace(PTRACE_CONT, pid, NULL, NULL);
        }
    }
    printf("%d stops\n", stops);
    return 0;
}
"""


class Tools(harm.Identical):
    def test_gdb_of_a_program(self):
        gdb = self.need_program("gdb")
        self.identical(gdb, "--batch", "-ex", "break main", "-ex", "run", "-ex", "continue", "--args",
                       rec.target("sym_c"), differs=(rb"process \d+", rb"0x7f[0-9a-f]+"), may_have_no_samples=True)

    def test_a_process_traced_by_its_parent_stops_for_no_sample(self):
        for run in self.same(self.build("traced", TRACED)):
            self.assertEqual(run.stdout, b"0 stops\n")

    def test_gdb_of_rec(self):
        gdb = self.need_program("gdb")
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                run = self.watched([gdb, "--batch", "-ex", "run", "--args", rec.REC, "-q", "-F",
                                    harm.FAST_HZ, f"--engine={engine}", "-o", self.profile, "--",
                                    rec.target("storm_malloc"), 2000])
                bare = self.watched([rec.target("storm_malloc"), 2000])
                self.assertIn(bare.stdout.strip(), run.stdout.split())
                self.assertIn(b"exited normally", run.stdout)

    def test_valgrind(self):
        valgrind = self.need_program("valgrind")
        self.identical(valgrind, "-q", "--error-exitcode=9", self.build("plain", SANITIZED, "-pthread"),
                       may_have_no_samples=True)

    def test_a_shell_inside_valgrind_that_executes_programs(self):
        valgrind = self.need_program("valgrind")
        self.identical(valgrind, "-q", "--trace-children=yes", "--error-exitcode=9", "sh", "-c",
                       "/bin/true; env -i /bin/true; echo done", may_have_no_samples=True)

    def test_a_check_for_leaks_neither_warns_of_the_sampler_nor_reads_it_whole(self):
        valgrind = self.need_program("valgrind")
        command = [valgrind, "--leak-check=full", self.build("plain", SANITIZED, "-pthread")]
        # The C library's table of a thread's thread-local storage has 16 bytes for each library that has any.
        self.identical(*command, differs=(rb"==\d+==", rb"[\d,]+ bytes allocated"), may_have_no_samples=True)
        self.assertLess(self.peak_kib(rec.REC, "-q", "-o", self.profile, "--", *command),
                        self.peak_kib(*command) + 100 * 1024)

    @staticmethod
    def is_named_inside(run):
        reasons = [value for key, value in run.summary.items() if key.startswith("not_followed.")]
        return any("inside another" in reason for reason in reasons)

    def test_a_program_inside_valgrind_is_told_as_such(self):
        run = self.record(self.need_program("valgrind"), "-q", rec.target("short_run"), "1")
        self.assertTrue(self.is_named_inside(run), run.summary)

    def test_an_emulator_with_a_sampler_stays_recorded_when_its_guest_starts(self):
        qemu = self.need_program("qemu-x86_64")
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                run = self.recorded(qemu, rec.target("short_run"), "500", rec_options=[f"--engine={engine}"])
                self.assertFalse(self.is_named_inside(run), run.summary)
                per_second = 999 if engine == "perf-trap" else 100
                self.assertGreater(int(run.summary["samples"]), 0.3 * per_second, run.summary)

    @staticmethod
    def peak_kib(*command):
        """Of the process that had most in memory."""
        run = subprocess.run([PYTHON, "-c", "import resource, subprocess, sys; subprocess.run(sys.argv[1:]); "
                              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)", *command],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        return int(run.stdout.split()[-1])

    def test_address_sanitizer(self):
        for compiler in ("gcc", "clang-14"):
            if shutil.which(compiler):
                self.identical(self.build(f"asan-{compiler}", SANITIZED, "-pthread", "-fsanitize=address",
                                          compiler=compiler))

    def test_leak_sanitizer_finds_the_programs_leak_alone(self):
        for compiler in ("gcc", "clang-14"):
            if shutil.which(compiler):
                program = self.build(f"leak-{compiler}", SANITIZED, "-pthread", "-fsanitize=leak",
                                     compiler=compiler)
                self.identical(program, "leak", differs=(rb"==\d+==", rb"0x[0-9a-f]+"))

    def test_thread_sanitizer(self):
        for compiler in ("gcc", "clang-14"):
            if shutil.which(compiler):
                self.identical(self.build(f"tsan-{compiler}", SANITIZED, "-pthread", "-fsanitize=thread",
                                          compiler=compiler))

    def test_other_allocators(self):
        program = self.build("plain", SANITIZED, "-pthread")
        found = 0
        for library in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4"):
            if subprocess.run(["/bin/true"], env={"LD_PRELOAD": library}, capture_output=True).stderr:
                continue
            found += 1
            self.identical(program, env=dict(os.environ, LD_PRELOAD=library))
            self.identical(PYTHON, "-c", "print(sum(len(str(i) * 3) for i in range(300000)))",
                           env=dict(os.environ, LD_PRELOAD=library))
        if not found:
            self.skipTest("neither jemalloc nor tcmalloc is installed")

    def test_the_profile_of_gprof(self):
        gprof = self.need_program("gprof")
        program = self.build("profiled", PROFILED, "-pg")
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                run = self.recorded(program, rec_options=["-q", "-F", "999", f"--engine={engine}"])
                flat = subprocess.run([gprof, "-b", "-p", program, run.path("gmon.out")], capture_output=True,
                                      text=True).stdout
                work = next(line.split() for line in flat.splitlines() if line.split()[-1:] == ["work"])
                # The sampler's would be two and a half times as many more; on a busy machine 0.4 more were seen.
                self.assert_within(float(work[2]) / float(run.stdout), 1, 0.6)
                self.assertGreater(run.count("samples"), 100)
                self.assertGreater(run.share_of("work"), 80)


if __name__ == "__main__":
    rec.main()
