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
RECORD_BYTES = 24  # of a sample in memory: ten, in an array that doubles, with room for noise


def processes(count):
    """A perf.data with one sample of each process, in code that nobody knows."""
    sample_type = 1 << 0 | 1 << 1 | 1 << 2  # address, task, time
    attr = struct.pack("<IIQQQQQ", 1, 64, 0, 1000000, sample_type, 0, 0) + bytes(16)
    sample = struct.Struct("<IHHQIIQ")
    data = b"".join(sample.pack(9, 2, sample.size, 0x1000, pid, pid, 1000 * pid) for pid in range(1, count + 1))
    header = b"PERFILE2" + struct.pack("<12Q", 104, 80, 104, 80, 184, len(data), 0, 0, 0, 0, 0, 0)
    return header + attr + bytes(16) + data


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
        with tempfile.TemporaryDirectory() as folder:
            for count in (FEW_PROCESSES, MANY_PROCESSES):
                with open(f"{folder}/{count}.data", "wb") as file:
                    file.write(processes(count))
            few_s, _ = self.convert(folder, FEW_PROCESSES, ".folded")
            many_s, _ = self.convert(folder, MANY_PROCESSES, ".folded")
            self.assertLess(many_s / few_s, 1.8 * MANY_PROCESSES / FEW_PROCESSES)

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
