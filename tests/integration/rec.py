# SPDX-License-Identifier: MIT
"""Runs `rec` in a temporary directory and reads what it left behind.

    class Status(rec.Case):
        def test_something(self):
            run = self.record("sh", "-c", "exit 3", options=["-F", "9999"])
            run.status, run.stdout, run.stderr, run.count("samples"), run.stacks()

    if __name__ == "__main__":
        rec.main()

`figure(quick, long)` is the first number in every run of the tests, the second with REC_LONG=1 (`tools/test
--long`).

A test that lacks a permission or a package calls self.skipTest("sentence"); a script in which every
test was skipped exits with 77.
"""
import argparse
import collections
import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import unittest

REC = os.environ["REC"]
TARGETS = pathlib.Path(os.environ["TARGETS"])
SOURCE = pathlib.Path(os.environ["SOURCE"])
ENGINES = ("perf-trap", "timer")
LONG = os.environ.get("REC_LONG") == "1"
TIMEOUT_S = 600 if LONG else 60  # the long set runs beside other work


# Of all tests: a build of Go's own packages takes ten seconds.
GO_CACHE = os.environ.get("GOCACHE") or os.path.join(os.path.dirname(REC), "tests", "go-cache")


def only_where(is_there):
    """A test of some hardware or of the long set: elsewhere there is none."""
    return lambda test: test if is_there else None


only_long = only_where(LONG)


def figure(quick, long):
    return long if LONG else quick


def at_once(*calls):
    """A test of several calls that take the case: each in a process and with files of its own, all at the same time."""
    def test(case):
        started = [start_apart(type(case), call) for call in calls]
        results = [result_of(pid, file) for pid, file in started]
        failures = [text for kind, text in results if kind not in ("passed", "skipped")]
        if failures:
            case.fail("\n".join(failures))
        for kind, text in results:
            if kind == "skipped":
                case.skipTest(text)
    test.__doc__ = calls[0].__doc__
    return test


