#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The HTML output: one file without requests, with the sums of `rec report`, also as a browser shows them."""
import base64
import hashlib
import html
import json
import pathlib
import re
import subprocess
import unittest

import browser
import rec

# Of everything in the page but the profile.
MOST_CODE_BYTES = 60000


def data_of(page):
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S).group(1))


def code_of(page):
    return re.sub(r'(<script id="data"[^>]*>).*?</script>', r"\1</script>", page, flags=re.S)


def stacks_of(data):
    """(functions of a stack, weight) of the main event."""
    parents, nodes = [], data["nodes"]
    for i, up in enumerate(nodes["up"]):
        parents.append(i - up if up else -1)
    for entry in data["lists"]:
        if entry["event"] != data["main_event"]:
            continue
        node = 0
        for distance, weight in zip(entry["nodes"], entry["weights"]):
            node += distance
            at, stack = node, []
            while at >= 0:
                stack.append(data["frames"]["function"][nodes["frame"][at]])
                at = parents[at]
            yield stack, weight


def name_of(data, function):
    return data["strings"][data["functions"]["name"][function]]


def add(sums, name, own, total):
    old = sums.get(name, (0, 0))
    sums[name] = (old[0] + own, old[1] + total)


def sums_of(data):
    """{name: (self, total)}, a stack counted once for each function."""
    sums = {}
    for stack, weight in stacks_of(data):
        for function in set(stack):
            add(sums, name_of(data, function), weight if function == stack[0] else 0, weight)
    return sums


def sums_of_report(report):
    sums = {}
    for row in report["functions"]:
        module = row.get("module", "").rsplit("/", 1)[-1].strip("[]") or "unknown"
        name = f"[{module}]" if row["name"] == "[no name]" else row["name"]
        add(sums, name, row["self_ns"], row["total_ns"])
    return sums


def sums_of_table(page):
    """The same, from the table of functions as drawn."""
    sums = {}
    rows = re.findall(r'<tr><td class="number" data-weight="(\d+)".*?data-weight="(\d+)".*?<button title="([^"]*)"', page)
    for own, total, name in rows:
        add(sums, html.unescape(name), int(own), int(total))
    return sums


class Html(rec.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls("test_the_code_is_small")
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        script = f"{rec.target('inlined')} 60 & {rec.target('shares')} 60 & wait"
        run = case.recorded("sh", "-c", script, rec_options=["-o", "rec.data", "-o", "flames.html"])
        cls.file = pathlib.Path(run.path("flames.html"))
        cls.page = cls.file.read_text(encoding="utf-8")
        cls.data = data_of(cls.page)
        cls.report = json.loads(subprocess.run([rec.REC, "report", "--json", run.path()], capture_output=True,
                                               check=True).stdout)

    def drawn(self, fragment=""):
        if not browser.CHROMIUM:
            self.skipTest("there is no chromium on this machine")
        page, messages = browser.dump(self.file.as_uri() + fragment)
        self.assertEqual(messages, [])
        return page

    def test_the_page_refers_to_nothing_outside(self):
        for reference in (r"https?:", r"\bsrc=", r"\bhref=", r"url\(", r"@import", r"\bfetch\b", "XMLHttpRequest",
                          "WebSocket", "sendBeacon", r"\bimport\b", "innerHTML", r"\beval\b"):
            self.assertIsNone(re.search(reference, code_of(self.page)), reference)

    def test_the_code_is_small(self):
        self.assertLess(len(code_of(self.page).encode()), MOST_CODE_BYTES)

    def test_the_policy_admits_the_page_s_own_code_only(self):
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', self.page).group(1)
        directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
        self.assertEqual(directives["default-src"], "'none'")
        for directive, element in (("style-src", "style"), ("script-src", "script")):
            text = re.search(f"<{element}>(.*?)</{element}>", self.page, re.S).group(1)
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            self.assertEqual(directives[directive], f"'sha256-{digest}'")

    def test_sums_are_those_of_the_report(self):
        self.assertEqual(sums_of(self.data), sums_of_report(self.report))
        self.assertEqual(sum(weight for _, weight in stacks_of(self.data)), self.report["total_ns"])

    def test_inlined_functions_are_marked(self):
        kinds = {}
        for function, kind in zip(self.data["frames"]["function"], self.data["frames"]["kind"]):
            kinds.setdefault(name_of(self.data, function), set()).add(kind)
        self.assertEqual({name: kinds[name] for name in ("main", "outer", "middle", "inner")},
                         {"main": {0}, "outer": {0}, "middle": {8}, "inner": {8}})

    def test_the_browser_s_table_has_the_sums_of_the_report(self):
        self.assertEqual(sums_of_table(self.drawn("#view=functions")), sums_of_report(self.report))

    def test_the_browser_draws_every_view(self):
        for view in ("flame", "inverted", "callers", "recording"):
            page = self.drawn(f"#view={view}")
            self.assertIn("data-search-ms=", page)
            if view != "recording":
                self.assertIn("data-picture-ms=", page)
            else:
                self.assertIn("<th>Sampling engine</th>", page)

    def test_a_search_counts_each_stack_once(self):
        names = {name_of(self.data, function) for stack, _ in stacks_of(self.data) for function in stack}
        sought = max(names, key=lambda name: sum(name in [name_of(self.data, f) for f in stack] for stack, _ in
                                                 stacks_of(self.data)))
        functions = self.data["functions"]

        def is_found(function):
            texts = [functions["name"][function]]
            if functions["file"][function] >= 0:
                texts.append(functions["file"][function])
            if functions["module"][function] >= 0:
                texts.append(self.data["modules"][functions["module"][function]]["name"])
            return any(sought.lower() in self.data["strings"][text].lower() for text in texts)
        expected = sum(weight for stack, weight in stacks_of(self.data) if any(map(is_found, stack)))
        page = self.drawn(f"#search={sought}")
        self.assertEqual(re.search(r'id="matched"[^>]*data-weight="(\d+)"', page).group(1), str(expected))

    def test_a_thread_alone_has_its_own_sum(self):
        entry = max(self.data["lists"], key=lambda one: sum(one["weights"]))
        page = self.drawn(f"#view=functions&thread={entry['thread']}")
        self.assertEqual(sum(own for own, _ in sums_of_table(page).values()), sum(entry["weights"]))


if __name__ == "__main__":
    rec.main()
