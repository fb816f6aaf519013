#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The picture of a recording: XML without script or reference, and the totals of `rec report` in its titles."""
import json
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import rec

SVG = "{http://www.w3.org/2000/svg}"


class Svg(rec.Case):
    def test_boxes_add_up_to_the_report(self):
        run = self.recorded(rec.target("inlined"), "200", rec_options=["-o", "rec.data", "-o", "flames.svg"])
        with open(run.path("flames.svg"), encoding="utf-8") as file:
            text = file.read()
        tree = ElementTree.fromstring(text)
        self.assertEqual({element.tag for element in tree.iter()},
                         {SVG + tag for tag in ("svg", "g", "rect", "text", "title")})
        self.assertEqual(re.findall(r"https?:[^\"]*", text), ["http://www.w3.org/2000/svg"])
        totals = {}
        for title in tree.iter(SVG + "title"):
            name = title.text.split("\n")[0]
            totals[name] = totals.get(name, 0) + float(re.search(r"total ([\d.]+) ms", title.text).group(1))
        report = json.loads(subprocess.run([rec.REC, "report", "--json", run.path()], capture_output=True,
                                           check=True).stdout)
        expected = {row["name"]: row["total_ns"] / 1e6 for row in report["functions"]}
        for name in ("main", "outer", "middle", "inner"):
            self.assert_within(totals[name], expected[name], 0.06, name)


if __name__ == "__main__":
    rec.main()
