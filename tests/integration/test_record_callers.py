#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stacks through code without CFI and frame pointers have the callers that the source states, up to the program's
start: functions called directly, by pointer, by tail calls, with pushed arguments, and written by hand."""
import os
import subprocess

import rec

ASSEMBLY = """
    .text
    .globl by_hand
    .type by_hand, @function
# The frame pointer is a general register; the loop lies behind a return.
by_hand:
    sub $40, %rsp
    mov %rbp, 24(%rsp)
    mov %rbx, 16(%rsp)
    test %rdi, %rdi
    jg 2f
    xor %eax, %eax
    mov 24(%rsp), %rbp
    mov 16(%rsp), %rbx
    add $40, %rsp
    ret
2:  mov %rdi, %rbp
    mov $200000, %ebx
3:  imul $7, %rbp, %rbp
    add $3, %rbp
    dec %ebx
    jnz 3b
    mov %rbp, %rax
    mov 24(%rsp), %rbp
    mov 16(%rsp), %rbx
    add $40, %rsp
    ret
    .size by_hand, . - by_hand
    .globl by_choice
    .type by_choice, @function
# As libraries choose a function by the processor: the slot leads to the choice first, then to its result.
by_choice:
    jmp *choice(%rip)
    .size by_choice, . - by_choice
    .type choose, @function
choose:
    lea by_hand(%rip), %rax
    mov %rax, choice(%rip)
    jmp by_choice
    .size choose, . - choose
    .data
choice:
    .quad choose
    .section .note.GNU-stack, "", @progbits
"""

PROGRAM = """
#include <stdlib.h>
#include <time.h>
#define NOINLINE __attribute__((noinline, noclone))
long by_hand(long n), by_choice(long n);
NOINLINE static long spin(long n)
{
    for (int i = 0; i < 300000; i++) {
        n = n * 7 + 3;
        __asm__ volatile("" : "+r"(n));
    }
    return n;
}
NOINLINE static long direct(long n) { return spin(n) + 1; }
NOINLINE static long pointed(long n) { return spin(n) + 2; }
NOINLINE static long behind_tail_call(long n) { return spin(n) + 3; }
NOINLINE static long tail(long n) { return behind_tail_call(n ^ 5); }
NOINLINE static long pushed(long a, long b, long c, long d, long e, long f, long g, long h)
{
    return spin(a + b + c + d + e + f + g + h) + 4;
}
NOINLINE static long chosen(long n) { return by_choice(n & 255) + 5; }
static long (*volatile pointer)(long) = pointed;
NOINLINE static long middle(long n)
{
    long sum = direct(n) + pointer(n) + tail(n) + by_hand(n & 255) + chosen(n);
    return sum + pushed(sum, n, 1, 2, 3, 4, 5, 6);
}
static int compare(const void *a, const void *b)
{
    spin(1);
    return *(const char *)a - *(const char *)b;
}
int main(void)
{
    char text[] = "hg";
    long sum = 0;
    while (clock() < CLOCKS_PER_SEC) {
        sum += middle(sum | 1);
        qsort(text, 2, 1, compare);
    }
    return sum == 1;
}
"""

# The file's function has a frame of 24 bytes. While the program runs, the function has 104, and below the return
# address an address behind a call.
CHANGES = """
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#define FUNCTION(name, bytes, more) \\
    ".globl " #name "\\n.type " #name ", @function\\n.p2align 4\\n" #name ":\\n" \\
    "sub $" #bytes ", %rsp\\n" more "mov $400000, %ecx\\n1: dec %ecx\\njnz 1b\\nadd $" #bytes ", %rsp\\nret\\n" \\
    ".skip 64, 0x90\\n.size " #name ", . - " #name "\\n"
__asm__(".text\\n.p2align 12\\n" FUNCTION(changed, 24, "")
        ".p2align 12\\n" FUNCTION(other, 104, "mov %rsi, 24(%rsp)\\nmovq $0, 32(%rsp)\\n"));
