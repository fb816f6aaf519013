#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`rec annotate`: lines and instructions of a function have the times of `rec report`; instructions are objdump's;
what is missing is named."""
import json
import os
import pty
import re
import subprocess

import rec

PROGRAM = """
__attribute__((noipa)) static unsigned long work(unsigned long n)
{
    unsigned long sum = 0;
    for (unsigned long i = 0; i < n; i++)
        sum = sum * 31 + i;
    return sum;
}
int main(void)
{
    volatile unsigned long sum = 0;
    for (int i = 0; i < 300; i++)
        sum += work(1000000);
    return 0;
}
"""

HEADER = """static volatile unsigned long seed;
__attribute__((always_inline)) static inline unsigned long once(void) {
    return seed * 77;
}
"""


def objdump_starts(path, start, size):
    """{address: bytes} of the instructions, prefixes and their instruction as one."""
    text = subprocess.run(["objdump", "-d", "-w", "--no-show-raw-insn", f"--start-address={start}",
                           f"--stop-address={start + size}", path], capture_output=True, text=True, check=True).stdout
    starts = [int(match, 16) for match in re.findall(r"^ *([0-9a-f]+):\t", text, re.M)]
    return dict(zip(starts, [b - a for a, b in zip(starts, starts[1:] + [start + size])]))


class Annotate(rec.Case):
    def annotate(self, *words, status=0, **options):
        done = subprocess.run([rec.REC, "annotate", *words], capture_output=True, text=True, timeout=rec.TIMEOUT_S,
                              **options)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def annotated(self, *words):
        return json.loads(self.annotate("--json", *words).stdout)

    def report(self, path):
        done = subprocess.run([rec.REC, "report", "--json", path], capture_output=True, check=True)
        return json.loads(done.stdout)

    def build(self, *flags):
        """A program of one file, recorded; its directory."""
        return self.build_of(PROGRAM, *flags)

    def build_of(self, text, *flags):
        directory = self.new_directory()
        source, program = os.path.join(directory, "app.c"), os.path.join(directory, "app")
        for path, content in ((source, text), (os.path.join(directory, "once.h"), HEADER)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
            os.utime(path, (1e9, 1e9))
        subprocess.run(["gcc", "-O1", "-fno-inline", "-g", "-Wl,--build-id", *flags, source, "-o", program],
                       check=True)
        done = self.run_in(directory, [rec.REC, "-q", "-o", "rec.data", "--", program])
        self.assertEqual(done.status, 0, done.stderr)
        return directory

    def test_lines_and_instructions_have_all_time_of_the_function(self):
        run = self.recorded(rec.target("inlined"), "300", rec_options=["-q", "-o", "rec.data"])
        for function in self.report(run.path())["functions"]:
            if function["self_ns"] == 0 or "inlined" not in function.get("module", ""):
                continue
            found = self.annotated("--asm", function["name"], run.path())
            lines = [line for file in found["files"] for line in file["lines"]]
            self.assertEqual(found["self_ns"], function["self_ns"])
            self.assertEqual(found["total_ns"], function["total_ns"])
            self.assertEqual(sum(line["self_ns"] for line in lines), function["self_ns"])
            self.assertLessEqual(max(line["total_ns"] for line in lines), function["total_ns"])
            code = [item for symbol in found["symbols"] for item in symbol["instructions"]]
            self.assertGreaterEqual(sum(item["self_ns"] for item in code), function["self_ns"])
            self.assertLessEqual(max(item["total_ns"] for item in code), found["all_ns"])

    def test_instructions_are_those_of_objdump(self):
        self.need_program("objdump")
        python = self.need_program("python3")
        run = self.recorded(python, "-c", "import json\nfor i in range(300): json.loads(json.dumps(list(range(3000))))",
                            rec_options=["-q", "-o", "rec.data"])
        compared = 0
        for function in self.report(run.path())["functions"][:12]:
            found = self.annotated("--asm", function["name"], run.path())
            for symbol in found["symbols"]:
                if not symbol["instructions"] or not symbol["module"].startswith("/") or not symbol["bytes"]:
                    continue
                ours = {int(item["address"], 16): item["bytes"] for item in symbol["instructions"]}
                path = os.path.realpath(symbol["module"])
                self.assertEqual(ours, objdump_starts(path, int(symbol["address"], 16), symbol["bytes"]),
                                 symbol["name"])
                compared += len(ours)
        self.assertGreater(compared, 100)

    def test_text_has_the_source_between_instructions(self):
        directory = self.build()
        capture = os.path.join(directory, "rec.data")
        text = self.annotate("work", capture).stdout
        self.assertRegex(text, r"(?m)^ *[\d.]+ % +[\d.]+ % +6  +sum = sum \* 31 \+ i;$")
        code = self.annotate("work", "--asm", capture).stdout
        self.assertRegex(code, r"(?m)^ *app.c:6 +sum = sum \* 31 \+ i;$")
        self.assertRegex(self.annotate("main", "--asm", capture).stdout, r"call 0x[0-9a-f]+ <work>")
        self.assertRegex(self.annotate("work", "--att", capture).stdout, r"%r[a-z]+")

    def test_listings_have_the_source_of_inlined_calls_without_samples(self):
        """The header's line runs once: no sample names it, only the instructions do."""
        directory = self.build_of(PROGRAM.replace("volatile unsigned long sum = 0;", "volatile unsigned long sum = once();")
                                  .replace("int main", '#include "once.h"\nint main'))
        capture = os.path.join(directory, "rec.data")
        found = self.annotated("main", "--asm", capture)
        self.assertEqual([os.path.basename(file["file"]) for file in found["files"]], ["app.c"])
        code = self.annotate("main", "--asm", capture).stdout
        self.assertRegex(code, r"(?m)^ *once.h:3 +return seed \* 77;$")
        os.rename(os.path.join(directory, "once.h"), os.path.join(directory, "elsewhere.h"))
        self.assertRegex(self.annotate("main", "--asm", capture).stdout, r"(?m)^ *once.h:3 *$")

    def test_sources_elsewhere_are_read_below_source_dir(self):
        directory = self.build()
        moved = os.path.join(directory, "moved")
        os.mkdir(moved)
        os.rename(os.path.join(directory, "app.c"), os.path.join(moved, "app.c"))
        capture = os.path.join(directory, "rec.data")
        missing = self.annotate("work", capture).stdout
        self.assertIn("No source text:", missing)
        self.assertNotIn("sum * 31", missing)
        self.assertIn("sum * 31", self.annotate("work", capture, "--source-dir", f"{directory}={moved}").stdout)
        self.assertNotIn("sum * 31", self.annotate("work", capture, "--source-dir", f"{directory[:-1]}={moved}").stdout)
        self.assertIn("OLD=NEW", self.annotate("work", capture, "--source-dir", moved, status=125).stderr)

    def test_changed_files_are_not_shown_as_the_recorded_ones(self):
        directory = self.build()
        capture, program = os.path.join(directory, "rec.data"), os.path.join(directory, "app")
        os.utime(os.path.join(directory, "app.c"))
        os.utime(program, (1.1e9, 1.1e9))
        self.assertIn("changed after", self.annotate("work", capture).stdout)
        subprocess.run(["gcc", "-O0", "-g", "-Wl,--build-id", os.path.join(directory, "app.c"), "-o", program],
                       check=True)
        code = self.annotate("work", "--asm", capture).stdout
        self.assertIn("not the recorded file", code)
        os.remove(program)
        self.assertRegex(self.annotate("work", "--asm", capture).stdout, "No instructions: .*No such file")

    def test_source_of_a_private_file_is_not_shown(self):
        directory = self.build()
        secret = os.path.join(directory, "secret.txt")
        with open(secret, "w", encoding="utf-8") as file:
            file.write("token\n" * 20)
        source = os.path.join(directory, "app.c")
        os.remove(source)
        os.symlink(secret, source)
        self.assertNotIn("token", self.annotate("work", os.path.join(directory, "rec.data")).stdout)

    def test_generated_code_comes_from_the_jitdump(self):
        run = self.recorded(rec.target("jit"), "dump", "0.4", rec_options=["-q", "-o", "rec.data"])
        found = self.annotated("--asm", "second", run.path())
        texts = [item["text"] for item in found["symbols"][0]["instructions"]]
        self.assertEqual(texts[:3], ["push rbp", "mov rbp, rsp", "mov eax, 0xf4240"])
        own = sum(item["self_ns"] for item in found["symbols"][0]["instructions"])
        self.assertEqual(own, found["self_ns"])
        for name in os.listdir(run.directory):
            if name.endswith(".dump"):
                os.remove(run.path(name))
        self.assertIn("cannot read the generated code", self.annotate("--asm", "second", run.path()).stdout)

    def test_a_part_of_a_name_must_be_of_one_function(self):
        run = self.recorded(rec.target("shares"), "200", rec_options=["-q", "-o", "rec.data"])
        self.assertIn("hot_70", self.annotate("ot_70", run.path()).stdout)
        self.assertRegex(self.annotate("hot_", run.path(), status=125).stderr, "several names: .*hot_70")
        self.assertIn("rec report", self.annotate("no_such", run.path(), status=125).stderr)
        self.assertIn("needs a function", self.annotate(status=125).stderr)

    def test_a_terminal_gets_a_pager(self):
        directory = self.build()
        marked = os.path.join(directory, "paged")
        controller, terminal = pty.openpty()
        self.addCleanup(os.close, controller)
        environment = {**os.environ, "TERM": "xterm", "PAGER": f"tee {marked}"}
        for words in (["annotate", "work"], ["report"]):
            subprocess.run([rec.REC, *words], cwd=directory, stdout=terminal, stderr=subprocess.DEVNULL,
                           env=environment, check=True, timeout=rec.TIMEOUT_S)
            with open(marked, encoding="utf-8") as file:
                self.assertIn("work", file.read())
            os.remove(marked)
        subprocess.run([rec.REC, "report", "--json"], cwd=directory, stdout=terminal, stderr=subprocess.DEVNULL,
                       env=environment, check=True, timeout=rec.TIMEOUT_S)
        self.assertFalse(os.path.exists(marked))
        os.close(terminal)


if __name__ == "__main__":
    rec.main()
