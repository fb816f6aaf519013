#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pids and tids that the kernel gives again never make one process, or thread, of two."""
import collections
import subprocess

import rec

TIMES = 12
WORK_MS, SLEEP_MS = 40, 20

# In a pid namespace of its own, where a process may say which pid comes next.
AGAIN = f"""
import subprocess, sys, threading, time

def next_is(pid):
    with open("/proc/sys/kernel/ns_last_pid", "w") as file:
        file.write(str(pid - 1))

got = []
def burn():
    got.append(threading.get_native_id())
    sum(range(1000000))
    time.sleep({SLEEP_MS} / 1000)

for i in range({TIMES}):
    next_is(700)
    subprocess.run([sys.argv[1], "{WORK_MS}"], check=True)
for i in range({TIMES}):
    next_is(800)
    thread = threading.Thread(target=burn)
    thread.start()
    thread.join()
    time.sleep(0.005)  # the kernel frees a tid a little after the join
print(got.count(800))
"""
# The pid of a watched process goes to a busy one.
WATCHED = """
import glob, os, signal, subprocess, sys, time

rec, busy, watch = sys.argv[1], sys.argv[2], sys.argv[3:]
old = subprocess.Popen(["sleep", "100"])
rec = subprocess.Popen([rec, *watch, "-p", str(old.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)

def has_event():
    return any("perf_event" in os.readlink(fd) for fd in glob.glob(f"/proc/{rec.pid}/fd/*") if os.path.islink(fd))

if watch[0] == "record":
    while not has_event():
        time.sleep(0.01)
    rec.send_signal(signal.SIGSTOP)
first = b"" if watch[0] == "record" else rec.stdout.readline()
old.kill()
old.wait()
with open("/proc/sys/kernel/ns_last_pid", "w") as file:
    file.write(str(old.pid - 1))
new = subprocess.Popen([busy, "500"])
same = new.pid == old.pid
time.sleep(0.3)
rec.send_signal(signal.SIGCONT)
out, errors = rec.communicate()
new.kill()
print(same, rec.returncode, (first + out).count(b'"short_run"'), errors.decode().strip())
"""
NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc"]
PYTHON = "/usr/bin/python3"


class Reused(rec.Case):
    def setUp(self):
        super().setUp()
        self.need_program("unshare")
        self.need_program(PYTHON)
        probe = ["sh", "-c", "echo 50 > /proc/sys/kernel/ns_last_pid"]
        if subprocess.run([*NAMESPACE, *probe], capture_output=True, check=False).returncode:
            self.skipTest("may not choose pids in a namespace of its own")

    def record_reuse(self, engine):
        self.need_engine(engine)
        directory = self.new_directory()
        # A shell between them: the first process of a namespace has duties that rec has not.
        command = (f"{rec.REC} -q --threads --off-cpu --engine={engine} -- {PYTHON} again.py "
                   f"{rec.target('short_run')}; exit $?")
        with open(f"{directory}/again.py", "w", encoding="utf-8") as file:
            file.write(AGAIN)
        run = self.run_in(directory, [*NAMESPACE, "sh", "-c", command])
        self.assertEqual(run.status, 0, run.stderr)
        return run

    def test_one_process_and_thread_for_each_use(self):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                run = self.record_reuse(engine)
                processes = [process for process in run.info["processes"] if process["pid"] == 700]
                self.assertEqual([process["name"] for process in processes], ["short_run"] * TIMES)
                for process in processes:
                    self.assert_within(process["cpu_ns"] / 1e6, WORK_MS, WORK_MS / 4)
                for one, following in zip(processes, processes[1:]):
                    self.assertGreaterEqual(one["end_ns"], one["start_ns"] + WORK_MS / 2 * 1e6)
                    self.assertGreaterEqual(following["start_ns"], one["end_ns"])
                threads = [thread for thread in run.info["threads"] if thread["tid"] == 800]
                self.assertGreater(len(threads), 1)
                self.assertEqual(len(threads), int(run.stdout))
                for thread in threads:
                    self.assertGreaterEqual(thread["waiting_ns"] + thread["runnable_ns"], SLEEP_MS * 1e6, thread)
                    self.assertEqual(sum(thread[f"{kind}_ns"] for kind in ("cpu", "waiting", "runnable")),
                                     thread["lifetime_ns"])
                self.assert_kept_apart_in_stacks(run)

    def assert_kept_apart_in_stacks(self, run):
        tasks = collections.Counter()
        for stack, weight in run.stacks().items():
            tasks[stack[0]] += weight
        expected = ["short_run-700"] + [f"short_run-700.{i}" for i in range(1, TIMES)]
        self.assertEqual(sorted(name for name in tasks if name.startswith("short_run")),
                         sorted(expected))


class Watched(rec.Case):
    def watch(self, *words, **options):
        self.need_root()
        return self.run_in(self.new_directory(), [*NAMESPACE, PYTHON, "-c", WATCHED, rec.REC, rec.target("short_run"),
                                                  *words], **options)

    def test_snapshots_end_with_the_process(self):
        for command in ("stacks", "threads"):
            with self.subTest(command=command):
                run = self.watch(command, "--json", "--interval", "50ms", "--count", "40")
                self.assertRegex(run.stdout, b"^True 125 0 rec: cannot read process [0-9]+: no such process$")

    def test_a_recording_has_no_time_of_the_next_process(self):
        """Also where the process ends between its check and the opening of its events."""
        run = self.watch("record", "-q", "--duration", "1.5")
        self.assertRegex(run.stdout, b"^True (0 0 |125 0 rec: cannot record process [0-9]+ .process.: ended meanwhile)$")
        if run.stdout.startswith(b"True 0"):
            self.assertLess(run.count("cpu_billed_ns"), 10e6, run.summary)


if __name__ == "__main__":
    rec.main()
