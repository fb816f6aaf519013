# SPDX-License-Identifier: MIT
"""The times of threads in a capture, against the scheduler's tracepoints.

    run, threads = self.record_program(PROGRAMS[name])   `rec --off-cpu` of the program under load, as AS_NOBODY
    self.check_times(run, threads)
"""
import os
import subprocess

import sched_truth
from waiting_programs import AS_NOBODY, child_of, wait_for

import rec

MS = 10**6
KINDS = ("cpu", "waiting", "runnable")
# The tracepoint of a switch or a wake-up comes so long after the instant of the scheduler's account.
TRACEPOINT_NS = 2000
# The account of an ended thread is gone. It is read at ticks: later wake-ups are part of the waits. The account of the
# command has begun before its exec: wake-ups before the first tick are part of its waits.
UNREAD_NS = 30 * MS
PRIORITY = -15  # of rec, which reads the account at its ticks


def give_priority(pid):
    """To the threads of rec, not to the program."""
    tasks = f"/proc/{pid}/task"
    wait_for(lambda: len(os.listdir(tasks)) >= 4, "the start of the recorder's threads")
    for tid in os.listdir(tasks):
        os.setpriority(os.PRIO_PROCESS, int(tid), PRIORITY)


class Case(rec.Case):
    def record_program(self, kind, *options, user=None):
        """(run, threads by tid, as the tracepoints have them)"""
        if not sched_truth.is_available():
            self.skipTest("the scheduler's tracepoints need root, and tracefs")
        os.chmod(self.directory, 0o755)
        directory = self.new_directory()
        os.chmod(directory, 0o777)
        program = kind(directory)
        for needed in program.needs:
            self.need_program(needed)
        with sched_truth.Recording() as truth:
            with open(os.path.join(directory, "stderr"), "w+b") as errors, subprocess.Popen(
                    [rec.REC, "--off-cpu", *options, "-o", "rec.data", "--", *program.command], cwd=directory,
                    env={**os.environ, "HOME": directory}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                    stderr=errors, **(AS_NOBODY if user is None else user)) as running:
                give_priority(running.pid)
                if program.is_driven:
                    program.drive(child_of(running.pid, program.command[0]))
                running.wait(timeout=200)
                errors.seek(0)
                run = rec.Run(running, directory, 0)
                run.stderr = errors.read()
        self.assertEqual(run.status, 0, run.stderr.decode(errors="replace"))
        return run, truth.threads()

    @staticmethod
    def compare(thread, truth, is_command):
        """(kind, time, expected time, stolen time, whether they differ by at most a millisecond and a percent)"""
        life, start = thread["lifetime_ns"], truth.start_ns(is_command)
        expected = truth.between(start, start + life)
        # the account counts the time from a wake-up to the switch as CPU time, and so does rec
        runnable = life - expected.cpu - expected.stolen - expected.waiting
        expected = expected._replace(runnable=max(0, runnable))
        unread = truth.delay_ns(max(start, start + life - UNREAD_NS), start + life)
        unread += truth.between(start, start + UNREAD_NS).runnable if is_command else 0
        late = TRACEPOINT_NS * truth.turns()
        for kind in KINDS:
            time, wanted = thread[f"{kind}_ns"], getattr(expected, kind)
            slack = max(MS, wanted / 100) + late
            less = slack + {"cpu": 0, "waiting": expected.waking, "runnable": unread}[kind]
            more = slack + {"cpu": expected.stolen, "waiting": unread, "runnable": expected.waking}[kind]
            yield kind, time, wanted, expected.stolen, wanted - less <= time <= wanted + more

    def check_times(self, run, threads):
        totals, largest, beyond, failures = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0), set(), []
        command = run.info["threads"][0]["tid"]
        for thread in run.info["threads"]:
            tid, name, life = thread["tid"], thread["name"], thread["lifetime_ns"]
            for kind in KINDS:
                totals[kind] += thread[f"{kind}_ns"]
            if abs(sum(thread[f"{kind}_ns"] for kind in KINDS) - life) > life / 200:
                failures.append(f"{tid} {name}: the times do not add up to the lifetime")
            for kind, time, wanted, stolen, is_right in self.compare(thread, threads[tid], tid == command):
                largest[kind] = max(largest[kind], abs(time - wanted))
                beyond |= {tid} if abs(time - wanted) > max(MS, wanted / 100) else set()
                if not is_right:
                    failures.append(f"{tid} {name} {kind} {time / MS:.3f} ms, expected {wanted / MS:.3f}, "
                                    f"stolen {stolen / MS:.3f}, lifetime {life / MS:.1f}")
        print(f"  {len(run.info['threads'])} threads,", ", ".join(
            f"{kind} {totals[kind] / 1e9:.3f} s (a thread differs by {largest[kind] / MS:.2f} ms)" for kind in KINDS),
            f"beyond 1 ms and 1 %: {len(beyond)}")
        self.assertEqual(run.count("off_cpu.lost_records"), 0)
        self.assertFalse(failures, "\n".join(failures))
