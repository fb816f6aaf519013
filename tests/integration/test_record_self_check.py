#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The stacks walked inside the program are those that the launcher finds by the full rules."""
import rec

PYTHON = ("import json\nfor i in range(6000):\n"
          "    json.loads(json.dumps([{'a': n, 'b': [str(n)] * 3} for n in range(100)]))\n")
PROGRAMS = (("/usr/bin/python3", "-c", PYTHON),
            (rec.target("throws"), "1000"),
            (rec.target("depth"), "50", "800"),
            (rec.target("equal_threads"), "4", "300"))


class SelfCheck(rec.Case):
    def test_both_ways_of_walking_agree(self):
        checked = differed = 0
        for command in PROGRAMS:
            run = self.recorded(*command, rec_options=["-q", "-F", "4999", "--self-check=1"])
            checked += run.count("checked")
            differed += run.count("check_differed")
        self.assertGreater(checked, 10000)
        self.assertLessEqual(differed, checked / 10000)

    def test_without_tables_the_launcher_finds_the_same_stacks(self):
        stacks = []
        for options in ((), ("--withhold-tables",)):
            run = self.recorded(rec.target("shares"), "2000", rec_options=["-q", *options])
            self.assertEqual(run.count("complete"), run.count("samples"))
            if options:
                self.assertGreaterEqual(run.count("misses"), run.count("samples"))
            self.assert_shares(run, 4)
            total = sum(run.stacks().values())
            stacks.append({stack for stack, weight in run.stacks().items()
                           if weight > total / 50 and not stack[-1].startswith("[")})
        self.assertEqual(*stacks)


if __name__ == "__main__":
    rec.main()
