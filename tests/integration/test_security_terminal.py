#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Names chosen by an attacker (threads, functions, source files, directories) neither act on a terminal nor print lines
of their own, and the JSON that holds them can stand in a <script> element."""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import hostile_captures
import rec

PROGRAM = """
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}
%s
static void (*const functions[])(void) = {%s};
static const char *const names[] = {%s};
static void *run(void *number)
{
    prctl(PR_SET_NAME, names[(size_t)number]);
    functions[(size_t)number]();
    return NULL;
}
int main(void)
{
    pthread_t threads[%d];
    for (size_t i = 0; i < %d; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (size_t i = 0; i < %d; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"""
FUNCTION = """
#line 1 "source_{number}_________________________.c"
__attribute__((noinline)) void function_{number}_________________________(void)
{{
    while (cpu_s() < 0.08)
        ;
}}
"""
PLACE_BYTES = len("_0_________________________")

# At most 15 bytes, which is what a thread's name holds. FORGED begins lines that rec has not written.
FORGED = "FORGED"
HOSTILE = [
    f"a\nrec: {FORGED}",
    f"b\r{FORGED}",
    "c\033]0;title\a",
    "d\033[31m\x7f\b\t",
    "e\u009b31m\u0085",
    "f\u202e\u2066\u200f",
    "g\u061c\u2069\u200e\ufeff",
    "h\u2028\u2029",
    "i</script>",
    "j<!--<script>",
]
DIRECTORY = f"k\nrec: {FORGED}\033[31m\u009b\u202e\u2028<!--<"

# FIFO... SECONDS
WAITS = """
import os, sys, threading, time
for name in sys.argv[1:-1]:
    os.path.exists(name) or os.mkfifo(name)
    fd = os.open(name, os.O_RDWR)
    threading.Thread(target=os.read, args=(fd, 1), daemon=True).start()
time.sleep(0.3)
print("ready", flush=True)
time.sleep(float(sys.argv[-1]))
os._exit(0)
"""

ACTING = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
MARKUP = re.compile("</|<!")


def c_string(text):
    return '"' + "".join(f"\\{byte:03o}" for byte in text.encode()) + '"'


def padded(name, kind):
    """As long as the placeholder in the binary."""
    room = len(f"{kind}{'_' * PLACE_BYTES}") - len(name.encode())
    return name.encode() + b"_" * room


def build(directory):
    """The compiler takes no such names: placeholders of their length are replaced in the finished binary."""
    count = len(HOSTILE)
    functions = "".join(FUNCTION.format(number=number) for number in range(count))
    table = ", ".join(f"function_{number}_________________________" for number in range(count))
    path = os.path.join(directory, "app")
    source = PROGRAM % (functions, table, ", ".join(map(c_string, HOSTILE)), count, count, count)
    subprocess.run(["gcc", "-O1", "-g", "-gz=none", "-pthread", "-xc", "-", "-o", path],
                   input=source.encode(), check=True)
    with open(path, "rb") as file:
        binary = file.read()
    for number, name in enumerate(HOSTILE):
        for kind in ("function", "source"):
            place = f"{kind}_{number}_________________________".encode()
            assert place in binary, place
            binary = binary.replace(place, padded(name, kind))
    with open(path, "wb") as file:
        file.write(binary)
    return path


class Terminal(rec.Case):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="rec-test-")
        cls.addClassCleanup(directory.cleanup)
        cls.place = os.path.join(directory.name, DIRECTORY, "script>")
        os.makedirs(cls.place)
        cls.recorded = subprocess.run([rec.REC, "-F", "999", "--", build(cls.place)],
                                      cwd=cls.place, capture_output=True, stdin=subprocess.DEVNULL,
                                      timeout=rec.TIMEOUT_S, check=True)

    def rec(self, *words):
        done = subprocess.run([rec.REC, *words], cwd=self.place, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=rec.TIMEOUT_S, check=False)
        return done.returncode, done.stdout, done.stderr

    def assert_harmless(self, output, what):
        text = output.decode()  # strictly
        found = ACTING.search(text)
        self.assertIsNone(found, f"{what}: {text[max(0, found.start() - 40):found.end()]!r}"
                          if found else what)
        for line in text.split("\n"):
            self.assertFalse(line.startswith((FORGED, f"rec: {FORGED}")), f"{what}: {line!r}")

    def assert_json_harmless(self, output, what):
        self.assert_harmless(output, what)
        found = MARKUP.search(output.decode())
        self.assertIsNone(found, what)
        return json.loads(output)

    def converted(self, name, *options):
        status, output, errors = self.rec("convert", "-o", "-", "--format", name, *options)
        self.assertEqual(status, 0, errors)
        self.assert_harmless(errors, f"convert to {name}")
        return gzip.decompress(output) if output.startswith(b"\x1f\x8b") else output

    def test_record(self):
        self.assert_harmless(self.recorded.stderr, "record")
        self.assertIn(b"wrote rec.data", self.recorded.stderr)

    def test_report_and_info(self):
        for words in (["report"], ["info"], ["report", "--threads"], ["info", "./rec.data"],
                      ["report", os.path.join(self.place, "rec.data")],
                      ["info", os.path.join(self.place, "rec.data")]):
            status, output, errors = self.rec(*words)
            if status == 0:
                self.assertGreater(len(output), 200)
            self.assert_harmless(output, words)
            self.assert_harmless(errors, words)

    def test_messages_about_a_hostile_name(self):
        missing = os.path.join(self.place, "missing")
        for words in (["report", missing], ["info", missing], ["convert", missing, "-o", "x.folded"],
                      ["convert", "-o", os.path.join(missing, "x.folded")], ["--", missing],
                      ["-o", os.path.join(missing, "x.folded"), "--", "true"],
                      ["convert", "--symfs", missing, "-o", "-", "--format", "collapsed"],
                      [f"--{HOSTILE[0]}"], ["report", f"--{HOSTILE[0]}=x"],
                      ["convert", "--format", HOSTILE[0], "-o", "-"],
                      ["report", "--comm", HOSTILE[0]], ["report", "--event", HOSTILE[0]],
                      ["report", os.path.join(self.place, "app")]):
            _, output, errors = self.rec(*words)
            self.assertTrue(errors or output)
            self.assert_harmless(output, words)
            self.assert_harmless(errors, words)

    def test_files_named_in_messages(self):
        words = ["convert"]
        for suffix in ("folded", "json.gz", "pb.gz", "speedscope.json"):
            words += ["-o", os.path.join(self.place, f"x.{suffix}")]
        status, _, errors = self.rec(*words)
        self.assertEqual(status, 0, errors)
        self.assert_harmless(errors, "convert to files")

    def test_text_formats(self):
        for name in ("collapsed", "perf-text"):
            self.assert_harmless(self.converted(name).replace(b"\t", b" "), name)
        apart = self.converted("collapsed", "--threads")
        self.assert_harmless(apart, "collapsed, --threads")
        for line in apart.decode().splitlines():
            self.assertRegex(line, r"^[^;]+(;[^;]+)+ \d+$")
        self.assertEqual(apart.count(b"\n"), len(apart.decode().splitlines()))

    def test_json_formats_keep_the_names(self):
        for name in ("firefox", "speedscope"):
            text = json.dumps(self.assert_json_harmless(self.converted(name), name),
                              ensure_ascii=False)
            for hostile in HOSTILE:
                spelled = json.dumps(padded(hostile, "function").decode(), ensure_ascii=False)
                self.assertIn(spelled, text, name)
        threads = {thread["name"]
                   for thread in json.loads(self.converted("firefox"))["threads"]}
        self.assertLessEqual(set(HOSTILE), threads)

    def test_page_and_picture(self):
        """Names in the page stand in its JSON, in the picture in XML; its titles have several lines."""
        self.assert_harmless(self.converted("html"), "html")
        title = self.converted("svg").decode()
        self.assertIsNone(ACTING.search(title))
        self.assertIn("i&#60;/script&#62;", title)

    def test_no_format_is_missing_here(self):
        _, _, errors = self.rec("convert", "-o", "-", "--format", "none")
        formats = errors.decode().strip().rpartition(": use ")[2].split(", ")
        self.assertEqual(set(formats), {"collapsed", "perf-text", "firefox", "speedscope", "pprof", "html", "svg"})

    def test_functions_lines_and_comparisons(self):
        for hostile in HOSTILE:
            name = padded(hostile, "function").decode()
            for words in (["annotate", name], ["annotate", "--asm", name], ["report", "--callers", name],
                          ["report", "--callees", name]):
                with self.subTest(words=words):
                    status, output, errors = self.rec(*words)
                    self.assertEqual(status, 0, errors)
                    self.assert_harmless(output.replace(b"\t", b" "), words)
                    self.assert_harmless(errors, words)
        shutil.copy(os.path.join(self.place, "rec.data"), os.path.join(self.place, "same.data"))
        for words in (["report", "--lines"], ["report", "--by", "thread"], ["report", "--by", "process"],
                      ["diff", "rec.data", "same.data"]):
            with self.subTest(words=words):
                status, output, errors = self.rec(*words)
                self.assertEqual(status, 0, errors)
                self.assertGreater(len(output), 100)
                self.assert_harmless(output, words)
                self.assert_harmless(errors, words)

    def test_json_of_report_and_info(self):
        for command in ("report", "info"):
            status, output, errors = self.rec(command, "--json")
            self.assertEqual(status, 0, errors)
            told = self.assert_json_harmless(output, command)
            self.assertIn("k\\nrec" if command == "info" else "rec: " + FORGED, json.dumps(told))

    def test_pprof_keeps_the_names(self):
        profile = self.converted("pprof")
        for hostile in HOSTILE:
            self.assertIn(padded(hostile, "function"), profile)

    def test_names_in_markdown_are_code(self):
        """Of the file, the event and a thread: a backtick would end code, a bar behind a backslash the cell."""
        path = os.path.join(self.place, "f`<b>.data")
        records = hostile_captures.comm(1, 1, "t`\\|<b>") + hostile_captures.sample(1, 2, [0x1000])
        with open(path, "wb") as file:
            file.write(hostile_captures.with_names_of_events(hostile_captures.attr_of(4, 1), records, b"e`<b>,4,1\n"))
        status, output, errors = self.rec("report", "--markdown", "--by", "thread", path)
        self.assertEqual(status, 0, errors)
        for name in ("f'<b>.data", "e'<b>", r"t'\\\|<b>"):
            self.assertIn(name, output.decode())
        self.assertNotIn("<b>", re.sub("`[^`]*`", "", output.decode()))

    def test_objects_of_waits(self):
        """Threads read FIFOs with such names."""
        program = [sys.executable, "-c", WAITS, *(name.replace("/", "|") for name in HOSTILE)]
        done = subprocess.run([rec.REC, "--off-cpu", "-o", "waits.data", "--", *program, "1"], cwd=self.place,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=rec.TIMEOUT_S, check=True)
        self.assert_harmless(done.stderr, "record --off-cpu")
        for words in (["report", "--off-cpu", "--idle"], ["report", "--stuck", "--idle", "--stuck-after=100ms"], ["info"]):
            status, output, errors = self.rec(*words, "waits.data")
            self.assertEqual(status, 0, errors)
            self.assert_harmless(output, words)
            if "--off-cpu" not in words:
                self.assertIn(FORGED.encode(), output)
        for words in (["report", "--off-cpu", "--json"], ["report", "--stuck", "--json"], ["info", "--json"]):
            status, output, errors = self.rec(*words, "waits.data")
            self.assertEqual(status, 0, errors)
            self.assert_json_harmless(output, words)
        with subprocess.Popen([*program, "30"], cwd=self.place, stdout=subprocess.PIPE) as waiting:
            waiting.stdout.readline()
            for words in (["stacks"], ["threads"]):
                status, output, errors = self.rec(*words, "-p", str(waiting.pid))
                self.assertEqual(status, 0, errors)
                self.assertIn(FORGED.encode(), output)
                self.assert_harmless(output, words)
            self.assert_json_harmless(self.rec("stacks", "--json", "-p", str(waiting.pid))[1], "stacks --json")
            waiting.kill()


if __name__ == "__main__":
    rec.main()
