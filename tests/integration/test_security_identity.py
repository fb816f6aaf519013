#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A process of the recording joins in the name of a process outside of it: the latter gets no perf
event, so no signal, and its CPU time is in no profile."""
import os
import shutil
import socket
import subprocess
import time

import rec

DURATION_S = rec.figure(5, 600)
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
SUDO = dict(os.environ, SUDO_UID="65534", SUDO_GID="65534")


class Identity(rec.Case):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs root, for processes of two users")
        os.chmod(self.directory, 0o755)

    def start_service(self):
        path = os.path.join(self.directory, f"socket-{self.runs}")
        service = subprocess.Popen([rec.target("takes_requests"), path], stdout=subprocess.PIPE)
        self.addCleanup(service.stdout.close)
        self.addCleanup(service.kill)
        return service, path, service.stdout.readline().decode().strip()

    def quit(self, service, path):
        if service.poll() is None:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as peer:
                peer.connect(path)
                peer.send(b"quit\0")
        return service.wait(rec.TIMEOUT_S)

    def forge(self, engine, environment, user):
        self.need_engine(engine)
        service, path, pid = self.start_service()
        forger = [*user, rec.target("forges_join"), path, pid]
        run = self.recorded("sh", "-c", '"$@"; sleep 0.3', "-", *forger,
                            rec_options=["-q", f"--engine={engine}"], env=environment)
        self.assertEqual(self.quit(service, path), 0)
        self.assertEqual(run.stdout, b"0 0\n")  # no answer, ENGINE_NONE
        self.assertNotIn("takes_requests", "".join(";".join(stack) for stack in run.stacks()))
        self.assertFalse([key for key in run.summary if key.startswith("left_running")])

    def join_in_the_name_of_a_service_outside(self):
        """The service maps a memory made by the forger, and has it at the stated descriptor."""
        for engine in rec.ENGINES:
            for user in (NOBODY, []):
                with self.subTest(engine=engine, user=user):
                    self.forge(engine, os.environ, user)

    def join_again_and_again_under_sudo(self):
        ends = time.monotonic() + DURATION_S
        while time.monotonic() < ends:
            self.forge("perf-trap", SUDO, NOBODY)

    def join_in_the_name_of_a_process_of_another_user(self):
        """It descends from the command, and has no handler for a sample."""
        path = os.path.join(self.directory, "socket")
        script = (f"(unset LD_PRELOAD REC_SESSION; exec {rec.target('static_takes_requests')} {path}) > {path}-pid & "
                  f"service=$!; while [ ! -s {path}-pid ]; do sleep 0.05; done; "
                  f"{' '.join(NOBODY)} {rec.target('forges_join')} {path} $service; sleep 0.3; "
                  f"kill $service; wait $service; echo $?")
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                run = self.recorded("sh", "-c", script, rec_options=["-q", f"--engine={engine}"])
                self.assertEqual(run.stdout, b"0 0\n143\n")  # SIGTERM, not SIGTRAP
                for name in (path, f"{path}-pid"):
                    os.unlink(name)

    test_joins_in_the_name_of_others = rec.at_once(
        join_in_the_name_of_a_service_outside, join_again_and_again_under_sudo, join_in_the_name_of_a_process_of_another_user)

    def test_a_process_that_was_left_to_init_before_it_joined_is_recorded(self):
        """Its parents are gone; its environment is the recording's."""
        script = f'{rec.target("static_daemon")} 1 {rec.target("short_run")} 300; sleep 2'
        run = self.recorded("sh", "-c", script, rec_options=["-q"])
        self.assertGreater(run.share_of("burn_until_ns"), 50)


if __name__ == "__main__":
    rec.main()
