#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each rule of the kernel against access to a running process, in force: `rec -p`, `rec stacks`, `rec threads` and
`rec images` name the rule in one line, `rec doctor -p` prints the same sentence."""
import ctypes
import errno
import os
import shutil
import struct
import subprocess
import unittest

import rec

NOBODY, OTHER = 65534, 65533
NR_PROCESS_VM_READV, NR_PERF_EVENT_OPEN = 310, 298
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LIBC = ctypes.CDLL(None, use_errno=True)
RECORD = ["-q", "--duration", "0.1", "-o", "rec.data"]
READERS = ("stacks", "threads", "images")
# Takes the locked memory of perf rings until the kernel refuses, and keeps it.
HOLDER = """
import ctypes, mmap, struct, sys
attr = bytearray(128)
struct.pack_into("IIQ", attr, 0, 1, 128, 9)  # software, size, dummy
struct.pack_into("Q", attr, 40, 1 << 5 | 1 << 6)  # exclude_kernel, exclude_hv
kept, pages = [], 256
while pages:
    event = ctypes.CDLL(None).syscall(298, (ctypes.c_char * 128).from_buffer(attr), 0, -1, -1, 8)
    try:
        kept.append(mmap.mmap(event, 4096 * (pages + 1), mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE))
    except OSError:
        pages //= 2
