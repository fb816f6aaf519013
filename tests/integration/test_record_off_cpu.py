#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rec --off-cpu: waits have their exact length, a complete stack and the reason, as perf script reads the capture; no
call of the program notices; without the option nothing of the kind is there."""
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import rec
import slow_file
from test_security_sandbox import install

NOBODY = 65534
LOAD, EQUAL, RESULT = 0x20, 0x15, 0x06
NR_PERF_EVENT_OPEN, NR_PROCESS_VM_READV = 298, 310
EPERM, EACCES = 1, 13
SAMPLE = re.compile(r"^(?P<name>.*?) +(?P<tid>\d+) +(?P<time>[\d.]+): +(?P<weight>\d+) +(?P<event>[\w-]+):")
# Frames: the reason, and user frames. Part: the frames in the kernel.
Sample = collections.namedtuple("Sample", "name tid time weight frames part")


def refuse(call, error):
    install([(LOAD, 0, 0, 0), (EQUAL, 0, 1, call), (RESULT, 0, 0, 0x00050000 | error), (RESULT, 0, 0, 0x7FFF0000)])


def refuse_perf_events():
    """A seccomp filter, as in most containers."""
    refuse(NR_PERF_EVENT_OPEN, EACCES)


def waits_of(run):
    """The off-cpu samples of a capture; frames from the leaf."""
    text = subprocess.run(["perf", "script", "-f", "-F", "+event", "-i", run.path()], capture_output=True, text=True,
                          check=True, timeout=60).stdout
    found = []
    for block in text.split("\n\n"):
        head, *frames = block.strip("\n").split("\n")
        sample = SAMPLE.match(head)
        if sample and sample["event"] == "off-cpu":
            reason = re.search(r"\((\[.*\])\)$", frames[0])[1]
            names = [(frame.split()[1].split("+")[0].split("@")[0], frame.endswith("([kernel.kallsyms])"))
                     for frame in frames[1:]]
            part = [name for name, is_kernel in names if is_kernel]
            if any(is_kernel for _, is_kernel in names[len(part):]):
                raise AssertionError(f"frames of the kernel among user frames: {block}")
            found.append(Sample(sample["name"], int(sample["tid"]), float(sample["time"]), int(sample["weight"]),
                                [reason, *(name for name, is_kernel in names if not is_kernel)], part))
    return found


def seconds(samples):
    return sum(sample.weight for sample in samples) / 1e9


def switches_of(pid):
    """How often each thread has waited, by tid."""
    counts = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/status", encoding="ascii") as file:
            counts[tid] = int(re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)", file.read())[1])
    return counts


def check_shares(case, length_s, points, *options, percent=0.5, **more):
    """Of waits at three places, and their sum, against the program's clock less its account by the scheduler."""
    run = case.recorded(rec.target("wait_places"), length_s, rec_options=("--off-cpu", "-o", "rec.data", *options), **more)
    waits = waits_of(run)
    places = {name: list(map(int, times)) for name, *times in map(str.split, run.stdout.decode().splitlines())}
    truth = {name: waited for name, (waited, _, _) in places.items()}
    total = sum(truth.values())
    found = {name: sum(sample.weight for sample in waits if name in sample.frames) for name in truth}
    for name, expected in truth.items():
        case.assert_within(100 * found[name] / sum(found.values()), 100 * expected / total, points, name)
    main = min(run.info["threads"], key=lambda thread: thread["start_ns"])["tid"]  # in pthread_join()
    threads = [sample for sample in waits if sample.tid != main and sample.frames[0] != "[runnable]"]
    print(f"waited {total / 1e9:.4f} s, found {seconds(threads) / (total / 1e9):.4f} of it; in the calls, too: "
          f"{sum(times[1] for times in places.values()) / total:.4f} on a processor, "
          f"{sum(times[2] for times in places.values()) / total:.4f} runnable")
    case.assert_within(seconds(threads), total / 1e9, percent / 100 * total / 1e9, "sum")


