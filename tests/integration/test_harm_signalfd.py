#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that read the sampler's signals from a signalfd get the signals that were sent to them, and no others."""
import harm
import rec

WAYS = ("poll", "early", "select", "nonblock", "thread", "changed", "bare", "bare-old", "fork")
REASON = b"reads the sampler's signal from a signalfd"


class Signalfd(harm.Identical):
    def assert_read(self, engine, how, turns, rate=harm.FAST_HZ):
        for turn in range(turns):
            with self.subTest(engine=engine, how=how, rate=rate, turn=turn):
                run = self.under(engine, rec.target("reads_signals"), how, rate=rate)
                self.assertEqual((run.status, run.stdout), (0, b"trap 100 prof 100\n"), run.stderr)

    def test_the_program_reads_what_it_reads_without_rec(self):
        for how in ("poll", "thread"):
            run = self.watched([rec.target("reads_signals"), how])
            self.assertEqual((run.status, run.stdout), (0, b"trap 100 prof 100\n"))

    def test_every_way_to_create_and_to_read_the_descriptor(self):
        for engine in rec.ENGINES:
            for how in WAYS:
                self.assert_read(engine, how, rec.figure(1, 100))

    def test_the_usual_way_many_times(self):
        for engine in rec.ENGINES:
            self.assert_read(engine, "poll", rec.figure(2, 100))
            self.assert_read(engine, "poll", rec.figure(1, 100), rate=999)

    def test_the_process_is_named_with_its_reason(self):
        for engine in rec.ENGINES:
            for how in ("poll", "fork"):
                with self.subTest(engine=engine, how=how):
                    self.need_engine(engine)
                    run = self.watched([rec.REC, f"--engine={engine}", "--", rec.target("reads_signals"), how])
                    self.assertEqual(run.status, 0, run.stderr)
                    self.assertRegex(run.stderr, rb"reads_signals, process \d+: " + REASON)
                    self.assertGreater(run.share_of("[not followed]"), 90)
                    self.assert_seen(run, 0.03)

    def test_other_signals_leave_the_recording_alone(self):
        """A descriptor for SIGCHLD alone, as supervisors have, with the sampler's signals blocked."""
        program = self.build("supervisor", SUPERVISOR)
        for engine in rec.ENGINES:
            run = self.under(engine, program, rate=999)
            self.assertEqual((run.status, run.stdout), (0, b"read 17\n"), run.stderr)
            self.assertFalse([key for key in run.summary if key.startswith("not_followed.")], run.summary)
            self.assertGreater(run.count("cpu_complete_ns") / run.count("cpu_billed_ns"), 0.8)

    def test_what_a_supervisor_executes_is_recorded(self):
        """A descriptor for all signals: of the supervisor's own, and closed by exec."""
        program = self.build("init", INIT)
        for engine in rec.ENGINES:
            run = self.under(engine, program, rec.target("short_run"), 300, rate=999)
            self.assertEqual(run.status, 0, run.stderr)
            self.assertGreater(run.count("cpu_complete_ns") / run.count("cpu_billed_ns"), 0.8)


SUPERVISOR = r"""
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
    struct signalfd_siginfo info;
    sigset_t all, child;
    sigfillset(&all);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &all, NULL);
    int fd = signalfd(-1, &child, SFD_CLOEXEC);
    if (fork() == 0)
        _exit(0);
    while (clock() < CLOCKS_PER_SEC / 4)
        continue;
    if (read(fd, &info, sizeof(info)) == sizeof(info))
        printf("read %u\n", info.ssi_signo);
    return 0;
}
"""

INIT = r"""
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct signalfd_siginfo info;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    int status, fd = signalfd(-1, &all, SFD_CLOEXEC);
    if (argc > 1 && fork() == 0) {
        sigprocmask(SIG_UNBLOCK, &all, NULL);
        execv(argv[1], argv + 1);
        _exit(1);
    }
    do
        if (read(fd, &info, sizeof(info)) != sizeof(info))
            return 2;
    while (info.ssi_signo != SIGCHLD);
    wait(&status);
    return WEXITSTATUS(status);
}
"""

if __name__ == "__main__":
    rec.main()
