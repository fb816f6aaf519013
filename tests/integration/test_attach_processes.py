#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`rec -p` and `rec -t` record running processes from outside: complete stacks of existing and later threads and
of children, with names; the recording ends as requested, the target never with the recording."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import rec

NOBODY = 65534
OFTEN = ("-F", "4999")  # a hundred samples in a short time, on a busy machine too
WORK_FRAMES = 16  # of a WORK function in tests/targets/attached.c


def as_nobody():
    """Options of Popen: an ordinary user, where the tests run as root."""
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


class Attached(rec.Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.directory, 0o755)
        self.targets = []

    def tearDown(self):
        for target in self.targets:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(target.pid, signal.SIGKILL)  # its children, too
            target.wait()
            target.stdout.close()

    def start(self, *command, **options):
        """A running program, once its first line is there; the leader of a process group."""
        target = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, process_group=0, **options)
        self.targets.append(target)
        self.assertEqual(target.stdout.readline(), b"ready\n")
        return target

    def open_directory(self):
        directory = self.new_directory()
        os.chmod(directory, 0o777)
        return directory

    def attach(self, *rec_options, **options):
        run = self.run_in(self.open_directory(), [rec.REC, *rec_options], **options)
        self.assertEqual(run.status, 0, run.stderr.decode())
        self.assertEqual(run.summary["engine"], "perf-ring")
        return run

    def attach_for(self, seconds, *rec_options, samples=100, **options):
        """Longer, where a busy machine gives the target too little CPU time for the samples."""
        for factor in (1, 4, 16):
            run = self.attach(*rec_options, "--duration", seconds * factor, **options)
            if run.count("samples") > samples:
                break
        return run

    def refused(self, *rec_options, **options):
        """The only line of a recording that does not begin."""
        directory = self.open_directory()
        run = self.run_in(directory, [rec.REC, *rec_options], **options)
        self.assertEqual(run.status, 125, run.stderr.decode())
        lines = run.stderr.decode().splitlines()
        self.assertEqual(len(lines), 1, lines)
        self.assertEqual(os.listdir(directory), [])
        return lines[0]

    def assert_complete(self, run, percent=99.5):
        self.assertGreater(run.count("samples"), 100)
        self.assertLessEqual(run.count("samples") - run.count("complete"),
                             max(1, run.count("samples") * (100 - percent) / 100), run.summary)
        self.assertLess(run.lost(), run.count("samples") / 100)  # a busy machine may starve rec

    def assert_whole_work(self, run, function):
        """Stacks through the function have all of its frames, and begin where threads begin."""
        stacks = {stack: weight for stack, weight in run.stacks().items()
                  if function in stack and not stack[-1].startswith("[")}
        whole = sum(weight for stack, weight in stacks.items() if stack.count(function) == WORK_FRAMES
                    and ("_start" in stack or "clone3" in stack or "__clone3" in stack))
        self.assertGreater(whole, 0.99 * sum(stacks.values()))


