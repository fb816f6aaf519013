#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The views of `rec report` agree with one another: callers, callees, lines, threads, processes and modules."""
import json
import re
import subprocess

import rec


class ReportViews(rec.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls("test_rows_by_task_have_all_time")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        script = f"{rec.target('inlined')} 200 & {rec.target('shares')} 200 & wait"
        cls.capture = case.recorded("sh", "-c", script, rec_options=["-q", "-o", "rec.data"]).path()

    def report(self, *words, status=0):
        done = subprocess.run([rec.REC, "report", self.capture, *words], capture_output=True, text=True,
                              timeout=rec.TIMEOUT_S)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def json(self, *words):
        return json.loads(self.report("--json", *words))

    def test_rows_by_task_have_all_time(self):
        total = self.json()["total_ns"]
        for kind, key in (("thread", "threads"), ("process", "processes"), ("module", "modules")):
            rows = self.json("--by", kind)[key]
            self.assertEqual(sum(row["self_ns"] for row in rows), total, kind)
        names = [row["name"] for row in self.json("--by", "process")["processes"]]
        self.assertTrue(any(re.fullmatch(r"inlined, pid \d+", name) for name in names), names)

    def test_lines_have_the_time_of_functions(self):
        lines = self.json("--lines")["lines"]
        self.assertEqual(sum(line["self_ns"] for line in lines), self.json()["total_ns"])
        done = subprocess.run([rec.REC, "annotate", "--json", "hot_70", self.capture], capture_output=True, check=True)
        annotated = [line for file in json.loads(done.stdout)["files"] for line in file["lines"]]
        busiest = max(annotated, key=lambda line: line["self_ns"])
        self.assertTrue(any(line["self_ns"] >= busiest["self_ns"] and line["place"].endswith(f":{busiest['line']}")
                            for line in lines if "place" in line))

    def test_callers_and_callees_have_the_total_of_the_function(self):
        functions = {row["name"]: row for row in self.json()["functions"]}
        for name in ("hot_70", "middle"):
            total = functions[name]["total_ns"]
            up, down = self.json("--callers", name)["calls"], self.json("--callees", name)["calls"]
            for calls in (up, down):
                first = [call for call in calls if call["caller"] == -1]
                self.assertEqual([(call["name"], call["total_ns"]) for call in first], [(name, total)])
        self.assertIn("callers of hot_70", self.report("--callers", "hot_70"))
        self.assertRegex(self.report("--callers", "hot_70"), r"(?m)^ *[\d.]+ %    .*main$")

    def test_the_limit_holds_for_rows_and_calls(self):
        text = self.report("--percent-limit", "5")
        shares = [float(share) for share in re.findall(r"(?m)^ *<?([\d.]+) %", text)]
        self.assertGreater(len(shares), 3)
        self.assertGreaterEqual(min(shares), 5)
        self.assertGreater(len(self.report("--percent-limit", "0").splitlines()), len(text.splitlines()))

    def test_markdown_has_a_table_and_a_block(self):
        text = self.report("--markdown")
        rows = [line for line in text.splitlines() if line.startswith("|")]
        self.assertEqual(len({line.replace("\\|", "").count("|") for line in rows}), 1)
        self.assertIn("| self | total | module | place | function |", text)
        self.assertRegex(text, r"\| `inner` \|")
        self.assertEqual(text.count("```"), 2)

    def test_contradictions_are_refused(self):
        for words, message in ((["--by", "core"], "thread, process or module"), (["--by", "thread", "--lines"], "choose"),
                               (["--percent-limit", "x"], "number from 0 to 100"), (["--json", "--markdown"], "choose"),
                               (["--callers", "a", "--callees", "b"], "together"),
                               (["--callers", "main", "--lines"], "leave out"), (["--callers", "no_such"], "no function")):
            self.assertIn(message, self.report(*words, status=125), words)


if __name__ == "__main__":
    rec.main()
