#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs see the environment that they would see without rec and two variables more, and their children are
recorded, whatever environment and descriptors they are given."""
import os
import re
import shutil
import subprocess
import time

import rec

PYTHON = "/usr/bin/python3"
MANY = "import os; [os.environ.__setitem__(f'MANY_{i}', str(i)) for i in range(5000)]; "
BURN_MS = 150


def burn():
    return [rec.target("short_run"), str(BURN_MS)]


SAMPLER = rb"[^ :='\"\0\n]*/librec-sampler\.so"
SESSION = rb"[0-9]+:[0-9]+:[0-9]+:[0-9a-f]+:[0-9a-f]{16}"
# A variable as env, env -0, declare -px, Python's print(os.environ) and awk print it.
FORMS = (rb"^%s=%s\n", rb"(?:(?<=\0)|^)%s=%s\0", rb'^declare -x %s="%s"\n', rb"(?:, )?'%s': '%s'",
         rb"^%s %s\n")


def without_variables(text):
    """The text without LD_PRELOAD and REC_SESSION, or with the program's own LD_PRELOAD."""
    for form in FORMS:
        text = re.sub(form % (b"LD_PRELOAD", SAMPLER), b"", text, flags=re.M)
        text = re.sub(form % (b"REC_SESSION", SESSION), b"", text, flags=re.M)
    return re.sub(b":%s|%s:?" % (SAMPLER, SAMPLER), b"", text)


class SameOutput(rec.Case):
    def compare(self, *command, **options):
        with self.subTest(command=command):
            bare = self.bare(*command, **options)
            run = self.record(*command, rec_options=["-q", "-o", "rec.data"], **options)
            self.assertEqual(self.outcome(run), self.outcome(bare))

    def outcome(self, run):
        """The working directory is part of the environment."""
        return [run.status] + [text.replace(run.directory.encode(), b"DIRECTORY")
                               for text in (run.stdout, run.stderr)]


class Seen(SameOutput):
    ENVIRONMENTS = (dict(os.environ), dict(os.environ, LD_PRELOAD=""),
                    dict(os.environ, LD_PRELOAD="libm.so.6", ZZZ="last"),
                    {"LD_PRELOAD": "libm.so.6:libdl.so.2", "PATH": os.environ["PATH"]})

    def outcome(self, run):
        return [without_variables(text) if isinstance(text, bytes) else text for text in super().outcome(run)]

    def compare_in(self, environments, *command):
        for environment in environments:
            self.compare(*command, env=environment)

    def test_by_programs_and_their_children(self):
        self.compare_in(self.ENVIRONMENTS, "env", "-0")
        self.compare_in(self.ENVIRONMENTS, "bash", "-c", "env -0; (env -0); exec env -0")
        self.compare_in(self.ENVIRONMENTS, "bash", "-c",
                        "declare -px; echo $LD_PRELOAD; unset LD_PRELOAD; env -0")

    def test_behind_a_library_that_somebody_who_is_not_recorded_put_first(self):
        self.compare(rec.target("static_exec"), "-p", "libm.so.6", "/usr/bin/env", "-0")
        self.compare_in(self.ENVIRONMENTS, rec.target("static_exec"), "-p", "libm.so.6",
                        "/bin/bash", "-c", "env -0; (env -0); exec env -0")

    def test_after_a_thread_was_cancelled_while_it_lent_it(self):
        self.compare(rec.target("cancelled"))

    def test_after_a_thread_changed_it_while_another_one_lent_it(self):
        for how in ("setenv", "unsetenv", "putenv", "clearenv"):
            self.compare(rec.target("environment_beside"), how)

    def test_by_languages(self):
        self.need_program(PYTHON)
        self.compare_in(self.ENVIRONMENTS, PYTHON, "-c", "import os; print(os.environ)")
        self.compare(PYTHON, "-c", "import os; os.system('env -0'); print(os.popen('env').read())")
        self.compare(PYTHON, "-c", MANY + "os.system('env')")
        self.compare("perl", "-e", "print map {qq($_=$ENV{$_}\n)} sort keys %ENV; print `env`")
        self.compare("awk", "BEGIN {for (name in ENVIRON) print name, ENVIRON[name]}")

    def test_while_a_shell_runs_for_another_thread(self):
        self.need_program(PYTHON)
        script = ("import ctypes, threading, os\n"
                  "c = ctypes.CDLL(None)\n"
                  "threads = [threading.Thread(target=os.system, args=('sleep 0.1',)) for i in range(8)]\n"
                  "[thread.start() for thread in threads]\n"
                  "c.setenv(b'NEW', b'1', 1)\n"
                  "[thread.join() for thread in threads]\n"
                  "c.getenv.restype = ctypes.c_char_p\n"
                  "print(c.getenv(b'NEW'), os.system('echo $NEW'))\n")
        self.compare(PYTHON, "-c", script)

    def test_by_a_child_that_was_forked_while_a_shell_runs(self):
        self.need_program(PYTHON)
        script = ("import ctypes, threading, time, os\n"
                  "c = ctypes.CDLL(None)\n"
                  "c.getenv.restype = ctypes.c_char_p\n"
                  "thread = threading.Thread(target=os.system, args=('sleep 0.3',))\n"
                  "thread.start()\n"
                  "time.sleep(0.1)\n"
                  "if os.fork() == 0:\n"
                  "    print(c.getenv(b'HOME'), flush=True)\n"
                  "    os.system('env')\n"
                  "    os._exit(0)\n"
                  "thread.join()\n")
        self.compare(PYTHON, "-c", script)

    def test_values_behind_the_environment_are_found(self):
        self.compare(rec.target("auxiliary"))

    def test_with_both_variables_whatever_the_option(self):
        for options in ([], ["--show-env"], ["--hide-env"], ["--no-inherit"]):
            run = self.recorded("env", rec_options=["-q", *options])
            self.assertRegex(run.stdout, rb"(?m)^LD_PRELOAD=%s$" % SAMPLER)
            self.assertRegex(run.stdout, rb"(?m)^REC_SESSION=%s$" % SESSION)


