#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`rec -e` records other events than CPU time: a sample for each occurrence, with its stack, at its line."""
import gzip
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

import rec

sys.path.insert(0, os.path.join(os.environ["SOURCE"], "tests/clients"))
import decoders  # noqa: E402

NOBODY = 65534
TOUCHES = 1000
# The touches are on lines 3 and 4: one in four by even(). The rows of the program are ready after the sleep: large
# copies of stacks fill a ring.
TOUCH = r"""#include <stdlib.h>
#include <sys/mman.h>
static char *memory; static void even(long i) { memory[i * 4096] = 1; }
static void odd(long i) { memory[i * 4096] = 1; }
int main(void)
{
    memory = mmap(0, 1000 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, 1000 * 4096, MADV_NOHUGEPAGE);
    int usleep(unsigned); usleep(1000 * atoi(getenv("WAIT_MS")));
    for (long i = 0; i < 1000; i++) if (i % 4) odd(i); else even(i);
    return 0;
}
"""
BURST_PAGES = 50000
BURST = f"""#include <stdio.h>
#include <sys/mman.h>
int main(void)
{{
    char *memory = mmap(0, {BURST_PAGES} * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, {BURST_PAGES} * 4096L, MADV_NOHUGEPAGE);
    getchar();
    for (long i = 0; i < {BURST_PAGES}; i++) memory[i * 4096] = 1;
    puts("done"); fflush(stdout);
    getchar(); getchar(); getchar();
    return 0;
}}
"""


def as_nobody():
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


