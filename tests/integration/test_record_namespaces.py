#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes in pid namespaces of their own are recorded as any other: who they are here, their threads, parents and
bills; also those that are there without fork(), /proc or the descriptors that they inherited."""
import collections
import subprocess

import rec

WORK_MS = 80
NAMESPACE = ["unshare", "--user", "--map-root-user", "--pid", "--fork"]
# And how many there are of each.
WAYS = {"clone": 2, "syscall": 2, "close": 2, "range": 2, "bare": 2, "from": 2, "unshare": 1, "nested": 1}


CROWD = 600
# As many processes at once, then as many threads.
# All live until their process has used 0.4 s of CPU time: on a busy machine longer, as the launcher needs longer.
MANY = f"""
import os, threading, time
end, (reader, writer) = threading.Event(), os.pipe()
for _ in range({CROWD}):
    if os.fork() == 0:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
threads = [threading.Thread(target=end.wait) for _ in range({CROWD})]
for thread in threads:
    thread.start()
until = time.process_time() + 0.4
while time.process_time() < until:
    pass
end.set()
os.close(writer)
for thread in threads:
    thread.join()
for _ in range({CROWD}):
    os.wait()
"""
TIDS_MAX = 4 << 20  # of the kernel; beyond are those that rec makes up for who was gone


def unanswered(run):
    """How many processes are not in the file, and told to have started while rec was busy or stopped."""
    count = int(run.summary.get("not_followed.more", 0))
    for key, value in run.summary.items():
        if key.startswith("not_followed.") and " started while rec was " in value:
            name = value.split()[1]
            is_crowd = name.endswith("\\x20processes")
            count += int(name.split("\\x20")[0]) if is_crowd else value.endswith(" busy")
    return count


class Namespaces(rec.Case):
    def setUp(self):
        super().setUp()
        self.need_program("unshare")
        if subprocess.run([*NAMESPACE, "--mount-proc", "true"], capture_output=True, check=False).returncode:
            self.skipTest("may not make namespaces")

    def record_with(self, engine, *command):
        self.need_engine(engine)
        run = self.recorded(*command, rec_options=[f"--engine={engine}"])
        self.assertNotIn(b"not recorded", run.stderr)
        self.assert_within(run.count("cpu_seen_ns") / run.count("cpu_billed_ns"), 1, 0.02, "what was seen of the bill")
        self.assertLess(run.share_of("[not followed]", self_only=True), 2)
        self.assertLess(run.share_of("[lost]", self_only=True), 2)
        return run

    def processes(self, run):
        return {process["pid"]: process for process in run.info["processes"]}

    def test_each_way_in(self):
        script = "; ".join(f"{rec.target('namespaces')} {how} {WORK_MS} || exit" for how in WAYS)
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                run = self.record_with(engine, "sh", "-c", script)
                ids = [line.split() for line in run.stdout.decode().splitlines()]
                self.assertEqual(collections.Counter(how for how, _, _ in ids), WAYS)
                processes = self.processes(run)
                threads = {(thread["pid"], thread["tid"]): thread for thread in run.info["threads"]}
                for how, pid, tid in ids:
                    with self.subTest(how=how):
                        self.assert_known(processes, threads, int(pid), int(tid))

    def assert_known(self, processes, threads, pid, tid):
        self.assert_worked(processes[pid], 2 * WORK_MS)
        self.assertEqual(processes[processes[pid]["parent_pid"]]["name"], "namespaces")
        self.assertEqual(threads[pid, tid]["name"], "aside")
        self.assertEqual([processes[pid]["namespace_pid"], threads[pid, tid]["namespace_tid"]], [1, 2])
        self.assert_worked(threads[pid, pid], WORK_MS)
        self.assert_worked(threads[pid, tid], WORK_MS)

    def assert_worked(self, task, cpu_ms):
        self.assertGreater(task["cpu_ns"] / 1e6, 0.9 * cpu_ms)
        self.assertGreater(task["samples"], 0)

    def test_many_at_a_time(self):
        """Each is recorded or, as a busy machine keeps rec from answering in time, counted with that reason."""
        run = self.recorded(*NAMESPACE, "--mount-proc", "python3", "-c", MANY)
        recorded = len(run.info["processes"])
        self.assertGreater(recorded, CROWD / 10)
        self.assertGreaterEqual(recorded + unanswered(run), CROWD + 2)
        threads = collections.Counter(thread["pid"] for thread in run.info["threads"])
        if max(threads.values()) > 1:  # else the crowd's own process is one of those
            self.assertGreaterEqual(max(threads.values()) + run.count("threads_without_slot"), CROWD + 1)
        tids = {thread["tid"] for thread in run.info["threads"] if thread["tid"] <= TIDS_MAX}
        self.assertGreater(len(tids), 0.9 * len(run.info["threads"]))

    def test_forks_and_programs_inside(self):
        """Two namespaces at a time, whose processes are called the same inside."""
        inside = f"{rec.target('short_run')} {WORK_MS}; {rec.target('short_run')} {WORK_MS}; :"
        script = " & ".join([f"{' '.join(NAMESPACE)} --mount-proc sh -c '{inside}'"] * 2)
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                run = self.record_with(engine, "sh", "-c", f"{script} & wait")
                processes = self.processes(run)
                self.assertEqual(len(processes), len(run.info["processes"]))
                work = [process for process in processes.values() if process["name"] == "short_run"]
                self.assertEqual(len(work), 4)
                shells = {process["parent_pid"] for process in work}
                self.assertEqual([processes[pid]["name"] for pid in shells], ["sh", "sh"])
                for process in work:
                    self.assert_worked(process, WORK_MS)

    def test_a_stack_that_is_too_small_for_samples_is_left_alone(self):
        """The child returns from where it began; what lies below its stack is its parent's."""
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                run = self.recorded(rec.target("small_stack"), "100", rec_options=[f"--engine={engine}", "-F", "10000"])
                self.assertEqual(run.stdout, b"0 words changed\n")


if __name__ == "__main__":
    rec.main()
