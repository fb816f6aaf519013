#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scripts and shells cannot tell from how a program ends, stops or continues that rec ran it."""
import os
import pty
import select
import signal
import subprocess
import time

import rec

STOPPING = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
HARMLESS = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}


def state_of(pid):
    """R, S, T, Z … of /proc; empty when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(word) for word in file.read().split()]


def wait_until(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.005)
    raise AssertionError("waited in vain")


class ExitStatus(rec.Case):
    def loop(self, words, command):
        """What a shell sees as $? of rec with each of the words as the command's argument."""
        script = f'for word in {" ".join(words)}; do "$REC" -q -o x.data -- {command}; echo $?; done'
        done = subprocess.run(["bash", "-c", script], cwd=self.new_directory(), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60)
        return [int(line) for line in done.stdout.split()]

    def test_every_exit_status_is_the_programs_own(self):
        statuses = [str(status) for status in range(256)]
        self.assertEqual(self.loop(statuses, 'sh -c "exit $word"'), list(range(256)))

    def test_a_death_by_any_signal_looks_the_same_in_a_shell(self):
        signals = [number for number in range(1, 65)
                   if number not in STOPPING | HARMLESS | {32, 33}]
        seen = self.loop([str(number) for number in signals], 'sh -c "kill -$word \\$\\$"')
        self.assertEqual(seen, [128 + number for number in signals])

    def test_a_parent_sees_the_signal_itself(self):
        run = self.record("sh", "-c", "kill -SEGV $$")
        self.assertEqual(run.status, -signal.SIGSEGV)

    def test_rec_leaves_no_second_core_file(self):
        directory = self.new_directory()
        self.run_in(directory, ["bash", "-c", f'ulimit -c unlimited; {rec.REC} -q -- sh -c "kill -QUIT $$"'])
        self.assertLessEqual(len([name for name in os.listdir(directory) if "core" in name]), 1)


class Incomplete(rec.Case):
    """The status of a command that ended with 0: 0, or 124 where --fail-on=incomplete is given."""

    def fail_on(self, limit, *command, options=()):
        return self.record(*command, rec_options=[f"--fail-on=incomplete{limit}", *options])

    def not_sampled(self, status=0):
        """A command whose CPU time no sample stands for: every signal is blocked by a system call."""
        return ["sh", "-c", f"{rec.target('unsampled')} blocked 300; exit {status}"]

    def test_without_the_option_the_status_is_the_commands(self):
        for engine in rec.ENGINES:
            self.need_engine(engine)
            run = self.record(*self.not_sampled(), rec_options=[f"--engine={engine}"])
            self.assertEqual(run.status, 0, run.stderr)
            self.assertIn(b"no samples for", run.stderr)

    def test_a_complete_recording_passes(self):
        for engine in rec.ENGINES:
            self.need_engine(engine)
            run = self.fail_on("", rec.target("short_run"), 500, options=[f"--engine={engine}"])
            self.assertEqual(run.status, 0, run.stderr)
            self.assertGreater(run.count("cpu_complete_ns") / run.count("cpu_billed_ns"), 0.95)

    def test_a_recording_without_samples_fails(self):
        for engine in rec.ENGINES:
            self.need_engine(engine)
            for quiet in ([], ["-q"]):
                run = self.fail_on("", *self.not_sampled(), options=[f"--engine={engine}", *quiet])
                self.assertEqual(run.status, 124, run.stderr)
                self.assertRegex(run.stderr, rb"rec: incomplete: \d+\.\d % of")
                self.assertIn(b"--fail-on allows 5 %", run.stderr)

    def test_stacks_that_are_cut_count(self):
        """1024 frames are recorded of up to 5000."""
        run = self.fail_on(":50", rec.target("deep_recursion"), 5000, 3000)
        self.assertEqual(run.status, 124, run.stderr)
        self.assertLess(run.count("cpu_complete_ns") / run.count("cpu_seen_ns"), 0.5)

    def test_the_limit_decides(self):
        half = ["sh", "-c", f"{rec.target('unsampled')} blocked 300; {rec.target('short_run')} 300"]
        for limit, status in ((":20", 124), (":20%", 124), (":80.5", 0), (":100", 0)):
            self.assertEqual(self.fail_on(limit, *half).status, status, limit)

    def test_the_commands_own_failure_comes_first(self):
        self.assertEqual(self.fail_on(":0", *self.not_sampled(7)).status, 7)

    def test_a_file_that_was_not_written_comes_first(self):
        directory = self.new_directory()
        run = self.run_in(directory, [rec.REC, "--fail-on=incomplete:0", "--", "sh", "-c",
                                      f"{rec.target('unsampled')} blocked 300; rm -r '{directory}'"])
        self.assertEqual(run.status, 125, run.stderr)

    def test_a_command_that_hardly_uses_cpu_time_is_complete(self):
        self.assertEqual(self.fail_on(":0.5", "true").status, 0)


