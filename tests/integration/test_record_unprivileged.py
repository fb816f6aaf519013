#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Users without any permission, and processes in containers that refuse perf events, get complete
profiles with the right weights, and are told in one line what limits the rate and what would lift it."""
import errno
import os
import pwd
import shutil

import rec


class Refused(rec.Case):
    def check(self, run):
        self.assertEqual(run.status, 0, run.stderr.decode())
        self.assertEqual(run.summary["engine"], "timer")
        self.assertIn("engine_reason", run.summary)
        lines = [line for line in run.stderr.decode().splitlines() if "instead of" in line]
        self.assertEqual(len(lines), 1, run.stderr.decode())
        self.assertIn("perf", lines[0])
        self.assertRegex(lines[0], "perf_event_paranoid|doctor|seccomp")
        self.assertEqual(run.count("complete"), run.count("samples"))
        self.assert_seen(run, 0.01)

    def test_a_seccomp_filter_that_refuses_perf_events(self):
        for number, milliseconds in ((errno.EPERM, 2500), (errno.EACCES, 600), (errno.ENOSYS, 600)):
            with self.subTest(errno=errno.errorcode[number]):
                directory = self.new_directory()
                run = self.run_in(directory, [rec.target("no_perf"), number, rec.REC, "-F", "4999", "--",
                                              rec.target("shares"), milliseconds])
                self.check(run)
                if milliseconds > 1000:
                    self.assert_shares(run, 9)

    def test_the_rate_that_the_kernel_allows(self):
        """It is no reason to take the other engine. A file in the place of the kernel's says 500."""
        self.need_engine("perf-trap")
        said = os.path.join(self.directory, "limit")
        with open(said, "w", encoding="ascii") as file:
            file.write("500\n")
        limited = ["unshare", "--map-root-user", "--mount", "sh", "-c", "mount --bind \"$0\" "
                   "/proc/sys/kernel/perf_event_max_sample_rate && exec \"$@\"", said]
        directory = self.new_directory()
        if self.run_in(directory, [*limited, "true"]).status:
            self.skipTest("mounting is not allowed here")
        run = self.run_in(directory, [*limited, rec.REC, "-F", "9999", "--", rec.target("short_run"), "500"])
        self.assertEqual((run.status, run.summary["engine"]), (0, "perf-trap"), run.stderr)
        self.assertIn(b"the kernel allows 500 (kernel.perf_event_max_sample_rate)", run.stderr)
        self.assert_within(run.count("samples"), 250, 75)
        self.assertGreater(run.share_of("burn_until_ns"), 80)

    def test_perf_trap_is_refused_loudly_when_it_cannot_be_had(self):
        directory = self.new_directory()
        run = self.run_in(directory, [rec.target("no_perf"), errno.EPERM, rec.REC, "--engine=perf-trap",
                                      "--", "touch", "started"])
        self.assertEqual(run.status, 125)
        self.assertIn(b"perf-trap", run.stderr)
        self.assertEqual(os.listdir(directory), [])


class Nobody(rec.Case):
    def as_nobody(self, *command):
        """In a directory of nobody's own, with a copy of rec that nobody can reach."""
        if os.getuid() != 0:
            self.skipTest("only root can become another user")
        if not shutil.which("setpriv"):
            self.skipTest("there is no setpriv on this machine")
        nobody = pwd.getpwnam("nobody")
        os.chmod(self.directory, 0o755)
        programs = os.path.join(self.directory, "programs")
        os.makedirs(programs, exist_ok=True)
        build = os.path.dirname(rec.REC)
        for path in (rec.REC, os.path.join(build, "librec-sampler.so"), rec.target("shares"),
                     rec.target("no_perf"), rec.target("system_calls"), rec.target("short_run")):
            shutil.copy(path, programs)
        directory = self.new_directory()
        os.chown(directory, nobody.pw_uid, nobody.pw_gid)
        words = [word.replace("@", programs + "/") for word in command]
        return self.run_in(directory, ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}",
                                       "--clear-groups", *words])

    def assert_attributed(self, *before):
        """Time in system calls and time in the program go to whom they belong: alone, and side by side."""
        work_ms = 800
        for script, shares in ((f"@system_calls {work_ms}", {"ask_the_kernel": 100}),
                               (f"@short_run {work_ms}", {"burn_until_ns": 100}),
                               (f"@system_calls {work_ms} & @short_run {work_ms}; wait",
                                {"ask_the_kernel": 50, "burn_until_ns": 50})):
            with self.subTest(script=script):
                # The best of three: what a busy machine takes away is counted as used by the kernel.
                worst = (self.worst_share(script, shares, *before) for _ in range(3))
                self.assertTrue(any(share <= 5 for share in worst))

    def worst_share(self, script, shares, *before):
        """By how many per cent of all time one of these shares is wrong."""
        run = self.as_nobody(*before, "@rec", "-q", "-F", "999", "--", "sh", "-c", script)
        self.assertEqual(run.status, 0, run.stderr.decode())
        return max(abs(run.share_of(name) - share) for name, share in shares.items())

    def test_system_calls_and_work_are_told_apart(self):
        self.assert_attributed()

    def test_without_perf_events_too(self):
        self.assert_attributed("@no_perf", str(errno.EPERM))

    def test_nobody_gets_a_complete_profile(self):
        run = self.as_nobody("@rec", "-F", "999", "--", "@shares", "1500")
        self.assertEqual(run.status, 0, run.stderr.decode())
        self.assertIn(run.summary["engine"], rec.ENGINES)
        self.assertEqual(run.count("complete"), run.count("samples"))
        self.assert_seen(run, 0.01)
        self.assert_shares(run, 9)
        self.assertEqual(os.stat(run.path()).st_uid, pwd.getpwnam("nobody").pw_uid)

    def test_nobody_without_perf_events_does_too(self):
        run = self.as_nobody("@no_perf", str(errno.EPERM), "@rec", "-F", "999", "--", "@shares", "1500")
        self.assertEqual(run.status, 0, run.stderr.decode())
        self.assertEqual(run.summary["engine"], "timer")
        self.assertEqual(run.count("complete"), run.count("samples"))
        self.assert_shares(run, 9)


if __name__ == "__main__":
    rec.main()
