#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Debug info comes from a debuginfod server, when asked for and not otherwise; a server that does not answer
costs names and bounded time."""
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

import rec


class Debuginfod(rec.Case):
    def setUp(self):
        super().setUp()
        if not shutil.which("debuginfod"):
            self.skipTest("debuginfod is not installed (Debian: debuginfod)")

    def build(self, path):
        source = str(rec.SOURCE / "tests" / "targets" / "shares.c")
        subprocess.run(["gcc", "-O2", "-g", "-D_GNU_SOURCE", "-Wl,--build-id", source, "-o", path],
                       check=True, timeout=60)

    def make_program(self):
        """A stripped program here, its debug file in a directory that only the server reads."""
        served = os.path.join(self.directory, "served")
        os.mkdir(served)
        program = os.path.join(self.directory, "program")
        whole = os.path.join(served, "program.debug")
        self.build(whole)
        subprocess.run(["strip", "-s", whole, "-o", program], check=True)
        subprocess.run(["objcopy", "--only-keep-debug", whole], check=True)
        return program, served

    def build_id(self, path):
        return subprocess.run(["readelf", "-n", path], capture_output=True, text=True,
                              check=True).stdout.split("Build ID: ")[1].split()[0]

    def serve(self, directory):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = subprocess.Popen(["debuginfod", "-p", str(port), "-d", ":memory:", "-F", directory],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  env={**os.environ, "DEBUGINFOD_URLS": ""})
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        url = f"http://127.0.0.1:{port}"
        for _ in range(100):
            time.sleep(0.1)
            try:
                with urllib.request.urlopen(f"{url}/metrics", timeout=5) as answer:
                    if b'thread_work_total{role="scan"} 1' in answer.read():
                        break
            except (urllib.error.URLError, OSError):
                pass
        time.sleep(0.5)
        return url

    def report(self, run, *options, url):
        environment = {**os.environ, "DEBUGINFOD_URLS": url, "HOME": self.directory,
                       "DEBUGINFOD_CACHE_PATH": os.path.join(self.directory, "cache")}
        done = subprocess.run([rec.REC, "report", *options, run.path()], capture_output=True, text=True,
                              env=environment, timeout=rec.TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_sources_come_from_the_server_when_asked_for(self):
        sources, served = os.path.join(self.directory, "sources"), os.path.join(self.directory, "served")
        os.mkdir(sources)
        os.mkdir(served)
        for name in ("shares.c", "burn.h"):
            shutil.copy(rec.SOURCE / "tests" / "targets" / name, sources)
        program = os.path.join(served, "program")
        subprocess.run(["gcc", "-O2", "-g", "-D_GNU_SOURCE", "-Wl,--build-id", f"{sources}/shares.c", "-o", program],
                       check=True, timeout=60)
        run = self.recorded(program, "200")
        os.utime(os.path.join(sources, "burn.h"), (4e9, 4e9))  # newer than the program: not shown as the recorded one
        url = self.serve(served)
        environment = {**os.environ, "DEBUGINFOD_URLS": url, "HOME": self.directory,
                       "DEBUGINFOD_CACHE_PATH": os.path.join(self.directory, "cache")}
        shown = [subprocess.run([rec.REC, "annotate", "burn_rounds", *options, run.path()], capture_output=True,
                                text=True, env=environment, timeout=rec.TIMEOUT_S).stdout
                 for options in ([], ["--debuginfod"])]
        self.assertIn("changed after", shown[0])
        self.assertNotIn("static", shown[0])
        self.assertNotIn("No source text", shown[1])
        self.assertIn("burn_rounds(", shown[1].split("line  ", 1)[1])

    def test_names_come_from_the_server_when_asked_for(self):
        program, served = self.make_program()
        run = self.recorded(program, "300")
        url = self.serve(served)
        self.assertNotIn("hot_70", self.report(run, url=url).stdout)
        self.assertFalse(os.path.exists(os.path.join(self.directory, "cache")))
        fetched = self.report(run, "--debuginfod", url=url).stdout
        self.assertIn("hot_70", fetched)
        self.assertIn("burn.h:", fetched)

    def test_debug_info_of_files_below_another_root(self):
        program, served = self.make_program()
        run = self.recorded(program, "300")
        root = os.path.join(self.directory, "root")
        os.makedirs(root + os.path.dirname(program))
        os.rename(program, root + program)
        url = self.serve(served)
        fetched = self.report(run, "--debuginfod", f"--symfs={root}", url=url).stdout
        self.assertIn("hot_70", fetched)
        self.assertIn("burn.h:", fetched)

    def test_nothing_is_fetched_for_a_file_with_debug_info_below_another_root(self):
        program, served = self.make_program()
        run = self.recorded(program, "300")
        root = os.path.join(self.directory, "root")
        os.makedirs(root + os.path.dirname(program))
        whole = root + program
        self.build(whole)
        os.unlink(program)
        url = self.serve(served)
        fetched = self.report(run, "--debuginfod", f"--symfs={root}", url=url).stdout
        self.assertIn("hot_70", fetched)
        build_id = self.build_id(whole)
        self.assertFalse(os.path.exists(os.path.join(self.directory, "cache", build_id)))

    def test_what_dwz_moved_to_a_file_of_its_own(self):
        """Two debug files share a third, which only the server has."""
        if not shutil.which("dwz"):
            self.skipTest("dwz is not installed (Debian: dwz)")
        program, served = self.make_program()
        run = self.recorded(program, "300")
        shared = os.path.join(self.directory, "shared")
        os.mkdir(shared)
        for name in ("program.debug", "other.debug"):
            source = os.path.join(served, "program.debug")
            shutil.copy(source, os.path.join(shared, name))
        subprocess.run(["dwz", "-m", "common.debug", "-M", "/nonexistent/common.debug", "program.debug",
                        "other.debug"], cwd=shared, check=True, timeout=60)
        os.unlink(os.path.join(shared, "other.debug"))
        url = self.serve(shared)
        build_id = self.build_id(program)
        beside = os.path.join(self.directory, ".build-id", build_id[:2])
        os.makedirs(beside)
        shutil.copy(os.path.join(shared, "program.debug"),
                    os.path.join(beside, build_id[2:] + ".debug"))
        bare = self.report(run, f"--debug-dir={self.directory}", url=url)
        self.assertIn("(unnamed)", bare.stdout)
        self.assertEqual(bare.stderr.count("/nonexistent/common.debug: not found"), 1, bare.stderr)
        done = self.report(run, "--debuginfod", url=url)
        fetched = done.stdout
        self.assertIn("hot_70", fetched)
        self.assertIn("burn_rounds", fetched)
        self.assertNotIn("(unnamed)", fetched)
        self.assertNotIn("(unnamed)", done.stderr)

    def test_a_server_that_does_not_answer_costs_names_only(self):
        program, _ = self.make_program()
        run = self.recorded(program, "300")
        with socket.socket() as deaf:
            deaf.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
            self.assertIn("program+0x", self.report(run, "--debuginfod", url=url).stdout)
        self.assertIn("DEBUGINFOD_URLS", self.report(run, "--debuginfod", url="").stderr)


if __name__ == "__main__":
    rec.main()
