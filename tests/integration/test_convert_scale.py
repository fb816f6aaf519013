#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a sample, or a process, costs does not depend on how many there are. Memory grows with stacks; with samples only where the
format has their times, by no more than the model's own record of one."""
import filecmp
import os
import struct
import subprocess
import tempfile

import rec

MAKE_RECORDING = os.path.join(rec.TARGETS, "..", "bench", "make_recording")
FEW, MANY = 100000, 600000
FEW_PROCESSES, MANY_PROCESSES = 5000, 50000
EVENTS = 4000
RECORD_BYTES = 24  # of a sample in memory: ten, in an array that doubles, with room for noise


SAMPLE = struct.Struct("<IHHQQIIQ")  # type, what, bytes; event, address, pid, tid, time
SAMPLE_TYPE = 1 << 16 | 1 << 0 | 1 << 1 | 1 << 2


def perf_data(events, samples):
    """A perf.data of tracepoints, each with its number for an id, and samples (event, address, pid)."""
    attrs_bytes = 80 * events
    data_at = 104 + attrs_bytes + 8 * events
    attrs = b"".join(struct.pack("<IIQQQQQ16xQQ", 2, 64, i, 1, SAMPLE_TYPE, 0, 0, 104 + attrs_bytes + 8 * i, 8)
                     for i in range(events))
    ids = struct.pack(f"<{events}Q", *range(events))
    data = b"".join(SAMPLE.pack(9, 2, SAMPLE.size, event, address, pid, pid, 1000 * (i + 1))
                    for i, (event, address, pid) in enumerate(samples))
    header = b"PERFILE2" + struct.pack("<12Q", 104, 80, 104, attrs_bytes, data_at, len(data), *[0] * 6)
    return header + attrs + ids + data


class Scale(rec.Case):
    def convert(self, folder, samples, suffix):
        """(CPU seconds, bytes) of the conversion."""
        process = subprocess.Popen([rec.REC, "convert", "-q", "-i", f"{samples}.data", "-o",
                                    f"out{suffix}"], cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024

    def test_time_and_memory_of_each_format(self):
        with tempfile.TemporaryDirectory() as folder:
            for samples in (FEW, MANY):
                subprocess.run([MAKE_RECORDING, os.path.join(folder, f"{samples}.data"),
                                os.path.realpath(rec.REC), str(samples), "2000", "16"], check=True,
                               timeout=60)
            for suffix, sample_bytes in ((".folded", 0), (".pb.gz", 0), (".json", RECORD_BYTES),
                                         (".speedscope.json", RECORD_BYTES)):
                with self.subTest(suffix=suffix):
                    few_s, few_bytes = self.convert(folder, FEW, suffix)
                    many_s, many_bytes = self.convert(folder, MANY, suffix)
                    self.assertLess(many_s / few_s, 1.5 * MANY / FEW)
                    self.assertLess(many_bytes - few_bytes, sample_bytes * (MANY - FEW) + (2 << 20))

    def test_time_of_a_process(self):
        """Each has a sample, in code that nobody knows."""
        with tempfile.TemporaryDirectory() as folder:
            for count in (FEW_PROCESSES, MANY_PROCESSES):
                with open(f"{folder}/{count}.data", "wb") as file:
                    file.write(perf_data(1, [(0, 0x1000, pid) for pid in range(1, count + 1)]))
            few_s, _ = self.convert(folder, FEW_PROCESSES, ".folded")
            many_s, _ = self.convert(folder, MANY_PROCESSES, ".folded")
            self.assertLess(many_s / few_s, 1.8 * MANY_PROCESSES / FEW_PROCESSES)

    def test_many_events(self):
        """pprof has a value of each event in each sample; memory has those that are there. A report names a few."""
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/{EVENTS}.data", "wb") as file:
                file.write(perf_data(EVENTS, [(i, 0x1000 + i, 1) for i in range(EVENTS)]))
            report = subprocess.run([rec.REC, "report", f"{EVENTS}.data"], cwd=folder, capture_output=True,
                                    text=True, check=True, timeout=60).stdout
            self.assertIn(f"and {EVENTS - 7} more", report)
            _, with_one = self.convert(folder, EVENTS, ".folded")
            _, with_all = self.convert(folder, EVENTS, ".pb.gz")
            self.assertLess(with_all - with_one, EVENTS * EVENTS)

    def test_sums_do_not_depend_on_what_else_is_written(self):
        """Beside a format that has times, each sample is kept."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([MAKE_RECORDING, os.path.join(folder, "rec.data"), os.path.realpath(rec.REC),
                            "50000", "200", "16"], check=True, timeout=60)
            for outputs in (["a.pb", "a.folded"], ["b.pb", "b.folded", "b.speedscope.json"]):
                asked = [word for name in outputs for word in ("-o", name)]
                subprocess.run([rec.REC, "convert", "-q", *asked], cwd=folder, check=True, timeout=60)
            for suffix in ("pb", "folded"):
                self.assertTrue(filecmp.cmp(f"{folder}/a.{suffix}", f"{folder}/b.{suffix}", shallow=False))


if __name__ == "__main__":
    rec.main()