class Stacks(Attached):
    def check_program(self, program):
        target = self.start(rec.target(program), 120, 2, 20, **as_nobody())
        run = self.attach_for(0.6, "-p", target.pid, *OFTEN, **as_nobody())
        self.assert_complete(run)
        self.assert_whole_work(run, "existing_work")
        self.assertGreater(run.share_of("existing_work"), 90)
        self.assertEqual(run.count("threads"), 22)
        self.assert_seen(run, 0.05)
        self.assertIsNone(target.poll())

    def test_an_ordinary_user(self):
        self.check_program("attached")

    def test_a_static_program(self):
        self.check_program("attached_static")

    def test_a_static_program_at_random_addresses(self):
        self.check_program("attached_static_pie")

    def test_root(self):
        if os.geteuid() != 0:
            self.skipTest("only root samples the kernel")
        target = self.start(rec.target("attached"), 120, 2, 3, **as_nobody())
        run = self.attach_for(0.6, "-p", target.pid, *OFTEN)
        self.assert_complete(run)
        self.assert_whole_work(run, "existing_work")

    def test_later_threads_and_children(self):
        target = self.start(rec.target("attached"), 120, 1, 3, "later", **as_nobody())
        run = self.attach("-p", target.pid, "--duration", "2", **as_nobody())
        self.assert_complete(run)
        for function in ("existing_work", "later_work", "child_work"):
            with self.subTest(function=function):
                self.assert_whole_work(run, function)
                self.assertGreater(run.share_of(function), 10)
        self.assertEqual(run.count("processes"), 2)

    def test_copies_grow_with_the_stacks(self):
        target = self.start(rec.target("deep_frames_static"), 1500, **as_nobody())
        run = self.attach_for(1.5, "-p", target.pid, samples=400)  # 40 ms of the work are near the start
        # Without growth 90 % are cut. A busy machine delays the growth, and leaves the target fewer samples.
        cuts = run.count("samples") - run.count("complete")
        self.assertLessEqual(cuts, max(0.1 * run.count("samples"), 60))
        self.assertGreater(run.count("samples"), 100)
        self.assertGreater(run.share_of("works_below"), 75)
        self.assertLess(run.share_of("[between samples]"), 25)  # short slices of a busy machine add to it

    def test_only_the_process(self):
        target = self.start(rec.target("attached"), 120, 1, 3, "later", **as_nobody())
        run = self.attach("-p", target.pid, "-i", "--duration", "2", **as_nobody())
        self.assertGreater(run.share_of("later_work"), 10)
        self.assertEqual(run.share_of("child_work"), 0)

    def test_two_processes(self):
        pids = [self.start(rec.target("attached"), 120, 1, 0, **as_nobody()).pid for _ in range(2)]
        run = self.attach("-p", f"{pids[0]},{pids[1]}", "--duration", "0.5", **as_nobody())
        self.assertEqual({process["pid"] for process in run.info["processes"]}, set(pids))
        self.assertRegex(run.stderr, rb"\Arec: process \d+ \(attached\) and 1 more were recorded for ")

    def test_one_descriptor_holds_a_process_once_its_events_are_open(self):
        pids = [self.start(rec.target("attached"), 120, 1, 0, **as_nobody()).pid for _ in range(3)]
        recorder = subprocess.Popen([rec.REC, "-q", "-p", ",".join(map(str, pids)), "--duration", "30"],
                                    cwd=self.new_directory())
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)

        def descriptors():
            paths = [os.readlink(f"/proc/{recorder.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{recorder.pid}/fd")]
            return [sum(kind in path for path in paths) for kind in ("perf_event", "pidfd")]

        events = held = 0
        deadline = time.monotonic() + 20
        while (events <= 3 * os.cpu_count() or held != 3) and time.monotonic() < deadline:
            with contextlib.suppress(FileNotFoundError):
                events, held = descriptors()
        self.assertGreater(events, 3 * os.cpu_count())  # and those of the rings
        self.assertEqual(held, 3)

    def test_programs_executed_by_children(self):
        loop = f"echo ready; while :; do {rec.target('short_run')} 50; done"
        target = self.start("sh", "-c", loop, **as_nobody())
        run = self.attach_for(1, "-p", target.pid, **as_nobody())
        self.assertGreaterEqual(run.complete_percent(), 99)
        self.assertGreater(run.share_of("burn_until_ns"), 50)
        self.assertIn("short_run", {process["name"] for process in run.info["processes"]})

    def test_children_from_before_are_named(self):
        target = self.start("sh", "-c", "sleep 5 & echo ready; wait", **as_nobody())
        run = self.attach("-p", target.pid, "--duration", "0.1", **as_nobody())
        self.assertRegex(run.stderr, rb"children from before, not recorded: (sh|sleep), process \d+; give their pids to -p, too")

    def test_a_single_thread(self):
        target = self.start(rec.target("attached"), 120, 2, 2, **as_nobody())
        tids = sorted(map(int, os.listdir(f"/proc/{target.pid}/task")))
        run = self.attach_for(0.6, "-t", tids[1], *OFTEN, **as_nobody())
        self.assert_complete(run)
        self.assertEqual(run.share_of("main"), 0)
        self.assertGreater(run.share_of("run_existing"), 85)

    def test_a_thousand_busy_threads_of_the_same_session(self):
        if os.geteuid() != 0:
            self.skipTest("only root gets more than a thousandth of the processors")
        target = self.start(rec.target("attached"), 40, 1000, 0, **as_nobody())
        run = self.attach("-p", target.pid, "--duration", "1", "-o", "rec.data")
        target.kill()
        self.assertLess(run.count("wall_ns"), 20e9)
        self.assertEqual(run.count("threads"), 1000)
        self.assertLess(run.lost(), 0.1 * run.count("samples"))

    def test_more_threads_than_descriptors(self):
        """Each thread needs one for every processor: no thread is left out silently."""
        target = self.start(rec.target("attached"), 120, 2, 300, **as_nobody())
        limited = ["prlimit", "--nofile=200:200", rec.REC, "-p", target.pid, "--duration", "0.3"]
        run = self.run_in(self.open_directory(), limited, **as_nobody())
        self.assertEqual(run.status, 125)
        self.assertRegex(run.stderr.decode(), r"302 threads need a descriptor each for every processor; raise the limit of open files")

    def test_code_made_at_run_time(self):
        program = ["sh", "-c", "echo ready; exec \"$0\" \"$@\"", rec.target("jit"), "map", 2]
        target = self.start(*program)
        self.addCleanup(pathlib.Path(f"/tmp/perf-{target.pid}.map").unlink, missing_ok=True)
        time.sleep(0.5)
        run = self.attach("-p", target.pid)
        self.assertGreater(run.share_of("first", self_only=True), 20)
        self.assertGreater(run.share_of("second", self_only=True), 20)

    def test_code_made_at_run_time_with_a_private_tmp(self):
        """As in a container: the perf map of a process that goes on has no name here."""
        if os.geteuid() != 0:
            self.skipTest("mount namespaces need root")
        script = 'exec 3<"$0"; mount -t tmpfs none /tmp && echo ready && exec /proc/self/fd/3 map 20'
        target = self.start("unshare", "--mount", "sh", "-c", script, rec.target("jit"))
        time.sleep(0.5)
        maps = pathlib.Path(f"/proc/{target.pid}/maps").read_text(encoding="utf-8")
        start, end = re.search(r"^(\w+)-(\w+) r.xp 00000000 00:00 0 $", maps, re.M).groups()
        path = f"/tmp/perf-{target.pid}.map"
        with open(f"/proc/{target.pid}/root{path}", "w", encoding="utf-8") as file:
            file.write(f"{start} {int(end, 16) - int(start, 16):x} made_at_run_time\n")
        run = self.attach("-p", target.pid, "--duration", "0.5")
        self.assertFalse(os.path.exists(path))
        self.assertGreater(run.share_of("made_at_run_time"), 50)


