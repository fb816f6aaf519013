#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`rec images` shows the modules of a running process as readelf shows their files, also when the files are gone."""
import json
import os
import re
import shutil
import subprocess

import rec

NOBODY = 65534
MEMFD = """
import ctypes, os, sys
fd = os.memfd_create("code")
os.write(fd, open(sys.argv[1], "rb").read())
ctypes.CDLL("/proc/self/fd/%d" % fd)
print("ready", flush=True)
sys.stdin.read()
"""


def readelf(*options):
    return subprocess.run(["readelf", "-W", *options], capture_output=True, text=True, check=True).stdout


def segments_of(path):
    lines = re.findall(r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) (0x\w+) ([RWE ]{3})", readelf("-l", path))
    return [[int(number, 16) for number in line[:4]] + [line[4].replace(" ", "-").replace("E", "x").lower()] for line in lines]


def build_id_of(path):
    found = re.search(r"Build ID: (\w+)", readelf("-n", path))
    return found[1] if found else None


def symbols_of(path):
    text = readelf("-S", path)
    return {name for name in ("symtab", "dynsym", "debug_info", "gopclntab") if re.search(rf" \.{name} ", text)}


class Target(rec.Case):
    def start(self, *command, first=b"ready\n"):
        target = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(target.stdout.close)
        self.addCleanup(target.stdin.close)
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        self.assertEqual(target.stdout.readline(), first)
        return target


class Images(Target):
    def images(self, target):
        done = subprocess.run([rec.REC, "images", "--json", "-p", str(target.pid)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["images"]

    def first_mapping(self, target, path):
        with open(f"/proc/{target.pid}/maps", encoding="utf-8") as file:
            for line in file:
                if line.rstrip().endswith(path) and line.split()[2] == "00000000":
                    return int(line.split("-")[0], 16)
        return None

    def assert_as_readelf(self, image, path, start):
        segments = segments_of(path)
        self.assertEqual([[one["offset"], one["svma"], one["file_bytes"], one["memory_bytes"], one["flags"]]
                          for one in image["segments"]], segments, path)
        self.assertEqual(image.get("build_id"), build_id_of(path), path)
        self.assertEqual(image["start"], start)
        self.assertEqual(image["load_bias"], start - segments[0][1] // 4096 * 4096, path)

    def test_programs_and_libraries_are_as_readelf_has_them(self):
        for program in ("attached", "attached_static", "attached_static_pie"):
            with self.subTest(program=program):
                target = self.start(rec.target(program), 30, 1, 20)
                images = self.images(target)
                files = [image for image in images if image["state"] == "file"]
                self.assertGreaterEqual(len(files), 1 if "static" in program else 3)
                for image in files:
                    self.assert_as_readelf(image, image["path"], self.first_mapping(target, image["path"]))
                    self.assertEqual(set(image["symbols"]) - {"debug file", "debugdata"}, symbols_of(image["path"]))
                self.assertEqual([image["state"] for image in images if image["path"] == "[vdso]"], ["vdso"])

    def test_files_deleted_and_replaced_since(self):
        copy = os.path.join(self.directory, "copy")
        original = rec.target("attached")
        for state in ("deleted", "replaced"):
            shutil.copy(original, copy)
            target = self.start(copy, 30, 1, 20)
            os.unlink(copy)
            if state == "replaced":
                shutil.copy("/bin/true", copy)
            image = [image for image in self.images(target) if image["path"] == copy][0]
            self.assertEqual(image["state"], state)
            self.assert_as_readelf(image, original, self.first_mapping(target, f"{copy} (deleted)"))

    def test_code_in_a_memfd(self):
        python = self.need_program("python3")
        shared = os.path.join(self.directory, "one.so")
        subprocess.run(["gcc", "-shared", "-g", "-Wl,--build-id", "-x", "c", "-", "-o", shared],
                       input=b"int one(void) { return 1; }", check=True)
        target = self.start(python, "-c", MEMFD, shared)
        image = [image for image in self.images(target) if image["state"] == "memfd"][0]
        self.assertEqual(image["path"], "/memfd:code")
        self.assert_as_readelf(image, shared, self.first_mapping(target, "/memfd:code (deleted)"))

    def test_text_has_a_line_for_each(self):
        target = self.start(rec.target("attached"), 30, 1, 20)
        done = subprocess.run([rec.REC, "images", "-p", str(target.pid)], capture_output=True, text=True)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], f"Process {target.pid} (attached), {len(self.images(target))} images")
        self.assertEqual(len(lines), 3 + len(self.images(target)))

    def test_refusals(self):
        def refused(*words, **how):
            done = subprocess.run([rec.REC, "images", *words], capture_output=True, text=True, **how)
            self.assertEqual(done.returncode, 125)
            self.assertEqual(done.stdout, "")
            return done.stderr
        self.assertIn("no such process", refused("-p", "4194303"))
        self.assertIn("needs a process", refused())
        if os.geteuid() == 0:
            target = self.start(rec.target("attached"), 30, 1, 20)
            self.assertIn("a process of another user (uid 0", refused("-p", str(target.pid), user=NOBODY, group=NOBODY))


class Doctor(Target):
    def doctor(self, *pids, status=0, **how):
        done = subprocess.run([rec.REC, "doctor", "-p", ",".join(map(str, pids))], capture_output=True, text=True, **how)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout + done.stderr

    def test_each_kind_of_target_has_its_engine(self):
        text = self.doctor(self.start(rec.target("attached"), 30, 1, 20).pid)
        self.assertRegex(text, r"(?m)^rec -p +engine perf-ring$")
        self.assertRegex(text, r"(?m)^rec stacks +permitted")
        self.assertRegex(text, r"(?m)^rec -- \.\.\. +engine (perf-trap|timer), by the injected sampler")
        text = self.doctor(self.start(rec.target("attached_static"), 30, 1, 20).pid)
        self.assertRegex(text, r"(?m)^rec -- \.\.\. +engine perf-ring: a static program")

    def test_too_many_threads_for_the_descriptors(self):
        """The sentence is that of the recording."""
        target = self.start(rec.target("attached"), 30, 1, 100)
        limit = f"ulimit -n {50 * os.cpu_count()} && exec \"$0\" \"$@\""
        texts = [subprocess.run(["sh", "-c", limit, rec.REC, *words, "-p", str(target.pid)], capture_output=True, text=True,
                                cwd=self.directory) for words in (["doctor"], ["-q", "--duration", "0.1", "-o", "rec.data"])]
        sentence = rf"cannot record process {target.pid} \(.*\): 1[0-9]{{2}} threads need a descriptor each for every processor"
        self.assertRegex(texts[0].stdout, f"(?m)^rec -p +{sentence}")
        self.assertRegex(texts[1].stderr, sentence)
        self.assertEqual([text.returncode for text in texts], [0, 125])
        self.assertRegex(self.doctor(target.pid), r"(?m)^rec -p +engine perf-ring$")

    def test_processes_that_do_not_exist(self):
        self.assertEqual(self.doctor(4194303, status=125), "rec: no such process: 4194303\n")


if __name__ == "__main__":
    rec.main()
