#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs without the sampler are recorded from outside, as the command and within a tree: complete stacks with
names, all CPU time accounted, and no process sampled twice."""
import os
import shutil
import subprocess

import rec

NOBODY = 65534
WORK_FRAMES = 16  # of a WORK function in tests/targets/attached.c
DEEP_FRAMES = 100  # of goes_down() in tests/targets/deep_frames.c
GO = """
package main
%s
import ("os"; "os/exec"; "syscall"; "time")
func used_ms() int64 {
    var usage syscall.Rusage
    syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
    return usage.Utime.Nano() / 1000000
}
//go:noinline
func burn(depth int, ms int64) int {
    if depth > 0 { return burn(depth - 1, ms) + 1 }
    x := 0
    for used_ms() < ms {
        for i := 0; i < 100000; i++ { x += i }
    }
    return x
}
func clock(ms int64) int {
    x := 0
    for used_ms() < ms {
        for i := 0; i < 10000; i++ { x += time.Now().Nanosecond() }
    }
    return x
}
func main() {
    if len(os.Args) == 2 { println(clock(500) != 0); return }
    if len(os.Args) > 1 { exec.Command(os.Args[1], os.Args[2:]...).Run() }
    println(burn(9, 500) != 0)
}
"""
# Ten calls deep, in functions of the C library that have no CFI and no frame pointers.
MUSL = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static int keep(int value) { __asm__ volatile("" : "+r"(value)); return value; }
__attribute__((noinline)) int compare(const void *a, const void *b)
{ return keep((*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b)); }
__attribute__((noinline)) int sorting(void)
{
    static int v[20000];
    for (int i = 0; i < 20000; i++) v[i] = rand();
    qsort(v, 20000, sizeof(int), compare);
    return keep(v[9]);
}
__attribute__((noinline)) int allocating(void)
{
    void *p[64];
    for (int k = 0; k < 2000; k++) {
        for (int i = 0; i < 64; i++) p[i] = malloc(16 + i * 8);
        for (int i = 0; i < 64; i++) free(p[i]);
    }
    return keep(1);
}
__attribute__((noinline)) int printing(void)
{
    char b[256];
    int s = 0;
    for (int i = 0; i < 3000; i++) s += snprintf(b, sizeof(b), "%d %s %f", i, "x", i * 1.5);
    return keep(s);
}
__attribute__((noinline)) int nested(int depth, int which)
{
    if (depth) return keep(nested(depth - 1, which) + 1);
    return keep((which == 0 ? sorting() : which == 1 ? allocating() : printing()) + 1);
}
int main(void)
{ int s = 0; for (int i = 0; clock() < CLOCKS_PER_SEC * 2 / 3; i++) s += nested(9, i % 3); return s == 0; }
"""
MUSL_WORK = {"sorting", "allocating", "printing"}


def as_nobody():
    """Options of Popen: an ordinary user, where the tests run as root."""
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


class Outside(rec.Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.directory, 0o755)

    def record(self, *command, **options):
        directory = self.new_directory()
        os.chmod(directory, 0o777)
        rec_options = options.pop("rec_options", ())
        run = self.run_in(directory, [rec.REC, *rec_options, "--", *command], **options)
        self.assertEqual(run.status, options.get("status", 0), run.stderr.decode())
        return run

    def assert_complete(self, run, engine="perf-ring"):
        self.assertEqual(run.summary["engine"], engine)
        self.assertGreater(run.count("samples"), 0.8 * 999e-9 * run.count("cpu_billed_ns"))  # mostly user code
        self.assert_stacks_complete(run)
        self.assertLess(run.lost(), run.count("samples") / 100)  # a busy machine may starve rec
        self.assert_accounted(run)

    def assert_stacks_complete(self, run):
        """99 %; of few samples, all but one."""
        self.assertLessEqual(run.count("samples") - run.count("complete"), max(1, run.count("samples") / 100), run.summary)

    def assert_accounted(self, run):
        """Neither too little CPU time nor, with a process sampled twice, too much."""
        self.assert_seen(run, 0.02)

    def assert_whole_work(self, run, function):
        """Stacks through the function have all of its frames, and begin where threads begin."""
        stacks = {stack: weight for stack, weight in run.stacks().items() if function in stack}
        whole = sum(weight for stack, weight in stacks.items() if stack.count(function) == WORK_FRAMES
                    and ("_start" in stack or "clone3" in stack or "__clone3" in stack))
        self.assertGreater(whole, 0.99 * sum(stacks.values()))

    def build_go(self, name, *options, cgo=False, compiler="go"):
        self.need_program(compiler)
        path = os.path.join(self.directory, name)
        with open(path + ".go", "w", encoding="utf-8") as file:
            file.write(GO % ('import "C"' if cgo else ""))
        kept = {key: value for key, value in os.environ.items() if key != "GOROOT"}
        environment = dict(kept, CGO_ENABLED="1" if cgo else "0", GO111MODULE="off", GOCACHE=rec.GO_CACHE)
        subprocess.run([compiler, "build", *options, "-o", path, path + ".go"], env=environment, check=True,
                       cwd=self.directory, timeout=200)
        return path


