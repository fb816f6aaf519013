#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`rec -a`, `-C`, `-G` and `-u` record processes that rec did not start, until the command behind the options ends."""
import os
import pwd
import signal
import subprocess
import sys

import rec

NOBODY = 65534
# Stacks of 31 KiB.
DEEP = """
#include <time.h>
static volatile int value;
__attribute__((noinline)) int descend(int depth)
{
    volatile char frame[512];
    frame[0] = 1;
    while (depth == 0 && clock() < 2 * CLOCKS_PER_SEC) for (int i = 0; i < 100000; i++) value++;
    return (depth ? descend(depth - 1) : value) + frame[0];
}
int main(void) { return descend(60) == 0; }
"""
# 512 MiB of small pages, and an end at a line from the file.
LARGE = """
import mmap, os, sys
memory = mmap.mmap(-1, 512 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.madvise(mmap.MADV_NOHUGEPAGE)
for at in range(0, 512 << 20, 4096):
    memory[at] = 1
print("ready", flush=True)
open(sys.argv[1]).readline()
os._exit(0)
"""


def as_nobody():
    """Options of Popen: an ordinary user, where the tests run as root."""
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


class System(rec.Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.directory, 0o755)

    def record_all(self, *options, status=0, **how):
        directory = self.new_directory()
        os.chmod(directory, 0o777)
        run = self.run_in(directory, [rec.REC, *options], **how)
        self.assertEqual(run.status, status, run.stderr.decode())
        return run

    def names(self, run):
        return {process["name"] for process in run.info["processes"]}

    def start(self, *command, **options):
        target = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, **options)
        self.addCleanup(target.stdout.close)
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        self.assertEqual(target.stdout.readline(), b"ready\n")
        return target

    def assert_work(self, run, function):
        stacks = {stack: weight for stack, weight in run.stacks().items() if function in stack}
        whole = sum(weight for stack, weight in stacks.items()
                    if "_start" in stack or "clone3" in stack or "__clone3" in stack)
        self.assertGreater(sum(stacks.values()), 0)
        self.assertGreater(whole, 0.98 * sum(stacks.values()))

    def test_all_processes_until_the_command_ends(self):
        """Those that ran before, and those that start meanwhile; their CPU time is that of the processors."""
        self.need_root()
        self.start(rec.target("attached"), 30, 1, 2, **as_nobody())
        run = self.record_all("-a", "--", "sh", "-c", f"{rec.target('short_run')} 700; exit 3", status=3)
        self.assertEqual(run.summary["engine"], "perf-ring")
        self.assertTrue({"attached", "short_run", "sh"} <= self.names(run), self.names(run))
        self.assert_work(run, "existing_work")
        self.assertGreater(run.share_of("burn_until_ns"), 0)
        unnamed = [process for process in run.info["processes"] if process["name"] == "?"]
        self.assertLessEqual(len(unnamed), 0.05 * len(run.info["processes"]))
        if run.lost() == 0:
            self.assert_seen(run, 0.05)
        self.assertIn(b"the system was recorded for", run.stderr)

    def test_copies_of_deep_stacks_grow(self):
        """With copies of 16 KiB no stack of this program would be complete."""
        self.need_root()
        program = os.path.join(self.directory, "deep_frames")
        subprocess.run(["gcc", "-O1", "-x", "c", "-", "-o", program], input=DEEP.encode(), check=True)
        run = self.record_all("-a", "--", program)
        deep = {stack: weight for stack, weight in run.stacks().items() if "descend" in stack}
        whole = sum(weight for stack, weight in deep.items() if stack.count("descend") == 61 and "_start" in stack)
        self.assertGreater(whole, 0.3 * sum(deep.values()))

    def test_a_process_is_one_until_the_kernel_has_taken_it_down(self):
        """Samples go on after its last record, here for seconds beside a loop on the same processor."""
        self.need_root()
        self.need_program("taskset")
        fifo, processor = os.path.join(self.directory, "fifo"), min(os.sched_getaffinity(0))
        os.mkfifo(fifo)
        target = self.start(sys.executable, "-c", LARGE, fifo)
        os.sched_setaffinity(target.pid, {processor})
        os.setpriority(os.PRIO_PROCESS, target.pid, 19)
        run = self.record_all("-a", "--", "sh", "-c", f"echo > {fifo}; taskset -c {processor} {rec.target('short_run')} 2500")
        own = [process for process in run.info["processes"] if process["pid"] == target.pid]
        self.assertLessEqual(len(own), 1, own)  # 0: it had no processor meanwhile

    def test_a_process_goes_on_after_its_main_thread(self):
        self.need_root()
        run = self.record_all("-a", "--", rec.target("ends"), "after-main", "700", status=5)
        own = [process for process in run.info["processes"] if process["name"] == "ends"]
        self.assertEqual(len(own), 1, own)
        self.assertGreater(own[0]["cpu_ns"], 0.5e9)

    def test_the_processes_of_one_processor(self):
        self.need_root()
        target = self.start(rec.target("attached"), 30, 1, 0)
        os.sched_setaffinity(target.pid, {0})
        run = self.record_all("-C", "0", "--duration", "1")
        self.assert_work(run, "existing_work")
        self.assertIn(b"rec: processor 0 was recorded for", run.stderr)
        run = self.record_all("-C", "4000", "--duration", "1", status=125)
        self.assertIn(b"not all of them are online", run.stderr)

    def test_the_processes_of_a_cgroup(self):
        group = self.new_cgroup()
        inside, outside = (self.start(rec.target("attached"), 30, 1, 0) for _ in range(2))
        with open(f"{group}/cgroup.procs", "w", encoding="ascii") as file:
            file.write(str(inside.pid))
        run = self.record_all("-G", os.path.basename(group), "--duration", "1")
        pids = {process["pid"] for process in run.info["processes"]}
        self.assertIn(inside.pid, pids)
        self.assertNotIn(outside.pid, pids)
        self.assert_work(run, "existing_work")
        inside.kill()
        inside.wait()

    def test_the_processes_of_a_user(self):
        user = pwd.getpwuid(NOBODY if os.geteuid() == 0 else os.geteuid()).pw_name
        target = self.start(rec.target("attached"), 30, 1, 2, **as_nobody())
        run = self.record_all("-u", user, "--duration", "1", **as_nobody())
        self.assertIn(target.pid, {process["pid"] for process in run.info["processes"]})
        self.assert_work(run, "existing_work")
        run = self.record_all("-u", "no-such-user", "--duration", "1", status=125)
        self.assertIn(b"no user 'no-such-user'", run.stderr)

    def test_processes_of_a_user_that_end_meanwhile(self):
        shells = self.start("sh", "-c", "echo ready; exec >/dev/null; for i in 1 2 3 4; do "
                            "(while :; do true & true & true & wait; done) & done; wait",
                            start_new_session=True, **as_nobody())
        self.addCleanup(os.killpg, shells.pid, signal.SIGKILL)
        for _ in range(4):
            run = self.record_all("-q", "-u", str(NOBODY if os.geteuid() == 0 else os.geteuid()),
                                  "--duration", "0.1", **as_nobody())
            self.assertTrue(run.info["notes"]["target"].startswith("user "))

    def test_a_process_until_the_command_ends(self):
        target = self.start(rec.target("attached"), 30, 1, 0, **as_nobody())
        run = self.record_all("-p", target.pid, "--", "sleep", "0.7", **as_nobody())
        self.assertEqual(run.summary["end"], "command")
        self.assertEqual(self.names(run), {"attached"})
        self.assertIsNone(target.poll())
        self.assertNotIn(b", ended", run.stderr)

    def test_refusals_name_the_rule(self):
        if os.geteuid() != 0 or int(open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii").read()) < 1:
            self.skipTest("users may record the system here, or root cannot become a user")
        run = self.record_all("-a", "--", "true", status=125, **as_nobody())
        self.assertRegex(run.stderr, rb"the whole system: kernel.perf_event_paranoid is \d; set to 0")
        self.assertEqual(len(run.stderr.splitlines()), 1)


if __name__ == "__main__":
    rec.main()
