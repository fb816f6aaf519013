#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rec --off-cpu of processes in other namespaces, without /proc, of another user, and of Go programs: each wait has its
length, its reason and a complete stack."""
import os
import pathlib
import shutil
import subprocess

import rec
import test_record_off_cpu as off_cpu

AS_NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
SLEEP_S = "0.4"
# Prints its pid, loses its root directory or its user, and sleeps.
CHANGES = f"""
import os, sys, time
os.write(1, (sys.argv[1] + " " + str(os.getpid()) + chr(10)).encode())  # at once
if sys.argv[1] == "chrooted":
    os.chroot(sys.argv[2])
    os.chdir("/")
else:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
time.sleep({SLEEP_S})
"""
GO = """
package main
import ("sync"; "syscall")
//go:noinline
func nap(depth int) {
    if depth > 0 { nap(depth - 1); return }
    length := syscall.Timespec{Nsec: 300000000}
    syscall.Nanosleep(&length, nil)
}
func main() {
    var group sync.WaitGroup
    for i := 0; i < 3; i++ {
        group.Add(1)
        go func() { defer group.Done(); nap(100) }()
    }
    group.Wait()
}
"""


class Processes(rec.Case):
    def setUp(self):
        super().setUp()
        self.need_program("perf")
        os.chmod(self.directory, 0o755)
        self.place = self.new_directory()
        os.chmod(self.place, 0o777)

    def check_sleeps(self, run, *names):
        self.assertEqual(run.status, 0, run.stderr)
        waits = off_cpu.waits_of(run)
        tids = {name: int(tid) for name, tid in map(str.split, run.stdout.decode().splitlines())}
        for name in names:
            sleeps = [wait for wait in waits if wait.frames[0] == "[waiting: sleep]" and tids.get(name, name) in wait]
            self.assert_within(off_cpu.seconds(sleeps), float(SLEEP_S), 0.1, name)
            for wait in sleeps:
                self.assertTrue({"__libc_start_main_impl", "__libc_start_main"} & set(wait.frames), wait)
        for key in ("refused", "hanging", "incomplete", "guessed"):
            self.assertEqual(run.count("off_cpu." + key), 0, run.summary)

    def need_namespaces(self, *command):
        if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
            self.skipTest("may not make namespaces")

    def sleep_named(self, name):
        path = os.path.join(self.place, name)
        os.symlink(shutil.which("sleep"), path)
        return f"{path} {SLEEP_S}"

    def test_as_root(self):
        self.need_root()
        self.need_namespaces("unshare", "--pid", "--fork", "--mount-proc")
        pathlib.Path(self.place, "changes.py").write_text(CHANGES, encoding="ascii")
        script = (f"/usr/bin/python3 changes.py chrooted {self.new_directory()} & /usr/bin/python3 changes.py nobody & "
                  f"unshare --pid --fork --mount-proc {self.sleep_named('in-pid-space')} & "
                  f"unshare --mount sh -c 'umount -l /proc; exec {self.sleep_named('without-proc')}' & wait")
        run = self.run_in(self.place, [rec.REC, "--off-cpu", "-o", "rec.data", "--", "sh", "-c", script])
        self.check_sleeps(run, "chrooted", "nobody", "in-pid-space", "without-proc")

    def test_as_an_ordinary_user(self):
        """Whose /proc hides the processes of others."""
        self.need_root()
        self.need_namespaces(*AS_NOBODY, "unshare", "-Urpf", "--mount-proc")
        script = (f"unshare -Ur chroot / {self.sleep_named('chrooted')} & "
                  f"unshare -Urpf --mount-proc {self.sleep_named('in-pid-space')} & wait")
        hidden = 'mount -t proc -o hidepid=2 proc /proc && exec "$0" "$@"'
        command = ["unshare", "--mount", "sh", "-c", hidden, *AS_NOBODY, rec.REC, "--off-cpu", "-o", "rec.data", "--"]
        self.check_sleeps(self.run_in(self.place, [*command, "sh", "-c", script]), "chrooted", "in-pid-space")

    def test_goroutines(self):
        """Their stacks lie side by side in the heap of Go."""
        go = self.need_program("go")
        pathlib.Path(self.place, "naps.go").write_text(GO, encoding="ascii")
        environment = {**os.environ, "CGO_ENABLED": "0", "GO111MODULE": "off", "GOCACHE": rec.GO_CACHE}
        for flags in ("", "-s -w"):
            subprocess.run([go, "build", "-ldflags", flags, "naps.go"], cwd=self.place, env=environment, check=True,
                           capture_output=True, timeout=200)
            run = self.run_in(self.place, [rec.REC, "--off-cpu", "-o", "rec.data", "--", "./naps"])
            self.assertEqual(run.status, 0, run.stderr)
            naps = self.stacks_of_naps(run)
            self.assert_within(sum(naps.values()) / 1e6, 0.9, 0.15)
            for stack in naps:
                self.assertEqual(stack.count("main.nap"), 101, stack)
                self.assertEqual(stack[-1], "[waiting: sleep]")
                self.assertEqual(sum(frame.startswith("runtime.goexit") for frame in stack), 1, stack)
            self.assertEqual(run.count("off_cpu.incomplete"), 0, run.summary)

    def stacks_of_naps(self, run):
        """Of stripped programs, the names are in Go's own table: as rec reads it."""
        text = subprocess.run([rec.REC, "convert", "-q", "--no-inline", "--format=collapsed", "--metric=off-cpu", "-o", "-",
                               run.path()], capture_output=True, text=True, check=True, timeout=rec.TIMEOUT_S).stdout
        lines = [line.rsplit(" ", 1) for line in text.splitlines()]
        return {tuple(stack.split(";")): int(weight) for stack, weight in lines if "main.nap" in stack}


if __name__ == "__main__":
    rec.main()
