#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rec.data is small, private, and opens in perf with the same samples and weights."""
import os
import re
import subprocess

import rec


class CaptureFile(rec.Case):
    def perf(self, *arguments):
        try:
            done = subprocess.run(["perf", *arguments], capture_output=True, text=True, timeout=60)
        except OSError:
            self.skipTest("there is no perf on this machine")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("out of order", done.stderr)
        return done.stdout

    def test_a_sample_takes_64_bytes_and_8_for_each_frame(self):
        for depth in (5, 100):
            short = self.recorded(rec.target("depth"), depth, "300", rec_options=["-F", "4999"])
            long = self.recorded(rec.target("depth"), depth, "1300", rec_options=["-F", "4999"])
            samples = long.count("samples") - short.count("samples")
            bytes_ = os.path.getsize(long.path()) - os.path.getsize(short.path())
            self.assertGreater(samples, 500)  # however low the kernel has set its highest rate
            frames = depth + 5  # _start, two of libc, main, leaf
            # Two bytes for what is not a sample: rounds of the drain, names.
            self.assertLessEqual(bytes_ / samples, 64 + 8 * frames + 2)

    def test_perf_reads_the_same_weights(self):
        self.perf("--version")
        run = self.recorded(rec.target("shares"), "1000")
        periods = [int(line) for line in
                   self.perf("script", "-i", run.path(), "-F", "period", "-G").split() if line.isdigit()]
        # Those taken, and up to a handful that stand for time that no signal could see.
        self.assertIn(len(periods) - run.info["samples"], range(6))
        self.assertEqual(sum(periods), run.count("cpu_seen_ns"))

    def test_perf_reads_the_same_of_a_compressed_capture(self):
        self.perf("--version")
        run = self.record(rec.target("shares"), "1000", rec_options=["-z"])
        if b"without zstd" in run.stderr:
            self.skipTest("this rec was built without zstd")
        periods = [int(line) for line in
                   self.perf("script", "-i", run.path(), "-F", "period", "-G").split() if line.isdigit()]
        self.assertEqual(sum(periods), run.count("cpu_seen_ns"))
        self.assertIn("# compressed : Zstd", self.perf("report", "-i", run.path(), "--header-only"))

    def test_perf_report_names_functions_and_shares(self):
        self.perf("--version")
        run = self.recorded(rec.target("shares"), "1500")
        report = self.perf("report", "-i", run.path(), "--stdio", "--no-children", "-g", "none",
                           "-F", "overhead,sym")
        found = re.search(r"([0-9.]+)%.*\bhot_70\b", report)
        self.assertTrue(found, report)
        stacks = run.stacks()
        own = sum(weight for stack, weight in stacks.items()
                  if "hot_70" in stack and not stack[-1].startswith("["))
        self.assert_within(float(found.group(1)), 100 * own / sum(stacks.values()), 0.5)

    def test_every_process_has_its_comm_in_perf_script(self):
        self.perf("--version")
        run = self.recorded("sh", "-c", f"{rec.target('short_run')} 100; {rec.target('shares')} 100")
        script = self.perf("script", "-i", run.path(), "-F", "comm,ip,sym")
        self.assertIn("short_run", script)
        self.assertIn("hot_70", script)

    def test_perf_finds_the_records_in_order(self):
        self.perf("--version")
        compile_one = "echo 'int main(void) { return 0; }' | gcc -xc -O1 -c -o /dev/null -"
        many = f"for i in 1 2 3 4 5 6 7 8; do {compile_one} & {compile_one}; done; wait"
        plugins = [rec.target("plugins"), "500", rec.target("lib_plugin_a.so"), rec.target("lib_plugin_b.so")]
        for command, rate in ((["sh", "-c", many], "999"), (plugins, "9999")):
            run = self.recorded(*command, rec_options=["-F", rate])
            self.assertGreater(run.count("samples"), 50)
            self.perf("report", "-i", run.path(), "--stdio")
            self.perf("script", "-i", run.path())

    def test_all_files_are_private_whatever_the_umask(self):
        run = self.recorded("true", preexec_fn=lambda: os.umask(0))
        for name in ("rec.data", "rec.folded", "rec.json.gz", "rec.pb.gz"):
            self.assertEqual(os.stat(run.path(name)).st_mode & 0o777, 0o600, name)

    def test_the_environment_never_reaches_the_disk(self):
        secret = "quite-secret-value"
        run = self.recorded(rec.target("shares"), "300", env=dict(os.environ, SECRET=secret),
                            rec_options=["--withhold-tables"])
        for name in os.listdir(run.directory):
            with open(run.path(name), "rb") as file:
                self.assertNotIn(secret.encode(), file.read(), name)


if __name__ == "__main__":
    rec.main()