class Command(Outside):
    def test_a_static_command(self):
        for program, user in (("attached_static", {}), ("attached_static_pie", as_nobody())):
            with self.subTest(program=program, user=user):
                run = self.record(rec.target(program), 2, 1, 3, "later", **user)
                self.assert_complete(run)
                self.assertEqual(run.count("processes"), 2)
                for function in ("existing_work", "later_work", "child_work"):
                    self.assert_whole_work(run, function)
                    self.assertGreater(run.share_of(function), 10)
                self.assertEqual({process["name"] for process in run.info["processes"]}, {program[:15]})

    def test_children_with_a_dynamic_linker_are_recorded_too(self):
        program = self.build_go("starts")
        run = self.record(program, rec.target("short_run"), "500")
        self.assertEqual(run.summary["engine"], "perf-ring")
        self.assert_accounted(run)
        self.assertGreater(run.share_of("burn_until_ns"), 20)
        self.assertIn("short_run", {process["name"] for process in run.info["processes"]})

    def check_deep(self, program):
        """Without growth, or without the callchain, 5 % of the stacks are whole."""
        self.need_program("perf")
        run = self.record(rec.target(program), 700)
        self.assert_accounted(run)
        self.assertLess(run.share_of("[between samples]"), 15)
        count = self.assert_whole_after_the_first(run, lambda stack: "works_below" in stack,
                                                  lambda stack: stack.count("goes_down") == DEEP_FRAMES
                                                  and stack[-1] in ("_start", "clone3", "__clone3"))
        self.assertEqual(count, 3)

    def test_copies_grow_with_the_stacks(self):
        """Of main, a thread and a child, while threads come and go; each sample has one of the two sizes."""
        self.check_deep("deep_frames_static")

    def test_copies_grow_after_the_first_deep_stacks(self):
        run = self.record(rec.target("deep_frames_static"), 300, rec_options=["-F", "100"])
        self.assertGreater(run.count("samples"), 60)
        self.assertLess(run.count("samples") - run.count("complete"), 10)

    def test_frame_pointers_lead_beyond_the_largest_copy(self):
        self.check_deep("deep_frames_framed")

    def test_without_children(self):
        run = self.record(rec.target("attached_static"), 2, 1, 0, "later", rec_options=["-i"])
        self.assertGreater(run.share_of("existing_work"), 10)
        self.assertEqual(run.share_of("child_work"), 0)

    def test_the_environment_is_unchanged(self):
        run = self.record("env", rec_options=["--engine=perf-ring"])
        self.assertNotIn(b"LD_PRELOAD", run.stdout)
        self.assertNotIn(b"REC_SESSION", run.stdout)

    def test_a_dynamic_command_on_request(self):
        run = self.record(rec.target("attached"), 2, 1, 3, rec_options=["--engine=perf-ring"], **as_nobody())
        self.assert_complete(run)
        self.assert_whole_work(run, "existing_work")

    def test_a_frame_with_pages_never_written(self):
        """The first copies end at such a page. A read from outside gives it memory."""
        for work_ms in (1000, 4000, 16000):  # a busy machine may leave rec no time for the read at first
            run = self.record(rec.target("unwritten_frame"), work_ms, rec_options=["--engine=perf-ring"], **as_nobody())
            if run.complete_percent() > 60:
                break
        cut = run.count("samples") - run.count("complete")
        self.assertGreater(run.complete_percent(), 60, run.summary)
        self.assertGreaterEqual(run.count("cut.stack-page"), cut - 1, run.summary)

    def check_go(self, *options, **how):
        run = self.record(self.build_go("go_program", *options, **how), **as_nobody())
        self.assertEqual(run.summary["engine"], "perf-ring")
        self.assert_accounted(run)
        self.assert_stacks_complete(run)
        stacks = {stack: weight for stack, weight in run.stacks().items() if "main.burn" in stack}
        whole = sum(weight for stack, weight in stacks.items() if stack.count("main.burn") == 10
                    and "main.main" in stack and "runtime.goexit" in stack)
        self.assertGreater(whole, 0.97 * sum(stacks.values()))
        self.assertGreater(sum(stacks.values()), 0.7 * sum(run.stacks().values()))
        report = self.run_in(run.directory, [rec.REC, "report", "--json"])
        self.assertIn(b"go_program.go", report.stdout)

    def test_a_go_command(self):
        self.check_go()

    def test_callers_of_the_vdso_in_go_are_on_another_stack(self):
        """The first samples show that callchains are needed; the others have one."""
        run = self.record(self.build_go("go_program"), "clock", **as_nobody())
        stacks = {stack: weight for stack, weight in run.stacks().items() if "__vdso_clock_gettime" in stack}
        whole = sum(weight for stack, weight in stacks.items()
                    if stack[1:5] == ("runtime.goexit", "runtime.main", "main.main", "main.clock"))
        self.assertGreater(sum(stacks.values()), 0.3 * sum(run.stacks().values()))
        self.assertGreater(whole, 0.7 * sum(stacks.values()))

    def test_a_stripped_go_command(self):
        """Names and lines come from the function table."""
        self.check_go("-ldflags=-s -w")

    def test_a_stripped_go_command_with_the_c_library(self):
        self.check_go("-ldflags=-s -w", "-buildmode=pie", cgo=True)

    def test_a_stripped_command_of_the_go_of_the_distribution(self):
        if not os.path.exists("/usr/bin/go"):
            self.skipTest("needs the package golang-go")
        self.check_go("-ldflags=-s -w", compiler="/usr/bin/go")


