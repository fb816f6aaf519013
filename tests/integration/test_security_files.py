#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files named by recorded programs, captures, binaries and debug info: only regular files are opened, and only with the
rights of the user on whose behalf they are read.

The oracle is the kernel: inotify(7) and fanotify(7) report every open() of a watched object, but for O_PATH, which has
no effect on the object. Where other programs may open the object, the opener counts: `perf record -a` beside the tests
opens the files of all mappings. fanotify(7) names openers of regular files, a tracepoint openers of a device.
"""
import contextlib
import ctypes
import gzip
import json
import os
import shutil
import stat
import struct
import subprocess
import threading
import unittest

import rec

NOBODY = 65534
IN_OPEN = 0x20
FAN_CLOEXEC, FAN_CLASS_CONTENT, FAN_MARK_ADD, FAN_OPEN_PERM, FAN_ALLOW = 1, 4, 1, 0x10000, 1
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
UNDER_SUDO = {**os.environ, "SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)}
AS_ROOT = {name: value for name, value in os.environ.items() if not name.startswith("SUDO_")}
USERS = (("root", AS_ROOT), ("under sudo", UNDER_SUDO))
SECONDS = rec.figure(5, 600)
DEVICE = "/sys/class/misc/cpu_dma_latency/dev"
TRACING = "/sys/kernel/tracing"
C = ctypes.CDLL(None, use_errno=True)

PROGRAM = r"""
static void __attribute__((noinline)) work(void) { for (volatile long i = 0; i < 100000000; i++); }
int main(void) { work(); return 0; }
"""


class Watch:
    """Counts how often objects are opened while it is open."""

    def __init__(self, *paths):
        self.fd = C.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        for path in paths:
            if C.inotify_add_watch(self.fd, os.fsencode(path), IN_OPEN) < 0:
                raise OSError(ctypes.get_errno(), "inotify_add_watch", path)

    def opens(self):
        try:
            return len(os.read(self.fd, 1 << 16)) // 16
        except BlockingIOError:
            return 0

    def close(self):
        os.close(self.fd)


class DeviceOpeners:
    """The opens of a cpu_dma_latency device by processes of the given names, in the kernel's trace. An open requests no
    latency: only a write does (kernel/power/qos.c, Linux 6.1)."""

    def __init__(self, *names):
        self.names, self.instance = names, f"{TRACING}/instances/rec-test-{os.getpid()}"
        os.mkdir(self.instance)
        self.write("events/power/pm_qos_add_request/enable", "1")

    def write(self, name, text):
        with open(f"{self.instance}/{name}", "w", encoding="ascii") as file:
            file.write(text)

    def opens(self):
        """The names of all so far. Lines: `NAME-TID [PROCESSOR] FLAGS TIME: pm_qos_add_request: ...`."""
        with open(f"{self.instance}/trace", encoding="utf-8", errors="replace") as file:
            lines = [line.split(" [")[0].strip() for line in file if ": pm_qos_add_request:" in line]
        return [name for name in (line.rpartition("-")[0] for line in lines) if name in self.names]

    def close(self):
        os.rmdir(self.instance)


class Openers:
    """The commands with a word in their environment that open a regular file: each waits in open() until it is judged.

    Others are left out, such as `perf record -a` beside the tests: perf opens the files of all mappings.
    """

    HEAD = struct.Struct("<IBBHQii")  # struct fanotify_event_metadata

    def __init__(self, path, word):
        self.path, self.word, self.found, self.own_was_seen = path, os.fsencode(word), [], threading.Event()
        self.fd = C.fanotify_init(FAN_CLOEXEC | FAN_CLASS_CONTENT, os.O_RDONLY)
        if self.fd < 0:
            raise unittest.SkipTest("fanotify_init() is refused here")
        if C.fanotify_mark(self.fd, FAN_MARK_ADD, ctypes.c_uint64(FAN_OPEN_PERM), -1, os.fsencode(path)) < 0:
            raise OSError(ctypes.get_errno(), "fanotify_mark", path)
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        while True:
            events, at = os.read(self.fd, 1 << 16), 0
            while at < len(events):
                size, *_, opened, pid = self.HEAD.unpack_from(events, at)
                self.judge(pid)
                os.write(self.fd, struct.pack("<iI", opened, FAN_ALLOW))
                os.close(opened)
                at += size

    def judge(self, pid):
        if pid == os.getpid():
            self.own_was_seen.set()
            return
        with open(f"/proc/{pid}/environ", "rb") as environ, open(f"/proc/{pid}/cmdline", "rb") as command:
            if self.word in environ.read():
                self.found.append(command.read())

    def opens(self):
        """Events come in order: all are judged once the own one has come."""
        self.own_was_seen.clear()
        os.close(os.open(self.path, os.O_RDONLY))
        if not self.own_was_seen.wait(rec.TIMEOUT_S):
            raise AssertionError("no event of an open() came")
        return self.found


class Case(rec.Case):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("needs root: other users have no rights that could be misused")
        os.chmod(self.directory, 0o755)
        self.theirs = os.path.join(self.directory, "theirs")
        os.mkdir(self.theirs)
        os.chown(self.theirs, NOBODY, NOBODY)
        self.device = os.path.join(self.directory, "device")
        self.make_device(os.makedev(1, 3))
        # The name of its processes in the kernel's trace: of this test only.
        self.name = "rec-" + self.directory[-8:]
        os.symlink(rec.REC, os.path.join(self.directory, self.name))
        self.fifo = os.path.join(self.directory, "fifo")
        os.mkfifo(self.fifo)
        self.closed = os.path.join(self.directory, "closed")
        os.mkdir(self.closed, 0o700)

    def make_device(self, number):
        os.mknod(self.device, stat.S_IFCHR | 0o666, number)
        os.chmod(self.device, 0o666)

    def watch_openers(self, *names):
        """From here on, the device is one whose openers have names."""
        if not os.path.isdir(f"{TRACING}/events/power/pm_qos_add_request") or not os.path.exists(DEVICE):
            self.skipTest("the kernel traces no openers of cpu_dma_latency here")
        with open(DEVICE, encoding="ascii") as file:
            number = os.makedev(*map(int, file.read().split(":")))
        os.unlink(self.device)
        self.make_device(number)
        watch = DeviceOpeners(*names)
        self.addCleanup(watch.close)
        return watch

    def watch(self, *paths):
        watch = Watch(*paths)
        self.addCleanup(watch.close)
        return watch

    def secret(self, name, text):
        path = os.path.join(self.closed, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o600)
        return path

    def build(self, name, text, *options):
        source = os.path.join(self.directory, f"{name}.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        path = os.path.join(self.theirs, name)
        subprocess.run(["gcc", "-g", "-O1", *options, "-o", path, source], check=True, timeout=60,
                       cwd=self.theirs)
        return path

    def rec(self, *words, environment=None):
        return self.run_in(self.directory, [os.path.join(self.directory, self.name), *words], env=environment or AS_ROOT,
                           timeout=SECONDS + rec.TIMEOUT_S)


class AWatchSeesWhatItShould(Case):
    def test_an_open_is_seen_and_a_look_is_not(self):
        for path in (self.device, self.fifo, self.secret("s", "x")):
            watch = self.watch(path)
            os.close(os.open(path, os.O_PATH))
            os.stat(path)
            self.assertEqual(watch.opens(), 0)
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
            self.assertEqual(watch.opens(), 1)

    def test_an_open_of_a_device_is_seen_with_the_name_of_the_opener(self):
        program = os.path.join(self.directory, self.name)
        os.unlink(program)
        os.symlink(shutil.which("head"), program)
        watch = self.watch_openers(self.name)
        for command, times in (("head", 0), (program, 1), (program, 2)):
            subprocess.run([command, "-c4", self.device], check=True, stdout=subprocess.DEVNULL)
            os.close(os.open(self.device, os.O_PATH))
            self.assertEqual(watch.opens(), [self.name] * times)

    def test_an_open_by_a_process_of_the_test_is_seen_and_others_are_not(self):
        path = self.secret("s", "x")
        openers = Openers(path, "OPENS=1")
        for word, command, times in (("1", "cat", 1), ("2", "cat", 1), ("1", "stat", 1)):
            subprocess.run([command, path], env={"OPENS": word, "PATH": os.environ["PATH"]}, check=True,
                           stdout=subprocess.DEVNULL)
            self.assertEqual(len(openers.opens()), times, (word, command))


class MappedFiles(Case):
    """A program replaces the files that it has mapped, while it is recorded, with links to other objects."""

    def openers(self, path, environment):
        word = f"REC_TEST_FILES={self.directory}"
        return Openers(path, word), {**environment, "REC_TEST_FILES": self.directory}

    def replaced_by(self, path, watch, environment):
        place = os.path.join(self.theirs, "x2")
        done = self.rec("-F", "9999", "-o", "rec.data", "-o", "out.folded", "--", *AS_NOBODY,
                        rec.target("replaces_mapped"), place, path, str(SECONDS), environment=environment)
        self.assertEqual(done.status, 0, done.stderr)
        self.assertGreater(int(done.stdout), 100, "attempts")
        self.assertFalse(watch.opens(), path)
        for command in (("report",), ("info",), ("convert", "-q", "-o", "again.folded")):
            done = self.rec(*command, "rec.data", environment=environment)
            self.assertEqual(done.status, 0, done.stderr)
            self.assertFalse(watch.opens(), (command, path))

    def open_no_device(self, environment):
        self.replaced_by(self.device, self.watch_openers(self.name, "replaces_mapped"), environment)

    def open_no_fifo(self):
        self.replaced_by(self.fifo, self.watch(self.fifo), AS_ROOT)

    def open_no_file_that_the_program_cannot_read(self):
        program = self.build("program", PROGRAM)
        secret = os.path.join(self.closed, "program")
        shutil.copy(program, secret)
        os.chmod(secret, 0o600)
        self.replaced_by(secret, *self.openers(secret, UNDER_SUDO))

    def open_no_such_file_for_root(self):
        secret = self.secret("secret", "x" * 8192)
        openers, environment = self.openers(secret, AS_ROOT)
        done = self.rec("-q", "-F", "9999", "-o", "rec.data", "--", *AS_NOBODY,
                        rec.target("replaces_mapped"), os.path.join(self.theirs, "x2"), secret, str(SECONDS),
                        environment=environment)
        self.assertEqual(done.status, 0, done.stderr)
        self.assertFalse(openers.opens())

    test_a_device_is_not_opened = rec.at_once(
        lambda case: case.open_no_device(AS_ROOT), lambda case: case.open_no_device(UNDER_SUDO))
    test_no_fifo_and_no_file_that_the_program_cannot_read_is_opened = rec.at_once(
        open_no_fifo, open_no_file_that_the_program_cannot_read, open_no_such_file_for_root)

    def test_programs_of_other_users_have_their_names(self):
        """The rules cost no names: files that are readable for the program are read."""
        program = self.build("program", PROGRAM)
        for name, environment in USERS:
            with self.subTest(user=name):
                done = self.rec("-q", "-o", "out.folded", "--", *AS_NOBODY, program, environment=environment)
                self.assertEqual(done.status, 0, done.stderr)
                with open(os.path.join(self.directory, "out.folded"), encoding="utf-8") as file:
                    self.assertIn(";work", file.read())


class NamedFiles(Case):
    """A capture, a binary or its debug info names another object than a regular file."""

    def recorded(self, program):
        """Names without lines: a later conversion looks for debug info."""
        done = self.rec("-q", "--no-inline", "-o", "rec.data", "--", program)
        self.assertEqual(done.status, 0, done.stderr)

    def not_opened(self, watch):
        for name, environment in USERS:
            for command in (("report",), ("info",), ("convert", "-o", "out.folded", "-o", "out.json")):
                with self.subTest(user=name, command=command[0]):
                    done = self.rec(*command, "rec.data", environment=environment)
                    self.assertEqual(done.status, 0, done.stderr)
                    self.assertFalse(watch.opens())

    def test_the_path_of_a_mapping(self):
        program = self.build("program", PROGRAM)
        self.recorded(program)
        for path, watch in ((self.device, self.watch_openers(self.name)), (self.fifo, self.watch(self.fifo))):
            os.unlink(program)
            os.symlink(path, program)
            self.not_opened(watch)

    def test_the_path_below_symfs_and_the_debug_directory(self):
        program = self.build("program", PROGRAM)
        self.recorded(program)
        below = os.path.join(self.theirs, "root")
        os.makedirs(below + os.path.dirname(program))
        os.symlink(self.device, below + program)
        watch = self.watch(self.device)
        for name, environment in USERS:
            with self.subTest(user=name):
                done = self.rec("report", "--symfs", below, "rec.data", environment=environment)
                self.assertEqual(done.status, 0, done.stderr)
                self.assertEqual(watch.opens(), 0)

    def test_a_separate_debug_file(self):
        program = self.build("program", PROGRAM)
        debug = os.path.join(self.theirs, "program.debug")
        subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
        subprocess.run(["objcopy", "-g", f"--add-gnu-debuglink={debug}", program], check=True)
        self.recorded(program)
        os.unlink(debug)
        os.symlink(self.device, debug)
        self.not_opened(self.watch(self.device))

    def test_a_supplement(self):
        program = self.build("program", PROGRAM)
        link = os.path.join(self.directory, "altlink")
        with open(link, "wb") as file:
            file.write(os.fsencode(self.device) + b"\0" + bytes(range(20)))
        subprocess.run(["objcopy", "--add-section", f".gnu_debugaltlink={link}", program], check=True)
        self.recorded(program)
        self.not_opened(self.watch(self.device))

    def test_split_debug_info_and_its_package(self):
        program = self.build("program", PROGRAM, "-gsplit-dwarf")
        self.recorded(program)
        units = [name for name in os.listdir(self.theirs) if name.endswith(".dwo")]
        self.assertTrue(units)
        for name in [*units, "program.dwp"]:
            path = os.path.join(self.theirs, name)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            os.symlink(self.device, path)
        self.not_opened(self.watch(self.device))


class CaptureDirectories(Case):
    """`perf record --threads` leaves a directory: a file with the header, and the files of the threads."""

    def setUp(self):
        super().setUp()
        done = self.rec("-q", "-o", "rec.data", "--", rec.target("shares"), "50")
        self.assertEqual(done.status, 0, done.stderr)

    def assert_not_opened(self, name, make):
        capture = os.path.join(self.theirs, "capture")
        os.mkdir(capture)
        shutil.copy(os.path.join(self.directory, "rec.data"), os.path.join(capture, "data"))
        path = os.path.join(capture, name)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        make(path)
        watch = self.watch(path)
        for command in (("report",), ("info",), ("convert", "-o", "out.folded")):
            done = self.rec(*command, capture)
            self.assertEqual(watch.opens(), 0, (command, name))
            if name == "data":
                self.assertEqual(done.status, 125, done.stderr)
                self.assertIn(b"not a regular file", done.stderr)
        shutil.rmtree(capture)

    def test_devices_and_fifos_are_not_opened(self):
        for name in ("data", "data.0"):
            for make in (lambda path: os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3)), os.mkfifo):
                with self.subTest(name=name):
                    self.assert_not_opened(name, make)

    def test_other_files_beside_captures_are_not_opened(self):
        """`rec report DIR` reads all captures of a folder, which may be another user's."""
        folder = os.path.join(self.theirs, "captures")
        os.mkdir(folder)
        shutil.copy(os.path.join(self.directory, "rec.data"), os.path.join(folder, "one.data"))
        os.mkfifo(os.path.join(folder, "two.data"))
        os.mknod(os.path.join(folder, "three.data"), stat.S_IFCHR | 0o666, os.makedev(1, 3))
        watches = [self.watch(os.path.join(folder, name)) for name in ("two.data", "three.data")]
        done = self.rec("report", folder)
        self.assertEqual([watch.opens() for watch in watches], [0, 0])
        self.assertEqual(done.status, 0, done.stderr)
        self.assertIn(b"hot_70", done.stdout)

    def test_such_a_directory_is_read(self):
        capture = os.path.join(self.theirs, "capture")
        os.mkdir(capture)
        shutil.copy(os.path.join(self.directory, "rec.data"), os.path.join(capture, "data"))
        done = self.rec("report", capture)
        self.assertEqual(done.status, 0, done.stderr)
        self.assertIn(b"hot_70", done.stdout)