def start_apart(kind, call):
    """The process, and a file with its result: "passed", "skipped" or "failed", and the reason."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write_end)
        return pid, open(read_end, encoding="utf-8")
    case, result = kind(), "passed\n"
    try:
        case.setUp()
        call(case)
    except unittest.SkipTest as skip:
        result = f"skipped\n{skip}"
    except BaseException:
        result = f"failed\n{traceback.format_exc()}"
    finally:
        case.doCleanups()
        os.write(write_end, result.encode(errors="replace"))
        os._exit(0)


def result_of(pid, file):
    with file:
        kind, _, text = file.read().partition("\n")
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return kind, text or f"ended with status {status}"


def target(name):
    """The path of one of the programs in tests/targets."""
    return str(TARGETS / name)


@functools.lru_cache
def perf_trap_is_refused():
    """Why this machine and user cannot have the perf-trap engine; empty when they can."""
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run([REC, "-q", "--engine=perf-trap", "--", "true"], cwd=directory,
                              capture_output=True, text=True, timeout=TIMEOUT_S)
    return done.stderr.strip() if done.returncode else ""


def stolen_ns():
    """Time that the hypervisor has taken from all processors: in the events of a program, and not on its bill."""
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8]) * (1000000000 // os.sysconf("SC_CLK_TCK"))


class Run:
    """One finished program: under rec, or bare."""

    def __init__(self, done, directory, cpu_s, stolen=0):
        self.status = done.returncode  # of subprocess: negative for a death by signal
        self.stdout = done.stdout
        self.stderr = done.stderr
        self.directory = directory
        self.cpu_s = cpu_s  # user + system of everything that ran, rec included
        self.stolen_ns = stolen  # meanwhile, from all processors

    def path(self, name="rec.data"):
        return os.path.join(self.directory, name)

    @functools.cached_property
    def info(self):
        done = subprocess.run([REC, "info", "--json", self.path()], capture_output=True, text=True,
                              timeout=TIMEOUT_S)
        if done.returncode:
            raise AssertionError(f"rec info: status {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)

    @property
    def summary(self):
        return self.info["notes"]

    def count(self, key):
        """A number of the summary."""
        return int(self.summary[key])

    def lost(self):
        return sum(int(value) for key, value in self.summary.items() if key.startswith("lost."))

    def complete_percent(self):
        return 100 * self.count("complete") / self.count("samples")

    def stacks(self):
        """rec.folded as a Counter: (frame, frame, ...) from the root to the leaf -> weight."""
        stacks = collections.Counter()
        with open(self.path("rec.folded"), encoding="utf-8") as file:
            for line in file:
                stack, weight = line.rstrip("\n").rsplit(" ", 1)
                stacks[tuple(stack.split(";"))] += int(weight)
        return stacks

    def timelines(self):
        """As perf script has them: tid -> functions of each sample from the leaf, in the order of the samples."""
        command = ["perf", "script", "-f", "--no-inline", "--max-stack", "1000", "-F", "tid,time,ip,sym", "-i", self.path()]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
        samples = collections.defaultdict(list)
        for block in done.stdout.split("\n\n"):
            head, *frames = block.strip("\n").split("\n")
            if frames:
                tid, time = head.rstrip(": ").split()
                samples[int(tid)].append((float(time), [frame.split()[-1].split(".")[0] for frame in frames]))
        return {tid: [frames for _, frames in sorted(of_thread)] for tid, of_thread in samples.items()}

    def share_of(self, *names, self_only=False):
        """Per cent of all weight whose leaf (self_only) or any frame is one of these functions."""
        stacks = self.stacks()
        wanted = set(names)
        hits = sum(weight for stack, weight in stacks.items()
                   if wanted.intersection(stack[-1:] if self_only else stack))
        return 100 * hits / sum(stacks.values())


class Case(unittest.TestCase):
    longMessage = True

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="rec-test-")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.runs = 0

    def new_directory(self):
        self.runs += 1
        path = os.path.join(self.directory, str(self.runs))
        os.mkdir(path)
        return path

    def run_in(self, directory, command, **options):
        options.setdefault("timeout", TIMEOUT_S)
        options.setdefault("stdin", subprocess.DEVNULL)
        before, stolen_before_ns = os.times(), stolen_ns()
        done = subprocess.run([str(word) for word in command], cwd=directory, capture_output=True,
                              **options)
        after = os.times()
        cpu_s = (after.children_user + after.children_system
                 - before.children_user - before.children_system)
        return Run(done, directory, cpu_s, stolen_ns() - stolen_before_ns)

    def bare(self, *command, **options):
        return self.run_in(self.new_directory(), command, **options)

    def record(self, *command, rec_options=(), **options):
        """`rec RECORD_OPTIONS -- COMMAND` in a directory of its own, under cwd if one is given."""
        directory = self.new_directory()
        return self.run_in(directory, [REC, *rec_options, "--", *command], **options)

    def recorded(self, *command, rec_options=(), **options):
        """The same for a program that ends well: its own status must be 0."""
        run = self.record(*command, rec_options=rec_options, **options)
        self.assertEqual(run.status, 0, run.stderr.decode(errors="replace"))
        return run

    def start_busy_loops(self, count):
        """They run until the end of the test."""
        for _ in range(count):
            process = subprocess.Popen(["sh", "-c", "while :; do :; done"])
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)

    def need_engine(self, engine):
        if engine == "perf-trap" and perf_trap_is_refused():
            self.skipTest(perf_trap_is_refused())

    def need_root(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")

    def new_cgroup(self):
        """The directory of a cgroup that perf events can be limited to."""
        self.need_root()
        with open("/proc/mounts", encoding="utf-8") as file:
            mounts = [line.split() for line in file]
        places = [mount[1] for mount in mounts if mount[2] == "cgroup" and "perf_event" in mount[3].split(",")]
        places += [mount[1] for mount in mounts if mount[2] == "cgroup2"]
        if not places or not os.access(places[0], os.W_OK):
            self.skipTest("no cgroup can be made here")
        group = f"{places[0]}/rec-test-{os.getpid()}"
        os.mkdir(group)
        self.addCleanup(os.rmdir, group)
        return group

    def need_program(self, path):
        found = shutil.which(path)
        if not found:
            self.skipTest(f"there is no {path} on this machine")
        return found

    def assert_within(self, value, expected, tolerance, what=""):
        self.assertLessEqual(abs(value - expected), tolerance,
                             f"{what}: {value:.3f}, expected {expected:.3f} +- {tolerance:.3f}")

    def assert_seen(self, run, tolerance):
        """The samples and the times beside them stand for what the kernel billed."""
        seen_ns, billed_ns = run.count("cpu_seen_ns"), run.count("cpu_billed_ns")
        self.assertGreaterEqual(seen_ns, billed_ns * (1 - tolerance), run.summary)
        self.assertLessEqual(seen_ns, billed_ns * (1 + tolerance) + run.stolen_ns, run.summary)

    def assert_whole_after_the_first(self, run, is_meant, is_whole):
        """What stacks need comes from the recorder, soon or, on a busy machine, later: cut stacks of a thread are its first
        ones, of those that are meant. Most are whole. Returns the number of threads."""
        wholes = [[is_whole(stack) for stack in stacks if is_meant(stack)] for stacks in run.timelines().values()]
        wholes = [whole for whole in wholes if whole]
        for whole in wholes:
            self.assertGreater(sum(whole), len(whole) / 2, run.summary)
            late = whole.count(False) - whole.index(True)
            print(f"  {whole.index(True)} cut stacks before the first whole one, {late} of {len(whole)} later")
            self.assertLessEqual(late, max(1, len(whole) / 100), run.summary)
        return len(wholes)

    def assert_shares(self, run, tolerance):
        """A recording of the target `shares`: its functions have the CPU time that it measured."""
        used_ns = {name: int(value) for name, value in map(str.split, run.stdout.decode().splitlines())}
        # Of the program's own work: what a busy machine adds in the kernel is not in the plan.
        work = run.share_of(*used_ns)
        self.assertGreater(work, 90)
        for name, used in used_ns.items():
            self.assert_within(100 * run.share_of(name) / work, 100 * used / sum(used_ns.values()),
                               tolerance, name)


def alone(test):
    """Beside no other test of the script: it takes a processor, or measures what others disturb."""
    test.is_alone = True
    return test


def is_alone(test):
    return getattr(getattr(test, test._testMethodName), "is_alone", False)


def tests_in(suite):
    for part in suite:
        yield from tests_in(part) if isinstance(part, unittest.TestSuite) else (part,)


class Taken(unittest.TestSuite):
    """The tests with these numbers: one is read from the pipe when the one before has ended."""
    _cleanup = False

    def __init__(self, tests, numbers):
        super().__init__()
        self.tests, self.numbers = tests, numbers

    def __iter__(self):
        while number := os.read(self.numbers, 1):
            yield self.tests[number[0]]


def run_tests(tests):
    """[tests run, whether all passed, [[name, reason] of each skipped test]]"""
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(tests)
    sys.stdout.flush()
    return [result.testsRun, result.wasSuccessful(), [[test.id(), reason] for test, reason in result.skipped]]


class Lines:
    """Whole lines to the output of several processes; what a process that hangs has passed is there, too."""
    rest = ""

    def write(self, text):
        *lines, self.rest = (self.rest + text).split("\n")
        os.write(1, "".join(f"{line}\n" for line in lines).encode(errors="replace"))

    def flush(self):
        pass


def start_tests(tests, numbers):
    """A process that runs tests as long as there are numbers; a file with its result."""
    result = tempfile.TemporaryFile("w+", encoding="utf-8")
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            sys.stdout = Lines()
            json.dump(run_tests(Taken(tests, numbers)), result)
            result.flush()
        finally:
            os._exit(0)
    return pid, result


def run_beside(tests, processes):
    """As run_tests(), in several processes: for tests that mostly wait."""
    numbers, end = os.pipe()
    os.write(end, bytes(range(len(tests))))
    os.close(end)
    started = [start_tests(tests, numbers) for _ in range(processes)]
    os.close(numbers)
    results = []
    for pid, result in started:
        os.waitpid(pid, 0)
        result.seek(0)
        results.append(json.loads(result.read() or "[0, false, []]"))
    if sum(run for run, _, _ in results) != len(tests):
        results.append([0, False, []])
    return results


def main(at_once=1):
    """Runs the script's tests, with `-k NAME` those whose names contain NAME; a sentence for each that was skipped.
    at_once: so many at a time, but those that are alone."""
    words = argparse.ArgumentParser()
    words.add_argument("-k", metavar="NAME", action="append")
    loader = unittest.defaultTestLoader
    loader.testNamePatterns = [f"*{name}*" for name in words.parse_args().k or []] or None
    tests = list(tests_in(loader.loadTestsFromModule(sys.modules["__main__"])))
    beside = [test for test in tests if at_once > 1 and not is_alone(test)]
    # Shells start commands in the background with SIGINT ignored, and programs inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    results = run_beside(beside, at_once) if beside else []
    results.append(run_tests(unittest.TestSuite(test for test in tests if test not in beside)))
    count = sum(run for run, _, _ in results)
    skipped = [skip for _, _, skips in results for skip in skips]
    for name, reason in skipped:
        print(f"skipped {name}: {reason}")
    if not all(passed for _, passed, _ in results) or count == 0:
        sys.exit(1)
    sys.exit(77 if len(skipped) == count else 0)
