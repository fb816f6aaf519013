#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""`rec list`: the table of recorders as text and JSON, for root and other users, in agreement with the option parser,
captures, help texts and docs/command-line.md; unknown names are refused."""
import json
import os
import re
import shutil
import subprocess
import unittest

import rec
from test_security_sandbox import NOBODY, install

SAMPLER = "librec-sampler.so"
# Ids and units, and sources of cpu: the rows of src/record/recorders.
RECORDERS = {"cpu": "ns", "thread-lifecycle": "count", "off-cpu": "ns"}
SOURCES = [*rec.ENGINES, "perf-ring"]
NAMES = ", ".join(RECORDERS)
NR_PERF_EVENT_OPEN, NR_TIMER_CREATE = 298, 222
EACCES = 13


def refuse(*calls):
    """A seccomp filter: these calls fail with EACCES."""
    load, equal, result = 0x20, 0x15, 0x06
    rows = [(load, 0, 0, 0)]
    for number in calls:
        rows += [(equal, 0, 1, number), (result, 0, 0, 0x00050000 | EACCES)]
    install([*rows, (result, 0, 0, 0x7FFF0000)])


def limits_of(parameter):
    if "choices" in parameter:
        return ", ".join(parameter["choices"])
    if "unit" in parameter:
        return f"{parameter['min']} to {parameter['max']} {parameter['unit']}"
    return ""


def default_of(parameter):
    value = parameter.get("default", parameter.get("default_text"))
    return "off" if value is False else str(value)


def table_rows(*rows):
    """Of a Markdown table."""
    return [re.sub(" +", " ", f"| {' | '.join(row)} |") for row in rows]


class List(rec.Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.directory, 0o755)

    def run_rec(self, *words, program=rec.REC, user=None, before=None):
        ids = {"user": user, "group": user, "extra_groups": []} if user else {}
        done = subprocess.run([program, *words], cwd=self.directory, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, preexec_fn=before, check=False,
                              timeout=rec.TIMEOUT_S, **ids)
        self.assertFalse(os.path.exists(os.path.join(self.directory, "rec.data")))
        return done

    def shown(self, *words, **how):
        done = self.run_rec("list", *words, **how)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def table(self, *words, **how):
        table = json.loads(self.shown("--json", *words, **how))
        self.assertEqual(table["version"], 1)
        return table["recorders"]

    def cpu(self, **how):
        return self.table("cpu", **how)[0]

    def installed(self, *names):
        """A copy of rec with these files beside it, readable for every user."""
        for name in ("rec", *names):
            path = os.path.join(self.directory, name)
            shutil.copy(os.path.join(os.path.dirname(rec.REC), name), path)
            os.chmod(path, 0o755)
        return os.path.join(self.directory, "rec")

    def test_one_row_for_each_recorder_within_80_columns(self):
        lines = self.shown().splitlines()
        self.assertEqual(lines[0].split(), ["RECORDER", "WEIGHT", "AVAILABLE", "DESCRIPTION"])
        self.assertEqual([line.split()[:3] for line in lines[1:]], [[id_, unit, "yes"] for id_, unit in RECORDERS.items()])
        for line in lines + self.shown("cpu").splitlines():
            self.assertLessEqual(len(line), 80)

    def test_json_has_the_documented_members(self):
        cpu = self.cpu()
        self.assertEqual((cpu["id"], cpu["weight_unit"], cpu["event"]), ("cpu", "ns", "cpu-clock"))
        self.assertEqual((cpu["start"], cpu["attach"], cpu["available"]), (True, True, True))
        self.assertEqual([source["id"] for source in cpu["sources"]], SOURCES)
        freq = cpu["parameters"][0]
        self.assertEqual([freq[key] for key in ("name", "type", "default", "min", "max", "unit")],
                         ["freq", "integer", 999, 1, 20000, "Hz"])
        threads = self.table("thread-lifecycle")[0]
        self.assertEqual((threads["start"], threads["attach"], threads["available"]), (True, False, True))
        self.assertEqual([event["unit"] for event in threads["events"]], ["count"] * 3)
        self.assertEqual([row["id"] for row in self.table()], list(RECORDERS))

        with open(rec.SOURCE / "docs/command-line.md", encoding="utf-8") as file:
            described = re.search(r"`rec list --json` is one object.*?\n\n", file.read(), re.S)[0]
        members = {*cpu, *(key for kind in ("sources", "parameters", "events") for row in cpu[kind] for key in row)}
        for member in members | {"reason"}:
            self.assertIn(f"`{member}`", described)

    def test_details_hold_every_source_and_parameter(self):
        text = self.shown("cpu")
        cpu = self.cpu()
        for source in cpu["sources"]:
            self.assertRegex(text, rf"(?m)^  {source['id']} +{re.escape(source['description'])}$")
        for parameter in cpu["parameters"]:
            self.assertRegex(text, rf"(?m)^  --{parameter['name']}\b.* {parameter['help']}$")

    def test_details_are_columns(self):
        for recorder in RECORDERS:
            row, text = self.table(recorder)[0], self.shown(recorder)
            for names, pattern in (([source["description"] for source in row["sources"]], r"(?m)^  [\w-]+ {2,}%s$"),
                                   ([item["help"] for item in row["parameters"]], r"(?m)^  --\S+(?: \S+)? {2,}%s$")):
                found = [re.search(pattern % f"(?P<at>{re.escape(name)})", text) for name in names]
                self.assertNotIn(None, found, (recorder, names))
                self.assertEqual(len({match.start("at") - match.start() for match in found}), min(len(names), 1), text)

    def test_documents_hold_the_same_tables(self):
        recorders = self.table()
        expected = table_rows(
            *((f"`{row['id']}`", row["weight_unit"], ", ".join(f"`{event['name']}`" for event in row["events"]),
               row["default_duration"], row["privileges"], row["description"]) for row in recorders),
            *((f"`{source['id']}`", source["needs"], source["description"])
              for row in recorders for source in row["sources"]),
            *((f"`--{parameter['name']}`", parameter["type"], default_of(parameter), limits_of(parameter),
               parameter["help"]) for row in recorders for parameter in row["parameters"]))
        with open(rec.SOURCE / "docs/command-line.md", encoding="utf-8") as file:
            section = file.read().split("\n## Recorders\n")[1].split("\n## ")[0]
        found = [line for line in section.splitlines() if line.startswith("| `")]
        self.assertEqual(found, expected)

    def test_completions_and_help_offer_every_recorder(self):
        pages = os.path.join(os.path.dirname(rec.REC), "rec-pages")
        ids = [row["id"] for row in self.table()]
        for page in ("bash", "zsh", "fish"):
            text = subprocess.run([pages, page], capture_output=True, text=True, check=True).stdout
            self.assertIn(" ".join(ids), text, page)
        self.assertIn(", ".join(ids), " ".join(self.run_rec("help", "record").stdout.split()))

    def test_recorders_of_a_recording_are_checked_before_anything_starts(self):
        for words, sentence in ((["thread-lifecycel"], "did you mean thread-lifecycle?"),
                                (["cpu,memory"], f"available names: {NAMES}; see `rec list`"),
                                ([""], "available names"), (["cpu,"], "available names")):
            done = self.run_rec("--record", *words, "--", "touch", "started")
            self.assertEqual((done.returncode, done.stdout), (125, ""), words)
            self.assertIn(sentence, done.stderr)
            self.assertRegex(done.stderr, r"\Arec: [^\n]*\n\Z")
            self.assertEqual(os.listdir(self.directory), [])

    def test_parameters_of_a_recording_are_checked_before_anything_starts(self):
        for words, sentence in ((["--freq", "fast"], "needs a number from 1 to 20000"), (["-F", "20001"], "1 to 20000"),
                                (["--frq", "99"], "did you mean --freq?"), (["--delay", "1d"], "needs a number from 0"),
                                (["--duration", "soon"], "--duration"), (["--max-size", "2X"], "--max-size"),
                                (["--engine", "perf"], f"available names: {', '.join(SOURCES)}")):
            done = self.run_rec(*words, "--", "touch", "started")
            self.assertEqual((done.returncode, done.stdout), (125, ""), words)
            self.assertIn(sentence, done.stderr)
            self.assertRegex(done.stderr, r"\Arec: [^\n]*\n\Z")
            self.assertEqual(os.listdir(self.directory), [])

    def test_help_of_record_has_each_parameter_and_its_numbers(self):
        text = " ".join(self.run_rec("help", "record").stdout.split())
        for row in self.table()[0]["parameters"]:
            self.assertIn(f"--{row['name']}", text)
            if row["name"] == "freq":
                self.assertIn(f"{row['min']} to {row['max']} {row['unit']} (default {row['default']}); or max", text)
            for choice in row.get("choices", ()):
                self.assertIn(choice, text)

    def test_a_capture_has_the_event_and_frequency_of_the_row(self):
        cpu = self.cpu()
        run = self.recorded("true")
        self.assertEqual(run.info["events"], [cpu["event"]])
        self.assertEqual(run.count("frequency_asked"), cpu["parameters"][0]["default"])
        self.assertIn(run.summary["engine"], [source["id"] for source in cpu["sources"]])

    def test_unknown_names_are_refused_in_one_line(self):
        for words, sentence in ((["cpuu"], "did you mean cpu?"),
                                (["--json", "cpu", "cp"], "did you mean cpu?"),
                                (["memory"], f"available names: {NAMES};"),
                                (["./x", "--frobnicate"], "`rec -- list …`"),
                                (["--jsn"], "--json")):
            done = self.run_rec("list", *words)
            self.assertEqual((done.returncode, done.stdout), (125, ""), words)
            self.assertIn(sentence, done.stderr)
            self.assertRegex(done.stderr, r"\Arec: [^\n]*\n\Z")

    def test_a_program_called_list_is_recorded_behind_two_dashes(self):
        program = os.path.join(self.directory, "list")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho program $*\n")
        os.chmod(program, 0o755)
        environment = {**os.environ, "PATH": f"{self.directory}:{os.environ['PATH']}"}
        for words in (["--"], ["record", "--"]):
            run = self.run_in(self.new_directory(), [rec.REC, *words, "list", "cpu"],
                              env=environment)
            self.assertEqual((run.status, run.stdout), (0, b"program cpu\n"), run.stderr)
            self.assertTrue(os.path.exists(run.path()))

    def test_without_the_sampler_nothing_is_available(self):
        cpu = self.cpu(program=self.installed())
        self.assertFalse(cpu["available"])
        self.assertIn(SAMPLER, cpu["reason"])
        self.assertIn(f"not available: {SAMPLER}", self.shown(program=self.installed()))

    @unittest.skipUnless(os.geteuid() == 0, "only root becomes other users")
    def test_another_user_sees_the_same_table(self):
        program = self.installed(SAMPLER)
        theirs = self.cpu(program=program, user=NOBODY)
        ours = self.cpu(program=program)
        self.assertEqual(theirs["parameters"], ours["parameters"])
        self.assertTrue(theirs["available"] and ours["available"])
        self.assertRegex(self.shown(program=program, user=NOBODY), r"\ncpu +ns +yes ")

    @unittest.skipUnless(os.geteuid() == 0, "only root installs the filter as another user")
    def test_what_the_kernel_refuses_is_not_available(self):
        program = self.installed(SAMPLER)
        for user in (None, NOBODY):
            cpu = self.cpu(program=program, user=user, before=lambda: refuse(NR_PERF_EVENT_OPEN))
            self.assertEqual([source["id"] for source in cpu["sources"] if not source["available"]],
                             ["perf-trap", "perf-ring"])
            self.assertIn("forbids perf_event_open", cpu["sources"][0]["reason"])
            self.assertTrue(cpu["available"])
            cpu = self.cpu(program=program, user=user,
                              before=lambda: refuse(NR_PERF_EVENT_OPEN, NR_TIMER_CREATE))
            self.assertFalse(cpu["available"])
            self.assertRegex(cpu["reason"], "perf-trap: a seccomp filter forbids perf_event_open.*; timer: timer_create")


if __name__ == "__main__":
    rec.main()