class EmbeddedSource(Case):
    """--embed-source puts into files of a user what that user can read, and lists it."""

    SECRET = "hunter2"

    def program_of(self, *sources):
        """A program whose debug info names these files, one function each."""
        text = ""
        for number, path in enumerate(sources):
            text += f'# 1 "{path}"\nstatic void __attribute__((noinline)) work{number}(void)\n' \
                    "{ for (volatile long i = 0; i < 60000000; i++); }\n"
        calls = "".join(f"work{number}();" for number in range(len(sources)))
        return self.build("program", text + f"int main(void) {{ {calls} return 0; }}\n")

    def sources(self, name="out.json"):
        path = os.path.join(self.directory, name)
        with open(path, "rb") as file:
            content = file.read()
        content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
        shared = json.loads(content)["shared"]
        names = shared["stringArray"]
        return dict(zip((names[i] for i in shared["sources"]["filename"]), shared["sources"]["content"]))

    def public(self, name, text="int readable;\n"):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_a_file_that_only_root_can_read_stays_out(self):
        secrets = [self.secret(name, f"password = '{self.SECRET}'\n") for name in ("settings.py", "settings.c")]
        readable = self.public("readable.c")
        program = self.program_of(*secrets, readable)
        done = self.rec("--embed-source", "-o", "rec.data", "-o", "out.json", "--", *AS_NOBODY, program,
                        environment=UNDER_SUDO)
        self.assertEqual(done.status, 0, done.stderr)
        recorded = self.sources()
        for path in secrets:
            self.assertIn(path, recorded)
            self.assertIsNone(recorded[path], path)
        self.assertEqual(recorded[readable], "int readable;\n")
        self.assertIn(b"embedded the text of 1 source file ", done.stderr)
        done = self.rec("convert", "-v", "--embed-source", "rec.data", "-o", "again.json",
                        environment=UNDER_SUDO)
        self.assertEqual(done.status, 0, done.stderr)
        self.assertEqual(self.sources("again.json"), recorded)
        self.assertIn(b"embedded " + os.fsencode(readable), done.stderr)
        self.assertNotIn(os.fsencode(self.closed), done.stderr)

    def test_a_capture_alone_gives_no_more(self):
        secret = self.secret("settings.c", self.SECRET)
        program = self.program_of(secret)
        self.assertEqual(self.rec("-o", "rec.data", "--", program).status, 0)
        os.unlink(program)
        done = self.rec("convert", "--embed-source", "rec.data", "-o", "out.json", environment=UNDER_SUDO)
        self.assertEqual(done.status, 0, done.stderr)
        self.assertIsNone(self.sources()[secret])

    def test_root_embeds_what_root_can_read(self):
        secret = self.secret("settings.c", "int x;\n")
        script = self.secret("settings.py", self.SECRET)
        program = self.program_of(secret, script)
        done = self.rec("--embed-source", "-o", "out.json", "--", program)
        self.assertEqual(done.status, 0, done.stderr)
        self.assertEqual(self.sources(), {**self.sources(), secret: "int x;\n", script: None})

    def test_a_source_that_changed_since_is_left_out_with_a_word(self):
        changed = self.public("changed.c")
        program = self.program_of(changed)
        future = os.stat(program).st_mtime + 10
        os.utime(changed, (future, future))
        done = self.rec("--embed-source", "-o", "out.json", "--", program)
        self.assertEqual(done.status, 0, done.stderr)
        self.assertIsNone(self.sources()[changed])
        self.assertIn(b"left out 1 source file, changed since", done.stderr)

    def test_devices_and_fifos_are_not_opened(self):
        program = self.program_of(os.path.join(self.directory, "device.c"), os.path.join(self.directory, "fifo.c"))
        os.rename(self.device, os.path.join(self.directory, "device.c"))
        os.rename(self.fifo, os.path.join(self.directory, "fifo.c"))
        watch = self.watch(os.path.join(self.directory, "device.c"), os.path.join(self.directory, "fifo.c"))
        done = self.rec("--embed-source", "-o", "out.json", "--", program)
        self.assertEqual(done.status, 0, done.stderr)
        self.assertEqual(watch.opens(), 0)


if __name__ == "__main__":
    rec.main()
