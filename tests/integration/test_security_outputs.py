#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rec writes, as root, in directories of another user: no file outside the outputs is created, changed,
chowned or removed."""
import contextlib
import os
import re
import shutil
import socket
import stat
import subprocess
import tempfile
import threading
import time

import rec

OTHER = 65534  # neither root nor the user of rec
ATTEMPTS = rec.figure(2000, 10**9)
DURATION_S = rec.figure(5, 600)
SUDO = {"SUDO_UID": str(OTHER), "SUDO_GID": str(OTHER)}
FIELDS = ("st_ino", "st_mode", "st_uid", "st_gid", "st_nlink", "st_size", "st_mtime_ns")


def owner_of(path):
    return os.lstat(path).st_uid


def mode_of(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def state_of(top):
    """Names, metadata and content of everything below a directory."""
    state = {}
    for folder, _, names in os.walk(top):
        for path in [folder, *(os.path.join(folder, name) for name in names)]:
            found = os.lstat(path)
            state[path] = [getattr(found, field) for field in FIELDS]
            if stat.S_ISREG(found.st_mode):
                with open(path, "rb") as file:
                    state[path].append(file.read())
    return state


class Outputs(rec.Case):
    """`theirs` belongs to the other user, `outside` to root. `user` runs rec."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("files of two users need root")
        os.chmod(self.directory, 0o755)
        self.theirs, self.outside = self.made("theirs", OTHER), self.made("outside", 0)
        self.victim = os.path.join(self.outside, "victim")
        with open(self.victim, "w", encoding="ascii") as file:
            file.write("the victim's content\n")
        os.chmod(self.victim, 0o600)
        os.mkdir(os.path.join(self.outside, "empty"))
        self.before = state_of(self.outside)

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="rec-test-capture-")
        cls.addClassCleanup(shutil.rmtree, cls.place)
        cls.capture = os.path.join(cls.place, "x.data")
        subprocess.run([rec.REC, "-q", "-o", cls.capture, "--", "sh", "-c",
                        "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done"], check=True, timeout=60)

    def made(self, name, owner, mode=0o755):
        path = os.path.join(self.directory, name)
        os.mkdir(path)
        os.chmod(path, mode)
        os.chown(path, owner, owner)
        return path

    def in_theirs(self, name):
        return os.path.join(self.theirs, name)

    def link(self, target, path, owner):
        os.symlink(target, path + "~")  # an attacker may take the path at once
        os.lchown(path + "~", owner, owner)
        os.rename(path + "~", path)

    def rec(self, *words, sudo=False, directory=None):
        environment = {name: value for name, value in os.environ.items() if name[:5] != "SUDO_"}
        environment.update(SUDO if sudo else {})
        return subprocess.run([rec.REC, *words], cwd=directory or self.theirs, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=rec.TIMEOUT_S, check=False)

    def convert(self, output, **more):
        return self.rec("convert", "-q", self.capture, "-o", output, **more)

    def assert_outside_unchanged(self, what=""):
        found = state_of(self.outside)
        # For the message: once the first look found the victim empty, of unchanged size and time (Linux 6.18).
        again = state_of(self.outside) if found != self.before else None
        self.assertEqual(found, self.before, f"{what}; a second look: {again}")


