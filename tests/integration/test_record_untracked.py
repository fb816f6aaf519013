#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What cannot take a sampler runs as if there were none, and is listed with its CPU time and the reason, where the
engine perf-ring is not available."""
import os
import re
import shutil
import subprocess
import sys

import rec

WORK_MS = 400
# Without a reason on disk, a process has no sampler for certain after 100 ms of CPU time from the first look on.
UNCERTAIN_MS = 800
SPIN = """
package main
import "time"
func main() {
    x := 0
    for end := time.Now().Add(%d * time.Millisecond); time.Now().Before(end); x++ {
        for i := 0; i < 100000; i++ { x += i }
    }
    println(x != 0)
}
"""
# No C library headers of the other class are needed.
SMALL = """
int puts(const char *); void exit(int); long clock(void);
void _start(void) { while (clock() < 300000); puts("done"); exit(3); }
"""
# mov $57, %eax; syscall; ret
RAW_FORK = """
import ctypes, mmap, os, time
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("b8390000000f05c3"))
if ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))() == 0:
    while time.process_time() * 1000 < %d:
        pass
    os._exit(0)
os.wait()
"""

TRACE = """
import ctypes, os, sys
SEIZE, CONT, NUMBER = 0x4206, 7, 101
libc = ctypes.CDLL(None)
words = [ctypes.c_long(NUMBER)] if sys.argv[1] == "syscall" else []
def ptrace(*arguments):
    return getattr(libc, sys.argv[1])(*words, *map(ctypes.c_long, arguments))
waits, starts = os.pipe()
child = os.fork()
if child == 0:
    os.read(waits, 1)
    os.execv(sys.argv[2], sys.argv[2:])
if ptrace(SEIZE, child, 0, 0) != 0:
    sys.exit(77)
os.write(starts, b"x")
status = os.waitpid(child, 0)[1]
while os.WIFSTOPPED(status):
    ptrace(CONT, child, 0, os.WSTOPSIG(status))
    status = os.waitpid(child, 0)[1]
