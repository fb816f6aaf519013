#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rec --off-cpu disturbs none of 50 blocking calls: with every engine and without perf events, at 10 ms and 1 ms, as an
ordinary user and as root. Each call has its wait in the capture, with a complete stack of the call."""
import collections
import os

import rec
import test_record_off_cpu as off_cpu

SECONDS = 3
CALLS = 50
TAIL_CALLS = ("call_timerfd", "call_eventfd")  # their function is left before the wait
NOBODY = {"user": off_cpu.NOBODY, "group": off_cpu.NOBODY, "extra_groups": []}
KINDS = {
    "perf-trap": (("--engine", "perf-trap"), {}),
    "timer": (("--engine", "timer"), {}),
    "perf-ring": (("--engine", "perf-ring"), {}),
    "schedstat": ((), {"preexec_fn": off_cpu.refuse_perf_events}),
}


class Calls(rec.Case):
    def check_calls(self, options, user, method):
        directory = self.new_directory()
        os.chmod(self.directory, 0o755)
        os.chmod(directory, 0o777)
        run = self.run_in(directory, [rec.REC, "-o", "rec.data", *options, "--", rec.target("blocked_calls"), SECONDS],
                          timeout=120, **user)
        result = run.stdout.decode().splitlines()[-1]
        waited = collections.Counter()
        for sample in off_cpu.waits_of(run):
            call = next((frame for frame in sample.frames if frame.startswith("call_")), None)
            waited[call] += sample.weight if {"clone3", "clone", "__clone3"} & set(sample.frames) else 0
        met = [call for call in waited if call and waited[call] > 0.5e9 * SECONDS]
        print(f"  {' '.join(options)}, {'nobody' if 'user' in user else 'uid ' + str(os.getuid())}: {result}, "
              f"{len(met)} of {CALLS - len(TAIL_CALLS)} with their wait, {run.summary['off_cpu.method']}, "
              f"{run.count('off_cpu.incomplete')} incomplete")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(result, f"0 of {CALLS} differ", run.stdout.decode())
        self.assertEqual(run.summary["off_cpu.method"], method)
        self.assertEqual(len(met), CALLS - len(TAIL_CALLS), sorted(map(str, waited)))

    def check_all(self, name):
        options, more = KINDS[name]
        self.need_program("perf")
        if name != "schedstat":
            self.need_engine(name)
        users = [{}, NOBODY] if os.geteuid() == 0 else [{}]
        for interval in ("10ms", "1ms"):
            for user in users:
                self.check_calls(("--off-cpu-interval", interval, *options), {**user, **more},
                                 "schedstat" if name == "schedstat" else "switch-records")

    def test_perf_trap(self):
        self.check_all("perf-trap")

    def test_timer(self):
        self.check_all("timer")

    def test_perf_ring(self):
        self.check_all("perf-ring")

    def test_without_perf_events(self):
        self.check_all("schedstat")


if __name__ == "__main__":
    rec.main()