class Races(Outputs):
    """Another user swaps names in a directory of his own while rec writes there."""

    def attack(self, *steps, directory=None):
        process = subprocess.Popen([rec.target("swaps"), *steps], cwd=directory or self.theirs,
                                   user=OTHER, group=OTHER, extra_groups=[])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def race(self, attacker, run, seconds=DURATION_S, reset=lambda: None, clear=None):
        """Runs rec again and again beside the attacker, where each run may be refused. `clear` makes the
        names usable for the check at the end (default: reset)."""
        ends, attempts = time.monotonic() + seconds, 0
        while attempts < ATTEMPTS and time.monotonic() < ends:
            reset()
            run()
            attempts += 1
            self.assert_outside_unchanged(f"attempt {attempts}")
        self.assertIsNone(attacker.poll())
        attacker.kill()
        attacker.wait()
        self.assert_succeeds_alone(run, clear or reset)

    def assert_succeeds_alone(self, run, clear):
        """Runs beside the attacker are refused for the attack, not for another reason."""
        clear()
        done = run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_outside_unchanged("alone")

    def capture_becomes_a_link(self, sudo):
        def reset():
            for name in ("rec.data", "l"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self.in_theirs(name))
            self.link(self.victim, self.in_theirs("l"), OTHER)

        attacker = self.attack("exchange:l:rec.data")
        self.race(attacker, lambda: self.rec("-q", "--", "/bin/true", "\nKEY", sudo=sudo), reset=reset)

    test_root_and_sudo_record_while_the_capture_becomes_a_link = rec.at_once(
        lambda case: case.capture_becomes_a_link(sudo=False), lambda case: case.capture_becomes_a_link(sudo=True))

    def fifo_becomes_a_link(self, sudo):
        names = [f"{i}.folded" for i in range(4)]
        keep = self.in_theirs("keep")
        os.mkfifo(keep)
        os.chown(keep, OTHER if sudo else 0, OTHER)  # of the user of rec: others are refused
        reader = os.open(keep, os.O_RDWR)
        self.addCleanup(os.close, reader)
        threading.Thread(target=self.drain, args=(reader,), daemon=True).start()

        def clear():
            for name in names:
                for path in (self.in_theirs(name), self.in_theirs("l" + name)):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(path)

        def reset():  # conversions replace links
            clear()
            for name in names:
                os.link(keep, self.in_theirs(name))
                self.link(self.victim, self.in_theirs("l" + name), OTHER)

        attacker = self.attack(*(f"-exchange:{name}:l{name}" for name in names))
        words = [word for name in names for word in ("-o", name)]
        self.race(attacker, lambda: self.rec("convert", "-q", self.capture, *words, sudo=sudo),
                  reset=reset, clear=clear)

    @staticmethod
    def drain(reader):
        try:
            while os.read(reader, 1 << 16):
                pass
        except OSError:
            pass

    test_root_and_sudo_convert_while_a_fifo_becomes_a_link = rec.at_once(
        lambda case: case.fifo_becomes_a_link(sudo=False), lambda case: case.fifo_becomes_a_link(sudo=True))

    def new_directory_becomes_a_link(self, sudo):
        def reset():
            for name in ("o", "old", "l"):
                shutil.rmtree(self.in_theirs(name), ignore_errors=True)  # not through a link
                with contextlib.suppress(OSError):
                    os.unlink(self.in_theirs(name))
            self.link(os.path.join(self.outside, "empty"), self.in_theirs("l"), OTHER)

        attacker = self.attack("rename:o:old", "rename:l:o")
        self.race(attacker, lambda: self.convert("o/", sudo=sudo), reset=reset)

    test_root_and_sudo_convert_while_a_new_directory_becomes_a_link = rec.at_once(
        lambda case: case.new_directory_becomes_a_link(sudo=False), lambda case: case.new_directory_becomes_a_link(sudo=True))

    def test_the_directory_becomes_a_link(self):
        os.mkdir(self.in_theirs("sub"))
        os.chown(self.in_theirs("sub"), OTHER, OTHER)
        self.link(self.outside, self.in_theirs("l"), OTHER)

        def clear():
            if os.path.islink(self.in_theirs("sub")):
                os.rename(self.in_theirs("sub"), self.in_theirs("link"))
                os.rename(self.in_theirs("l"), self.in_theirs("sub"))
                os.rename(self.in_theirs("link"), self.in_theirs("l"))

        for run in (lambda: self.convert("sub/out.folded"), lambda: self.convert("sub/new/"),
                    lambda: self.rec("-q", "-o", "sub/x.data", "--", "/bin/true"),
                    lambda: self.rec("-q", "-o", "sub/x.folded", "--", "/bin/true")):
            self.race(self.attack("exchange:l:sub"), run, seconds=DURATION_S / 4, clear=clear)