class Namespaces(Attached):
    """Processes in other namespaces and root directories are recorded by their pid here."""

    def inmate(self):
        """The pid here of the program that the target of start() runs in its namespaces."""
        parents = [self.targets[-1].pid]
        for pid in parents:
            if pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() == "inmate":
                return pid
            for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
                parents += map(int, (task / "children").read_text(encoding="ascii").split())
        return self.fail("the program is not among the descendants")

    def jail(self):
        """A directory with the program and all that it needs."""
        root = pathlib.Path(self.open_directory())
        program = rec.target("attached")
        shutil.copy(program, root / "inmate")
        text = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for path in re.findall(r"(/\S+) \(0x", text):
            (root / path[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, root / path[1:])
        return root

    def assert_recorded(self):
        pid = self.inmate()
        self.addCleanup(subprocess.run, ["kill", "-KILL", str(pid)], capture_output=True, check=False)
        run = self.attach_for(0.5, "-p", pid, samples=20)
        self.assertGreater(run.count("samples"), 20)
        self.assertGreaterEqual(run.complete_percent(), 99)
        self.assertGreater(run.share_of("existing_work"), 80)
        self.assertEqual([process["pid"] for process in run.info["processes"]], [pid])

    def test_user_pid_and_mount_namespaces(self):
        root = self.jail()
        self.start("unshare", "-Urpf", "--mount-proc", root / "inmate", 120, 1, 20)
        self.assert_recorded()

    def test_another_root_directory(self):
        if os.geteuid() != 0:
            self.skipTest("chroot needs root")
        self.start("chroot", self.jail(), "/inmate", 120, 1, 20)
        self.assert_recorded()


class End(Attached):
    def interrupted(self, number):
        target = self.start(rec.target("attached"), 120, 1, 0, **as_nobody())
        directory = self.open_directory()
        recorder = subprocess.Popen([rec.REC, "-q", "-p", str(target.pid)], cwd=directory, **as_nobody())
        time.sleep(1)
        recorder.send_signal(number)
        status = recorder.wait(timeout=rec.TIMEOUT_S)
        self.assertIsNone(target.poll())
        return status, sorted(os.listdir(directory))

    def test_ctrl_c_ends_the_recording_only(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            status, files = self.interrupted(number)
            self.assertEqual((status, files), (0, ["rec.data", "rec.folded", "rec.json.gz", "rec.pb.gz"]))

    def test_a_killed_recorder_leaves_the_target_alone(self):
        status, _ = self.interrupted(signal.SIGKILL)
        self.assertEqual(status, -signal.SIGKILL)
        run = self.attach_for(0.5, "-p", self.targets[-1].pid, samples=20, **as_nobody())
        self.assertGreater(run.count("samples"), 20)

    def test_the_exit_of_the_target_ends_the_recording(self):
        target = self.start(rec.target("attached"), 2, 1, 3, **as_nobody())
        start_s = time.monotonic()
        run = self.attach("-p", target.pid, **as_nobody())
        self.assertLess(time.monotonic() - start_s, 20)
        self.assertEqual(run.summary["end"], "command")
        self.assertIn(b"ended", run.stderr)
        self.assert_complete(run)

    def test_the_recording_begins_after_the_delay(self):
        target = self.start(rec.target("attached"), 120, 1, 0, **as_nobody())
        run = self.attach("-p", target.pid, "-D", "700", "--duration", "0.5", **as_nobody())
        self.assertLess(run.count("cpu_billed_ns"), 600e6)
        self.assertGreater(run.count("cpu_before_ns"), 0)
        self.assertLess(run.count("samples"), run.count("cpu_billed_ns") / 0.9e6)  # a sample each 1.001 ms
        self.assertGreater(run.count("wall_ns"), 1.1e9)


class Refusals(Attached):
    def test_no_such_process(self):
        self.assertIn("no such process", self.refused("-p", 4194303))
        self.assertIn("no such thread", self.refused("-t", 4194303))

    def test_a_zombie(self):
        target = subprocess.Popen(["true"])
        time.sleep(0.3)
        self.assertIn("zombie", self.refused("-p", target.pid))
        target.wait()

    def test_rec_itself(self):
        run = self.run_in(self.open_directory(), ["sh", "-c", f"exec {rec.REC} -p $$"])
        self.assertIn(b"rec cannot record itself", run.stderr)
        self.assertEqual(run.status, 125)

    def test_a_kernel_thread(self):
        if pathlib.Path("/proc/2/comm").read_text(encoding="ascii") != "kthreadd\n":
            self.skipTest("no kernel threads in this pid namespace")
        self.assertIn("kernel thread", self.refused("-p", 2))

    def test_a_thread_as_a_process(self):
        target = self.start(rec.target("attached"), 120, 0, 1, **as_nobody())
        tid = max(map(int, os.listdir(f"/proc/{target.pid}/task")))
        self.assertIn(f"a thread of process {target.pid}; use -t {tid}", self.refused("-p", tid))

    def test_a_process_of_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("only root starts processes of several users")
        target = self.start(rec.target("attached"), 120, 0, 1)
        self.assertIn("another user (uid 0, rec has 65534)",
                      self.refused("-p", target.pid, **as_nobody()))

    def test_a_process_that_is_not_dumpable(self):
        target = self.start(rec.target("attached"), 120, 0, 1, "hidden", **as_nobody())
        self.assertIn("not dumpable", self.refused("-p", target.pid, **as_nobody()))


if __name__ == "__main__":
    rec.main()
