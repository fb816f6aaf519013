#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stacks made by the program, deeper than a page: complete, and each the stack of one fiber at one time. The
oracle is in the names: see tests/targets/deep_fibers.c."""
import rec

DEPTH = 40
COUNT, BITS = 8, 3
WORK_MS = rec.figure(1500, 1800000)
TIMEOUT_S = 60 + 8 * WORK_MS / 1000


def is_true(frames):
    """Whether a stack without [truncated] spells a fiber from its function to the leaf."""
    own = [name for name in frames if name.startswith(("work_", "step_", "leaf_"))]
    if frames[0] != own[0] or not own[0].startswith("work_"):
        return False
    number = int(own[0][5:])
    at_leaf = own[-1].startswith("leaf_")
    steps = own[1:-1] if at_leaf else own[1:]
    spelled = [f"step_{number >> level % BITS & 1}" for level in range(len(steps))]
    return steps == spelled and (not at_leaf or (own[-1] == f"leaf_{number}" and len(steps) == DEPTH))


class Fibers(rec.Case):
    def record_fibers(self, *rec_options, work_ms=WORK_MS, where=()):
        run = self.recorded(rec.target("deep_fibers"), work_ms, DEPTH, *where, timeout=TIMEOUT_S,
                            rec_options=["-q", *rec_options])
        self.assertEqual(run.stdout, b"0 missing\n")
        return run

    def test_deep_stacks_are_complete_and_true(self):
        self.need_engine("perf-trap")
        for rate in (999, 9999):
            with self.subTest(rate=rate):
                run = self.record_fibers("-F", rate)
                # Before perf-ring takes over: longer on a busy machine, where rec waits for a processor.
                before = run.count("cut.foreign-stack")
                self.assertLess(before, 0.1 * run.count("samples"), run.summary)
                self.assertGreater(run.count("complete"), 0.99 * (run.count("samples") - before), run.summary)
                whole = {stack[1:]: weight for stack, weight in run.stacks().items()
                         if "[truncated]" not in stack and any(name.startswith("step_") for name in stack)}
                self.assertEqual([stack for stack in whole if not is_true(stack)], [])
                self.assertEqual({stack[0] for stack in whole}, {f"work_{i}" for i in range(COUNT)})
                self.assertGreater(sum(whole.values()) / sum(run.stacks().values()), 0.5)
                self.assert_seen(run, 0.02)
                self.assertEqual((run.count("processes"), run.count("threads")), (1, 1))

    def test_a_thread_stays_one_thread_and_its_waits_are_recorded(self):
        """Also where perf-ring takes the process over."""
        self.need_engine("perf-trap")
        run = self.record_fibers("-F", "999", "--off-cpu", work_ms=600, where=["thread"])
        self.assertLess(run.count("cut.foreign-stack"), 0.1 * run.count("samples"), run.summary)
        tids = [thread["tid"] for thread in run.info["threads"]]
        self.assertEqual(sorted(set(tids)), sorted(tids))
        self.assertEqual((run.count("threads"), len(tids)), (2, 2))
        self.assertGreater(run.count("off_cpu.waiting_ns"), 0.4e9)  # in the main thread's join

    def test_a_root_found_in_code_is_one_in_each_sample(self):
        """Also in samples with a stack seen before."""
        run = self.recorded(rec.target("fcontexts"), 300, rec_options=["-q", "-F", "999", "--engine=perf-ring"])
        self.assertGreater(run.count("fibers"), 0.9 * run.count("samples"), run.summary)

    def test_without_the_kernels_copies_the_page_of_sp_is_shown(self):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                run = self.record_fibers("-F", "999", f"--engine={engine}", work_ms=400)
                self.assertGreater(run.count("cut.foreign-stack"), run.count("samples") / 3)


if __name__ == "__main__":
    rec.main()