class Names(Outputs):
    """What rec does with each kind of file that has the output's name."""

    def test_all_outputs_are_private_whatever_the_umask(self):
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        names = ("rec.data", "rec.json.gz", "rec.pb.gz", "rec.folded", "a.perf.txt",
                 "a.speedscope.json")
        for name in names[1:]:
            with open(self.in_theirs(name), "w", encoding="ascii"):
                os.chmod(self.in_theirs(name), 0o666)
        options = [word for name in names for word in ("-o", name)]
        done = self.rec("-q", *options, "--", "/bin/true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(os.listdir(self.theirs)), sorted(names))
        for name in names:
            self.assertEqual((mode_of(self.in_theirs(name)), owner_of(self.in_theirs(name))),
                             (0o600, 0), name)
        done = self.rec("-q", "-o", "new/", "--", "/bin/true")
        self.assertEqual((done.returncode, mode_of(self.in_theirs("new"))), (0, 0o755), done.stderr)

    def test_the_claimed_name_is_not_opened_again(self):
        """Whatever another user puts there later is neither written nor read: neither before the capture is filled, nor
        for the conversion."""
        strace = self.need_program("strace")
        for earlier in (False, True):
            done = subprocess.run([strace, "-f", "-qq", "-s", "300", "-o", "trace", "-e",
                                   "trace=linkat,open,openat,openat2,creat,truncate", rec.REC, "-q", "-o", "x.data", "-o",
                                   "x.folded", "--", rec.target("short_run"), "50"], cwd=self.theirs, capture_output=True,
                                  text=True, timeout=rec.TIMEOUT_S, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(os.path.exists(self.in_theirs("x.data.old")), earlier)
            with open(self.in_theirs("trace"), encoding="utf-8") as file:
                calls = [line for line in file if re.search(r'x\.data"', line)]
            claim = max(i for i, line in enumerate(calls) if "linkat(" in line)
            self.assertEqual(calls[claim + 1:], [])

    def test_links_are_replaced_and_their_targets_stay(self):
        for sudo in (False, True):
            for owner in (0, OTHER):
                self.link(self.victim, self.in_theirs("out.folded"), owner)
                self.link(self.victim, self.in_theirs("x.data"), owner)
                done = self.convert("out.folded", sudo=sudo)
                self.assertEqual(done.returncode, 0, done.stderr)
                done = self.rec("-q", "-o", "x.data", "--", "/bin/true", sudo=sudo)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(os.readlink(self.in_theirs("x.data.old")), self.victim)
                for name in ("out.folded", "x.data"):
                    found = os.lstat(self.in_theirs(name))
                    self.assertTrue(stat.S_ISREG(found.st_mode), name)
                    self.assertEqual(found.st_uid, OTHER if sudo else 0)
                    os.unlink(self.in_theirs(name))
                self.assert_outside_unchanged()

    def test_hard_links_to_other_files_are_replaced_and_the_files_stay(self):
        for name in ("out.folded", "x.data"):
            os.link(self.victim, self.in_theirs(name))
        before = state_of(self.outside)
        self.assertEqual(self.convert("out.folded", sudo=True).returncode, 0)
        self.assertEqual(self.rec("-q", "-o", "x.data", "--", "/bin/true", sudo=True).returncode, 0)
        os.unlink(self.in_theirs("x.data.old"))
        self.assert_outside_unchanged()
        self.assertNotEqual(before, self.before)  # the number of names

    def test_parents_that_are_links_of_another_user_are_refused(self):
        for owner in (0, OTHER):  # a link of root, too: another user could have moved it there
            self.link(self.outside, self.in_theirs("sub"), owner)
            for words in (["convert", "-q", self.capture, "-o", "sub/out.folded"],
                          ["convert", "-q", self.capture, "-o", "sub/new/"],
                          ["convert", "-q", self.capture, "-o", "sub"],
                          ["-q", "-o", "sub/x.data", "--", "/bin/true"],
                          ["-q", "-o", "sub/x.folded", "--", "/bin/true"],
                          ["-q", "-o", "sub/", "--", "/bin/true"]):
                for sudo in (False, True):
                    done = self.rec(*words, sudo=sudo)
                    self.assertEqual(done.returncode, 125, done.stderr)
                    self.assertIn(f"another user ({OTHER}) can change the symbolic link sub",
                                  done.stderr)
                    self.assert_outside_unchanged()
            os.unlink(self.in_theirs("sub"))

    def test_the_parent_of_a_directory_that_another_user_moved_is_refused(self):
        sticky, moved = self.made("sticky", 0, 0o1777), self.in_theirs("moved")
        os.mkdir(moved)
        os.chown(moved, OTHER, OTHER)
        done = self.convert("../out.folded", directory=moved)
        self.assertEqual(done.returncode, 0, done.stderr)
        os.rename(moved, os.path.join(sticky, "moved"))
        before = state_of(sticky)
        done = self.convert("../out.folded", directory=os.path.join(sticky, "moved"))
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn('can move the directory before ".."', done.stderr)
        self.assertEqual(state_of(sticky), before)

    def test_parents_that_are_links_of_root_are_followed(self):
        self.link(self.outside, os.path.join(self.directory, "l"), 0)
        done = self.convert("l/out.folded", directory=self.directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(mode_of(os.path.join(self.outside, "out.folded")), 0o600)

    def fifo(self, owner):
        path = self.in_theirs("out.folded")
        os.mkfifo(path, 0o640)
        os.chown(path, owner, owner)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.addCleanup(os.unlink, path)
        return path, reader

    def test_a_fifo_of_the_user_is_written_and_never_chowned(self):
        path, reader = self.fifo(owner=0)
        for sudo in (False, True):
            done = self.convert("out.folded", sudo=sudo)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(os.read(reader, 1 << 20).startswith(b"sh;"))
            self.assertEqual((owner_of(path), mode_of(path)), (0, 0o640))
            self.assertTrue(stat.S_ISFIFO(os.lstat(path).st_mode))

    def test_a_fifo_of_the_caller_of_sudo_is_written(self):
        _, reader = self.fifo(owner=OTHER)
        done = self.convert("out.folded", sudo=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.read(reader, 1 << 20).startswith(b"sh;"))

    def test_a_fifo_of_another_user_gets_nothing(self):
        _, reader = self.fifo(owner=OTHER)
        for words in (["convert", "-q", self.capture], ["-q"]):
            done = self.rec(*words, "-o", "out.folded", *(["--", "/bin/true"] if len(words) == 1 else []))
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn(f"the FIFO belongs to another user ({OTHER})", done.stderr)
            self.assertEqual(os.read(reader, 1), b"")

    def test_a_device_is_written_in_place(self):
        path = self.in_theirs("null.folded")
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        done = self.convert("null.folded", sudo=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(stat.S_ISCHR(os.lstat(path).st_mode))
        self.assertEqual(owner_of(path), 0)

    def test_other_kinds_of_files_are_refused_and_stay(self):
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(self.in_theirs("socket.folded"))
        os.mknod(self.in_theirs("block.folded"), 0o600 | stat.S_IFBLK, os.makedev(7, 250))
        os.mkfifo(self.in_theirs("x.data"))
        os.mknod(self.in_theirs("null.data"), 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        os.symlink("/dev/stdout", self.in_theirs("stdout.data"))
        before = state_of(self.theirs)
        for words in (["convert", "-q", self.capture, "-o", "socket.folded"],
                      ["convert", "-q", self.capture, "-o", "block.folded"],
                      ["-q", "-o", "x.data", "--", "/bin/true"],
                      ["-q", "-o", "null.data", "--", "/bin/true"],
                      ["-q", "-o", "stdout.data", "--", "/bin/true"]):
            done = self.rec(*words)
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn("not a regular file", done.stderr)
        self.assertEqual(state_of(self.theirs), before)

    def test_a_redirected_stdout_is_no_capture_and_keeps_its_link(self):
        link = self.in_theirs("stdout.data")
        os.symlink("/proc/self/fd/1", link)  # as /dev/stdout
        with open(self.in_theirs("out"), "wb") as out:
            done = subprocess.run([rec.REC, "-q", "-o", link, "--", "/bin/true"], stdout=out,
                                  stderr=subprocess.PIPE, text=True, check=False, timeout=60)
        self.assertIn("not a regular file", done.stderr)
        self.assertTrue(os.path.islink(link))

    def test_only_a_new_directory_is_given_to_the_caller_of_sudo(self):
        os.mkdir(self.in_theirs("there"))
        for name in ("there/", "new/"):
            done = self.convert(name, sudo=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([owner_of(self.in_theirs(name + file))
                              for file in ("rec.folded", "rec.json.gz", "rec.pb.gz")], [OTHER] * 3)
        self.assertEqual(owner_of(self.in_theirs("there")), 0)
        self.assertEqual(owner_of(self.in_theirs("new")), OTHER)

    def test_a_command_that_cannot_start_leaves_the_directory_as_it_was(self):
        with open(self.in_theirs("x.data"), "w", encoding="ascii") as file:
            file.write("earlier")
        with open(self.in_theirs("broken"), "w", encoding="ascii") as file:
            file.write("#!/no/such/interpreter\n")
        os.chmod(self.in_theirs("broken"), 0o755)
        before = state_of(self.theirs)
        done = self.rec("-q", "-o", "x.data", "--", "./broken", sudo=True)
        self.assertIn(done.returncode, (126, 127), done.stderr)
        after = state_of(self.theirs)
        for state in (before, after):
            state[self.theirs][FIELDS.index("st_mtime_ns")] = 0  # names came and went
        self.assertEqual(after, before)


if __name__ == "__main__":
    rec.main(at_once=3)
