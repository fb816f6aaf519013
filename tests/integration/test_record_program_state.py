#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""10 000 interruptions a second leave registers, errno, stacks and control flow of a program as they
were: small alternate and thread stacks, longjmp, C++ exceptions, coroutines."""
import os
import resource

import rec

FAST = ["-q", "-F", "9999"]


# Prints the address space of a process with so many threads, and the number of mappings of its rings: all, and
# those with the kernel's flags "do not copy on fork" and "do not dump".
SPACE = """
import sys, threading
threading.stack_size(1 << 20)
end = threading.Event()
threads = [threading.Thread(target=end.wait) for _ in range(int(sys.argv[1]) - 1)]
for thread in threads:
    thread.start()
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmSize")))
parts = open("/proc/self/smaps").read().split("VmFlags:")
flags = [after.splitlines()[0].split() for mapping, after in zip(parts, parts[1:]) if "/memfd:rec-rings" in mapping]
print(len(flags), sum("dc" in flag and "dd" in flag for flag in flags))
end.set()
"""


class ProgramState(rec.Case):
    def compare(self, *command, least_samples=20):
        bare = self.bare(*command)
        self.assertEqual(bare.status, 0)
        for engine in rec.ENGINES:
            with self.subTest(command=command[1:], engine=engine):
                self.need_engine(engine)
                run = self.recorded(*command, rec_options=[*FAST, f"--engine={engine}"])
                self.assertEqual(run.stdout, bare.stdout)
                self.assertGreater(run.count("samples"), least_samples)

    def test_functions_of_old_versions_do_what_they_did(self):
        self.compare(rec.target("old_versions"))
        run = self.recorded(rec.target("old_versions"), rec_options=FAST)
        self.assertEqual(run.count("processes"), 3, "a shell by each of two functions")

    def test_functions_of_a_program_are_not_taken_for_those_of_the_c_library(self):
        self.compare(rec.target("same_names"), least_samples=5)

    def test_a_program_that_locks_all_memory_is_named(self):
        """The sparse tables are allocated and locked with the memory of the program."""
        python = self.need_program("/usr/bin/python3")
        if resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] < 256 << 20 and os.geteuid() != 0:
            self.skipTest("less than 256 MiB may be locked here (ulimit -l)")
        for flags, locked in ((3, 1), (0, 0)):
            code = f"import ctypes; print({flags} and ctypes.CDLL(None).mlockall({flags}))"
            run = self.recorded(python, "-c", code)
            self.assertEqual((run.stdout, run.count("locked_tables")), (b"0\n", locked), run.stderr)
            self.assertEqual(b"mlockall" in run.stderr, bool(locked), run.stderr)

    def test_address_space_of_the_sampler(self):
        """At most 100 MiB for up to 64 threads, and 1 MiB for each thread above; none of it inherited or dumped."""
        python = self.need_program("/usr/bin/python3")
        for threads in (1, 64, 65, 300):
            with self.subTest(threads=threads):
                bare = self.bare(python, "-c", SPACE, threads)
                run = self.recorded(python, "-c", SPACE, threads, rec_options=["-q"])
                (before, *_), (kib, rings, private) = bare.stdout.split(), run.stdout.split()
                self.assertLess((int(kib) - int(before)) / 1024, 100 + max(0, threads - 64))
                self.assertGreater(int(rings), 0)
                self.assertEqual(rings, private)

    def check_tight_space(self, run):
        self.assertEqual((run.status, run.stdout), (0, b"program: room\nchild: room\nat last: room\n"))
        self.assertEqual(len([thread for thread in run.info["threads"] if thread["cpu_ns"] > 40000000]), 5)
        self.assertEqual(run.complete_percent(), 100)
        self.assertGreater(run.share_of("work", "map_much", "main"), 80)

    def test_a_limited_address_space_stays_the_programs(self):
        program = rec.target("tight_space")
        for engine in rec.ENGINES:
            for command in (f"ulimit -v {1000 << 10}; exec {program} limited", f"exec {program} setrlimit",
                            f"exec {program} setrlimit64", f"exec {program} prlimit",
                            f"exec {program} prlimit64"):
                with self.subTest(engine=engine, command=command):
                    self.need_engine(engine)
                    self.check_tight_space(self.recorded("bash", "-c", command,
                                                         rec_options=["-q", f"--engine={engine}"]))

    def test_errno_is_kept(self):
        self.compare(rec.target("errno_kept"), "250")

    def test_vector_and_x87_registers_are_kept(self):
        self.compare(rec.target("vectors"), "20000000")

    def test_handlers_on_small_alternate_stacks_run(self):
        for size in ("0", "4096", "8192", "16384", "65536"):
            self.compare(rec.target("small_altstack"), size, "150", least_samples=5)

    def test_threads_on_nearly_full_small_stacks_run(self):
        self.compare(rec.target("small_stacks"), "16384", "8192", "150")
        self.compare(rec.target("small_stacks"), "16384", "11000", "150")
        self.compare(rec.target("small_stacks"), "32768", "20000", "150")

    def test_longjmp_and_siglongjmp_arrive(self):
        self.compare(rec.target("jumps"), "250")

    def test_exceptions_are_caught_and_destructors_run(self):
        self.compare(rec.target("throws"), "250")

    def test_coroutines_take_their_turns(self):
        self.compare(rec.target("coroutines"), "250")
        self.compare(rec.target("coroutines"), "250", "set")
        self.compare(rec.target("fibers"), "250")

    def test_stacks_of_coroutines_reach_their_beginning(self):
        for how in ([], ["set"]):
            run = self.recorded(rec.target("coroutines"), "500", *how, rec_options=FAST)
            self.assertGreater(run.complete_percent(), 95)

    def test_stacks_of_fibers_reach_their_function(self):
        run = self.recorded(rec.target("fibers"), "500", rec_options=FAST)
        turns = run.share_of("turn_of_a_fiber")
        self.assertGreater(turns, 30)
        self.assertGreater(run.share_of("work_of_a_fiber"), 0.9 * turns)
        self.assertGreater(run.complete_percent(), 95)
        self.assertGreater(run.count("fibers"), run.count("samples") / 2)

    def test_stacks_of_fibers_with_a_function_to_return_to_reach_it(self):
        run = self.recorded(rec.target("fcontexts"), "500", rec_options=["-q", "-F", "999"])
        self.assertEqual(run.complete_percent(), 100, run.summary)
        self.assertGreater(run.count("fibers"), 0.9 * run.count("samples"), run.summary)
        roots = {stack[1:3] for stack in run.stacks() if "turn_of_a_fiber" in stack}
        self.assertEqual(roots, {("fiber_start", "work_of_a_fiber")})

    def test_the_first_function_of_a_stack_is_the_root_of_this_stack(self):
        self.need_engine("perf-trap")
        for code, root in (([], "call_on"), (["copied"], "call_on"), (["computed"], "call_computed")):
            self.check_root_of_made_stack(code, root, [])

    def test_the_first_function_of_a_stack_is_the_root_from_outside(self):
        self.need_engine("perf-ring")
        for code, root in ((["in-thread"], "call_on"), (["copied"], "call_on")):
            self.check_root_of_made_stack(code, root, ["--engine=perf-ring"])

    def check_root_of_made_stack(self, code, root, options):
        run = self.recorded(rec.target("foreign_stack"), "800", *code, rec_options=["-q", "-F", "999", *options])
        self.assertGreater(run.complete_percent(), 90, run.summary)
        deep = [stack for stack in run.stacks() if root in stack and len(stack) > 100]
        self.assertTrue(deep)
        self.assertEqual({stack[1] for stack in deep}, {root})

    def test_a_frame_pointer_of_0_is_in_the_first_frame_of_a_stack(self):
        for options in ([], ["--engine=perf-ring"]):
            run = self.recorded(rec.target("foreign_stack"), "300", "ended", rec_options=["-q", "-F", "999", *options])
            count = self.assert_whole_after_the_first(run, lambda stack: len(stack) > 10, lambda stack: len(stack) in (191, 192)
                                                      and set(stack[1:]) == {"[unknown]"})
            self.assertEqual(count, 1)  # deep() 190 times below the first function; maybe one frame in the kernel

    def test_a_function_interrupted_on_another_stack_is_no_root(self):
        self.need_engine("perf-ring")
        run = self.recorded(rec.target("alternate_stack"), "300", rec_options=["-q", "--engine=perf-ring"])
        handled = [stack for stack in run.stacks() if "work_on_alternate_stack" in stack]
        self.assertTrue(handled)
        self.assertLessEqual({stack[1] for stack in handled}, {"_start", "[truncated]"})
        cuts = {key: int(value) for key, value in run.summary.items() if key.startswith("cut.")}
        self.assertGreater(cuts.get("cut.signal-stack", 0), 0.9 * sum(cuts.values()), cuts)

    def test_stacks_of_which_one_page_is_known_are_told(self):
        for code in ([], ["copied"]):
            run = self.recorded(rec.target("foreign_stack"), "500", *code,
                                rec_options=[*FAST, "--engine=perf-trap"])
            cuts = {key: int(value) for key, value in run.summary.items() if key.startswith("cut.")}
            # A search for the caller in the one known page can end in a guess; the guess is named, too.
            named = cuts.get("cut.foreign-stack", 0) + cuts.get("cut.guess", 0)
            self.assertGreater(named, 0.9 * sum(cuts.values()), cuts)
            self.assertGreater(cuts.get("cut.foreign-stack", 0), sum(cuts.values()) / 2, cuts)
            self.assertGreater(sum(cuts.values()), run.count("samples") / 2, "it goes on for four pages")


if __name__ == "__main__":
    rec.main()