class Musl(Outside):
    """Callers are found by their call instructions."""

    def build(self, *options):
        self.need_program("musl-gcc")
        program = os.path.join(self.directory, "musl_program")
        subprocess.run(["musl-gcc", "-O2", "-x", "c", "-", "-o", program, *options], input=MUSL.encode(), check=True)
        return program

    def check(self, program):
        run = self.record(program)
        self.assertEqual(run.summary["engine"], "perf-ring")
        self.assert_accounted(run)
        stacks = {stack: weight for stack, weight in run.stacks().items() if not stack[1].startswith("[")
                  or stack[1] == "[truncated]"}
        complete = {stack: weight for stack, weight in stacks.items() if stack[1] != "[truncated]"}
        right = sum(weight for stack, weight in complete.items() if self.is_right(stack))
        self.assertGreater(sum(stacks.values()), 100)
        self.assertGreaterEqual(right, 0.95 * sum(stacks.values()))
        self.assertLessEqual(sum(complete.values()) - right, 0.01 * sum(stacks.values()))

    @staticmethod
    def is_right(stack):
        """main, ten calls of nested(), and the work; or the little between."""
        in_work = len(MUSL_WORK.intersection(stack)) == 1 and stack.count("nested") == 10
        return "main" in stack and "_start" in stack and (in_work or "nested" not in stack)

    def test_a_dynamic_program(self):
        self.check(self.build())

    def test_a_static_program(self):
        self.check(self.build("-static"))

    def test_a_static_program_without_symbols(self):
        """The names come from a debug file, which the unwinder does not read."""
        program = self.build("-static")
        for options in (["--only-keep-debug", program, program + ".debug"],
                        ["--strip-all", f"--add-gnu-debuglink={program}.debug", program]):
            subprocess.run(["objcopy", *options], check=True)
        self.check(program)


class Lifetime(Outside):
    def test_the_status_of_the_command(self):
        for command, status in ((["sh", "-c", "exit 7"], 7), (["./missing"], 127), (["/etc/passwd"], 126)):
            run = self.run_in(self.new_directory(), [rec.REC, "-q", "--engine=perf-ring", "--", *command])
            self.assertEqual(run.status, status, run.stderr)

    def test_without_sys(self):
        """As in a chroot: /proc/stat has the list of processors, too."""
        script = 'mount -t tmpfs none /sys && exec "$0" --off-cpu --engine=perf-ring -- "$1" 200'
        run = self.run_in(self.new_directory(), ["unshare", "-Urm", "sh", "-c", script, rec.REC, rec.target("short_run")])
        self.assertEqual(run.status, 0, run.stderr)
        self.assertIn(b"(perf-ring)", run.stderr)
        self.assertIn(b"(switch-records", run.stderr)

    def test_the_recording_ends_before_the_command(self):
        run = self.record(rec.target("attached_static"), 2, 1, 0,
                          rec_options=["--duration", "0.5", "-D", "300"], **as_nobody())
        self.assertLess(run.count("cpu_billed_ns"), 0.7e9)
        self.assertEqual(run.summary["end"], "duration")
        self.assert_stacks_complete(run)
        self.assert_whole_work(run, "existing_work")