class Followed(rec.Case):
    def assert_followed(self, *command, times=1, **options):
        with self.subTest(command=command):
            run = self.recorded(*command, **options)
            found = [process for process in run.info["processes"] if process["name"] == "short_run"
                     and process["samples"] > BURN_MS / 10]
            self.assertEqual(len(found), times, run.info["processes"])

    def test_with_an_empty_environment(self):
        self.assert_followed("env", "-i", *burn())
        self.assert_followed("sh", "-c", f"env -i {' '.join(burn())}; true")
        self.assert_followed("bash", "-c", f"unset LD_PRELOAD REC_SESSION; {' '.join(burn())}; true")

    def test_however_python_starts_them(self):
        self.need_program(PYTHON)
        path, words = burn()[0], burn()
        for script in (f"os.posix_spawn({path!r}, {words}, {{}}); os.wait()",
                       f"os.execve({path!r}, {words}, {{}})",
                       f"import subprocess; subprocess.run({words}, env={{}})",
                       f"os.system({' '.join(words)!r})",
                       f"os.popen({' '.join(words)!r}).read()"):
            self.assert_followed(PYTHON, "-c", f"import os; {script}")

    def test_with_thousands_of_variables(self):
        self.need_program(PYTHON)
        for script in (f"os.execvp({burn()[0]!r}, {burn()})", f"os.system({' '.join(burn())!r})",
                       f"os.spawnvp(os.P_WAIT, {burn()[0]!r}, {burn()})"):
            self.assert_followed(PYTHON, "-c", MANY + script)

    def test_with_another_preloaded_library(self):
        for value in ("libm.so.6", ""):
            self.assert_followed("env", "-i", f"LD_PRELOAD={value}", *burn())

    def test_with_every_descriptor_closed(self):
        self.assert_followed(rec.target("closes_all"), "range", *burn())
        self.assert_followed(rec.target("closes_all"), "loop", *burn())
        self.assert_followed(rec.target("closes_all"), "replace", *burn())

    def test_a_shell_without_the_variables_is_recorded_from_outside(self):
        """system() passes on the `environ` that the program has cleared."""
        self.need_program(PYTHON)
        run = self.recorded(PYTHON, "-c", "import os; os.environ.clear(); "
                            f"os.system('exec {burn()[0]} 900')")
        self.assertIn("short_run", {process["name"] for process in run.info["processes"]})
        self.assertGreater(run.share_of("burn_until_ns"), 30)

    def test_by_a_program_that_cannot_be_recorded(self):
        self.assert_followed(rec.target("static_exec"), *burn())
        self.assert_followed(rec.target("static_exec"), "-p", "libm.so.6", *burn())


class Alone(SameOutput):
    """With --no-inherit children get neither variable."""
    ENVIRONMENTS = (dict(os.environ), dict(os.environ, LD_PRELOAD=""), dict(os.environ, LD_PRELOAD="libm.so.6"))

    def compare(self, *command, **options):
        bare = self.bare(*command, **options)
        run = self.record(*command, rec_options=["-q", "--no-inherit", "-o", "rec.data"], **options)
        self.assertEqual(self.outcome(run), self.outcome(bare))

    def test_however_they_are_started(self):
        self.need_program(PYTHON)
        for environment in self.ENVIRONMENTS:
            self.compare("sh", "-c", "env -0; :", env=environment)
            for script in ("os.system('echo $LD_PRELOAD $REC_SESSION; env')",
                           "print(os.popen('echo $LD_PRELOAD; env').read())",
                           "os.spawnvp(os.P_WAIT, 'env', ['env'])",
                           "[os.system('env') for i in range(2)]"):
                self.compare(PYTHON, "-c", f"import os; {script}", env=environment)

    def test_a_child_that_is_started_past_the_sampler_is_not_recorded(self):
        run = self.recorded(rec.target("static_exec"), *burn(), rec_options=["--no-inherit"])
        self.assertEqual([process["name"] for process in run.info["processes"] if process["samples"]], [])


