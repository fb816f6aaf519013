#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""In namespaces, jails and under limits a program is the same with rec as without it, and rec says what it
could not do there."""
import itertools
import os
import pwd
import shutil
import subprocess

import harm
import rec

PYTHON = "/usr/bin/python3"
LATER = """
import ctypes, os, sys
if sys.argv[1] == "setuid":
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
else:
    ctypes.CDLL(None).prctl(4, 0)
def work(total, rounds):
    for i in range(rounds):
        total = (total * 31 + i) % 1000003
    return total
total = work(0, 1000000)
print(total, flush=True)
pid = os.fork()
if pid == 0:
    print(work(total, 500000), flush=True)
    os._exit(4)
print(os.waitpid(pid, 0)[1])
"""
WORK_MS = 150


class Places(harm.Case):
    def need_root(self, *programs):
        if os.getuid() != 0:
            self.skipTest("only root can set this up")
        for program in programs:
            self.need_program(program)

    def recorded_in(self, engine, before, after, *command):
        """rec in a place, and the command in one: (prefix of rec, prefix of the command)."""
        self.need_engine(engine)
        directory = self.new_directory()
        os.chmod(self.directory, 0o755)
        return self.watched([*before, rec.REC, "-F", harm.FAST_HZ, f"--engine={engine}", "-o", "rec.data",
                             "-o", "rec.folded", "--", *after, *command], directory)

    def assert_profiled(self, before, after, least_percent=90):
        """The command runs as ever and nearly all of its time is in the profile."""
        for engine in rec.ENGINES:
            run = self.recorded_in(engine, before, after, rec.target("shares"), WORK_MS)
            self.assertEqual(run.status, 0, run.stderr)
            self.assertEqual(len(run.stdout.splitlines()), 3)
            self.assertEqual(run.stderr.count(b"\n"), run.stderr.count(b"rec: "), run.stderr)
            self.assertGreater(run.info["cpu_ns"], WORK_MS * 1e6 * least_percent / 100)
            self.assertGreater(run.count("samples"), WORK_MS / 25)

    def assert_left_alone(self, before, after, *said, command=None):
        """The command runs as ever, without a word of the loader's, and rec says why it is not recorded."""
        for engine in rec.ENGINES:
            run = self.recorded_in(engine, before, after, *(command or (rec.target("shares"), WORK_MS)))
            self.assertEqual(len(run.stdout.splitlines()), 3, run.stderr)
            for line in run.stderr.splitlines():
                self.assertTrue(line.startswith(b"rec: "), run.stderr)
            for text in said:
                self.assertIn(text, run.stderr)

    def assert_refused(self, before, *said):
        run = self.recorded_in("timer", before, (), "touch", "started")
        self.assertEqual((run.status, run.stdout), (125, b""), run.stderr)
        self.assertEqual(run.stderr.count(b"\n"), 1, run.stderr)
        for text in said:
            self.assertIn(text, run.stderr)
        self.assertFalse(os.path.exists(run.path("started")))

    def test_namespaces_around_rec(self):
        self.need_root("unshare")
        self.assert_profiled(["unshare", "--pid", "--fork", "--mount-proc"], [])
        self.assert_profiled(["unshare", "--time", "--monotonic", "100000"], [])

    def test_namespaces_around_the_program(self):
        self.need_root("unshare")
        for options in (["--user", "--map-root-user"], ["--mount"], ["--time", "--monotonic", "100000"],
                        ["--net", "--ipc", "--uts"], ["--pid", "--fork", "--mount-proc"]):
            self.assert_profiled([], ["unshare", *options])

    def test_a_jail_without_the_sampler(self):
        self.need_root("chroot")
        jail = os.path.join(self.directory, "jail")
        loaded = subprocess.run(["ldd", rec.target("shares")], capture_output=True, text=True).stdout
        for path in [rec.target("shares")] + [word for word in loaded.split() if word.startswith("/")]:
            place = jail + (path if path != rec.target("shares") else "/shares")
            os.makedirs(os.path.dirname(place), exist_ok=True)
            shutil.copy(path, place)
        self.assert_left_alone([], ["chroot", jail], b"not recorded", command=("/shares", WORK_MS))

    def test_a_jail_that_has_everything(self):
        """There a program is known by another path than here."""
        self.need_root("unshare", "chroot")
        jail = os.path.join(self.directory, "jail")
        os.mkdir(jail)
        self.assert_profiled(["unshare", "--mount", "sh", "-c", "mount --rbind / \"$0\" && exec \"$@\"", jail],
                             ["chroot", jail])

    def test_a_kernel_without_a_vdso(self):
        """What is inside valgrind has none either: the sampler maps less there, until it knows."""
        if subprocess.run([rec.target("no_vdso"), "true"], capture_output=True).returncode:
            self.skipTest("programs cannot be traced here, or there is no vDSO to hide")
        self.assert_profiled([], [rec.target("no_vdso")])
        for engine in rec.ENGINES:
            run = self.recorded_in(engine, [], [rec.target("no_vdso")], rec.target("processes"), "fork", 300)
            self.assertGreater(run.share_of("work_of_a_forked_child"), 80)

    def test_a_kernel_without_a_vdso_and_little_room(self):
        """None for the sampler, and enough for one that maps ring by ring."""
        if subprocess.run([rec.target("no_vdso"), "true"], capture_output=True).returncode:
            self.skipTest("programs cannot be traced here, or there is no vDSO to hide")
        for engine, kib, command in itertools.product(
                rec.ENGINES, (500000, 620000),
                (("short_run", 300), ("processes", "fork", 100), ("equal_threads", 3, 100))):
            limited = ["sh", "-c", f"ulimit -v {kib}; \"$@\"; echo status $?", "sh", rec.target("no_vdso")]
            with self.subTest(engine=engine, kib=kib, command=command):
                run = self.recorded_in(engine, [], limited, rec.target(command[0]), *command[1:])
                self.assertEqual(run.stdout.splitlines()[-1:], [b"status 0"], run.stderr)

    def test_without_tmp_and_with_a_file_system_that_is_read_only(self):
        self.need_root("unshare", "mount")
        # The build may lie in /tmp itself.
        build, shares = os.path.dirname(rec.REC), os.path.relpath(rec.target("shares"), os.path.dirname(rec.REC))
        script = ("mount -t tmpfs none /mnt && mkdir /mnt/build && mount --bind \"$0\" /mnt/build && "
                  "mount --bind /mnt /tmp && cd /mnt && exec \"$@\"")
        for engine in rec.ENGINES:
            self.need_engine(engine)
            run = self.watched(["unshare", "--mount", "sh", "-c", script, build, "/mnt/build/rec", "-q",
                                "--", f"/mnt/build/{shares}", WORK_MS])
            self.assertEqual((run.status, run.stderr), (0, b""))
        run = self.watched(["unshare", "--mount", "sh", "-c",
                            "mount -t tmpfs none /mnt && mount -o remount,ro /mnt && cd /mnt && exec \"$@\"",
                            "-", rec.REC, "--", "echo", "started"])
        self.assertEqual((run.status, run.stdout), (125, b""))
        self.assertIn(b"Read-only file system", run.stderr)

    def test_without_proc_rec_says_so(self):
        self.need_root("unshare", "umount")
        self.assert_refused(["unshare", "--mount", "sh", "-c", "umount -l /proc && exec \"$@\"", "-"],
                            b"/proc")

    def test_without_proc_the_program_is_recorded(self):
        self.need_root("unshare", "umount")
        self.assert_profiled([], ["unshare", "--mount", "sh", "-c", "umount -l /proc && exec \"$@\"", "-"])

    def test_processes_of_others_are_hidden(self):
        self.need_root("unshare", "setpriv")
        nobody = ["setpriv", "--reuid=65534", "--clear-groups"]
        if subprocess.run([*nobody, rec.REC, "--version"], capture_output=True).returncode:
            self.skipTest("rec lies where others cannot go")
        hidden = ["unshare", "--mount", "sh", "-c", "mount -t proc -o hidepid=2 proc /proc && exec \"$@\"", "-"]
        directory = self.new_directory()
        os.chmod(self.directory, 0o755)
        os.chmod(directory, 0o777)
        run = self.watched([*hidden, *nobody, rec.REC, "-F", harm.FAST_HZ, "-o", "rec.data", "--",
                            rec.target("shares"), WORK_MS], directory)
        self.assertEqual(run.status, 0, run.stderr)
        self.assertGreater(run.info["cpu_ns"], WORK_MS * 1e6 * 0.9)

    def test_a_stack_that_grows_to_its_end(self):
        for how in ("main", "thread", "small", "handler"):
            bare = self.watched([rec.target("overflow"), how])
            for engine in rec.ENGINES:
                run = self.recorded_in(engine, [], [], rec.target("overflow"), how)
                self.assertEqual((run.status, run.stdout), (bare.status, bare.stdout), run.stderr)
                # A sample that comes before the tables has no more of the stack than is copied.
                self.assertGreater(run.complete_percent(), 80)

    def test_small_limits(self):
        self.need_program("prlimit")
        self.assert_profiled(["prlimit", "--nofile=16"], [])
        self.assert_profiled(["prlimit", "--memlock=0"], [])
        self.assert_profiled(["prlimit", "--fsize=2000000:unlimited"], [])
        self.assert_profiled([], ["prlimit", "--fsize=100000:100000"])
        self.assert_left_alone([], ["prlimit", "--as=200000000"], b"not recorded")
        self.assert_refused(["prlimit", "--fsize=100000:100000"], b"ulimit -H -f")
        self.assert_refused(["prlimit", "--as=60000000"], b"ulimit -v")

    def test_another_user_and_no_dumps_later_on(self):
        self.need_root()
        pwd.getpwnam("nobody")
        for how in ("setuid", "dumpable"):
            bare = self.watched([PYTHON, "-c", LATER, how])
            for engine in rec.ENGINES:
                run = self.recorded_in(engine, [], [], PYTHON, "-c", LATER, how)
                self.assertEqual((run.status, run.stdout), (0, bare.stdout), run.stderr)
                self.assert_seen(run, 0.08)

    def hold(self, program, how, milliseconds, status, least_share):
        """It ends as it does alone, and its work is seen."""
        command = [rec.target(program), how, milliseconds]
        bare = self.watched(command)
        self.assertEqual(bare.status, status)
        for engine in rec.ENGINES:
            run = self.recorded_in(engine, [], [], *command)
            self.assertEqual((run.status, run.stdout), (status, bare.stdout), run.stderr)
            self.assertGreater(run.share_of("burn_rounds"), least_share)

    def test_a_clock_that_is_taken_away(self):
        """The sampling ends, for the reason in the summary, and the program goes on."""
        for how in ("strict", "fault"):
            command = [rec.target("no_clock"), how, 150]
            bare = self.watched(command)
            self.assertEqual(bare.status, 3)
            for engine in rec.ENGINES:
                run = self.recorded_in(engine, [], [], *command)
                self.assertEqual((run.status, run.stdout), (3, bare.stdout), run.stderr)
                self.assertIn(b"disabled the time stamp counter", run.stderr)
                self.assertGreater(run.share_of("[not followed]"), 50)
                self.assert_seen(run, 0.08)

    def test_a_filter_that_kills_for_every_other_system_call(self):
        for how in ("prctl", "syscall", "exec"):
            self.hold("sandboxed", how, 60, 4, 20)

    def test_a_filter_that_kills_when_a_signal_handler_returns(self):
        self.hold("sandboxed", "no-handlers", 120, 4, -1)  # no sample can be taken

    def test_a_filter_before_a_shell_is_started_past_the_sampler(self):
        for how in ("system", "popen", "bare"):
            command = [rec.target("filtered_shell"), how]
            self.assertEqual(self.watched(command).status, 7)
            for engine in rec.ENGINES:
                run = self.recorded_in(engine, [], [], *command)
                self.assertEqual((run.status, run.count("processes")), (7, 2), (how, run.stderr))

    def test_a_filter_that_lets_the_sampler_work(self):
        """What begins in the sandbox is recorded: threads, a forked child, what that executes."""
        command = [rec.target("sandboxed"), "typical", 120]
        bare = self.watched(command)
        for engine in rec.ENGINES:
            run = self.recorded_in(engine, [], [], *command)
            self.assertEqual((run.status, run.stdout), (4, bare.stdout), run.stderr)
            self.assertEqual((run.count("processes"), run.count("threads")), (2, 4))
            self.assert_seen(run, 0.05)
            self.assertGreater(run.share_of("burn_rounds"), 85)


if __name__ == "__main__":
    rec.main()