void changed(long n, void *decoy), other(long n, void *decoy);
static void *behind;
__attribute__((noinline)) static void note(void) { behind = __builtin_return_address(0); }
__attribute__((noinline)) static void elsewhere(void) { note(); __asm__ volatile(""); }
__attribute__((noinline, noclone)) static void calls(long n) { changed(n, behind); __asm__ volatile(""); }
int main(void)
{
    elsewhere();
    if (mprotect(changed, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return 1;
    memcpy(changed, other, 128);
    while (clock() < CLOCKS_PER_SEC)
        calls(1);
    return 0;
}
"""

CALLERS = {
    ("main", "middle", "direct", "spin"),
    ("main", "middle", "pointed", "spin"),
    ("main", "middle", "behind_tail_call", "spin"),
    ("main", "middle", "pushed", "spin"),
    ("main", "middle", "by_hand"),
    ("main", "middle", "chosen", "by_hand"),
}
NO_CFI = ["-O2", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fomit-frame-pointer", "-fno-ipa-ra"]


class Callers(rec.Case):
    def build(self, *options):
        directory = self.new_directory()
        for name, text in (("by_hand.s", ASSEMBLY), ("main.c", PROGRAM)):
            with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
                file.write(text)
        program = os.path.join(directory, "program")
        subprocess.run(["gcc", *NO_CFI, *options, "main.c", "by_hand.s", "-o", program], cwd=directory, check=True)
        return program

    def shares(self, program, *rec_options):
        run = self.recorded(program, rec_options=["-q", "-F", "999", *rec_options])
        self.assertGreater(run.count("samples"), 500, run.summary)
        self.assertGreater(run.complete_percent(), 99, run.summary)
        self.assertGreater(run.count("callers_verified"), 500, run.summary)
        self.assertGreater(run.count("callers_plausible"), 100, run.summary)
        found = {}
        for stack, weight in run.stacks().items():
            own = stack[stack.index("main"):] if "main" in stack else ("no main", *stack)
            own = own[:-1] if own[-1] == "[kernel]" else own  # interrupts of a busy machine
            found[own] = found.get(own, 0) + weight
        total = sum(found.values())
        return {stack: 100 * weight / total for stack, weight in found.items()}

    def test_every_caller_is_the_one_in_the_source(self):
        for options in ([], ["-no-pie", "-fno-pie"], ["-Os"]):
            with self.subTest(options=options):
                shares = self.shares(self.build(*options))
                for callers in CALLERS:
                    self.assertGreater(shares.get(callers, 0), 8, shares)
                sort = sum(share for stack, share in shares.items() if stack[-2:] == ("compare", "spin"))
                self.assertGreater(sort, 5, shares)
                self.assertLess(100 - sort - sum(shares[callers] for callers in CALLERS), 3, shares)

    def test_code_written_by_hand_is_complete(self):
        run = self.recorded(rec.target("by_hand"), "600", rec_options=["-q", "-F", "999"])
        self.assertGreater(run.complete_percent(), 99, run.summary)
        for name in ("hand_leaf", "hand_pushes", "hand_realigns", "hand_realigns_and_calls", "hand_end"):
            self.assertGreater(run.share_of(name), 1, name)
            strays = [stack for stack in run.stacks() if name in stack and "call_all" not in stack]
            self.assertEqual(strays, [])
        # Stale words of the sampler's own signals lie in the large frame of hand_enters.
        inside = [stack[stack.index("call_all"):] for stack in run.stacks() if "call_all" in stack]
        self.assertEqual([stack for stack in inside if any("libc" in frame for frame in stack)], [])

    def test_the_code_of_a_large_file_is_complete(self):
        run = self.recorded(rec.target("large_code"), "600", rec_options=["-q", "-F", "999"])
        kernel = {stack: weight for stack, weight in run.stacks().items() if "large_kernel" in stack}
        self.assertGreater(run.share_of("large_kernel"), 50, run.summary)
        whole = {stack: weight for stack, weight in kernel.items() if "[truncated]" not in stack}
        self.assertGreater(sum(whole.values()), 0.95 * sum(kernel.values()), run.summary)
        self.assertEqual({stack[stack.index("main"):].count("descend") for stack in whole}, {201})

    def test_a_caller_behind_the_copy_is_not_guessed(self):
        self.need_engine("perf-ring")
        run = self.recorded(rec.target("large_code"), "300", rec_options=["-q", "-F", "999", "--engine=perf-ring"])
        self.assertGreater(run.count("cut.stack-copy"), run.count("samples") / 2, run.summary)
        self.assertEqual(run.count("cut.guess"), 0, run.summary)

    def test_code_entered_by_a_jump_in_a_large_file_is_complete(self):
        for engine in ("perf-trap", "timer", "perf-ring"):
            with self.subTest(engine=engine):
                self.need_engine(engine)
                options = ["-q", "-F", "999", f"--engine={engine}"]
                run = self.recorded(rec.target("entered_code"), "1500", rec_options=options)
                inside = {stack: weight for stack, weight in run.stacks().items() if "schedule" in stack}
                self.assertEqual({stack[stack.index("main"):][:2] for stack in inside}, {("main", "schedule")})
                # First the kernel copies 16 KiB, and only over pages with memory.
                short = 100 * (run.count("cut.stack-copy") + run.count("cut.stack-page")) / run.count("samples")
                self.assertGreater(run.complete_percent() + short, 99, run.summary)
                self.assertLess(short, 50 if engine == "perf-ring" else 0.1, run.summary)

    def test_code_changed_at_run_time_gives_no_wrong_stack(self):
        directory = self.new_directory()
        with open(os.path.join(directory, "changes.c"), "w", encoding="utf-8") as file:
            file.write(CHANGES)
        program = os.path.join(directory, "changes")
        subprocess.run(["gcc", *NO_CFI, "changes.c", "-o", program], cwd=directory, check=True)
        run = self.recorded(program, rec_options=["-q", "-F", "999"])
        stacks = {stack: weight for stack, weight in run.stacks().items() if "changed" in stack}
        self.assertGreater(sum(stacks.values()), run.count("samples") / 2, run.summary)
        complete = {stack[stack.index("main"):][:3] for stack in stacks if "[truncated]" not in stack}
        self.assertLessEqual(complete, {("main", "calls", "changed")})
        cuts = sum(int(value) for key, value in run.summary.items() if key.startswith("cut."))
        self.assertEqual(int(run.summary["complete"]) + cuts, run.count("samples"), run.summary)

    def test_a_stripped_program_is_as_complete(self):
        program = self.build()
        subprocess.run(["strip", program], check=True)
        run = self.recorded(program, rec_options=["-q", "-F", "999"])
        self.assertGreater(run.complete_percent(), 99, run.summary)


if __name__ == "__main__":
    rec.main()