class Forwarding(rec.Case):
    def start(self, *command, **options):
        process = subprocess.Popen([rec.REC, "-q", "--", *command], cwd=self.new_directory(),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                   **options)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_signals_sent_to_rec_reach_the_program(self):
        for name, number in (("TERM", 15), ("HUP", 1), ("USR1", 10), ("USR2", 12), ("INT", 2)):
            process = self.start("bash", "-c", f"trap 'echo {name}; exit 7' {name}; echo ready; "
                                 "while :; do sleep 0.01; done")
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(number)
            self.assertEqual(process.stdout.read(), f"{name}\n")
            self.assertEqual(process.wait(30), 7)

    def test_a_program_that_dies_of_a_forwarded_signal_dies_for_all(self):
        process = self.start("sh", "-c", "echo ready; exec sleep 30")
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(30), -signal.SIGTERM)

    def test_rec_stops_and_continues_with_the_program(self):
        process = self.start("sh", "-c", "echo ready; exec sleep 0.3")
        self.assertEqual(process.stdout.readline(), "ready\n")
        child = children_of(process.pid)[0]
        os.kill(child, signal.SIGSTOP)
        wait_until(lambda: state_of(process.pid) == "T")
        os.kill(process.pid, signal.SIGCONT)
        wait_until(lambda: state_of(child) not in ("T", ""))
        self.assertEqual(process.wait(30), 0)

    def test_a_program_that_is_stopped_alone_can_be_continued_alone(self):
        process = self.start("sh", "-c", "echo ready; exec sleep 0.3")
        self.assertEqual(process.stdout.readline(), "ready\n")
        child = children_of(process.pid)[0]
        os.kill(child, signal.SIGSTOP)
        wait_until(lambda: state_of(process.pid) == "T")
        os.kill(child, signal.SIGCONT)
        self.assertEqual(process.wait(30), 0)

    def test_a_program_that_is_killed_while_it_is_stopped_ends_rec(self):
        process = self.start("sh", "-c", "echo ready; exec sleep 30")
        self.assertEqual(process.stdout.readline(), "ready\n")
        child = children_of(process.pid)[0]
        os.kill(child, signal.SIGSTOP)
        wait_until(lambda: state_of(process.pid) == "T")
        os.kill(child, signal.SIGKILL)
        self.assertEqual(process.wait(30), -signal.SIGKILL)

    def test_nothing_remains_of_a_rec_that_is_killed_while_it_is_stopped(self):
        process = self.start("sh", "-c", "echo ready; exec sleep 30")
        self.assertEqual(process.stdout.readline(), "ready\n")
        child = children_of(process.pid)[0]
        os.kill(child, signal.SIGSTOP)
        wait_until(lambda: state_of(process.pid) == "T")
        others = [pid for pid in children_of(process.pid) if pid != child]
        process.kill()
        process.wait(30)
        os.kill(child, signal.SIGKILL)
        for pid in others:
            wait_until(lambda: state_of(pid) in ("", "Z"))


class Terminal(rec.Case):
    """An interactive shell on a terminal of its own."""

    def setUp(self):
        super().setUp()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(self.directory)
            os.environ.update(PS1="", HISTFILE="")
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        self.addCleanup(os.close, self.terminal)
        self.seen = b""

    def tearDown(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        super().tearDown()

    def type(self, text):
        os.write(self.terminal, text.encode())

    def expect(self, text):
        end = time.monotonic() + 20
        while text.encode() not in self.seen:
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"{text!r} never came: {self.seen.decode(errors='replace')!r}")
            self.seen += os.read(self.terminal, 4096)
        self.seen = self.seen.split(text.encode(), 1)[1]

    def test_control_z_and_fg_work_as_without_rec(self):
        # The words are written in two parts, so that the terminal's echo is not taken for output.
        # Not a shell: one that is stopped inside vfork() does not stop for anybody, with rec or without.
        self.type(f"{rec.REC} -q -- /usr/bin/perl -e '$| = 1; print \"sta\" . \"rted\"; "
                  "select(undef, undef, undef, 0.4); print \"do\" . \"ne\"; exit 5'\n")
        self.expect("started")
        self.type("\x1a")
        self.expect("Stopped")
        self.type("fg\n")
        self.expect("done")
        self.type("echo stat''us $?\n")
        self.expect("status 5")

    def test_control_c_ends_program_and_rec_as_one(self):
        self.type(f"{rec.REC} -- sh -c 'echo sta''rted; exec sleep 30'\n")
        self.expect("started")
        self.type("\x03")
        self.type("echo stat''us $?\n")
        self.expect("status 130")

    def test_a_program_that_handles_control_c_gets_it_once(self):
        self.type(f"{rec.REC} -q -- bash -c 'n=0; trap \"n=\\$((n+1))\" INT; echo sta''rted; "
                  "for i in 1 2 3 4 5 6 7 8; do sleep 0.05; done; echo cou''nt $n'\n")
        self.expect("started")
        self.type("\x03")
        self.expect("count 1")


if __name__ == "__main__":
    rec.main()
