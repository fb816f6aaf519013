#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The sandbox that binaries are parsed in: `rec doctor` shows its layers, a missing seccomp filter is reported once, and
under sudo binaries are read with the rights of the user."""
import contextlib
import ctypes
import fcntl
import os
import re
import shutil
import socket
import struct
import subprocess
import time
import unittest
import urllib.error
import urllib.request

import hostile_cores
import rec

NOBODY = 65534
SUDO = {"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)}
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
NR_WRITE, NR_PRCTL, NR_OPENAT, NR_SECCOMP, NR_LANDLOCK = 1, 157, 257, 317, 444
CREATE_RULESET_VERSION = 1
EPERM, EINVAL, ENOSYS = 1, 22, 38
LIBC = ctypes.CDLL(None, use_errno=True)


def install(instructions):
    program = b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)
    text = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(instructions), ctypes.addressof(text))
    if LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or LIBC.prctl(
            PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(header), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def refuse_filters():
    """As in a kernel that takes no filters: of what is executed, nothing installs one."""
    load, equal, result = 0x20, 0x15, 0x06
    install([(load, 0, 0, 0),  # the call's number
             (equal, 4, 0, NR_SECCOMP),
             (equal, 0, 2, NR_PRCTL),
             (load, 0, 0, 16),  # the first argument
             (equal, 1, 0, PR_SET_SECCOMP),
             (result, 0, 0, 0x7FFF0000),
             (result, 0, 0, 0x00050000 | EINVAL)])


def refuse_landlock(error=ENOSYS):
    load, equal, result = 0x20, 0x15, 0x06
    install([(load, 0, 0, 0), (equal, 1, 0, NR_LANDLOCK), (result, 0, 0, 0x7FFF0000),
             (result, 0, 0, 0x00050000 | error)])


def landlock_of_this_kernel():
    """The ABI, from the kernel; 0: none."""
    return max(0, LIBC.syscall(NR_LANDLOCK, None, 0, CREATE_RULESET_VERSION))


# Lists its descriptors instead of fetching a file.
DEBUGINFOD = r"""
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
void *debuginfod_begin(void) { return (void *)1; }
int debuginfod_find_debuginfo(void *client, const unsigned char *id, int size, char **path)
{
    char name[300], target[4096];
    FILE *out = fopen(getenv("REC_TEST_LIST"), "a");
    DIR *own = opendir("/proc/self/fd");
    for (struct dirent *entry; (entry = readdir(own));) {
        snprintf(name, sizeof(name), "/proc/self/fd/%s", entry->d_name);
        ssize_t n = readlink(name, target, sizeof(target));
        int fd = atoi(entry->d_name);
        if (n > 0 && fd != dirfd(own) && fd != fileno(out))
            fprintf(out, "%d %.*s\n", fd, (int)n, target);
    }
    fclose(out);
    return -2;
}
int debuginfod_find_source(void) { return -2; }
void debuginfod_end(void *client) {}
"""


@unittest.skipUnless(os.geteuid() == 0, "only root becomes other users")
class Sandbox(rec.Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.directory, 0o755)
        self.rec = os.path.join(self.directory, "rec")  # where nobody may execute it
        shutil.copy(rec.REC, self.rec)

    def run_rec(self, *words, user=0, environment=None, before=None, prefix=()):
        ids = {"user": user, "group": user, "extra_groups": []} if user else {}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SUDO_")}
        return subprocess.run([*prefix, self.rec, *words], cwd="/", capture_output=True, text=True, **ids,
                              env={**kept, **(environment or {})}, preexec_fn=before,
                              stdin=subprocess.DEVNULL, timeout=rec.TIMEOUT_S, check=False)

    def doctor(self, **how):
        done = self.run_rec("doctor", **how)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def capture(self, *places):
        """perf's recording of a program, which holds no names; the program is then in each of these places."""
        perf = self.need_program("perf")
        program = os.path.join(*places, "shares")
        shutil.copy(rec.target("shares"), program)
        path = os.path.join(self.directory, "perf.data")
        subprocess.run([perf, "record", "-q", "-o", path, "-e", "cpu-clock:u", program, "200"],
                       check=True, capture_output=True, timeout=rec.TIMEOUT_S)
        os.chmod(path, 0o644)
        os.chown(path, NOBODY, NOBODY)  # under sudo, for users, for root: readable
        return path

    def test_doctor_shows_each_layer(self):
        for user, environment, rights in (
                (0, {}, "uid 0, no capability but CAP_DAC_READ_SEARCH"),
                (0, SUDO, "uid 65534, the sudo user, no capabilities"),
                (NOBODY, {}, "uid 65534, no capabilities"),
                (NOBODY, {"SUDO_UID": "0", "SUDO_GID": "0"}, "uid 65534, no capabilities")):
            shown = self.doctor(user=user, environment=environment)
            self.assertIn(rights, shown)
            self.assertIn("seccomp filter: in force", shown)
            abi = landlock_of_this_kernel()
            self.assertIn(f"Landlock: in force, ABI {abi}\n" if abi else "Landlock: not in this kernel", shown)
            self.assertRegex(shown, r"limits: .* of address space, \d+ s of CPU time")

    def test_doctor_shows_what_is_missing(self):
        self.assertIn("seccomp filter: missing (Invalid argument)",
                      self.doctor(user=NOBODY, before=refuse_filters))
        self.assertIn("sandbox        none: symbols are not read",
                      self.doctor(before=refuse_filters))
        self.assertIn("seccomp filter: missing",
                      self.doctor(before=refuse_filters, environment=SUDO))
        self.assertIn("Landlock: not in this kernel (Function not implemented)",
                      self.doctor(before=refuse_landlock))

    def test_doctor_shows_rights_and_rules_that_are_refused(self):
        self.assertIn("Landlock: refused by an outer sandbox (Operation not permitted)",
                      self.doctor(before=lambda: refuse_landlock(EPERM)))
        self.assertIn(f"sandbox        none: symbols are not read: under sudo, binaries are parsed as user {NOBODY}",
                      self.doctor(environment=SUDO, prefix=("unshare", "--map-root-user")))

    def report_lines(self, path, **how):
        done = self.run_rec("report", path, **how)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, [line for line in done.stderr.splitlines() if "symbols are" in line]

    def test_a_missing_filter_is_reported_once_and_names_are_read(self):
        path = self.capture(self.directory)
        for options in ({"user": NOBODY}, {"environment": SUDO}):
            shown, lines = self.report_lines(path, before=refuse_filters, **options)
            self.assertIn("hot_70", shown)
            self.assertEqual(lines, ["rec: symbols are read without a seccomp filter: none can be "
                                     "installed here (Invalid argument); see `rec doctor`"])

    def test_root_reads_no_names_without_a_filter(self):
        path = self.capture(self.directory)
        shown, lines = self.report_lines(path, before=refuse_filters)
        self.assertNotIn("hot_70", shown)
        self.assertEqual(lines, ["rec: symbols are not read: for root, parsing binaries needs a seccomp "
                                 "filter, and none can be installed here (Invalid argument); convert "
                                 "the capture as another user"])

    def test_a_kernel_without_landlock_is_no_trouble(self):
        path = self.capture(self.directory)
        for user in (0, NOBODY):
            shown, lines = self.report_lines(path, before=refuse_landlock, user=user)
            self.assertIn("hot_70", shown)
            self.assertEqual(lines, [])

    def test_landlock_refused_by_an_outer_sandbox_is_reported_once(self):
        path = self.capture(self.directory)
        shown, lines = self.report_lines(path, before=lambda: refuse_landlock(EPERM))
        self.assertIn("hot_70", shown)
        self.assertEqual(lines, ["rec: symbols are read without Landlock: an outer sandbox refuses the system call "
                                 "(Operation not permitted); see `rec doctor`"])

    def test_no_names_are_read_with_the_rights_of_root_where_the_user_of_sudo_is_not_mapped(self):
        path = self.capture(self.directory)
        shown, lines = self.report_lines(path, environment=SUDO, prefix=("unshare", "--map-root-user"))
        self.assertNotIn("hot_70", shown)
        self.assertEqual(len(lines), 1)
        self.assertIn(f"symbols are not read: under sudo, binaries are parsed as user {NOBODY}", lines[0])

    def test_the_debuginfod_client_has_no_descriptor_of_the_capture(self):
        path = self.capture(self.directory)
        subprocess.run(["strip", "-g", os.path.join(self.directory, "shares")], check=True)
        library = os.path.join(self.directory, "libdebuginfod.so.1")
        subprocess.run(["gcc", "-shared", "-fPIC", "-xc", "-", "-o", library], input=DEBUGINFOD, text=True, check=True)
        listed = os.path.join(self.directory, "listed")
        done = self.run_rec("report", "--debuginfod", path,
                            environment={"DEBUGINFOD_URLS": "http://127.0.0.1:1", "LD_LIBRARY_PATH": self.directory,
                                         "REC_TEST_LIST": listed})
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(listed, encoding="utf-8") as file:
            lines = [line.split(" ", 1) for line in file.read().splitlines()]
        above = [target for number, target in lines if int(number) > 2]
        self.assertGreater(len(lines), 3)  # the standard streams and the pipe of the result
        # The client's own byte count, proc(5) /proc/PID/io, ends a reply that is too large.
        self.assertTrue(all(re.fullmatch(r"pipe:\[\d+\]|/proc/\d+/io", target) for target in above), lines)

    def test_under_sudo_binaries_are_read_with_the_rights_of_the_user(self):
        closed = os.path.join(self.directory, "closed")
        os.mkdir(closed, 0o700)
        path = self.capture(closed)
        self.assertIn("hot_70", self.run_rec("report", path).stdout)
        done = self.run_rec("report", path, environment=SUDO)
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("hot_70", done.stdout)
        self.assertIn(f"cannot open {closed}/shares: Permission denied (under sudo, binaries are read "
                      "with the rights of the user)", done.stderr)
        os.chmod(closed, 0o755)
        self.assertIn("hot_70", self.run_rec("report", path, environment=SUDO).stdout)

    def test_root_reads_the_programs_of_all_users(self):
        closed = os.path.join(self.directory, "closed")
        os.mkdir(closed, 0o700)
        path = self.capture(closed)
        for name in (closed, os.path.join(closed, "shares")):
            os.chown(name, 1000, 1000)
            os.chmod(name, 0o700)
        self.assertIn("hot_70", self.run_rec("report", path).stdout)

    def test_under_sudo_deleted_programs_have_names(self):
        program = os.path.join(self.directory, "shares")
        shutil.copy(rec.target("shares"), program)
        run = self.recorded("sh", "-c", '"$0" 300; rm "$0"; sleep 0.2', program,
                            env={**os.environ, **SUDO})
        self.assertGreater(run.share_of("hot_70"), 5, run.stderr.decode())

    @staticmethod
    def waiting_in(pid):
        """The process and its children that wait in write() to standard output or in open(), by proc_pid_syscall(5)."""
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            pids = [str(pid), *file.read().split()]
        for each in pids:
            with contextlib.suppress(OSError), open(f"/proc/{each}/syscall", encoding="ascii") as file:
                if file.read().startswith((f"{NR_WRITE} 0x1 ", f"{NR_OPENAT} ")):
                    yield each

    def state_of_waiting(self, *words):
        """The state of a rec, or of its child, that waits: for the reader of a full pipe as its standard output, or of a
        FIFO."""
        read_end, write_end = os.pipe()
        fcntl.fcntl(write_end, fcntl.F_SETFL, os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(write_end, b" " * 4096)
        fcntl.fcntl(write_end, fcntl.F_SETFL, 0)
        process = subprocess.Popen([rec.REC, *words], cwd=self.directory, stdout=write_end, stdin=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        os.close(write_end)
        try:
            ends, before, waiting = time.monotonic() + rec.TIMEOUT_S, [], []
            while not waiting or waiting != before:
                self.assertLess(time.monotonic(), ends, words)
                self.assertIsNone(process.poll(), words)
                time.sleep(0.1)
                before, waiting = waiting, list(self.waiting_in(process.pid))
            with open(f"/proc/{waiting[0]}/status", encoding="utf-8") as file:
                return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        finally:
            process.kill()
            process.wait()
            os.close(read_end)

    def test_the_whole_conversion_is_confined(self):
        path = self.capture(self.directory)
        core = os.path.join(self.directory, "core")
        with open(core, "wb") as file:
            file.write(hostile_cores.core(hostile_cores.thread(1, 0, 0), []))
        os.mkfifo(os.path.join(self.directory, "out.folded"))
        for words in (("report", path), ("stacks", "--core", core), ("info", path), ("convert", path, "-o", "-", "--format", "collapsed"),
                      ("convert", path, "-o", "out.folded"), ("-q", "-o", "out.folded", "--", "true")):
            state = self.state_of_waiting(*words)
            self.assertEqual((state["NoNewPrivs"], state["Seccomp"]), ("1", "2"), words)

    def serve(self, directory):
        debuginfod = self.need_program("debuginfod")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = subprocess.Popen([debuginfod, "-p", str(port), "-d", ":memory:", "-F", directory],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  env={**os.environ, "DEBUGINFOD_URLS": ""})
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        url = f"http://127.0.0.1:{port}"
        for _ in range(100):
            time.sleep(0.1)
            try:
                with urllib.request.urlopen(f"{url}/metrics", timeout=5) as answer:
                    if b'thread_work_total{role="scan"} 1' in answer.read():
                        break
            except (urllib.error.URLError, OSError):
                pass
        time.sleep(0.5)
        return url

    def test_under_sudo_debug_info_is_fetched_by_the_user(self):
        path = self.capture(self.directory)
        program = os.path.join(self.directory, "shares")
        served, cache = (os.path.join(self.directory, name) for name in ("served", "cache"))
        os.mkdir(served)
        os.mkdir(cache)
        os.chown(cache, NOBODY, NOBODY)
        subprocess.run(["objcopy", "--only-keep-debug", program, f"{served}/shares.debug"], check=True)
        subprocess.run(["strip", "-s", program], check=True)
        url = self.serve(served)
        done = self.run_rec("report", "--debuginfod", path,
                            environment={**SUDO, "DEBUGINFOD_URLS": url,
                                         "DEBUGINFOD_CACHE_PATH": cache})
        self.assertIn("hot_70", done.stdout, done.stderr)
        owners = {os.stat(os.path.join(where, name)).st_uid
                  for where, _, names in os.walk(cache) for name in names}
        self.assertEqual(owners, {NOBODY})


if __name__ == "__main__":
    rec.main()