"""


class Untracked(rec.Case):
    def record(self, *command, rec_options=(), **options):
        """An engine of the sampler alone."""
        return super().record(*command, rec_options=["--engine=timer", *rec_options], **options)

    def build(self, name, *options, program=None):
        """short_run built in another way; skipped where that is not possible."""
        path = os.path.join(self.directory, name)
        source = program or f"{rec.SOURCE}/tests/targets/short_run.c"
        done = subprocess.run(["gcc", "-O1", source, "-o", path, *options], capture_output=True,
                              cwd=self.directory, check=False)
        if done.returncode:
            self.skipTest(f"gcc {' '.join(options)} does not work here")
        return path

    def entries(self, run):
        """{name: (reason, ms)} of the summary."""
        notes = run.summary
        entries = {}
        for key, value in notes.items():
            if key.startswith("not_followed."):
                _, name, reason = value.split(" ", 2)
                ns = notes.get(key.replace("not_followed.", "not_followed_cpu_ns."), "0")
                entries[name] = (reason, int(ns) / 1e6)
        return entries

    def assert_listed(self, run, name, reason, work_ms):
        """In the summary and in the profile, all with most of its time; the account closes."""
        self.assertIn(name, self.entries(run))
        said, listed_ms = self.entries(run)[name]
        self.assertIn(reason, said)
        in_profile_ms = sum(process["cpu_ns"] for process in run.info["processes"]
                            if process["name"] == name) / 1e6
        for value in (listed_ms, in_profile_ms):
            self.assertGreater(value, 0.8 * work_ms)
            self.assertLess(value, 1.2 * work_ms)
        self.assert_seen(run, 0.02)

    def every_way_to_start(self, program, name, reason, work_ms=WORK_MS):
        """As the command, from a shell that forks, by exec of a recorded process, by vfork."""
        words = [program, str(work_ms)]
        for command in (words, ["bash", "-c", f"{' '.join(words)}; true"],
                        ["bash", "-c", f"exec {' '.join(words)}"],
                        [rec.target("processes"), "vfork-exec", "0", *words]):
            with self.subTest(command=command):
                run = self.record(*command)
                self.assertEqual(run.status, 0, run.stderr)
                self.assertNotIn(b"ld.so", run.stderr)
                self.assert_listed(run, name, reason, work_ms)

    def test_a_program_that_its_parent_traces_from_before_the_exec(self):
        for call in ("ptrace", "syscall"):
            with self.subTest(call=call):
                run = self.record(sys.executable, "-ISc", TRACE, call, rec.target("short_run"), 30)
                if run.status == 77:
                    self.skipTest("ptrace() is not permitted here")
                self.assertEqual(run.status, 0, run.stderr)
                self.assertIn("traced by a debugger", self.entries(run).get("short_run", ("",))[0])

    def test_static_programs(self):
        for name, option in (("static", "-static"), ("static_pie", "-static-pie")):
            self.every_way_to_start(self.build(name, option), name, "a static program")

    def test_those_that_are_gone_before_anybody_looks(self):
        """The time of what a forked child executes is neither that child's end nor too short for a sample."""
        program = self.build("static", "-static")
        run = self.record("bash", "-c", f"for i in 1 2 3 4 5; do {program} 40; done")
        self.assertNotIn(b"of a sampling period", run.stderr)
        self.assertGreater(run.share_of("[not followed]", self_only=True), 80)
        self.assertLess(run.share_of("[exit]", self_only=True), 5)

    def test_a_short_one_alone_is_not_said_to_be_idle(self):
        program = self.build("static", "-static")
        for command in ([program, 50], ["sh", "-c", f"{program} 50; :"]):
            run = self.record(*command)
            self.assertEqual(run.status, 0)
            self.assertRegex(run.stderr, b"a static program|without a sampler")
            self.assertNotIn(b"nothing to sample", run.stderr)

    def test_a_program_whose_address_space_has_no_room_for_the_sampler(self):
        program = self.build("narrow")
        for words in ("{}; true", "exec {}"):
            with self.subTest(words=words):
                run = self.record("bash", "-c", "ulimit -v 200000; " + words.format(f"{program} {WORK_MS}"))
                self.assert_listed(run, "narrow", "address space is limited", WORK_MS)

    def test_a_child_without_a_descriptor_for_its_memory(self):
        run = self.record("bash", "-c", "ulimit -n 3; (:); true")
        self.assertEqual(run.status, 0)
        self.assertRegex(str([reason for reason, _ in self.entries(run).values()]), "no descriptor or memory is left")

    def test_a_program_of_fexecve_without_the_two_variables(self):
        """CPython's execve() of a descriptor is fexecve(), which passes the environment on as it is."""
        python = "/usr/bin/python3"
        self.need_program(python)
        program = rec.target("short_run")
        script = f"import os; os.execve(os.open({program!r}, 0), ['short_run', '{WORK_MS}'], {{}})"
        run = self.record("sh", "-c", f"{python} -c \"{script}\"; true")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(len(self.entries(run)), 1, run.stderr)
        for name, (reason, listed_ms) in self.entries(run).items():
            self.assertEqual((name, "sampler" in reason), ("short_run", True), reason)
            self.assertGreater(listed_ms, 0.8 * WORK_MS)

    def test_static_go(self):
        self.need_program("go")
        path = os.path.join(self.directory, "spin")
        with open(path + ".go", "w", encoding="utf-8") as file:
            file.write(SPIN % WORK_MS)
        environment = dict(os.environ, CGO_ENABLED="0", GOFLAGS="-mod=mod", GO111MODULE="off",
                           GOCACHE=rec.GO_CACHE)
        subprocess.run(["go", "build", "-o", path, path + ".go"], env=environment, check=True,
                       cwd=self.directory, timeout=120)
        run = self.record("bash", "-c", f"{path}; true")
        self.assertIn("Go", self.entries(run)["spin"][0])

    def test_programs_of_another_class(self):
        source = os.path.join(self.directory, "small.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(SMALL)
        path = self.build("small", "-m32", "-nostdlib", "-fno-builtin", "-L/lib32", "-l:libc.so.6",
                          "-Wl,-dynamic-linker,/lib/ld-linux.so.2", program=source)
        bare = self.bare(path)
        if bare.status != 3:
            self.skipTest("no 32-bit programs here")
        run = self.record(path, rec_options=["-q"])
        self.assertEqual((run.status, run.stdout), (3, bare.stdout))
        self.assertRegex(run.stderr, rb"\Arec: no samples at all: small, process \d+: a 32-bit program\n\Z")
        self.assertIn("32-bit", self.entries(run)["small"][0])
        run = self.record(path)
        self.assertEqual(run.stderr.count(b"32-bit"), 1, run.stderr)
        self.assertIn(b"rec: no samples at all\n", run.stderr)

    def test_an_emptied_environment(self):
        program = self.build("dynamic")
        run = self.record(rec.target("processes"), "vfork-exec", "0", "/usr/bin/env", "-i", program,
                          str(WORK_MS))
        if "dynamic" in self.entries(run):
            self.assert_listed(run, "dynamic", "without the sampler", WORK_MS)
        else:  # injected again on the way
            self.assertGreater(run.share_of("main"), 80)

    def test_a_root_directory_without_the_sampler(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, for chroot")
        program = self.build("dynamic")
        libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True)
        for path in re.findall(r"/\S+", libraries.stdout):
            os.makedirs(self.directory + os.path.dirname(path), exist_ok=True)
            shutil.copy(path, self.directory + path)
        run = self.record("chroot", self.directory, "/dynamic", str(WORK_MS), rec_options=["-q"])
        self.assertNotIn(b"ld.so", run.stderr)
        self.assert_listed(run, "dynamic", "in another root directory", WORK_MS)

    def test_a_c_library_that_is_too_old_for_the_sampler(self):
        """With the sampler such a program would not start: a dynamic linker that calls itself older stands for it."""
        program = self.build("dynamic")
        linker = re.search(r"\S+/ld-\S+", subprocess.run(["ldd", program], capture_output=True, text=True,
                                                         check=True).stdout)[0]
        old = os.path.join(self.directory, "ld-old.so")
        with open(linker, "rb") as source, open(old, "wb") as copy:
            copy.write(source.read().replace(b"\0GLIBC_2.34\0", b"\0GLIBC_2.33\0"))
        os.chmod(old, 0o755)
        program = self.build("outdated", f"-Wl,--dynamic-linker={old}")
        for command in ([program, str(WORK_MS)], ["sh", "-c", f"{program} {WORK_MS}; :"]):
            with self.subTest(command=command):
                run = self.record(*command, rec_options=["-q"])
                self.assert_listed(run, "outdated", "C library older", WORK_MS)

    def record_as_nobody(self, path):
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs root, to make such a program and to be somebody else")
        nobody = ["setpriv", "--reuid=65534", "--clear-groups"]
        os.chmod(self.directory, 0o755)
        if subprocess.run([*nobody, rec.REC, "--version"], capture_output=True, check=False).returncode:
            self.skipTest("rec lies where others cannot go")
        directory = self.new_directory()
        os.chmod(directory, 0o777)
        return self.run_in(directory, [*nobody, rec.REC, "--", "bash", "-c", f"{path} {WORK_MS}; true"])

    def test_set_user_id_programs(self):
        path = self.build("privileged")
        os.chmod(path, 0o4755)
        run = self.record_as_nobody(path)
        self.assertIn("set-user-id", self.entries(run)["privileged"][0])

    def test_set_user_id_programs_of_the_user(self):
        """As `su` is to root: nobody becomes anybody else, and the loader does preload."""
        path = self.build("own")
        os.chmod(path, 0o6755)
        run = self.record("sh", "-c", f"{path} {WORK_MS}; :")
        self.assertEqual(self.entries(run), {})
        self.assertGreater(run.share_of("main"), 80)

    def test_programs_with_capabilities(self):
        path = self.build("capable")
        setcap = shutil.which("setcap") or "/usr/sbin/setcap"
        if not os.path.exists(setcap) or subprocess.run([setcap, "cap_net_raw+ep", path], check=False).returncode:
            self.skipTest("cannot give a file capabilities here")
        run = self.record_as_nobody(path)
        self.assertNotIn(b"ld.so", run.stderr)
        self.assertIn("capabilities", self.entries(run)["capable"][0])

    def test_a_fork_past_the_c_library(self):
        run = self.record(self.need_program("/usr/bin/python3"), "-c", RAW_FORK % UNCERTAIN_MS)
        self.assertEqual([reason for reason, _ in self.entries(run).values()],
                         ["made by vfork() or clone(): without a sampler"])

    def test_in_a_sandbox_that_forbids_what_the_sampler_needs(self):
        """A forked child, and what one executes: recorded from outside, unless the user insists on the sampler."""
        for how in ("prctl", "exec"):
            for record, is_named in ((self.record, True), (super().record, False)):
                with self.subTest(how=how, is_named=is_named):
                    run = record(rec.target("sandboxed"), how, 400)
                    self.assertEqual([reason.startswith("in a sandbox") for reason, _ in self.entries(run).values()],
                                     [True] if is_named else [], run.stderr)
                    samples = sorted(process["samples"] for process in run.info["processes"])
                    self.assertEqual(len(samples), 2)
                    self.assertEqual(samples[0] > 20, not is_named, samples)


if __name__ == "__main__":
    rec.main()