class Tree(Outside):
    def test_static_programs_below_a_recorded_shell(self):
        """Once by fork and exec, once by exec alone; the dynamic program beside keeps its sampler."""
        static, dynamic = rec.target("attached_static"), rec.target("short_run")
        for words, user in ((f"{static} 2 1 2 later; {dynamic} 500", {}),
                            (f"{dynamic} 500; exec {static} 2 1 2 later", as_nobody())):
            with self.subTest(words=words, user=user):
                run = self.record("bash", "-c", words, **user)
                self.assertIn(run.summary["engine"], rec.ENGINES)
                self.assert_accounted(run)
                self.assert_stacks_complete(run)
                for function in ("existing_work", "later_work", "child_work"):
                    self.assert_whole_work(run, function)
                for function in ("existing_work", "child_work", "burn_until_ns"):
                    self.assertGreater(run.share_of(function), 5)
                self.assertNotIn("not_followed.0", run.summary)

    def test_every_kind_of_program_in_one_tree(self):
        """Each has a profile of its own, or a line with the reason."""
        self.need_program("musl-gcc")
        musl = os.path.join(self.directory, "of_musl")
        source = f"{rec.SOURCE}/tests/targets/short_run.c"
        subprocess.run(["musl-gcc", "-O1", "-idirafter", "/usr/include", "-idirafter", "/usr/include/x86_64-linux-gnu",
                        source, "-o", musl], check=True)
        privileged = os.path.join(self.directory, "privileged")
        shutil.copy(rec.target("short_run"), privileged)
        os.chmod(privileged, 0o4755)
        static = [f"{rec.target(name)} 0.3 1 0" for name in ("attached_static", "attached_static_pie")]
        words = [*static, self.build_go("of_go"), self.build_go("of_cgo", cgo=True), f"{musl} 300", f"{privileged} 300"]
        run = self.record("sh", "-c", "; ".join([*words, "true"]), **as_nobody())
        self.assert_accounted(run)
        used_ns = {process["name"]: process["cpu_ns"] for process in run.info["processes"]}
        names = ("attached_static", "attached_static", "of_go", "of_cgo", "of_musl", "privileged")
        for name in names:
            self.assertGreater(used_ns[name], 10e6, name)
        in_the_dark = {stack[0] for stack, weight in run.stacks().items()
                       if stack[1:] == ("[not followed]",) and weight > 50}
        self.assertLessEqual(in_the_dark, {"privileged"})
        if os.geteuid() == 0:  # else the privilege is the user's own
            reasons = [value for key, value in run.summary.items() if key.startswith("not_followed.")]
            self.assertRegex(str(reasons), "privileged set-user-id")

    def test_short_static_programs_are_recorded_from_their_first_instruction(self):
        """By fork and exec, and by vfork."""
        static = rec.target("attached_static")
        for command in (["bash", "-c", f"for i in 1 2 3 4; do {static} 0.1 1 0; done"],
                        [rec.target("processes"), "vfork-exec", "0", static, "0.3", "1", "0"]):
            with self.subTest(command=command):
                run = self.record(*command, **as_nobody())
                self.assert_accounted(run)
                self.assertGreater(run.share_of("existing_work"), 80)
                self.assertLess(run.share_of("[not followed]"), 10)
                self.assert_whole_work(run, "existing_work")

    def test_a_program_in_the_dynamic_linker_is_not_recorded_from_outside(self):
        for command in ([rec.target("long_relocation")], ["sh", "-c", rec.target("long_relocation") + "; true"]):
            run = self.recorded(*command)
            self.assertGreater(run.share_of("[exec and dynamic linking]"), 90, run.summary)

    def test_an_exec_that_fails_changes_nothing(self):
        """The shell tries a static program without the right to execute it, and goes on."""
        path = os.path.join(self.directory, "static")
        with open(rec.target("attached_static"), "rb") as source, open(path, "wb") as copy:
            copy.write(source.read())
        os.chmod(path, 0o744)
        short_run = f"{rec.target('short_run')} 400"
        words = f"shopt -s execfail; exec {path} 1 1 0; {short_run}; exec {short_run}"
        run = self.record("bash", "-c", words, **as_nobody())
        self.assert_accounted(run)
        self.assertGreater(run.share_of("burn_until_ns"), 80)

    def test_a_go_program_with_the_c_library_is_recorded_from_its_start(self):
        program = self.build_go("cgo", cgo=True)
        run = self.record("bash", "-c", f"{program} {rec.target('short_run')} 300; true")
        self.assert_accounted(run)
        self.assertGreater(run.share_of("main.burn"), 1)  # half a second of wall time, on a busy machine less CPU time
        self.assertGreater(run.share_of("burn_until_ns"), 20)
        self.assertNotIn("not_followed.0", run.summary)


if __name__ == "__main__":
    rec.main()