class Outlives(rec.Case):
    """A program goes on after its recording, and the sampler is no longer there."""
    SCRIPT = ("import os, subprocess, sys, time\n"
              "assert os.environ['LD_PRELOAD'] == os.path.realpath('librec-sampler.so')\n"
              "sys.stdin.readline()\n"
              "os.system('env'); print(os.popen('env').read(), flush=True)\n"
              "subprocess.run(['env']); os.execvp('env', ['env'])\n")

    def wait_for_files(self, place):
        """They are written when the recording has ended."""
        deadline = time.monotonic() + 30
        while not os.path.exists(os.path.join(place, "rec.json.gz")):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def test_its_children_start_without_a_message_of_the_loader(self):
        self.need_program(PYTHON)
        place = self.new_directory()
        for name in ("rec", "librec-sampler.so"):
            shutil.copy(os.path.join(os.path.dirname(rec.REC), name), place)
        for directory in (self.directory, place):
            os.chmod(directory, 0o755)  # else root's programs load a copy of the sampler
        with open(os.path.join(place, "output"), "w+b") as output:
            command = subprocess.Popen([os.path.join(place, "rec"), "-q", "--duration=100ms", "--",
                                        PYTHON, "-c", self.SCRIPT], cwd=place, stdin=subprocess.PIPE,
                                       stdout=output, stderr=output)
            self.wait_for_files(place)
            os.unlink(os.path.join(place, "librec-sampler.so"))
            command.communicate(b"\n", timeout=30)
            output.seek(0)
            text = output.read()
        self.assertEqual(text.count(b"\nPATH="), 4, text)
        self.assertNotIn(b"librec-sampler", text)
        self.assertNotIn(b"REC_SESSION", text)


class LeftAlone(SameOutput):
    """Programs that the variables would disturb: their output is what it is without rec."""

    def build_32_bit(self):
        path = os.path.join(self.directory, "program_32")
        source = ('void _start(void) { __asm__("int $0x80" : : "a"(1), "b"(7)); }\n')
        done = subprocess.run(["cc", "-m32", "-nostdlib", "-pie", "-fPIE", "-x", "c", "-", "-o", path,
                               "-Wl,--dynamic-linker=/lib/ld-linux.so.2"], input=source.encode(),
                              capture_output=True, check=False)
        if (done.returncode or not os.path.exists("/lib/ld-linux.so.2") or
                subprocess.run([path], check=False).returncode != 7):
            self.skipTest("cannot build and run 32-bit programs here")
        return path

    def test_programs_of_32_bits_and_their_scripts(self):
        path = self.build_32_bit()
        script = os.path.join(self.directory, "script")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"#! {path} argument\n")
        os.chmod(script, 0o755)
        for program in (path, script):
            self.compare("sh", "-c", f"{program}; echo $?")
            self.compare("env", "PATH=" + self.directory, os.path.basename(program))
            self.compare(PYTHON, "-c", "import os; print(os.system('%s'))" % program)
            self.compare(PYTHON, "-c", "import os; os.posix_spawn('%s', ['x'], os.environ); "
                                       "print(os.wait()[1])" % program)

    def test_programs_that_set_the_user_id(self):
        """A program of root's does not change the user id of root, and gets the variables."""
        if os.geteuid() != 0:
            self.skipTest("needs root, for chown")
        path = os.path.join(self.directory, "env")
        shutil.copy("/usr/bin/env", path)
        for mode in (0o4755, 0o2755):
            os.chown(path, 65534, 65534)
            os.chmod(path, mode)
            self.compare("sh", "-c", f"{path} -0; true")
            os.chown(path, 0, 0)
            os.chmod(path, mode)
            run = self.recorded("sh", "-c", f"{path} -0; true", rec_options=["-q"])
            self.assertRegex(run.stdout, b"\0REC_SESSION=" + SESSION)

    def test_programs_of_another_c_library(self):
        path = os.path.join(self.directory, "env")
        with open("/usr/bin/env", "rb") as file:
            image = file.read()
        linker = b"/lib64/ld-linux-x86-64.so.2\0"
        if image.count(linker) != 1 or not os.access("/tmp", os.W_OK):
            self.skipTest("env has another dynamic linker here")
        other = os.path.join("/tmp", "ld-musl-test.so")
        self.addCleanup(lambda: os.path.exists(other) and os.unlink(other))
        shutil.copy(linker[:-1], other)
        with open(path, "wb") as file:
            file.write(image.replace(linker, other.encode().ljust(len(linker), b"\0")))
        os.chmod(path, 0o755)
        self.compare("sh", "-c", f"{path} -0; true")

    def test_lists_of_the_libraries_of_a_program(self):
        self.need_program("ldd")
        self.compare("sh", "-c", "ldd /bin/sh | sed 's/ (0x.*//'")
        self.compare("sh", "-c", "LD_TRACE_LOADED_OBJECTS=1 LD_PRELOAD=libm.so.6 /bin/sh | sed 's/ (0x.*//'")


if __name__ == "__main__":
    rec.main()
