#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_sampler_so.py finds what it says it finds: for each rule a small library that breaks this one.

    check_sampler_so_test.py [COMPILER]
"""
import subprocess
import sys
import tempfile
from pathlib import Path

CHECK = Path(__file__).resolve().parent / "check_sampler_so.py"

# A library that keeps all rules: the handler works, or passes the signal on.
SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#define APART __attribute__((noinline))
#define SHOWN __attribute__((visibility("default")))
void (*program)(int);
volatile long sink = 1;
__thread long state;
__attribute__((constructor)) static void start(void) { program = dlsym(RTLD_NEXT, "x"); }
static inline void system_call(void)
{
    long r = 39;
    __asm__ volatile("syscall" : "+a"(r) :: "rcx", "r11", "memory");
}
SHOWN void shown(void);
SHOWN void shown(void) { state++; }
%(outside)s
static APART void work(int n) { sink += n; %(inside)s }
APART void deliver_foreign(int number);
APART void deliver_foreign(int number)
{
    void (*action)(int) = program;
    system_call();
    action(number);
    system_call();
    %(deliver)s
}
void handler(int number);
void handler(int number) { if (number == 5) deliver_foreign(number); else { work(number); state++; } }
"""
COMPILE = ["-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-plt", "-fno-stack-protector",
           "-fno-jump-tables", "-ftls-model=initial-exec"]
LINK = ["-nostartfiles", "-Wl,-z,now", "-Wl,-z,norelro", "-Wl,-z,initfirst", "-Wl,-z,nodelete",
        "-Wl,-z,noseparate-code"]

IMPORTED = "handler calls nothing imported"
POINTERS = "handler calls nothing through pointers"
FLAGS = "dynamic flags"

