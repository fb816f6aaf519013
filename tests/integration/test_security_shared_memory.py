#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A process without privilege that writes into all shared memory of its recording, or looks for the
memory of the others, does no harm to a privileged process and sees nothing of it."""
import os
import resource
import shutil

import rec

SECONDS = rec.figure(5, 600)
NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups"
# The victim runs threads until the other one has ended, and then reports its own status.
THREADS = """
{victim} 1000000 20000000 & victim=$!
sleep 0.2
{nobody} {scribbles} {seconds} {seed} || exit 99
kill -0 $victim || {{ wait $victim; exit; }}
kill -USR2 $victim
wait $victim
"""
# Processes start all the time: each reports a death by a signal.
STARTS = """
{nobody} {scribbles} {seconds} {seed} & hostile=$!
while kill -0 $hostile 2>/dev/null; do
    {program} || {{ echo died $?; break; }}
    /bin/true
done
wait $hostile || exit 99
echo done
"""
READS = """
{program} 300 & other=$!
sleep 0.1
{nobody} {reads} $other
wait $other
"""
# Rings of the first 16 threads and of later ones; a child of os.fork() joins with a memory of its own.
FORKS = """
import ctypes, os, threading
def memories():
    return {line.split()[4] for line in open("/proc/self/maps") if "/memfd:rec-rings" in line}
for _ in range(20):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
mine, libc = memories(), ctypes.PyDLL(None)
rings = sum("/memfd:rec-rings" in line for line in open("/proc/self/maps"))
print(len(mine), rings > 1, flush=True)
for fork in os.fork, libc.fork, lambda: libc.syscall(57):
    pid = fork()
    if pid == 0:
        print(len(mine & memories()), flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
os._exit(0)
"""


class SharedMemory(rec.Case):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs root, for processes of two users")

    def run_script(self, script, engine, **words):
        self.need_engine(engine)
        script = script.format(nobody=NOBODY, scribbles=rec.target("scribbles"), seconds=SECONDS,
                               seed=os.getpid(), **words)
        return self.record("sh", "-c", script, timeout=SECONDS + rec.TIMEOUT_S,
                           rec_options=["-q", "-F", "9999", f"--engine={engine}"])

    def write_beside_threads(self, engine):
        """Nothing of it reaches the other process, which goes on and is sampled."""
        run = self.run_script(THREADS, engine, victim=rec.target("brief_threads"))
        self.assertEqual(run.status, 128 + 12, run.stderr)  # SIGUSR2: it ran until then
        cpu_ns = {"brief_threads": 0, "scribbles": 0}  # each has a processor, or half of one
        for thread in run.info["threads"]:
            if thread["name"] in cpu_ns:
                cpu_ns[thread["name"]] += thread["cpu_ns"]
        self.assertGreater(cpu_ns["brief_threads"], 0.2 * cpu_ns["scribbles"])
        self.assertGreater(cpu_ns["brief_threads"], 0)

    test_a_member_writes_all_over_the_memory_while_threads_of_another_user_run = rec.at_once(
        lambda case: case.write_beside_threads("perf-trap"), lambda case: case.write_beside_threads("timer"))

    def forge_beside_starts(self, engine):
        """Without a handler, a process that is armed dies of SIGTRAP."""
        run = self.run_script(STARTS, engine, program=f"{rec.target('short_run')} 5")
        self.assertEqual((run.status, run.stdout.splitlines()[-1:]), (0, [b"done"]), run.stderr)
        self.assertNotIn(b"died", run.stdout)

    def run_beside_starts(self):
        """The launcher stays alive and small."""
        run = self.run_script(STARTS, "perf-trap", program="/bin/true")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 256 << 10)  # in KiB

    test_a_member_forges_answers_while_processes_of_another_user_start = rec.at_once(
        lambda case: case.forge_beside_starts("perf-trap"), lambda case: case.forge_beside_starts("timer"),
        lambda case: case.run_beside_starts())

    def test_forked_children_map_no_memory_of_their_parent(self):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                run = self.recorded("python3", "-c", FORKS, rec_options=["-q", f"--engine={engine}"])
                self.assertEqual(run.stdout, b"1 True\n0\n0\n0\n")

    def test_a_member_sees_nothing_of_the_memory_of_another_user(self):
        for engine in ("perf-trap", "timer"):
            with self.subTest(engine=engine):
                run = self.run_script(READS, engine, program=rec.target("short_run"), reads=rec.target("reads_others"))
                self.assertEqual(run.stdout.splitlines()[-1:], [b"no"], run.stderr)


if __name__ == "__main__":
    rec.main()