class Events(rec.Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.directory, 0o755)

    def touch(self):
        path = os.path.join(self.directory, "touch")
        if not os.path.exists(path):
            source = path + ".c"
            with open(source, "w", encoding="ascii") as file:
                file.write(TOUCH)
            subprocess.run(["gcc", "-O0", "-g", "-o", path, source], check=True)
        return path

    def taken(self, *options, command=None, **how):
        directory = self.new_directory()
        os.chmod(directory, 0o777)
        run = self.run_in(directory, [rec.REC, *options, "--", *(command or [self.touch()])], **how)
        self.assertEqual(run.status, 0, run.stderr.decode())
        return run

    def refused(self, *options, **how):
        directory = self.new_directory()
        os.chmod(directory, 0o777)
        run = self.run_in(directory, [rec.REC, *options, "--", "true"], **how)
        self.assertEqual(run.status, 125)
        self.assertEqual(os.listdir(directory), [])
        return run.stderr.decode().strip()

    def need_root(self):
        if os.geteuid() != 0:
            self.skipTest("events of the kernel are for root")

    def report(self, run, event):
        done = subprocess.run([rec.REC, "report", "--json", "--event", event, run.path()], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def weights(self, run, event):
        """Function -> own weight."""
        return {function["name"]: function["self"] for function in self.report(run, event)["functions"]}


class PageFaults(Events):
    def whole(self, *options, **how):
        """A recording without losses: a burst of a thousand samples overflows a ring when rec gets no processor."""
        for turn in range(1, 11):
            run = self.taken(*options, env=dict(os.environ, WAIT_MS=str(100 * turn)), **how)
            if run.lost() == 0:
                break
        self.assertEqual(run.lost(), 0)
        return run

    def assert_touches(self, run):
        weights = self.weights(run, "page-faults")
        self.assertEqual(weights.get("even"), TOUCHES // 4)
        self.assertEqual(weights.get("odd"), TOUCHES - TOUCHES // 4)

    def test_an_ordinary_user_sees_each_first_touch_on_its_line(self):
        run = self.whole("-e", "page-faults", **as_nobody())
        self.assertEqual(run.summary["engine"], "perf-trap")
        self.assert_touches(run)
        self.assertGreaterEqual(run.complete_percent(), 99.5)
        text = subprocess.run([rec.REC, "report", run.path()], capture_output=True, text=True).stdout
        self.assertRegex(text, r"touch\.c:3\s+even")
        self.assertRegex(text, r"touch\.c:4\s+odd")
        self.assertRegex(run.stderr.decode(), r"samples of page-faults, .* complete stacks, none lost")

    def test_from_outside(self):
        """A static program, and kernel mode, are recorded through kernel rings."""
        self.need_root()
        run = self.whole("-e", "page-faults")
        self.assertEqual(run.summary["engine"], "perf-ring")
        self.assert_touches(run)

    def test_a_burst_from_outside_while_stacks_are_walked(self):
        """The walks take longer than a ring needs to fill: a thread copies meanwhile."""
        self.need_root()
        script = "import json, ctypes, decimal; [bytearray(4096) for _ in range(20000)]"
        runs = (self.taken("-e", "page-faults", command=[sys.executable, "-c", script]) for _ in range(3))
        self.assertTrue(any(run.lost() < run.count("samples") / 50 for run in runs))

    def test_processes_of_a_tree(self):
        run = self.whole("-e", "page-faults:u", command=["sh", "-c", f"ls / >/dev/null; {self.touch()}; {self.touch()}"])
        weights = self.weights(run, "page-faults")
        self.assertEqual(weights["even"] + weights["odd"], 2 * TOUCHES)

    def test_a_period_weighs_so_many(self):
        weights = self.weights(self.whole("-e", "page-faults:u", "-c", "10"), "page-faults")
        self.assert_within(weights["even"] + weights["odd"], TOUCHES, 20)

    def test_viewers_have_the_event(self):
        run = self.whole("-e", "page-faults:u")
        with gzip.open(run.path("rec.pb.gz")) as file:
            self.assertIn(b"page-faults:u", file.read())
        firefox = decoders.read_json(run.path("rec.json.gz"))
        self.assertIn("page-faults:u", json.dumps(firefox))
        self.assertGreaterEqual(sum(run.stacks().values()), TOUCHES)
        self.assertIn("page-faults:u", json.dumps(run.info["events"]))
        self.assertNotIn("cpu-clock", json.dumps(run.info["events"]))


class Several(Events):
    COMMAND = ("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.001; done; i=0; "
               "while [ $i -lt 100000 ]; do i=$((i+1)); done")

    def test_cpu_time_beside_tracepoints_and_switches(self):
        self.need_root()
        run = self.taken("-e", "cpu-clock,context-switches", "-e", "sched:sched_switch", command=self.COMMAND)
        self.assertRegex(run.stderr.decode(), r"samples, .* per CPU second")
        self.assertGreater(run.count("cpu_seen_ns"), 20e6)
        switches = sum(self.weights(run, "context-switches").values())
        self.assertGreaterEqual(switches, 20)  # each sleep waits, and so does the shell
        self.assert_within(sum(self.weights(run, "sched:sched_switch").values()), switches, 2)

    def test_an_ordinary_user_records_three_events_of_a_static_program(self):
        """Six rings share the locked memory, the first ones must not take all of it. The limit is in the summary."""
        run = self.taken("-e", "cpu-clock:u,page-faults:u,minor-faults:u",
                         command=[rec.target("attached_static"), "0.3", "1", "0"], **as_nobody())
        self.assertEqual(run.summary["engine"], "perf-ring")
        if os.geteuid() == 0 and resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] <= 64 << 20:
            self.assertGreater(run.count("short_ring_bytes"), 0)
        self.assertGreater(run.count("samples"), 3)  # a busy machine leaves little of 0.3 s
        self.assertLessEqual(run.count("samples") - run.count("complete"), max(1, run.count("samples") / 20))
        self.assertGreater(sum(self.weights(run, "page-faults").values()), 10)
        self.assertGreater(sum(self.weights(run, "minor-faults").values()), 10)

    def test_the_summary_counts_the_samples_of_all_events(self):
        """A burst of page faults has few samples of user mode, or none: the others are no less in the file."""
        path = os.path.join(self.directory, "static_burst")
        with open(path + ".c", "w", encoding="ascii") as file:
            file.write(BURST.replace("getchar();", ""))
        subprocess.run(["gcc", "-O1", "-static", "-o", path, path + ".c"], check=True)
        for _ in range(3):
            run = self.taken("-e", "cpu-clock:u,page-faults:u,minor-faults:u", command=[path], **as_nobody())
            others = sum(self.report(run, event)["samples"] for event in ("page-faults:u", "minor-faults:u"))
            self.assertGreater(others, 100)
            self.assertEqual(run.count("other_samples"), others)
            text = run.stderr.decode()
            shown = re.search(r", (\d[\d ]*) of other events, ", text)
            self.assertEqual(int(shown[1].replace(" ", "")), others, text)
            self.assertNotIn("no samples at all", text)

    def test_kernel_stacks_of_a_tracepoint(self):
        self.need_root()
        run = self.taken("-e", "sched:sched_switch", "--kernel", command=self.COMMAND)
        self.assertGreater(run.share_of("__schedule"), 95)

    def test_a_running_process(self):
        self.need_root()
        target = subprocess.Popen(["sh", "-c", "while sleep 0.01; do :; done"])
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        directory = self.new_directory()
        run = self.run_in(directory, [rec.REC, "-p", target.pid, "-e", "context-switches,page-faults", "--duration", "0.5"])
        self.assertEqual(run.status, 0, run.stderr.decode())
        self.assertGreater(sum(self.weights(run, "context-switches").values()), 5)
        self.assertGreater(sum(self.weights(run, "page-faults").values()), 50)

    def test_a_burst_while_rec_is_stopped_is_counted_as_lost(self):
        """No record follows in the ring that could report the loss."""
        self.need_root()
        path = os.path.join(self.directory, "burst")
        with open(path + ".c", "w", encoding="ascii") as file:
            file.write(BURST)
        subprocess.run(["gcc", "-O1", "-o", path, path + ".c"], check=True)
        with subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as target:
            self.addCleanup(target.kill)
            directory = self.new_directory()
            with subprocess.Popen([rec.REC, "-p", str(target.pid), "-e", "page-faults"], cwd=directory,
                                  stderr=subprocess.PIPE) as recorder:
                while not os.path.exists(os.path.join(directory, "rec.data")):
                    time.sleep(0.05)
                time.sleep(0.5)  # until the events are open
                recorder.send_signal(signal.SIGSTOP)
                target.stdin.write(b"go\n")
                target.stdin.flush()
                target.stdout.readline()
                recorder.send_signal(signal.SIGCONT)
                time.sleep(0.3)
                recorder.send_signal(signal.SIGINT)
                text = recorder.communicate(timeout=rec.TIMEOUT_S)[1].decode()
            target.kill()
        run = rec.Run(subprocess.CompletedProcess([], 0, b"", text.encode()), directory, 0)
        self.assertGreater(run.lost(), BURST_PAGES / 2, text)
        self.assertGreaterEqual(run.count("samples") + run.lost(), BURST_PAGES, text)
        self.assertLess(run.count("samples") + run.lost(), 1.02 * BURST_PAGES, text)


class Refusals(Events):
    def test_events_that_the_machine_lacks(self):
        if os.path.isdir("/sys/bus/event_source/devices/cpu"):
            self.skipTest("this machine has hardware counters")
        message = self.refused("-e", "page-faults", "-e", "cycles:u")
        self.assertRegex(message, r"^rec: cannot record cycles:u: the processor or kernel has no such event")

    def test_one_sentence_each(self):
        self.assertRegex(self.refused("-e", "nonsense"), r"^rec: -e nonsense: not supported: no such event")
        self.assertRegex(self.refused("-e", "page-faults:q"), r"the modifiers are :u, :k and :uk$")
        self.assertRegex(self.refused("-e", "gpu/event=1/"), r"no such PMU or field")
        self.assertRegex(self.refused("-e", ",".join(["page-faults"] * 9)), r"at most 8 events")
        self.assertRegex(self.refused("-e", "page-faults", "--engine", "timer"), r"need the modifier :u or --engine perf-ring")
        self.assertRegex(self.refused("-e", "page-faults", "--fail-on", "incomplete"), r"--fail-on measures CPU time")
        self.assertRegex(self.refused("-e", "page-faults", "--record", "thread-lifecycle"), r"no hooks")

    def test_the_kernels_events_need_rights(self):
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
            level = int(file.read())
        if level < 2:
            self.skipTest("kernel.perf_event_paranoid permits events of the kernel to everybody")
        message = self.refused("-e", "context-switches", **as_nobody())
        self.assertIn(f"happens in the kernel, and kernel.perf_event_paranoid is {level}", message)
        message = self.refused("-e", "sched:sched_switch", **as_nobody())
        self.assertTrue(re.search("readable by root|no such event", message), message)


if __name__ == "__main__":
    rec.main()
