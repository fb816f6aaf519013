#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rec --off-cpu: CPU time, waits and runnable time of each thread are those of the scheduler's tracepoints. The long test
of the same is test_waits_programs.py."""
import waits_truth
from waiting_programs import PROGRAMS

import rec

# A child of the idle class beside a busy loop on its processor. Its parent sees the end late, and prints the child's
# account: CPU time, time without a processor, turns.
LATE_TURNS = """
import os, signal, time
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
if not (busy := os.fork()):
    while True: pass
if not (child := os.fork()):
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    for i in range(30): time.sleep(0.002)
    os._exit(0)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
os.kill(busy, signal.SIGKILL)
time.sleep(1.6)
print(child, open(f"/proc/{child}/schedstat").read())
os.waitpid(child, 0)
"""

# Children with waits in the idle class beside a busy loop, which end by exit(), by _exit() after waits for children, and
# after the end of a thread. The parent reaps each at once. They print the time of their naps that the account leaves to
# sleep, and their accounts at the end: CPU time, time without a processor, turns. At times the kernel counts sleep as time
# without a processor.
NAPS, NAP_MS = 6, 2
REAPED = f"""
import os, signal, threading, time
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
if not (busy := os.fork()):
    while True: pass
def be(policy):
    os.sched_setscheduler(0, policy, os.sched_param(0))
def account():
    with open("/proc/thread-self/schedstat") as file:
        return file.read()
def awake_ns():
    used_ns, delay_ns, _ = map(int, account().split())
    return used_ns + delay_ns
def report(name, slept_ns):
    be(os.SCHED_OTHER)
    os.write(1, f"{{name}} {{threading.get_native_id()}} {{slept_ns}} {{account()}}".encode())
def naps(name):
    be(os.SCHED_IDLE)
    begin_ns = time.monotonic_ns() - awake_ns()
    for i in range({NAPS}): time.sleep({NAP_MS / 1000})
    report(name, time.monotonic_ns() - awake_ns() - begin_ns)
def waits():
    be(os.SCHED_IDLE)
    for i in range({NAPS}):
        if not (child := os.fork()):
            time.sleep({NAP_MS / 1000})
            os._exit(0)
        os.waitpid(child, 0)
    report("_exit", 0)
    os._exit(0)
def threads():
    thread = threading.Thread(target=naps, args=("thread",))
    thread.start()
    thread.join()
for action in (lambda: naps("exit"), waits, threads):
    if not (child := os.fork()):
        action()
        raise SystemExit
    os.waitpid(child, 0)
os.kill(busy, signal.SIGKILL)
"""


class Times(waits_truth.Case):
    def test_times_of_an_event_loop(self):
        self.check_times(*self.record_program(PROGRAMS["python3 asyncio"]))

    def test_times_of_commands_and_their_pipes(self):
        self.check_times(*self.record_program(PROGRAMS["bash"]))

    def test_late_turns_of_a_short_process_are_no_waits(self):
        """Which ends before the first tick."""
        run = self.recorded("/usr/bin/python3", "-c", LATE_TURNS, rec_options=("--off-cpu", "--off-cpu-interval", "500ms"))
        child, _, delay_ns, _ = map(int, run.stdout.split())
        thread = next(thread for thread in run.info["threads"] if thread["tid"] == child)
        self.assertGreater(delay_ns, waits_truth.MS)
        self.assertGreaterEqual(thread["runnable_ns"], 0.9 * delay_ns - waits_truth.MS)
        self.assertLessEqual(thread["runnable_ns"], 1.1 * delay_ns + waits_truth.MS)

    def test_wake_ups_before_the_first_tick_are_no_waits(self):
        """The kernel's accounts are gone at the tick."""
        run = self.recorded("/usr/bin/python3", "-c", REAPED, rec_options=("--off-cpu", "--off-cpu-interval", "1s"))
        reports = [line.split() for line in run.stdout.decode().splitlines()]
        self.assertEqual([name for name, *_ in reports], ["exit", "_exit", "thread"])
        for name, tid, slept_ns, _, delay_ns, _ in reports:
            thread = next(thread for thread in run.info["threads"] if thread["tid"] == int(tid))
            with self.subTest(name):
                self.assertGreaterEqual(thread["runnable_ns"], int(delay_ns) - waits_truth.MS)
                self.assertGreaterEqual(thread["waiting_ns"], int(slept_ns) - waits_truth.MS)


if __name__ == "__main__":
    rec.main()
