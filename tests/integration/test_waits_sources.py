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
SAME_NS = 1000  # two sums of the same updates


class Sources(waits_truth.Case):
    def record_with_sources(self, kind):
        """(run, the tracepoints' threads, accounts, perf_sched.Recording)"""
        if not perf_sched.is_available() or not task_accounts.is_available():
            self.skipTest("perf sched and taskstats need root")
        directory = self.new_directory()
        with task_accounts.Recording() as ends, perf_sched.Recording(directory) as sched:
            run, threads = self.record_program(kind)
        return run, threads, ends.accounts(), sched

    @staticmethod
    def late_cpu(truth, account, end):
        """taskstats has the CPU time up to the scheduler's last update of the account, at a tick or a switch: the sum of
        the tracepoint's first updates. The time behind it."""
        sum_ns = 0
        for run in truth.runs:
            sum_ns += run.cpu
            if abs(sum_ns - account.cpu) < SAME_NS:
                return truth.account(run.end, end)
        return 0

    def wanted(self, thread, truth, account, times, unseen, is_command):
        """(times by kind, delays of timehist less those of the account, time that timehist does not have). What a command
        did before its exec is in its account, and not in its lifetime; the time behind the last line of timehist comes
        from the tracepoints."""
        start = truth.start_ns(is_command)
        cpu, runnable = account.cpu, account.runnable
        if is_command:
            before = truth.between(0, start)
            cpu, runnable = cpu - before.cpu, runnable - before.runnable
        end = start + thread["lifetime_ns"]
        rest = truth.between(max(start, times.end), end)
        return ({"cpu": cpu + self.late_cpu(truth, account, end), "runnable": runnable,
                 "waiting": times.waiting + unseen.waiting + rest.waiting},
                times.runnable + unseen.runnable + rest.runnable - runnable,
                max(0, thread["lifetime_ns"] - sum(times[:3]) - sum(rest[:3])))

    def check_sources(self, run, threads, accounts, sched):
        scheds, unseens = sched.threads(), sched.unseen()
        worst, beyond, failures = dict.fromkeys(KINDS, 0), collections.Counter(), []
        command = run.info["threads"][0]["tid"]
        for thread in run.info["threads"]:
            tid, truth, life = thread["tid"], threads[thread["tid"]], thread["lifetime_ns"]
            wanted, delays, lost = self.wanted(thread, truth, accounts[tid], scheds[tid], unseens[tid],
                                               tid == command)
            start = truth.start_ns(tid == command)
            sums = truth.between(start, start + life)
            # timehist waits until `sched_waking`, the account until another processor has taken the wake-up: tar had 84 ms
            # of delays in timehist, 86 ms by the tracepoints, and 17 ms in its account
            tracing = waits_truth.TRACEPOINT_NS * truth.turns()
            late, missed = max(sums.waking, delays) + tracing, sums.waking + tracing + max(0, -delays)
            # threads that a signal or the exit() of another thread has ended do not read their last account
            unread = truth.delay_ns(max(start, start + life - waits_truth.UNREAD_NS), start + life)
            less = {"cpu": 0, "waiting": missed, "runnable": unread}
            more = {"cpu": sums.stolen, "waiting": late + unread + lost, "runnable": 0}
            for kind in KINDS:
                time, slack = thread[f"{kind}_ns"], max(MS, wanted[kind] / 100)
                worst[kind] = max(worst[kind], abs(time - wanted[kind]))
                beyond[kind] += abs(time - wanted[kind]) > slack
                if not wanted[kind] - slack - less[kind] <= time <= wanted[kind] + slack + more[kind]:
                    failures.append(f"{tid} {thread['name']} {kind} {time / MS:.3f} ms, "
                                    f"expected {wanted[kind] / MS:.3f}, late {late / MS:.3f}, "
                                    f"missed {missed / MS:.3f}, unread {unread / MS:.3f}, lost {lost / MS:.3f}, "
                                    f"stolen {sums.stolen / MS:.3f}, unseen {unseens[tid].turns}")
        print(f"  {len(run.info['threads'])} threads;", ", ".join(
            f"{kind} differs by {worst[kind] / MS:.2f} ms, {beyond[kind]} by more than 1 ms and 1 %" for kind in KINDS),
              f"{sum(unseens[thread['tid']].turns for thread in run.info['threads'])} turns without a beginning")
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