print("ready", flush=True)
sys.stdin.read()
"""


def forbid(call, error):
    """A seccomp filter under which the system call fails, for preexec_fn."""
    load, equal, result = 0x20, 0x15, 0x06
    program = b"".join(struct.pack("HBBI", *instruction) for instruction in (
        (load, 0, 0, 0), (equal, 1, 0, call), (result, 0, 0, 0x7FFF0000), (result, 0, 0, 0x00050000 | error)))

    def install():
        text = ctypes.create_string_buffer(program, len(program))
        header = struct.pack("HxxxxxxP", 4, ctypes.addressof(text))
        if LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or LIBC.prctl(
                PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(header), 0, 0):
            raise OSError(ctypes.get_errno(), "seccomp")
    return install


def ids(user, group=None):
    return {"user": user, "group": user if group is None else group, "extra_groups": []}


@unittest.skipUnless(os.geteuid() == 0, "only root starts processes of several users")
class Rules(rec.Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.directory, 0o777)

    def start(self, *command, **how):
        target = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  cwd=self.directory, **how)
        for clean in (target.stdout.close, target.stdin.close, target.wait, target.kill):
            self.addCleanup(clean)
        self.assertEqual(target.stdout.readline(), "ready\n")
        return target.pid

    def start_attached(self, *mode, prefix=(), **how):
        return self.start(*prefix, rec.target("attached"), 60, 1, 1, *mode, **how)

    def run_rec(self, *words, prefix=(), **how):
        return subprocess.run([*map(str, prefix), rec.REC, *map(str, words)], cwd=self.directory, capture_output=True,
                              text=True, timeout=rec.TIMEOUT_S, **how)

    def error_of(self, *words, **how):
        done = self.run_rec(*words, **how)
        self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
        return done.stderr

    def assert_not_recorded(self, pid, sentence, **how):
        self.assertEqual(self.error_of(*RECORD, "-p", pid, **how), f"rec: {sentence}\n")
        self.assertIn(f"rec -p         {sentence}\n", self.run_rec("doctor", "-p", pid, **how).stdout)
        self.assertNotIn("rec.data", os.listdir(self.directory))

    def assert_not_read(self, pid, reason, **how):
        sentence = f"cannot read process {pid} (attached): {reason}"
        for command in READERS:
            self.assertEqual(self.error_of(command, "-p", pid, **how), f"rec: {sentence}\n")
        self.assertIn(f"rec stacks     {sentence}\n", self.run_rec("doctor", "-p", pid, **how).stdout)

    def assert_refused(self, pid, reason, **how):
        self.assert_not_recorded(pid, f"cannot record process {pid} (attached): {reason}", **how)
        self.assert_not_read(pid, reason, **how)

    def test_user(self):
        reason = "a process of another user (uid 0, rec has 65534); run rec as this user or as root"
        self.assert_refused(self.start_attached(), reason, **ids(NOBODY))

    def test_group(self):
        pid = self.start_attached(**ids(NOBODY, 100))
        reason = "a process of another group (gid 100, rec has 65534); run rec with this group or as root"
        self.assert_refused(pid, reason, **ids(NOBODY))

    def test_not_dumpable(self):
        pid = self.start_attached("hidden", **ids(NOBODY))
        reason = "not dumpable (set-user-id program, or prctl PR_SET_DUMPABLE); run rec as root"
        self.assert_refused(pid, reason, **ids(NOBODY))

    def test_capabilities_of_the_target(self):
        words = ("--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--inh-caps", "+net_raw", "--ambient-caps", "+net_raw")
        pid = self.start_attached(prefix=("setpriv", *words))
        reason = "the process has capabilities that rec lacks (set 2000 of CapPrm); run rec as root"
        self.assert_refused(pid, reason, **ids(NOBODY))

    def test_capabilities_of_rec(self):
        reason = "a process of another user (uid 1, rec has 0); run rec as this user or with CAP_SYS_PTRACE"
        self.assert_refused(self.start_attached(**ids(1)), reason,
                            prefix=("setpriv", "--bounding-set", "-sys_ptrace,-perfmon,-sys_admin"))

    def test_user_namespace(self):
        if self.run_in(self.directory, ["unshare", "-Ur", "true"]).status:
            self.skipTest("user namespaces are not allowed here")
        reason = ("a process of another user namespace, where the capabilities of rec have no effect; "
                  "run rec outside of its namespace")
        self.assert_refused(self.start_attached(**ids(1)), reason, prefix=("unshare", "-Ur"))

    def test_seccomp_filter_against_perf_events(self):
        pid = self.start_attached(**ids(NOBODY))
        reason = ("a seccomp filter forbids perf_event_open for rec; run rec outside of the container, "
                  "or with a profile that permits the call")
        for number in (errno.EPERM, errno.ENOSYS):
            filtered = {**ids(NOBODY), "preexec_fn": forbid(NR_PERF_EVENT_OPEN, number)}
            self.assert_not_recorded(pid, f"cannot open perf rings: {reason}", **filtered)
            self.assertEqual(self.error_of(*RECORD, "-a", **filtered), f"rec: cannot open perf rings: {reason}\n")
            self.assertIn(f"  reason: runs, and {reason}\n", self.run_rec("stacks", "-p", pid, **filtered).stdout)
            doctor = self.run_rec("doctor", **filtered).stdout
            self.assertIn(f"from outside   not available: {reason}\n", doctor)
            self.assertIn("seccomp        a filter forbids perf_event_open\n", doctor)

    def test_seccomp_filter_against_reads_of_memory(self):
        pid = self.start_attached(**ids(NOBODY))
        filtered = {**ids(NOBODY), "preexec_fn": forbid(NR_PROCESS_VM_READV, errno.EPERM)}
        reason = ("a seccomp filter forbids process_vm_readv for rec; run rec outside of the container, "
                  "or with a profile that permits the call")
        self.assertEqual(self.error_of("images", "-p", pid, **filtered),
                         f"rec: cannot read process {pid} (attached): {reason}\n")
        self.assertIn(f"  reason: cannot be read: {reason}\n", self.run_rec("stacks", "-p", pid, **filtered).stdout)
        self.assertIn("seccomp        a filter forbids process_vm_readv\n", self.run_rec("doctor", **filtered).stdout)

    def test_paranoid_level(self):
        sentence = "kernel.perf_event_paranoid is "
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
            if int(file.read()) < 1:
                self.skipTest("users may record the whole system here")
        error = self.error_of(*RECORD, "-a", **ids(NOBODY))
        self.assertIn(sentence, error)
        self.assertIn("whole system   " + error.removeprefix("rec: "), self.run_rec("doctor", **ids(NOBODY)).stdout)

    def test_locked_memory(self):
        if not shutil.which("prlimit"):
            self.skipTest("needs prlimit")
        limits = {"prefix": ("prlimit", "--memlock=8192:8192"), **ids(OTHER)}
        pid = self.start_attached(**limits)
        self.start(*limits["prefix"], self.need_program("/usr/bin/python3"), "-c", HOLDER, **ids(OTHER))
        with open("/proc/sys/kernel/perf_event_mlock_kb", encoding="ascii") as file:
            kilobytes = int(file.read())
        reason = (f"the recordings of this user have used up the locked memory for rings ({kilobytes} KiB a processor, "
                  "kernel.perf_event_mlock_kb, and 8 KiB); raise the limit of locked memory (ulimit -l), or run rec as root")
        self.assert_not_recorded(pid, f"cannot open perf rings: {reason}", **limits)
        self.assertIn(f"  reason: runs, and {reason}\n", self.run_rec("stacks", "-p", pid, **limits).stdout)


if __name__ == "__main__":
    rec.main()
