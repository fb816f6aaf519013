#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The line that says what rec is doing: on a terminal, when that takes longer than a second, and gone in the
end; never in a file or pipe."""
import os
import pty
import re
import subprocess
import threading

import rec

ERASE = "\r\x1b[K"
# Reading debug info takes 2.5 s. Time passes without a system call that a confined process may not make.
SLOW = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elfutils/libdw.h>
#include <time.h>
Dwarf *dwarf_begin_elf(Elf *elf, Dwarf_Cmd command, Elf_Scn *group)
{
    Dwarf *(*real)(Elf *, Dwarf_Cmd, Elf_Scn *) = dlsym(RTLD_NEXT, "dwarf_begin_elf");
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec + now.tv_nsec / 1e9 < start.tv_sec + start.tv_nsec / 1e9 + 2.5);
    return real(elf, command, group);
}
"""


class Progress(rec.Case):
    def setUp(self):
        super().setUp()
        run = self.recorded(rec.target("shares"), "200")
        self.capture = run.path()
        with open(self.capture, "r+b") as file:
            content = file.read()
            file.seek(0)  # names are stored in it: made unreadable, so that they are looked for
            file.write(content.replace(b"RECNAMES", b"NOTNAMES"))

    def slow(self):
        source, library = (os.path.join(self.directory, name) for name in ("slow.c", "slow.so"))
        with open(source, "w", encoding="utf-8") as file:
            file.write(SLOW)
        if subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", library], check=False).returncode:
            self.skipTest("cannot build a library against libdw")
        return {**os.environ, "LD_PRELOAD": library}

    def on_a_terminal(self, command, environment=None):
        """What a terminal gets on standard error."""
        ours, theirs = pty.openpty()
        shown = []

        def read():
            while True:
                try:
                    shown.append(os.read(ours, 4096))
                except OSError:  # nobody has the other end any more
                    return
        reader = threading.Thread(target=read)
        reader.start()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, env=environment,
                              cwd=self.directory, timeout=rec.TIMEOUT_S, check=False)
        os.close(theirs)
        reader.join()
        os.close(ours)
        self.assertEqual(done.returncode, 0)
        return b"".join(shown).decode()

    def assert_shown_and_gone(self, text):
        lines = re.findall(re.escape(ERASE) + "rec: finding names", text)
        self.assertGreaterEqual(len(lines), 2, repr(text))
        left = text.rsplit(ERASE, 1)[1]
        self.assertNotIn("finding names", left)
        # Nothing but erased lines goes before what stays.
        self.assertEqual(re.sub(re.escape(ERASE) + r"rec: [a-z ]+(, \d+ of \d+)?", "",
                                text).replace(ERASE, ""), left, repr(text))

    def test_a_long_conversion(self):
        command = [rec.REC, "convert", self.capture, "-o", "out.folded"]
        self.assert_shown_and_gone(self.on_a_terminal(command, self.slow()))

    def test_a_long_report(self):
        self.assert_shown_and_gone(self.on_a_terminal([rec.REC, "report", self.capture], self.slow()))

    def test_a_short_conversion_shows_nothing(self):
        text = self.on_a_terminal([rec.REC, "convert", self.capture, "-o", "out.folded"])
        self.assertNotIn("\x1b", text)
        self.assertNotIn("finding names", text)

    def test_nothing_of_it_in_a_pipe(self):
        done = subprocess.run([rec.REC, "convert", self.capture, "-o", "out.folded"], cwd=self.directory,
                              capture_output=True, text=True, env=self.slow(), timeout=rec.TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("\x1b", done.stderr + done.stdout)
        self.assertNotIn("\r", done.stderr + done.stdout)
        self.assertNotIn("finding names", done.stderr)


if __name__ == "__main__":
    rec.main()
