#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rec --off-cpu of real programs: each term of a thread against a source of its own, in the same run. CPU time against
the sum behind rusage, runnable time against the second number of schedstat (taskstats has both, for every thread that
ends), waiting time against `perf sched timehist`."""
import collections

import perf_sched
import task_accounts
import waits_truth
from waiting_programs import PROGRAMS

import rec

MS = waits_truth.MS
KINDS = waits_truth.KINDS


class Sources(waits_truth.Case):
    def record_with_sources(self, kind):
        """(run, the tracepoints' threads, accounts, timehist's threads)"""
        if not perf_sched.is_available() or not task_accounts.is_available():
            self.skipTest("perf sched and taskstats need root")
        directory = self.new_directory()
        with task_accounts.Recording() as ends, perf_sched.Recording(directory) as sched:
            run, threads = self.record_program(kind)
        return run, threads, ends.accounts(), sched.threads()

    @staticmethod
    def wanted(thread, truth, account, times, is_command):
        """(times by kind, delays that timehist has as waits, time that timehist does not have). What a command did before
        its exec is in its account, and not in its lifetime; the time behind the last line of timehist comes from the
        tracepoints."""
        start = truth.start_ns(is_command)
        cpu, runnable = account.cpu, account.runnable
        if is_command:
            before = truth.between(0, start)
            cpu, runnable = cpu - before.cpu, runnable - before.runnable
        rest = truth.between(max(start, times.end), start + thread["lifetime_ns"])
        return ({"cpu": cpu, "waiting": times.waiting + rest.waiting, "runnable": runnable},
                max(0, runnable - times.runnable - rest.runnable),
                max(0, thread["lifetime_ns"] - sum(times[:3]) - sum(rest[:3])))

    def check_sources(self, run, threads, accounts, scheds):
        worst, beyond, failures = dict.fromkeys(KINDS, 0), collections.Counter(), []
        command = run.info["threads"][0]["tid"]
        for thread in run.info["threads"]:
            tid, truth, life = thread["tid"], threads[thread["tid"]], thread["lifetime_ns"]
            wanted, missed, lost = self.wanted(thread, truth, accounts[tid], scheds[tid], tid == command)
            start = truth.start_ns(tid == command)
            sums = truth.between(start, start + life)
            # timehist waits until `sched_waking`, the account until another processor has taken the wake-up
            late = sums.waking + waits_truth.TRACEPOINT_NS * truth.turns()
            # threads that a signal or the exit() of another thread has ended do not read their last account
            unread = truth.delay_ns(max(start, start + life - waits_truth.UNREAD_NS), start + life)
            less = {"cpu": 0, "waiting": late + missed, "runnable": unread}
            more = {"cpu": sums.stolen, "waiting": late + unread + lost, "runnable": 0}
            for kind in KINDS:
                time, slack = thread[f"{kind}_ns"], max(MS, wanted[kind] / 100)
                worst[kind] = max(worst[kind], abs(time - wanted[kind]))
                beyond[kind] += abs(time - wanted[kind]) > slack
                if not wanted[kind] - slack - less[kind] <= time <= wanted[kind] + slack + more[kind]:
                    failures.append(f"{tid} {thread['name']} {kind} {time / MS:.3f} ms, "
                                    f"expected {wanted[kind] / MS:.3f}, late {late / MS:.3f}, "
                                    f"missed {missed / MS:.3f}, unread {unread / MS:.3f}, lost {lost / MS:.3f}, "
                                    f"stolen {sums.stolen / MS:.3f}")
        print(f"  {len(run.info['threads'])} threads;", ", ".join(
            f"{kind} differs by {worst[kind] / MS:.2f} ms, {beyond[kind]} by more than 1 ms and 1 %" for kind in KINDS))
        self.assertFalse(failures, "\n".join(failures))


def test_of(name):
    def test(self):
        self.check_sources(*self.record_with_sources(PROGRAMS[name]))

    return test


for program_name in PROGRAMS:
    words = program_name.replace("+", "x").replace(" ", "_").replace("-", "_")
    setattr(Sources, f"test_{words}", test_of(program_name))

if __name__ == "__main__":
    rec.main()
