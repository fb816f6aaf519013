#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`rec --kernel` joins the kernel's part of a stack to the user stack below; its relatives as perf record means them."""
import os
import re
import shutil
import subprocess
import time

import rec

NOBODY = 65534
KERNEL = "[kernel.kallsyms]"
HEAD = re.compile(r"^(.*\S)\s+(-?\d+)/(-?\d+)\s+[\d.]+:\s+(\d+) cpu-clock")
FRAME = re.compile(r"^\s+[0-9a-f]+ (.*) \((.*)\)$")
# With the exchange of threads at their end: kernel time in user code, too.
INTERRUPTS = re.compile(r"asm_sysvec_|asm_common_interrupt|ret_from_fork|asm_exc_nmi")
WORK = r"""
#include <pthread.h>
#include <sys/mman.h>
#include <string.h>
static void touch(void)
{
    for (int i = 0; i < 12; i++) {
        char *memory = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise(memory, 64 << 20, MADV_NOHUGEPAGE);
        for (long at = 0; at < 64 << 20; at += 4096) memory[at] = 1;
        munmap(memory, 64 << 20);
    }
}
static void count(void) { for (volatile long i = 0; i < 900000000; i++) continue; }
static int deep(int depth)
{
    volatile char frame[256] = {0};
    if (depth > 0) return deep(depth - 1) + frame[depth % 256];
    for (volatile long i = 0; i < 600000000; i++) continue;
    return 0;
}
static void *run(void *unused) { (void)unused; touch(); return NULL; }
int main(int argc, char **argv)
{
    (void)argc;
    pthread_t threads[4];
    if (strcmp(argv[1], "touch") == 0) touch();
    else if (strcmp(argv[1], "deep") == 0) return deep(1000);
    else if (strcmp(argv[1], "count") == 0) count();
    else {
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, run, NULL);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    }
    return 0;
}
"""


class Sample:
    def __init__(self, head, lines):
        match = HEAD.match(head)
        self.comm, self.weight = match[1], int(match[4])
        self.frames = [FRAME.match(line).groups() for line in lines]
        self.kernel = [name for name, module in self.frames if module == KERNEL]
        self.is_kernel = bool(self.kernel) or self.frames[0][0] == "[kernel]"

    def is_joined(self):
        """A kernel stack from its entry, above a user stack from the start of a thread."""
        user = self.frames[len(self.kernel):]
        starts = ("_start", "clone3", "__clone3", "clone", "__clone")
        if not self.kernel or not user or KERNEL in (module for _, module in user):
            return self.is_at_exec()
        return user[-1][0].split("+")[0] in starts or self.is_at_exec() or self.ends_in_nameless(user)

    def is_at_exec(self):
        """The old stack is gone, and the new one has no frame yet."""
        return bool(self.kernel) and any("exec" in name or "exit_mm" in name for name in self.kernel)

    @staticmethod
    def ends_in_nameless(user):
        """A stripped program's own entry, below the C library's start of main()."""
        return len(user) > 2 and user[-2][0].startswith("__libc_start_main") and user[-1][0] != "[truncated]"


def samples(run):
    done = subprocess.run([rec.REC, "convert", "-q", run.path(), "-o", run.path("rec.perf.txt")],
                          capture_output=True, text=True, timeout=rec.TIMEOUT_S)
    if done.returncode:
        raise AssertionError(done.stderr)
    with open(run.path("rec.perf.txt"), encoding="utf-8") as file:
        blocks = [block.splitlines() for block in file.read().split("\n\n")]
    return [Sample(block[0], block[1:]) for block in blocks if len(block) > 1]


def share(chosen, all_of):
    return 100 * sum(sample.weight for sample in chosen) / max(1, sum(sample.weight for sample in all_of))


