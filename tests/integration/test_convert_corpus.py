#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Files of the installed perf, in every mode it has: what rec reads from them is what perf reads."""
import collections
import os
import shutil
import struct
import subprocess
import threading
import time

import corpus
import perf_script
import rec
from corpus import CLOCK, PROGRAM, SOFTWARE


class Corpus(corpus.Case):
    def test_without_callchains(self):
        self.compare(self.perf_record(*CLOCK))

    def test_frame_pointers(self):
        self.compare(self.common_record(*CLOCK, "-g"))

    def test_several_events(self):
        self.compare(self.perf_record(*SOFTWARE, "-g"))

    def test_counters_of_a_group(self):
        """Each sample is one of every event of the group that counted something since the last."""
        self.compare(self.perf_record("-F", "1999", "-g", "-e",
                                      "{cpu-clock,context-switches,page-faults}:S"))

    def test_counters_of_each_event(self):
        self.compare(self.perf_record("-i", "-F", "1999", "-g", "-e", "cpu-clock:S,page-faults:S"))

    def test_fixed_periods(self):
        self.compare(self.perf_record("-e", "cpu-clock", "-c", "500000", "-g"))

    def test_all_cpus(self):
        self.compare(self.perf_record(*CLOCK, "-a", "-g"), only_program=True)

    def test_per_thread(self):
        self.compare(self.perf_record(*CLOCK, "--per-thread", "-g"))

    def test_compressed(self):
        self.compare(self.perf_record(*CLOCK, "-g", "-z"))

    def test_directory(self):
        self.compare(self.perf_record(*CLOCK, "-g", "--threads"))

    def test_compressed_directory(self):
        self.compare(self.perf_record(*CLOCK, "-g", "-z", "--threads"))

    def test_context_switches(self):
        self.compare(self.perf_record(*CLOCK, "-g", "--switch-events"))

    def test_tracepoints(self):
        self.compare(self.perf_record("-e", "sched:sched_switch", "-g"), minimum=3)

    def test_tracepoints_beside_a_clock(self):
        self.compare(self.perf_record("-e", "sched:sched_switch,cpu-clock", "-a", "-g"),
                     only_program=True)

    def test_everything_that_a_sample_can_hold(self):
        self.compare(self.perf_record(*CLOCK, "-g", "-d", "--phys-data", "-W", "--sample-cpu", "-s",
                                      "-T", "--data-page-size", "--code-page-size",
                                      "--sample-identifier"))

    def test_groups_of_tasks(self):
        self.compare(self.perf_record(*CLOCK, "-g", "--namespaces", "--all-cgroups"))

    def test_build_ids_in_mappings(self):
        self.compare(self.perf_record(*CLOCK, "-g", "--buildid-mmap"))

    def test_without_build_ids(self):
        self.compare(self.perf_record(*CLOCK, "-g", "-B"))

    def test_system_wide_with_everything(self):
        """With -d perf knows data by name, and so finds names where frame pointers lead into it."""
        self.compare(self.perf_record(*SOFTWARE, "-a", "-g", "--switch-events", "--namespaces",
                                      "--all-cgroups", "-d", "-z"), only_program=True)

    def pipe(self, *options):
        """What perf record writes to a pipe."""
        self.need_program("perf")
        done = subprocess.run(["perf", "record", "-q", "-o", "-", *options, "--", *PROGRAM],
                              capture_output=True, timeout=60, env=perf_script.environment())
        if done.returncode:
            self.skipTest(f"perf record: {done.stderr[-200:]}")
        path = f"{self.new_directory()}/pipe.data"
        with open(path, "wb") as file:
            file.write(done.stdout)
        return path

    def test_pipe(self):
        path = self.pipe(*CLOCK, "-g")
        self.compare(path)
        with open(path, "rb") as file:
            self.compare(path, ours=self.convert("-", stdin=file))
        cat = subprocess.Popen(["cat", path], stdout=subprocess.PIPE)
        self.compare(path, ours=self.convert("-", stdin=cat.stdout))
        cat.stdout.close()
        cat.wait(timeout=10)

    def test_compressed_pipe(self):
        self.compare(self.pipe(*CLOCK, "-g", "-z"))

    def test_pipe_of_several_events(self):
        self.compare(self.pipe(*SOFTWARE, "-g"))

    def test_cut_files_yield_a_part_of_the_samples(self):
        """Parts of a file: each stack of them is one of the whole file, and they say so."""
        path = self.common_record(*CLOCK, "-g")
        whole = perf_script.read_rec(self.convert(path)).stacks
        with open(path, "rb") as file:
            content = file.read()
        for share in (0.5, 0.8, 0.99):
            cut = f"{self.new_directory()}/cut.data"
            with open(cut, "wb") as file:
                file.write(content[:int(len(content) * share)])
            part = perf_script.read_rec(self.convert(cut, "--debug-dir", "/usr/lib/debug")).stacks
            for key, stacks in part.items():
                self.assertLessEqual(sum(stacks.values()), sum(whole[key].values()), key)
            self.assertGreater(sum(map(len, part.values())), 0, share)
            info = subprocess.run([rec.REC, "info", cut], capture_output=True, text=True, timeout=60)
            self.assertIn("damage", info.stdout)

    def test_a_killed_recorder_leaves_what_it_wrote(self):
        path = self.common_record(*CLOCK, "-g")
        whole = perf_script.read_rec(self.convert(path)).stacks
        with open(path, "r+b") as file:
            file.seek(48)  # the size of the data is noted last, and with it the features
            file.write(bytes(8))
            file.seek(72)
            file.write(bytes(32))
        part = perf_script.read_rec(self.convert(path)).stacks
        self.assertEqual({key: sum(stacks.values()) for key, stacks in part.items()},
                         {key: sum(stacks.values()) for key, stacks in whole.items()})

    def convert_while(self, path, change, times=8):
        """Conversions of a file that change() works on meanwhile: how many samples each one found."""
        found = []
        worker = threading.Thread(target=change)
        worker.start()
        for _ in range(times):
            out = f"{self.new_directory()}/out.pb"
            done = subprocess.run([rec.REC, "convert", "-q", path, "-o", out], capture_output=True,
                                  text=True, timeout=30)
            self.assertIn(done.returncode, (0, 125), done.stderr)
            self.assertEqual(done.returncode == 0, os.path.exists(out), done.stderr)
            self.assertTrue(done.returncode == 0 or "rec: " in done.stderr, done.stderr)
            stacks = perf_script.read_rec(out).stacks if done.returncode == 0 else {}
            found.append(sum(sum(periods.values()) for periods in stacks.values()))
        worker.join()
        return found

    def test_a_file_that_grows_or_shrinks_meanwhile_yields_what_is_there(self):
        path = self.common_record(*CLOCK, "-g")
        with open(path, "rb") as file:
            content = file.read()
        whole = sum(sum(periods.values())
                    for periods in perf_script.read_rec(self.convert(path)).stacks.values())
        unfinished = content[:48] + bytes(8) + content[56:72] + bytes(32) + content[104:]

        def grow():
            for at in range(0, len(unfinished), len(unfinished) // 300):
                with open(path, "r+b") as file:
                    file.seek(at)
                    file.write(unfinished[at:at + len(unfinished) // 300])
                time.sleep(0.003)

        def shrink():
            for size in range(len(content), 0, -(len(content) // 300)):
                os.truncate(path, size)
                time.sleep(0.003)

        os.truncate(path, 0)
        found = self.convert_while(path, grow)
        print(f"samples found meanwhile: {found} of {whole}")
        self.assertEqual(found, sorted(found), "never less than before")
        self.assertLessEqual(found[-1], whole)
        with open(path, "wb") as file:
            file.write(content)
        for samples in self.convert_while(path, shrink):
            self.assertLessEqual(samples, whole)

    def test_records_that_nobody_knows_are_counted(self):
        path = self.common_record(*CLOCK, "-g")
        before = perf_script.read_rec(self.convert(path)).stacks
        with open(path, "r+b") as file:
            content = file.read()
            at, size = struct.unpack_from("<QQ", content, 40)
            end = at + size
            while at < end:
                kind, _, size = struct.unpack_from("<IHH", content, at)
                if kind == 68:  # FINISHED_ROUND
                    file.seek(at)
                    file.write(struct.pack("<I", 60))
                    break
                at += size
        self.assertEqual(perf_script.read_rec(self.convert(path)).stacks, before)
        done = subprocess.run([rec.REC, "info", path], capture_output=True, text=True, timeout=60)
        self.assertRegex(done.stdout, r"unknown_records +1\n")

    def test_events_are_listed_with_their_samples(self):
        path = self.perf_record(*SOFTWARE)
        done = subprocess.run(["perf", "script", "-i", path, "-F", "event"], capture_output=True,
                              text=True, timeout=60)
        counts = collections.Counter(done.stdout.replace(":", "").split())
        info = subprocess.run([rec.REC, "info", path], capture_output=True, text=True, timeout=60)
        for event, count in counts.items():
            self.assertRegex(info.stdout.replace("\u202f", "").replace(" ", ""),
                             rf"event{event}(,asampleevery\w+)?;{count}samples", event)

    def test_files_of_another_machine_lie_below_symfs(self):
        path = self.common_record(*CLOCK, "-g")
        root = self.copy_of_files(path)
        self.assertEqual(perf_script.read_rec(self.convert(path, "--symfs", root)).stacks,
                         perf_script.read_rec(self.convert(path)).stacks)

    def test_files_that_are_not_here_keep_addresses_and_build_ids(self):
        path = self.common_record(*CLOCK, "-g")
        empty = self.new_directory()
        tally = perf_script.read_rec(self.convert(path, "--symfs", empty))
        files = collections.Counter(bool(name) for stacks in tally.stacks.values()
                                    for stack in stacks for name, module, _ in stack
                                    if module.startswith("/"))
        self.assertGreater(files[False], 20)
        self.assertEqual(files[True], 0, "names of files that are not there")
        self.assertEqual(self.modules(path, "--symfs", empty), self.modules(path))
        said = subprocess.run([rec.REC, "report", path, "--symfs", empty], capture_output=True,
                              text=True, timeout=60).stderr
        self.assertIn(f"file not found below {empty[:80]}", said)
        self.assertNotIn("Debian", said)  # of this machine: its packages do not help
        self.assertTrue(any(self.modules(path).values()), "build-ids")

    def test_a_file_with_another_build_id_is_refused_with_a_word(self):
        path = self.common_record(*CLOCK, "-g")
        root = self.new_directory()
        module = next(name for name in self.modules(path) if "/libc.so" in name)
        os.makedirs(os.path.dirname(root + module))
        shutil.copy("/bin/true", root + module)
        done = subprocess.run([rec.REC, "report", path, "--symfs", root], capture_output=True,
                              text=True, timeout=60)
        self.assertIn(f"{root}{module} is not the file that was recorded", done.stdout + done.stderr)


if __name__ == "__main__":
    rec.main()
