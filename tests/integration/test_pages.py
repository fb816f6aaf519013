#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Manual pages and completions are generated from the option tables, free of warnings, and work in the shells."""
import os
import pty
import re
import select
import signal
import subprocess
import time
from pathlib import Path

import rec

PAGES = Path(os.environ["BUILD"]) / "pages"
# Completes the words of its arguments, the last of them by Tab.
COMPLETE_IN_BASH = """
source "$0" || exit
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
compopt() { :; }
_rec
printf '%s\\n' "${COMPREPLY[@]}"
"""


def output_of(*words, **how):
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, timeout=rec.TIMEOUT_S, **how).stdout


COMMANDS = ["record", *re.findall(r"(?m)^  rec ([a-z]+) ", output_of(rec.REC, "help").split("\n  rec help")[0])]


def completed_in_bash(directory, *words):
    return output_of("bash", "-c", COMPLETE_IN_BASH, PAGES / "rec", "rec", *words, cwd=directory).split()


def shown_until(terminal, text):
    """What the terminal shows until the text appears, the other side closes, or 10 s pass."""
    shown = b""
    deadline_s = time.monotonic() + 10
    while text not in shown and time.monotonic() < deadline_s:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # the shell ended
                break
    return shown


def typed(shell, prepare, keys, until, environment):
    """What an interactive shell shows after these keys."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(environment)
        os.execvp(shell[0], shell)
    try:
        os.write(terminal, f"{prepare}; printf ready-%s 42\r".encode())
        shown_until(terminal, b"ready-42")
        os.write(terminal, keys)
        return shown_until(terminal, until)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


class Pages(rec.Case):
    def test_man_accepts_each_page_without_a_warning(self):
        for name in ("rec", *(f"rec-{command}" for command in COMMANDS)):
            done = subprocess.run(["man", "--warnings=all", "-E", "UTF-8", "-l", PAGES / f"{name}.1"], text=True,
                                  capture_output=True, check=True, env={**os.environ, "MANWIDTH": "80"})
            self.assertEqual(done.stderr, "")
            self.assertRegex(done.stdout, rf"(?m)^NAME\n +{name} - ")

    def test_the_manual_has_every_option_of_help(self):
        for command in COMMANDS:
            page = (PAGES / f"rec-{command}.1").read_text(encoding="utf-8").replace("\\-", "-")
            for line in output_of(rec.REC, "help", command).splitlines():
                option = line.strip().split(" ")[0].rstrip(",").split("[")[0]
                if option.startswith("-"):
                    self.assertIn(option, page)

    def test_the_reference_has_every_note_of_a_recording(self):
        text = (rec.SOURCE / "docs/command-line.md").read_text(encoding="utf-8")
        documented = set(re.findall(r"`([\w.-]+)`", text[text.index("## Notes of a recording"):]))
        run = self.recorded("sh", "-c", f"{rec.target('shares')} 20; sleep 0.05",
                            rec_options=["-q", "--off-cpu", "--record", "thread-lifecycle", "--self-check"])
        notes = run.info["notes"]
        self.assertGreater(len(notes), 60)
        missing = {key for key in notes if not documented & {
            key, re.sub(r"\.\d+$", ".N", key), re.sub(r"\.[^.]+$", ".CAUSE", key)}}
        self.assertEqual(missing, set())

    def test_bash_completes_commands_options_and_values(self):
        os.mkdir(os.path.join(self.directory, "folder"))
        Path(self.directory, "file.data").touch()
        for words, expected in ((["conv"], "convert"), (["--eng"], "--engine"), (["record", "--eng"], "--engine"),
                                (["--engine", "t"], "timer"), (["--engine", "=", "t"], "timer"),
                                (["--engine", "="], "perf-trap"), (["convert", "--format", "pp"], "pprof"),
                                (["convert", "-o", "fi"], "file.data"), (["report", "fi"], "file.data"),
                                (["report", "--debug-dir", "f"], "folder"), (["list", "c"], "cpu"),
                                (["--", "tru"], "true"), (["-F", "99", "tru"], "true"), (["help", "do"], "doctor"),
                                (["--", "true", "fi"], "file.data")):
            self.assertIn(expected, completed_in_bash(self.directory, *words), words)
        self.assertEqual(set(completed_in_bash(self.directory, "")), {*COMMANDS, "help"})
        for words in (["-F", ""], ["report", "--eng"], ["doctor", ""], ["--", "true", "--eng"]):
            self.assertEqual(completed_in_bash(self.directory, *words), [], words)

    def test_tab_completes_in_three_shells(self):
        path = f"{os.path.dirname(rec.REC)}:{os.environ['PATH']}"
        environment = {"PATH": path, "TERM": "dumb", "HOME": self.directory, "XDG_CONFIG_HOME": self.directory}
        for prepare, shell in ((f"source {PAGES}/rec", ["bash", "--norc", "--noprofile", "-i"]),
                               (f"fpath=({PAGES} $fpath); autoload -Uz compinit; compinit -u -D", ["zsh", "-f", "-i"]),
                               (f"source {PAGES}/rec.fish", ["fish", "--no-config", "-i"])):
            shown = typed(shell, prepare, b"rec report --js\t", b"--json", environment)
            self.assertIn(b"--json", shown, shell)


if __name__ == "__main__":
    rec.main()