class Kernel(rec.Case):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("kernel stacks are for root")
        os.chmod(self.directory, 0o755)

    def work(self):
        path = os.path.join(self.directory, "work")
        if not os.path.exists(path):
            subprocess.run(["gcc", "-O1", "-g", "-pthread", "-x", "c", "-", "-o", path], input=WORK.encode(), check=True)
        return path

    def assert_joined(self, run, kernel_at_least):
        taken = samples(run)
        kernel = [sample for sample in taken if sample.is_kernel]
        self.assertGreater(share(kernel, taken), kernel_at_least)
        self.assertGreater(len(kernel), 50)
        loose = [sample.frames for sample in kernel if not sample.is_joined()]
        self.assertGreaterEqual(share([sample for sample in kernel if sample.is_joined()], kernel), 95, loose[:3])
        return taken


class Joined(Kernel):
    def test_system_calls(self):
        run = self.recorded("dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=200000", rec_options=["--kernel"])
        self.assertEqual(run.summary["engine"], "perf-trap")
        taken = self.assert_joined(run, 50)
        self.assertTrue(any("entry_SYSCALL_64" in name for sample in taken for name in sample.kernel))
        self.assertFalse(any(frame[0] == "[kernel]" for sample in taken for frame in sample.frames))

    def test_page_faults_name_the_line(self):
        run = self.recorded(self.work(), "touch", rec_options=["--kernel"])
        taken = self.assert_joined(run, 50)
        faults = [sample for sample in taken if any("asm_exc_page_fault" in name for name in sample.kernel)]
        self.assertGreater(share(faults, taken), 30)
        touched = [sample for sample in faults if "touch" in sample.frames[len(sample.kernel)][0]]
        self.assertGreater(share(touched, faults), 90)

    def test_a_large_tree_of_files(self):
        self.need_program("git")
        command = ["git", "-c", "core.fsmonitor=false", "--no-optional-locks", "-C", rec.SOURCE, "status"]
        run = self.record(*command, rec_options=["--kernel", "-F", "9999"])
        self.assert_joined(run, 20)

    def test_a_running_server_under_load(self):
        server = subprocess.Popen([self.need_program("redis-server"), "--port", "0", "--unixsocket",
                                   f"{self.directory}/redis", "--save", ""], stdout=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        while not os.path.exists(f"{self.directory}/redis"):
            time.sleep(0.01)
        load = subprocess.Popen([self.need_program("redis-benchmark"), "-s", f"{self.directory}/redis", "-t", "get",
                                 "-n", "10000000", "-q"], stdout=subprocess.DEVNULL)
        self.addCleanup(load.wait)
        self.addCleanup(load.kill)
        run = self.run_in(self.new_directory(), [rec.REC, "--kernel", "-F", "4000", "-p", server.pid, "--duration", "1"])
        self.assertEqual(run.status, 0, run.stderr.decode())
        self.assert_joined(run, 50)

    def test_the_whole_system(self):
        run = self.run_in(self.new_directory(), [rec.REC, "-a", "--kernel", "--", "dd", "if=/dev/zero", "of=/dev/null",
                                                 "bs=64k", "count=100000"])
        self.assertEqual(run.status, 0, run.stderr.decode())
        own = [sample for sample in samples(run) if sample.comm == "dd" and sample.is_kernel]
        self.assertGreater(len(own), 20)
        self.assertGreaterEqual(share([sample for sample in own if sample.is_joined()], own), 95)


class NextToTheSampler(Kernel):
    def test_stacks_larger_than_the_kernels_copy_are_complete(self):
        run = self.recorded(self.work(), "deep", rec_options=["--kernel"])
        self.assertEqual(run.summary["engine"], "perf-trap")
        self.assertGreater(run.count("complete"), 0.95 * run.count("samples"))
        user = [sample for sample in samples(run) if not sample.is_kernel]
        self.assertGreater(share([sample for sample in user if len(sample.frames) > 1000], user), 95)

    def test_no_cpu_time_of_threads_is_counted_twice(self):
        run = self.recorded(self.work(), "threads", rec_options=["--kernel"])
        self.assertEqual(run.summary["engine"], "perf-trap")
        self.assertGreater(run.share_of("asm_exc_page_fault"), 20)
        self.assert_seen(run, 0.02)
        self.assertLess(run.share_of("[kernel]"), 1)

    def test_a_tree_with_a_static_program_is_sampled_once(self):
        static = os.path.join(self.directory, "static")
        subprocess.run(["gcc", "-O1", "-static", "-x", "c", "-", "-o", static], input=WORK.encode(), check=True)
        run = self.recorded("sh", "-c", f"{self.work()} touch; {static} touch", rec_options=["--kernel"])
        kernel = [sample for sample in samples(run) if sample.kernel]
        names = {sample.comm for sample in kernel}
        self.assertLessEqual({"work", "static"}, names)
        self.assert_seen(run, 0.02)


class OneTimer(Kernel):
    DD = ("dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=200000")
    PERIOD_NS = 1000000000 // 999

    def weights(self, run):
        return [sample.weight for sample in samples(run) if sample.kernel]

    def test_both_halves_have_the_samplers_timer(self):
        """By a timer of their own, samples of the kernel have a shorter period."""
        with open("/sys/devices/system/clockevents/clockevent0/current_device", encoding="ascii") as clock, \
                open("/proc/cpuinfo", encoding="utf-8") as processors:
            if not clock.read().startswith("lapic") or " fred " in processors.read():
                self.skipTest("interrupts of timers have other frames here")
        weights = self.weights(self.recorded(*self.DD, rec_options=["--kernel"]))
        whole = [weight for weight in weights if abs(weight - self.PERIOD_NS) < 0.01 * self.PERIOD_NS]
        self.assertGreater(len(weights), 50)
        self.assertGreater(len(whole), 0.5 * len(weights), weights)  # less than 0.1 by a timer of their own

    def test_a_timer_of_their_own_without_the_tracepoint(self):
        """tracefs is for root; the kernel's addresses and samples are for others with two capabilities, too."""
        if not shutil.which("setpriv") or os.stat("/sys/kernel/tracing").st_mode & 0o001 and os.listdir("/sys/kernel/tracing"):
            self.skipTest("there is no setpriv on this machine, or tracefs is mounted for all")
        caps = "-all,+perfmon,+syslog"
        directory = self.new_directory()
        os.chmod(directory, 0o777)
        run = self.run_in(directory, ["setpriv", "--reuid", NOBODY, "--clear-groups", f"--inh-caps={caps}",
                                      f"--ambient-caps={caps}", f"--bounding-set={caps}", rec.REC, "--kernel", "--", *self.DD])
        self.assertEqual(run.status, 0, run.stderr.decode())
        taken = self.assert_joined(run, 50)
        whole = [sample for sample in taken if sample.kernel and abs(sample.weight - self.PERIOD_NS) < 0.01 * self.PERIOD_NS]
        self.assertLess(len(whole), 0.1 * len(taken))


class Shares(Kernel):
    def test_pure_user_code_has_no_kernel_samples_but_interrupts(self):
        taken = samples(self.recorded(self.work(), "count", rec_options=["--kernel"]))
        own = [sample for sample in taken if sample.is_kernel and "count" in str(sample.frames)
               and not any(INTERRUPTS.search(name) for name in sample.kernel)]
        self.assertGreater(len(taken), 200)
        self.assertLess(share(own, taken), 0.5, [sample.frames for sample in own])

    def test_the_sum_is_the_cpu_time_of_the_program(self):
        run = self.recorded(self.work(), "touch", rec_options=["--kernel"])
        self.assert_seen(run, 0.02)

    def test_perf_reads_the_names(self):
        perf = self.need_program("perf")
        run = self.recorded("dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=100000", rec_options=["--kernel"])
        text = subprocess.run([perf, "script", "-i", run.path()], capture_output=True, text=True, timeout=60).stdout
        self.assertIn(f"entry_SYSCALL_64_after_hwframe+0x76 ({KERNEL})".split("+")[0], text)
        self.assertIn(f"({KERNEL})", text)

    def test_names_stay_in_the_capture(self):
        run = self.recorded("dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=100000", rec_options=["--kernel"])
        hidden = subprocess.run([rec.REC, "report", run.path()], capture_output=True, text=True, user=NOBODY, group=NOBODY,
                                extra_groups=[], env={**os.environ, "HOME": "/"})
        if hidden.returncode:  # the file is root's
            os.chmod(run.path(), 0o644)
            hidden = subprocess.run([rec.REC, "report", run.path()], capture_output=True, text=True, user=NOBODY,
                                    group=NOBODY, extra_groups=[])
        self.assertIn("do_syscall_64", hidden.stdout)


class Relatives(Kernel):
    DD = ("dd", "if=/dev/zero", "of=/dev/null", "bs=512", "count=400000")

    def test_kernel_time_only(self):
        for options in (["--all-kernel"], ["-e", "cpu-clock:k"]):
            with self.subTest(options=options):
                run = self.recorded(*self.DD, rec_options=options)
                taken = samples(run)
                self.assertGreater(len(taken), 20)
                self.assertEqual([sample.frames for sample in taken if not sample.kernel], [])
                self.assert_within(run.count("cpu_seen_ns"), run.count("cpu_billed_ns"), 1000000)

    def test_the_part_in_the_kernel_only(self):
        taken = samples(self.recorded(*self.DD, rec_options=["--kernel-callchains"]))
        joined = [sample.frames for sample in taken if sample.kernel and len(sample.kernel) != len(sample.frames)]
        self.assertEqual(joined, [])
        self.assertGreater(share([sample for sample in taken if sample.kernel], taken), 30)
        user = [sample for sample in taken if not sample.is_kernel]
        self.assertEqual({len(sample.frames) for sample in user}, {1})

    def test_both_modifiers_are_the_option(self):
        self.assert_joined(self.recorded(*self.DD, rec_options=["-k", "mono", "-e", "task-clock:uk"]), 30)

    def test_without_kernel_stacks_kernel_time_is_one_frame(self):
        for options in (["--all-user"], ["-e", "cpu-clock:u"]):
            with self.subTest(options=options):
                run = self.recorded(*self.DD, rec_options=[*options, "--engine", "perf-ring"])
                self.assertGreater(run.share_of("[kernel]"), 20)


class Hint(Kernel):
    DD = ("dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=200000")
    SHARE = re.compile(r"rec: (\d+\.\d|100) % of the CPU time is in the kernel, recorded without kernel functions: (.*)")

    def hint(self, stderr):
        """(share, remedy), or None."""
        lines = [match.groups() for match in map(self.SHARE.fullmatch, stderr.decode().splitlines()) if match]
        self.assertLessEqual(len(lines), 1, stderr)
        return (float(lines[0][0]), lines[0][1]) if lines else None

    def test_time_in_the_kernel_without_functions_has_a_hint(self):
        run = self.recorded(*self.DD)
        share_of_kernel, remedy = self.hint(run.stderr)
        self.assertEqual(remedy, "add --kernel")
        self.assert_within(share_of_kernel, 100 * run.count("cpu_kernel_ns") / run.count("cpu_billed_ns"), 1)
        self.assert_within(share_of_kernel, run.share_of("[kernel]"), 3)
        report = self.run_in(self.directory, [rec.REC, "report", run.path()])
        self.assertEqual(self.hint(report.stderr)[1], "record with --kernel")
        self.assertEqual(self.hint(self.recorded(*self.DD, rec_options=["--engine=timer"]).stderr)[1],
                         "add --kernel and remove --engine")

    def report(self, run, *options, status=0):
        done = self.run_in(self.directory, [rec.REC, "report", *options, run.path()])
        self.assertEqual(done.status, status, done.stderr)
        return done

    def test_waits_in_kernel_functions_leave_the_hint(self):
        run = self.recorded("sh", "-c", "sleep 0.2; exec " + " ".join(self.DD), rec_options=["--off-cpu"])
        self.assertEqual(self.hint(run.stderr)[1], "add --kernel")
        self.assertEqual(self.hint(self.report(run).stderr)[1], "record with --kernel")
        self.assertIsNone(self.hint(self.report(run, "--metric", "off-cpu").stderr))

    def test_a_part_has_the_hint_of_its_samples(self):
        run = self.recorded("sh", "-c", f"{' '.join(self.DD)}; {self.work()} count; true")
        self.assertGreater(self.hint(self.report(run, "--comm", "dd").stderr)[0], run.share_of("[kernel]"))
        for part, threads in (("work", 1), ("nothing", 0)):
            found = self.report(run, "--comm", part)
            self.assertIsNone(self.hint(found.stderr))
            self.assertRegex(found.stdout.decode(), rf", {threads} threads?\n")

    def test_a_report_without_content_has_one_line(self):
        run = self.recorded(*self.DD)
        for option in ("--off-cpu", "--stuck", "--lifecycle"):
            self.assertRegex(self.report(run, option, status=125).stderr, rb"\Arec: [^\n]* has no [^\n]*\n\Z")

    def test_ordinary_users_read_what_permits_the_option(self):
        directory = self.new_directory()
        os.chmod(directory, 0o777)
        run = self.run_in(directory, [rec.REC, "--", *self.DD], user=NOBODY, group=NOBODY, extra_groups=[])
        refused = self.run_in(directory, [rec.REC, "--kernel", "--", "true"], user=NOBODY, group=NOBODY, extra_groups=[])
        reason = refused.stderr.decode().strip().removeprefix("rec: cannot record kernel stacks: ")
        self.assertEqual(self.hint(run.stderr)[1],
                         f"--kernel records them, but {reason}" if refused.status else "add --kernel")

    def test_no_hint_without_need(self):
        for options, command in ((["--kernel"], self.DD), (["--all-user"], self.DD), ([], (self.work(), "count"))):
            with self.subTest(options=options, command=command):
                self.assertIsNone(self.hint(self.recorded(*command, rec_options=options).stderr))


class Refusals(Kernel):
    def refused(self, *options, **how):
        directory = self.new_directory()
        os.chmod(directory, 0o777)
        run = self.run_in(directory, [rec.REC, *options, "--", "true"], **how)
        self.assertEqual(run.status, 125)
        self.assertEqual(os.listdir(directory), [])
        return run.stderr.decode()

    def test_ordinary_users_read_the_rule(self):
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
            level = int(file.read())
        if level < 2:
            self.skipTest("kernel.perf_event_paranoid permits kernel stacks to everybody")
        message = self.refused("--kernel", user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertIn(f"kernel.perf_event_paranoid is {level}; set to 1 or less", message)

    def test_hidden_addresses_are_the_rule(self):
        """CAP_PERFMON may sample the kernel, CAP_SYSLOG would be needed for its addresses."""
        if not shutil.which("setpriv"):
            self.skipTest("there is no setpriv on this machine")
        caps = "-all,+perfmon"
        directory = self.new_directory()
        os.chmod(directory, 0o777)
        run = self.run_in(directory, ["setpriv", "--reuid", NOBODY, "--clear-groups", f"--inh-caps={caps}",
                                      f"--ambient-caps={caps}", f"--bounding-set={caps}", rec.REC, "--kernel", "--", "true"])
        self.assertEqual(run.status, 125, run.stderr.decode())
        self.assertIn("kernel.kptr_restrict is", run.stderr.decode())

    def test_combinations(self):
        self.assertIn("--engine perf-ring", self.refused("--kernel", "--engine", "timer"))
        self.assertIn("cannot be combined", self.refused("--kernel", "--all-user"))
        self.assertIn("-k mono", self.refused("-k", "raw"))
        self.assertIn(":u, :k and :uk", self.refused("-e", "cpu-clock:p"))


if __name__ == "__main__":
    rec.main()