# what breaks -> (the checks that fail, source in places, options)
CASES = {
    "nothing": ((), {}, []),
    "an import nobody knows": (
        "imports are known",
        {"outside": "#include <stdlib.h>\nvoid other(void); void other(void) { free((void *)sink); }"},
        []),
    "a call into the C library": (
        IMPORTED, {"inside": 'program = dlsym(RTLD_NEXT, "y");'}, []),
    "a call through the PLT": (
        IMPORTED, {"inside": 'program = dlsym(RTLD_NEXT, "y");'}, ["-fplt"]),
    "a tail call into the C library": (
        IMPORTED, {"outside": "extern int pthread_attr_destroy();",
                   "inside": "pthread_attr_destroy(&sink);"}, []),
    "the address of an import": (
        IMPORTED, {"inside": "sink = (long)&dlsym;"}, []),
    "a call into the C library below deliver_foreign": (
        IMPORTED, {"deliver": 'program = dlsym(RTLD_NEXT, "y"); sink++;'}, []),
    "a system call": (
        "handler makes no system call", {"inside": "system_call();"}, []),
    "a system call two calls down": (
        "handler makes no system call",
        {"outside": "static APART void below(void) { system_call(); sink++; }",
         "inside": "below(); sink++;"}, []),
    "a call through a pointer": (POINTERS, {"inside": "program(n); sink++;"}, []),
    "a tail call through a pointer": (POINTERS, {"inside": "program(n);"}, []),
    "a jump table": (
        POINTERS,
        {"inside": "switch (n) { case 0: sink = 3; break; case 1: sink *= 7; break; case 2: sink ^= 9;"
                   " break; case 3: sink -= 4; break; case 4: sink = sink << 3; break; case 5:"
                   " sink = sink / 3; break; case 6: sink |= 5; }"},
        ["-fjump-tables"]),
    "recursion": (
        "handler does not recurse",
        {"outside": "static APART long below(long n) { return n ? below(n - sink) ^ below(n + sink) : 3; }",
         "inside": "sink = below(n);"}, []),
    "a large frame": (
        "handler's stack:", {"inside": "volatile char big[2000]; big[n] = 1; sink = big[n + 1];"}, []),
    "frames that are large together": (
        "handler's stack:",
        {"outside": "static APART void below(int n) { volatile char a[900]; a[n] = 1; sink = a[n + 1]; }",
         "inside": "volatile char b[900]; b[n] = 1; below(n); sink = b[n + 1];"}, []),
    "a frame whose size is not known": (
        "handler's stack can be followed",
        {"inside": "volatile char *a = __builtin_alloca(n); a[n - 1] = 1; sink = a[0];"}, []),
    "thread-local storage that is allocated late": (
        ("imports are known", "libraries needed", "relocations", IMPORTED), {},
        ["-ftls-model=global-dynamic"]),
    "much thread-local storage": (
        "thread-local storage",
        {"outside": "__thread char much[100]; SHOWN void shown(void);",
         "inside": "much[n] = 1;"}, []),
    "late binding": (FLAGS, {}, ["-Wl,-z,lazy"]),
    "not first to start": (FLAGS, {}, ["-without", "-Wl,-z,initfirst"]),
    "can be unloaded": (FLAGS, {}, ["-without", "-Wl,-z,nodelete"]),
    "an executable stack": ("stack is not executable", {}, ["-Wl,-z,execstack"]),
    "start files": (("imports are known", "no compiler runtime"), {}, ["-without", "-nostartfiles"]),
    "read-only data on a page of its own": ("one page written at the start", {}, ["-Wl,-z,relro"]),
    "read-only segments of their own": (
        "two mappings of the file", {}, ["-without", "-Wl,-z,noseparate-code"]),
    "more zeros than a page holds": (
        ("two mappings of the file", "one page written at the start"), {"outside": "char many[5000];"}, []),
    "more data than a page holds": (
        "one page written at the start", {"outside": "char many[5000] = {1};"}, []),
    "another constructor": (
        "one constructor",
        {"outside": "__attribute__((constructor)) static void again(void) { sink++; }"}, []),
    "another library": ("libraries needed", {}, ["-Wl,--no-as-needed", "-lm"]),
    "another export": (
        "exports are those of the list",
        {"outside": "SHOWN void more(void); SHOWN void more(void) { sink++; }"}, []),
    "a division that the compiler leaves to its runtime": (
        "no compiler runtime",
        {"outside": "unsigned __int128 half(unsigned __int128, unsigned __int128);\n"
                    "unsigned __int128 half(unsigned __int128 a, unsigned __int128 b) { return a / b; }"},
        ["-static-libgcc"]),
    "no symbols": ("was it stripped", {}, ["-s"]),
}


def build(compiler, folder, places, options):
    source, library = folder / "library.c", folder / "library.so"
    filled = {"outside": "", "inside": "", "deliver": ""} | places
    source.write_text(SOURCE % filled, encoding="utf-8")
    flags = COMPILE + LINK
    if options[:1] == ["-without"]:
        flags = [flag for flag in flags if flag not in options[1:]]
        options = []
    subprocess.run([compiler, *flags, "-o", library, source, *options], check=True)
    return library


def failures(folder, library):
    (folder / "list").write_text("# what is shown\nshown\n", encoding="utf-8")
    done = subprocess.run([CHECK, library, "--exports", folder / "list"], capture_output=True, text=True,
                          check=False)
    if done.stderr:
        return [done.stderr]
    failed = [line.removeprefix("FAIL  ") for line in done.stdout.splitlines()
              if line.startswith("FAIL")]
    if bool(failed) != (done.returncode == 1):
        failed.append(f"exit status {done.returncode}")
    return failed


def main():
    compiler = sys.argv[1] if len(sys.argv) > 1 else "cc"
    wrong = 0
    for case, (expected, places, options) in CASES.items():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            found = failures(folder, build(compiler, folder, places, options))
        expected = expected if isinstance(expected, tuple) else (expected,)
        is_right = (len(found) == len(expected) and
                    all(check in line for check, line in zip(expected, found)))
        wrong += not is_right
        print("ok   " if is_right else "FAIL ", case, "->", "; ".join(found) or "passes")
    return 1 if wrong else 0


sys.exit(main())