class OffCpu(rec.Case):
    def setUp(self):
        super().setUp()
        self.need_program("perf")
        os.chmod(self.directory, 0o755)

    def recorded_waits(self, *command, options=(), **more):
        run = self.recorded(*command, rec_options=("--off-cpu", "-o", "rec.data", *options), **more)
        return run, waits_of(run)

    def assert_is_one_wait(self, samples):
        """Contiguous intervals."""
        for before, after in zip(samples, samples[1:]):
            self.assertAlmostEqual(before.time + before.weight / 1e9, after.time, delta=2e-6)

    def test_a_sleep_has_its_length_a_sample_for_each_tick_and_a_complete_stack(self):
        """Also while rec is stopped: samples are those of the ticks, not of the rounds of rec."""
        directory = self.new_directory()
        command = [rec.REC, "-q", "--off-cpu", "-o", "rec.data", "--", "sleep", "2"]
        with subprocess.Popen(command, cwd=directory) as process:
            time.sleep(0.5)
            process.send_signal(signal.SIGSTOP)
            time.sleep(1)
            process.send_signal(signal.SIGCONT)
        self.assertEqual(process.returncode, 0)
        run = rec.Run(process, directory, 0)
        sleeps = [sample for sample in waits_of(run) if sample.frames[0] == "[waiting: sleep]"]
        self.assertTrue(180 <= len(sleeps) <= 220, len(sleeps))
        self.assertTrue(1.98 < seconds(sleeps) < 2.05, seconds(sleeps))
        self.assert_is_one_wait(sleeps)
        for sample in sleeps:
            self.assertIn("clock_nanosleep", sample.frames)
            self.assertIn("__libc_start_main", sample.frames)

    def test_no_call_notices_and_each_has_its_reason(self):
        """A starved rec looks late at some calls, in one run at these, in another at those."""
        for options in (("--off-cpu-interval", "1ms"), ("--engine", "perf-ring")):
            met = set()
            for _ in range(4):
                run, waits = self.recorded_waits(rec.target("blocked_calls"), "2", options=options)
                self.assertIn(b"0 of 50 differ", run.stdout)
                self.assert_nothing_is_lost(run)
                met |= self.calls_seen(run, waits)
                if len(met) == 50:
                    break
            self.assertEqual(len(met), 50, (met, run.summary))
            self.assert_reasons(waits)

    def assert_nothing_is_lost(self, run):
        for thread in (thread for thread in run.info["threads"] if thread["lifetime_ns"] > 1e9):
            parts = thread["cpu_ns"] + thread["waiting_ns"] + thread["runnable_ns"]
            self.assert_within(parts / thread["lifetime_ns"], 1, 0.03, thread)

    def calls_seen(self, run, waits):
        """The names of the threads of `blocked_calls` that were seen in their call for most of its 2 s."""
        threads = run.info["threads"]
        (pid, _), = collections.Counter(thread["pid"] for thread in threads).most_common(1)
        tids = {thread["tid"] for thread in threads if thread["pid"] == pid}
        seen = collections.Counter()
        for sample in waits:
            if sample.tid in tids and "blocked_outer" in sample.frames:
                seen[sample.name] += sample.weight
        return {name for name, time_ns in seen.items() if time_ns > 1.5e9 and name not in ("blocked_calls", "done")}

    def assert_reasons(self, waits):
        """Forked children, below the same functions, sleep."""
        reasons = {(frame, sample.frames[0]) for sample in waits for frame in sample.frames}
        for call, reason in (("call_mutex", "lock"), ("call_nanosleep", "sleep"), ("call_poll", "poll"),
                             ("call_waitpid", "child"), ("call_join", "join"), ("call_accept", "accept"),
                             ("call_barrier", "barrier"), ("call_flock", "file lock")):
            self.assertIn((call, f"[waiting: {reason}]"), reasons)

    @rec.alone
    def test_short_waits_have_their_shares(self):
        check_shares(self, 3, 6)
        check_shares(self, 3, 3, "--off-cpu-interval", "1ms")

    def test_a_deadlock_names_the_holders_of_its_mutexes(self):
        run = self.recorded(rec.target("deadlock"), rec_options=("--off-cpu", "-o", "rec.data", "--duration", "1",
                                                                 "--end-command"))
        text = subprocess.run(["perf", "report", "-D", "-i", run.path()], capture_output=True, text=True, check=True,
                              timeout=60).stdout
        holders = {}
        for record in text.split("PERF_RECORD_SAMPLE")[1:]:
            tid, weight = re.search(r": \d+/(\d+): ", record), re.search(r"(?m)^\.\.\. weight: (\d+)", record)
            if "dso: [waiting: lock]" in record:
                holders[int(tid[1])] = int(weight[1])
        self.assertEqual(len(holders), 2)
        for thread, holder in holders.items():
            self.assertEqual(holders[holder], thread)

    def test_what_is_read_is_named(self):
        run, _ = self.recorded_waits("sh", "-c", "sleep 0.3 | cat")
        objects = [note.split(" ", 1) for key, note in run.summary.items() if key.startswith("off_cpu.object.")]
        pipes = [int(waited) for waited, text in objects if text == "pipe"]
        self.assert_within(sum(pipes) / 1e9, 0.3, 0.1)

    def test_the_parent_of_a_spawned_child_has_a_complete_stack_before_the_exec(self):
        spawn = ("import os; os.mkfifo('fifo'); os.posix_spawn('/bin/sh', ['sh', '-c', 'sleep 0.3; : >fifo'], os.environ); "
                 "os.posix_spawn('/bin/true', ['true'], os.environ, "
                 "file_actions=[(os.POSIX_SPAWN_OPEN, 0, 'fifo', os.O_RDONLY, 0)]); os.wait(); os.wait()")
        run, waits = self.recorded_waits("/usr/bin/python3", "-c", spawn)
        found = [wait for wait in waits if wait.frames[1:2] == ["clone3"]]
        self.assert_within(seconds(found), 0.3, 0.1)
        for wait in found:
            self.assertEqual(wait.frames[0], "[waiting: child]")
            self.assertTrue({"__libc_start_main_impl", "__libc_start_main"} & set(wait.frames), wait.frames)
        self.assertEqual(run.count("off_cpu.incomplete"), 0)

    def test_root_has_the_part_of_the_stack_in_the_kernel(self):
        """Between the reason and the C library; not with --all-user, and not for other users."""
        self.need_root()
        function, nobody = "hrtimer_nanosleep", {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        for options, more in (((), {}), (("--engine", "perf-ring"), {}), (("--kernel",), {}), (("--all-user",), {}),
                              ((), nobody)):
            directory, is_there = self.new_directory(), "--all-user" not in options and not more
            os.chmod(directory, 0o777)
            run = self.run_in(directory, [rec.REC, "--off-cpu", "-o", "rec.data", *options, "--", "sleep", "0.2"], **more)
            waits = [sample for sample in waits_of(run) if sample.frames[0] == "[waiting: sleep]"]
            self.assertGreater(len(waits), 0, options)
            for wait in waits:
                self.assertEqual(wait.part[:1], [function] if is_there else [])
                self.assertEqual(wait.part[-1:], ["__x64_sys_clock_nanosleep"] if is_there else [])
                self.assertTrue({"__libc_start_main_impl", "__libc_start_main"} & set(wait.frames), wait)
            folded = subprocess.run([rec.REC, "convert", "--format=collapsed", "--metric=off-cpu", "-o", "-", run.path()],
                                    capture_output=True, text=True, check=True, timeout=60).stdout
            self.assertEqual(f";{function};[waiting: sleep] " in folded, is_there, folded)

    def test_a_wait_below_new_code_has_a_complete_stack(self):
        """Only the frame pointer leads to code that was mapped since the first look."""
        run, waits = self.recorded_waits(rec.target("late_code"), "600", "wait")
        late = [wait for wait in waits if "without_cfi" in wait.frames]
        self.assert_within(seconds(late), 0.3, 0.05)
        for wait in late:
            self.assertIn("main", wait.frames[wait.frames.index("without_cfi") + 2:], wait)
        self.assertEqual(run.count("off_cpu.incomplete"), 0)

    def test_waits_on_other_stacks_are_complete(self):
        """In handlers on alternate stacks, the stack goes on with the interrupted one; that of a coroutine ends there."""
        run, waits = self.recorded_waits(rec.target("waits_in_handlers"), "300")
        for name in ("run_heap", "run_below", "run_frame", "run_in_coroutine"):
            found = [wait for wait in waits if name in wait.frames]
            self.assert_within(seconds(found), 0.3, 0.05, name)
            for wait in found:
                self.assertIn("nap", wait.frames)
                handlers = [] if name == "run_in_coroutine" else ["nap_in_handler", "__restore_rt", "interrupted", name]
                self.assertEqual([frame for frame in wait.frames if frame in handlers], handlers)
        self.assertEqual(run.count("off_cpu.incomplete"), 0)

    def test_a_process_that_hangs_with_its_mmap_lock_held_delays_no_other(self):
        """Its stacks are missing; rec goes on with other processes and ends in time."""
        self.need_root()
        if not slow_file.is_available(self.new_directory()):
            self.skipTest("there is no FUSE, or it may not be mounted")
        delay_s, end_s, begin = 60, 2.6, time.monotonic()
        with slow_file.mounted(self.new_directory(), delay_s) as path:
            script = f"{rec.target('holds_mmap_lock')} {path} >/dev/null 2>&1 & sleep 2.2; sleep 0.3; exec sleep 60"
            run, waits = self.recorded_waits("sh", "-c", script, options=("--duration", end_s, "--end-command"))
            took_s = time.monotonic() - begin
        self.assertLess(took_s, delay_s / 2)
        self.assertRegex(run.stderr, rb", \d+ without an answer: 1 program hangs in the kernel\)")
        self.assertEqual(run.count("off_cpu.hanging_programs"), 1)
        late = [wait for wait in waits if wait.time > min(wait.time for wait in waits) + 2.15 and wait.name == "sleep"]
        self.assertGreater(seconds([wait for wait in late if "clock_nanosleep" in wait.frames]), 0.2)
        stackless = [wait for wait in waits if wait.name == "holds_mmap_lock" and wait.frames == ["[waiting]"]]
        self.assertGreater(seconds(stackless), 1)

    def test_waits_of_the_sampler_are_no_waits_of_the_program(self):
        """At the start of a process. A look meets some of them."""
        script = "i=0; while [ $i -lt 40 ]; do ls / >/dev/null; i=$((i + 1)); done"
        found = set()
        for _ in range(8):
            _, waits = self.recorded_waits("sh", "-c", script, options=("--off-cpu-interval", "1ms", "--engine", "perf-trap"))
            found |= {wait.frames[0] for wait in waits if "launcher_await" in wait.frames}
            if found:
                break
        self.assertEqual(found, {"[waiting: rec]"})

    def waits_of_code(self, code):
        """Recorded waits of machine code that python3 makes at run time. nanosleep: mov $35,%eax; xor %esi,%esi; syscall."""
        script = (f"import ctypes, mmap, struct; code = mmap.mmap(-1, 4096, prot=7); code.write({code!r}); "
                  "length = ctypes.create_string_buffer(struct.pack('qq', 0, 300000000)); "
                  "entry = ctypes.addressof(ctypes.c_char.from_buffer(code)); "
                  "ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_void_p)(entry)(ctypes.addressof(length))")
        return self.recorded_waits("/usr/bin/python3", "-c", script)

    def test_stacks_that_are_not_complete_are_told(self):
        """SP is kept in a register that the code before the PC wrote: mov %rsp,%r8; sub $40,%rsp; ...; mov %r8,%rsp; ret."""
        run, waits = self.waits_of_code(
            b"\x49\x89\xe0\x48\x83\xec\x28\xb8\x23\x00\x00\x00\x31\xf6\x0f\x05\x4c\x89\xc4\xc3")
        cut = [wait for wait in waits if "[truncated]" in wait.frames or wait.frames[-1:] == ["[unknown]"]]
        self.assert_within(seconds(cut), 0.3, 0.05)
        self.assertEqual(run.count("off_cpu.incomplete"), 1)
        self.assertRegex(run.stderr, rb"off-CPU: .* looks?, 1 incomplete\)")

    def test_code_made_at_run_time_leads_to_its_caller_up_to_its_return(self):
        """sub $40,%rsp; ...; add $40,%rsp; ret: the code behind the PC states the place of the return address."""
        run, waits = self.waits_of_code(
            b"\x48\x83\xec\x28\xb8\x23\x00\x00\x00\x31\xf6\x0f\x05\x48\x83\xc4\x28\xc3")
        whole = [wait for wait in waits if "ffi_call" in wait.frames and "[truncated]" not in wait.frames]
        self.assert_within(seconds(whole), 0.3, 0.05)
        self.assertEqual(run.count("off_cpu.incomplete"), 0)

    def test_children_and_programs_are_told_apart(self):
        _, waits = self.recorded_waits("sh", "-c", "sleep 0.5; exec sleep 0.3")
        by_reason = collections.defaultdict(list)
        for sample in waits:
            by_reason[sample.name, sample.frames[0]].append(sample)
        self.assert_within(seconds(by_reason["sh", "[waiting: child]"]), 0.5, 0.1, "sh")
        self.assert_within(seconds(by_reason["sleep", "[waiting: sleep]"]), 0.8, 0.1, "sleep")
        self.assertEqual(len({sample.tid for sample in by_reason["sleep", "[waiting: sleep]"]}), 2)

    def test_inlined_calls_and_lines_are_the_same_without_samples_of_cpu_time_and_in_every_view(self):
        """Debug info in another file is read when the capture is converted, not at the end of such a recording."""
        for program in ("gcc", "objcopy", "strip"):
            self.need_program(program)
        directory = self.new_directory()
        texts = {"lib.c": "#include <unistd.h>\nstatic inline __attribute__((always_inline)) void inner(int parts) "
                          "{ usleep(parts * 200000); }\nvoid outer(int parts) { inner(parts); __asm__ volatile(\"\"); }\n",
                 "main.c": "void outer(int);\nint main(int parts) { outer(parts); return 0; }\n"}
        for name, text in texts.items():
            pathlib.Path(directory, name).write_text(text, encoding="ascii")
        for words in ("gcc -O2 -g -shared -fPIC -o liblib.so lib.c", "objcopy --only-keep-debug liblib.so lib.debug",
                      "strip -g liblib.so", "objcopy --add-gnu-debuglink=lib.debug liblib.so",
                      f"gcc -O2 -o main main.c -L. -llib -Wl,-rpath,{directory}"):
            subprocess.run(words.split(), cwd=directory, check=True)
        stacks = []
        for option, name, *more in (("--off-cpu-only", "short.data"), ("--off-cpu", "rec.data", "twice")):
            run = self.run_in(directory, [rec.REC, option, "-o", name, "--", "./main", *more])
            self.assertEqual(run.status, 0, run.stderr)
            report = self.view(run, "report", "--off-cpu", run.path(name))
            lines = [" ".join(line.split()) for line in report.splitlines() if line.startswith("    ")]
            stacks.append(lines[:lines.index("_start main") + 1])
        self.assertIn("inner (inlined) lib.c:2 liblib.so", stacks[0])
        self.assertEqual(stacks[0], stacks[1])
        self.check_lines(run)
        self.check_difference(run, "short.data")

    def view(self, run, *words):
        done = subprocess.run([rec.REC, *words], cwd=run.directory, capture_output=True, text=True, timeout=rec.TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check_lines(self, run):
        outer = json.loads(self.view(run, "annotate", "--event", "off-cpu", "--json", "outer", run.path()))
        self.assert_within(outer["total_ns"] / 1e9, 0.4, 0.05)
        self.assertEqual(outer["total_ns"], sum(wait.weight for wait in waits_of(run) if "outer" in wait.frames))
        self.assertEqual([(line["line"], line["total_ns"]) for line in outer["files"][0]["lines"]], [(3, outer["total_ns"])])

    def check_difference(self, run, base):
        difference = json.loads(self.view(run, "diff", "--event", "off-cpu", "--total", "--json", "--noise", "1", "--fail-on",
                                          "never", base, run.path()))
        self.assertEqual(difference["event"], "off-cpu")
        outer, = (row for row in difference["functions"] if row["name"] == "outer")
        self.assertEqual(outer["verdict"], "grown")
        self.assert_within(outer["difference"] / 1e9, 0.2, 0.05)

    def test_waits_before_the_delay_and_behind_the_end_do_not_count(self):
        _, waits = self.recorded_waits("sleep", "1", options=("-D", "200", "--duration", "500ms"))
        self.assert_within(seconds(waits), 0.5, 0.1)

    def test_waits_of_descendants_count_to_their_end(self):
        run, waits = self.recorded_waits("sh", "-c", "(sleep 0.6 &); sleep 0.2", options=("--wait-all",))
        self.assertNotIn(b"left running", run.stderr)
        sleeps = collections.Counter()
        for wait in waits:
            if wait.frames[0] == "[waiting: sleep]":
                sleeps[wait.tid] += wait.weight / 1e9
        self.assertEqual(len(sleeps), 2)
        self.assert_within(min(sleeps.values()), 0.2, 0.05)
        self.assert_within(max(sleeps.values()), 0.6, 0.05)
        for thread in run.info["threads"]:  # found with the next round of rec: up to a second later
            self.assert_within((thread["end_ns"] - thread["start_ns"]) / 1e9, thread["lifetime_ns"] / 1e9, 0.15, thread)

    def test_waits_up_to_the_end_by_size_add_up(self):
        run, waits = self.recorded_waits(rec.target("idle_threads"), "50", "20000",
                                         options=("--max-size", "64K", "--end-command"))
        self.assertEqual(run.summary["end"], "max-size")
        self.assertEqual(sum(wait.weight for wait in waits),
                         run.count("off_cpu.waiting_ns") + run.count("off_cpu.runnable_ns"))
        life_s = max(thread["lifetime_ns"] for thread in run.info["threads"]) / 1e9
        self.assertLess(life_s, 10)
        self.assert_within(run.count("off_cpu.waiting_ns") / 1e9, 51 * life_s, 0.1 * 51 * life_s)

    def test_an_ordinary_user_records_waits(self):
        more = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        directory = self.new_directory()
        os.chmod(directory, 0o777)
        run = self.run_in(directory, [rec.REC, "--off-cpu", "-o", "rec.data", "--", "sleep", "0.5"], **more)
        self.assertEqual(run.status, 0, run.stderr)
        self.assert_within(seconds([w for w in waits_of(run) if w.frames[0] == "[waiting: sleep]"]), 0.5, 0.05)
        self.assertEqual(run.summary["off_cpu.method"], "switch-records")

    def check_lengths_alone(self, run, length_s):
        self.assertEqual(run.status, 0, run.stderr)
        self.assert_within(seconds([wait for wait in waits_of(run) if wait.frames == ["[waiting]"]]), length_s, 0.1)
        self.assertEqual(len(re.findall(rb"looks?, \d+ refused: no right to trace 1 program\)", run.stderr)), 1, run.stderr)

    def test_waits_of_a_program_that_is_not_dumpable_have_lengths_alone(self):
        self.need_root()
        directory = self.new_directory()
        os.chmod(directory, 0o777)
        program = "import ctypes, time; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); time.sleep(0.5)"  # PR_SET_DUMPABLE
        run = self.run_in(directory, [rec.REC, "--off-cpu", "-o", "rec.data", "--", "/usr/bin/python3", "-c", program],
                          user=NOBODY, group=NOBODY, extra_groups=[])
        self.check_lengths_alone(run, 0.5)

    def test_waits_have_lengths_alone_where_no_memory_of_others_may_be_read(self):
        """As with ptrace_scope 2 and 3 of Yama, which permit events and refuse process_vm_readv()."""
        options = ("--off-cpu", "-o", "rec.data", "--duration", "600ms", "--end-command", "--stuck-after", "100ms")
        run = self.record("sleep", "9", rec_options=options, preexec_fn=lambda: refuse(NR_PROCESS_VM_READV, EPERM))
        self.check_lengths_alone(run, run.count("off_cpu.waiting_ns") / 1e9)
        self.assertRegex(run.stderr, rb"waiting at the end: sleep \(\d+\), for \S+ ms: unknown reason\n")
        self.assertEqual(run.summary["off_cpu.method"], "switch-records")

    def test_without_perf_events_the_sums_are_those_of_schedstat(self):
        run, waits = self.recorded_waits("sh", "-c", "sleep 1; exec sleep 0.5", preexec_fn=refuse_perf_events)
        self.assertEqual(run.summary["off_cpu.method"], "schedstat")
        sleeps = [sample for sample in waits if sample.frames[0] == "[waiting: sleep]"]
        self.assert_within(seconds(sleeps), 1.5, 0.15)
        self.assert_within(seconds([sample for sample in waits if sample.frames[0] == "[waiting: child]"]), 1, 0.15)

    @rec.alone
    def test_without_perf_events_short_waits_have_their_shares(self):
        check_shares(self, 3, 7, percent=4, preexec_fn=refuse_perf_events)

    def test_without_perf_events_cpu_time_is_that_of_the_program(self):
        burn = ("import os, time\nfor _ in range(25):\n"
                "    until = time.thread_time() + 0.04\n    while time.thread_time() < until: pass\n"
                "    time.sleep(0.01)\nprint(time.thread_time(), flush=True)\nos._exit(0)")
        run, _ = self.recorded_waits("/usr/bin/python3", "-c", burn, preexec_fn=refuse_perf_events)
        self.assertEqual(run.summary["off_cpu.method"], "schedstat")
        cpu = float(run.stdout)
        self.assert_within(run.info["threads"][0]["cpu_ns"] / 1e9, cpu, 0.05 * cpu)

    def check_waits_alone(self, *options, **more):
        run, waits = self.recorded_waits("sh", "-c", "sleep 0.5; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done",
                                         options=("--off-cpu-only", *options), **more)
        self.assertEqual(int(run.summary["samples"]), 0)
        self.assertIn(b"off-CPU: ", run.stderr)
        self.assertNotIn(b"no samples", run.stderr)
        self.assertGreater(max(thread["cpu_ns"] for thread in run.info["threads"]), 0)
        events = subprocess.run(["perf", "evlist", "-f", "-i", run.path()], capture_output=True, text=True, check=True)
        self.assertEqual(events.stdout.split(), ["off-cpu"])
        files = [module["path"] for module in run.info["modules"] if module["path"].startswith("/")]
        self.assertEqual(files[0], os.path.realpath(shutil.which("sh")))
        sleeps = [sample for sample in waits if sample.frames[0] == "[waiting: sleep]"]
        self.assert_within(seconds(sleeps), 0.5, 0.1)
        return run

    def test_waits_alone_have_no_samples_of_cpu_time(self):
        for options in ((), ("--engine", "perf-trap"), ("--engine", "timer")):
            run = self.check_waits_alone(*options)
            self.assertNotIn(b"[exec and dynamic linking]", pathlib.Path(run.path()).read_bytes(),
                             "a synthetic frame is mapped at its first sample")
        run = self.check_waits_alone(preexec_fn=refuse_perf_events)
        self.assertEqual(run.summary["off_cpu.method"], "schedstat")

    def test_waits_alone_cost_little_while_the_program_waits(self):
        costs = {options: min(int(self.recorded_waits("sleep", "0.4", options=options)[0].summary["launcher_cpu_ns"])
                              for _ in range(3)) for options in (("--off-cpu-only",), ())}
        self.assertLess(costs[("--off-cpu-only",)], 3 * costs[()])

    def test_many_idle_threads_take_a_look_each_few_samples_and_few_rounds(self):
        """Samples of waits are no activity of the program. Counted as activity, they caused 8 rounds a second."""
        directory, threads, length_s = self.new_directory(), 400, 5
        command = [rec.REC, "-q", "--off-cpu", "-o", "rec.data", "--", rec.target("idle_threads"), threads, 1000 * length_s]
        with subprocess.Popen(list(map(str, command)), cwd=directory) as process:
            time.sleep(1.5)
            before = switches_of(process.pid)
            time.sleep(3)
            after = switches_of(process.pid)
        collector = list(before)[-1]  # the latest thread
        self.assertLessEqual(after[collector] - before[collector], 3 * 4)
        run = rec.Run(process, directory, 0)
        self.assertTrue(threads <= run.count("off_cpu.looks") < 1.75 * threads, run.summary)
        self.assertLess(run.count("off_cpu.samples"), threads * 80)
        self.assert_within(run.count("off_cpu.waiting_ns") / 1e9, length_s * (threads + 1), 0.2 * length_s * (threads + 1))

    def test_waits_of_a_running_process(self):
        with subprocess.Popen(["sleep", "60"]) as sleep:
            runs = [self.run_in(self.new_directory(), [rec.REC, *options, "-o", "rec.data", "--duration", "500ms", "-p", sleep.pid])
                    for options in (("--off-cpu-only",), ("--off-cpu", "-D", "200"))]
            sleep.kill()
        for run in runs:
            self.assertEqual(run.status, 0, run.stderr)
            self.assertEqual(int(run.summary["samples"]), 0)
            self.assert_within(seconds(waits_of(run)), 0.5, 0.1)

    def test_waits_alone_exclude_what_needs_samples(self):
        for options in (("-F", "99"), ("-e", "page-faults"), ("-c", "100000"), ("--record", "cpu"),
                        ("--record", "thread-lifecycle")):
            run = self.record("true", rec_options=("--off-cpu-only", *options))
            self.assertEqual(run.status, 125, options)

    @rec.alone
    def test_a_storm_of_switches_is_left_to_schedstat(self):
        """While the program has stopped rec, the rings overflow, and the storm costs too much afterwards: sums stay
        exact."""
        storm_s = 4
        run = self.recorded(rec.target("switch_storm"), storm_s, 20000,  # a ring has place for 6000
                            rec_options=("--off-cpu", "--engine", "timer", "-o", "rec.data"))
        count = {key: int(run.summary["off_cpu." + key])
                 for key in ("switches", "lost_records", "filled_ns", "lost_ns", "storm")}
        self.assert_nothing_is_lost(run)
        self.assertEqual(count["lost_ns"], 0, count)
        self.assertGreater(count["lost_records"], 0, count)
        self.assertGreater(count["filled_ns"], 0, count)
        life_s = max(thread["lifetime_ns"] for thread in run.info["threads"]) / 1e9
        # 27 500 switches a second are no storm yet. The last second may have more, of 2 us each.
        if count["switches"] + count["lost_records"] > 2 * (27500 * life_s + 5e5):
            self.assertGreater(count["storm"], 0, count)
        if count["storm"]:
            self.assertGreater(count["storm"], 27000)
            self.assertIn(b"after a storm of", run.stderr)

    def stuck(self, run, after="300ms"):
        return subprocess.run([rec.REC, "report", "--stuck", "--stuck-after", after, run.path()], capture_output=True,
                              text=True, check=True, timeout=60).stdout

    @rec.alone
    def test_a_starved_thread_is_named_with_its_age(self):
        """Of the lowest priority, beside a busy loop on the same processor. A loop of nice 10 leaves it a turn every 0.1 s."""
        self.need_program("chrt")
        processor = min(os.sched_getaffinity(0))
        loop = "while :; do :; done"
        if os.getpriority(os.PRIO_PROCESS, 0) > 0:
            self.need_root()
        self.start("taskset", "-c", processor, "sh", "-c", loop, preexec_fn=lambda: os.setpriority(os.PRIO_PROCESS, 0, 0))
        run, waits = self.recorded_waits("taskset", "-c", processor, "chrt", "-i", "0", "sh", "-c", loop,
                                         options=("--duration", "3", "--end-command"))
        # With the lowest priority, chrt may need a second for its exec of sh.
        starved = {sample.tid for sample in waits if sample.name == "sh"}
        runnable = [sample for sample in waits if sample.frames == ["[runnable]"] and sample.tid in starved]
        self.assertGreater(seconds(runnable), 2)
        self.assertLess(max(sample.weight for sample in runnable), 2e9)
        self.assertRegex(self.stuck(run), r"runnable, without a processor; 1 thread: \d+ sh")

    def test_a_command_that_ends_by_itself_is_not_stuck(self):
        command = ("bash", "-c", "sleep 0.5; true")
        run, _ = self.recorded_waits(*command, options=("--stuck-after", "300ms"))
        self.assertNotIn(b"waiting at the end", run.stderr)
        self.assertIn("no threads waiting at the end", self.stuck(run))
        report = subprocess.run([rec.REC, "report", "--off-cpu", run.path()], capture_output=True, text=True, check=True)
        self.assertIn("wait4", report.stdout)
        self.assertNotIn("librec-sampler", report.stdout)
        options = ("--stuck-after", "300ms", "--duration", "400ms", "--end-command")
        run, _ = self.recorded_waits(*command, options=options)
        self.assertIn(b"waiting at the end: sleep", run.stderr)

    def start(self, *command, **options):
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def waits_of_the_system(self, *options):
        run = self.run_in(self.new_directory(), [rec.REC, *options, "--off-cpu", "-o", "rec.data", "--", "sleep", "1"])
        self.assertEqual(run.status, 0, run.stderr)
        self.assertRegex(run.stderr, rb"off-CPU: .*, without threads of the kernel\)")
        waits = collections.defaultdict(list)
        for sample in waits_of(run):
            waits[sample.tid].append(sample)
        return waits

    def test_waits_of_the_system(self):
        """Of threads that wait from before, too, but not of the kernel's."""
        self.need_root()
        before = self.start("sleep", "60")
        waits = self.waits_of_the_system("-a")
        sleeps = [sample for sample in waits[before.pid] if sample.frames[0] == "[waiting: sleep]"]
        self.assert_within(seconds(sleeps), 1, 0.2)
        self.assertEqual({sample.name for sample in sleeps}, {"sleep"})
        self.assertGreater(len({sample.frames[0] for samples in waits.values() for sample in samples}), 2)
        names = {sample.name for samples in waits.values() for sample in samples}
        self.assertFalse(names & {"kthreadd", "ksoftirqd/0", "rcu_preempt", "migration/0"}, names)

    def test_waits_that_begin_on_a_processor(self):
        self.need_root()
        processors = sorted(os.sched_getaffinity(0))
        if len(processors) < 2:
            self.skipTest("there is one processor only")
        processes = [self.start(rec.target("wait_places"), 20, preexec_fn=lambda at=at: os.sched_setaffinity(0, [at]))
                     for at in processors[:2]]
        waits = self.waits_of_the_system("-C", str(processors[0]))
        found = [sum(seconds(waits[int(tid)]) for tid in os.listdir(f"/proc/{process.pid}/task"))
                 for process in processes]
        self.assertGreater(found[0], 1)
        self.assertEqual(found[1], 0)

    def test_waits_of_a_cgroup(self):
        group = self.new_cgroup()
        inside, outside = (self.start("sleep", "60") for _ in range(2))
        with open(f"{group}/cgroup.procs", "w", encoding="ascii") as file:
            file.write(str(inside.pid))
        waits = self.waits_of_the_system("-G", os.path.basename(group))
        self.assert_within(seconds(waits[inside.pid]), 1, 0.2)
        self.assertEqual(waits[outside.pid], [])
        inside.kill()
        inside.wait()

    def test_it_is_off_by_default(self):
        run = self.recorded("sleep", "0.2", rec_options=("-o", "rec.data"))
        self.assertEqual(waits_of(run), [])
        self.assertNotIn("off_cpu.method", run.summary)

    def test_intervals_out_of_range_are_refused(self):
        for value in ("100us", "2s", "0", "x"):
            run = self.record("true", rec_options=("--off-cpu-interval", value))
            self.assertEqual(run.status, 125, value)


if __name__ == "__main__":
    rec.main(at_once=3)
