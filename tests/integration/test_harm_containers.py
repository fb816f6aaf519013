#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""In a container as Docker makes them, with its system calls and capabilities, rec records, names what it recorded, and
leaves programs as they are: with rec inside, and with rec outside."""
import os
import subprocess

import harm
import rec

CONTAINER = rec.target("container")
DEFAULT = ("chown,dac_override,fsetid,fowner,mknod,net_raw,setgid,setuid,setfcap,setpcap,net_bind_service,"
           "sys_chroot,kill,audit_write").split(",")
NOBODY = ["--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"]
WORK_MS = 600
HOT = ("hot_70", "hot_20", "hot_10")

# Processes, threads, pipes, locks, signals, time and files, by the programs that containers are made of.
SCRIPT = r"""
mkdir a && cd a
for i in 1 2 3; do printf 'int f%s(void) { return %s; }\n' $i $i > $i.c; done
echo 'int f1(void); int f2(void); int f3(void); int main(void) { return f1() + f2() + f3(); }' > main.c
printf 'all: main\nmain: 1.o 2.o 3.o main.o\n\t@gcc -o $@ $^\n%%.o: %%.c\n\t@gcc -O1 -c $<\n' > Makefile
make -s -j2; ./main; echo "main: $?"
seq 1 20000 | sort -R --random-source=main.c | sort -n | uniq | md5sum
(sleep 0.1; exit 7) & wait $!; echo "waited: $?"
trap 'echo trapped' TERM; kill -TERM $$
tar -cf - *.c | xz -T2 | xz -dc | tar -tf -
unshare --mount true; echo "unshare: $?"
"""
PYTHON = r"""
import concurrent.futures, multiprocessing, os, signal, socket, subprocess, tempfile, threading
def work(n):
    total = 0
    for i in range(n): total = (total * 31 + i) % 1000003
    return total
if __name__ == "__main__":
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        print(list(pool.map(work, [50000, 60000, 70000])))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(work, [50000, 60000, 70000]))
    print(subprocess.run(["sh", "-c", "echo $0; exit 5", "x"], capture_output=True))
    signal.signal(signal.SIGALRM, lambda *_: print("alarm"))
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    signal.pause()
    a, b = socket.socketpair()
    thread = threading.Thread(target=lambda: b.sendall(b"x" * 300000))
    thread.start()
    print(len(a.recv(300000, socket.MSG_WAITALL)))
    thread.join()
    with tempfile.NamedTemporaryFile(dir=".") as file: print(os.fstat(file.fileno()).st_size)
    print(os.sched_getaffinity(0) != set(), os.getpriority(0, 0))
"""


class Containers(harm.Identical):
    def setUp(self):
        super().setUp()
        if os.getuid() != 0:
            self.skipTest("only root can set this up")
        self.need_program("setpriv")

    def place(self, capabilities, *words, perf=()):
        kept = ",".join(["-all", *(f"+{name}" for name in capabilities)])
        return ["setpriv", f"--bounding-set={kept}", "--inh-caps=-all", *words, CONTAINER, *perf]

    def recorded_inside(self, place, *rec_options):
        os.chmod(self.directory, 0o755)
        directory = self.new_directory()
        os.chmod(directory, 0o777)
        run = self.watched([*place, rec.REC, "-F", 999, *rec_options, "--", rec.target("shares"), WORK_MS],
                           directory)
        self.assertEqual(run.status, 0, run.stderr)
        self.assertGreater(run.info["cpu_ns"], WORK_MS * 1e6 * 0.95)
        return run

    def assert_named(self, place, run):
        """At the end of the recording, and by a later command inside."""
        self.assertGreater(run.share_of(*HOT), 90)
        done = subprocess.run([*place, rec.REC, "report", run.path()], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in HOT:
            self.assertIn(name.encode(), done.stdout)

    def test_rec_inside_takes_timers_and_knows_all_names(self):
        for place in (self.place(DEFAULT), self.place([]), self.place(DEFAULT, "--no-new-privs"),
                      self.place([], *NOBODY)):
            with self.subTest(place=place):
                if subprocess.run([*place, rec.REC, "--version"], capture_output=True).returncode:
                    self.skipTest("rec lies where others cannot go")
                run = self.recorded_inside(place)
                self.assertEqual(run.summary["engine"], "timer")
                self.assertIn(b"perf events are forbidden", run.stderr)
                self.assert_named(place, run)

    def test_rec_inside_with_the_capability_for_perf_events(self):
        self.need_engine("perf-trap")
        place = self.place([*DEFAULT, "perfmon"], perf=["perf"])
        run = self.recorded_inside(place)
        self.assertEqual(run.summary["engine"], "perf-trap")
        self.assert_named(place, run)

    def test_rec_outside_records_what_is_inside(self):
        for engine in rec.ENGINES:
            with self.subTest(engine=engine):
                self.need_engine(engine)
                run = self.recorded(*self.place(DEFAULT), rec.target("shares"), WORK_MS,
                                    rec_options=[f"--engine={engine}"])
                self.assertGreater(run.share_of(*HOT), 80)

    def test_programs_are_the_same_with_rec_inside(self):
        place = self.place(DEFAULT)
        self.identical("sh", "-c", SCRIPT, place=place, engines=["timer"])
        self.identical("/usr/bin/python3", "-c", PYTHON, place=place, engines=["timer"])

    def test_programs_are_the_same_with_rec_outside(self):
        self.identical(*self.place(DEFAULT), "sh", "-c", SCRIPT)
        self.identical(*self.place(DEFAULT), "/usr/bin/python3", "-c", PYTHON)


if __name__ == "__main__":
    rec.main()
