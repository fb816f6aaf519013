/* SPDX-License-Identifier: MIT */
/*
 * by_hand [MILLISECONDS]: functions written by hand without CFI, in the ways of codecs and ciphers, called by compiled
 * code with CFI, directly and by pointer. Without an argument each is called a few times, for tests that step through.
 */
#include "burn.h"

#include <stdlib.h>

#define FUNCTION(name) ".globl " #name "\n.type " #name ", @function\n" #name ":\n"
#define END(name) ".size " #name ", . - " #name "\n.p2align 4\n"

__asm__(
    ".text\n"
    /* A few rounds, with nothing on the stack. */
    "hand_work:\n"
    "  mov %rdi, %rax\n"
    "hand_work_behind:\n" /* a second entry */
    "  mov $20, %ecx\n"
    "1: imul $7, %rax, %rax\n"
    "  add $3, %rax\n"
    "  dec %ecx\n"
    "  jnz 1b\n"
    "  ret\n"
    ".p2align 4\n" FUNCTION(hand_leaf) "  call hand_work\n"
                                       ".Lbehind_call:\n"
                                       "  call hand_work_behind\n"
                                       "  ret\n" END(hand_leaf)
    /* The loop lies behind an early return. */
    FUNCTION(hand_pushes) "  push %rbx\n"
                          "  push %rbp\n"
                          "  sub $40, %rsp\n"
                          "  mov %rdi, %rbx\n"
                          "  test $1, %edi\n"
                          "  jnz 2f\n"
                          "  add $40, %rsp\n"
                          "  pop %rbp\n"
                          "  pop %rbx\n"
                          "  ret\n"
                          "2: mov $3, %ebp\n"
                          "3: mov %rbx, %rdi\n"
                          "  sub $16, %rsp\n"
                          "  call hand_work\n"
                          "  add $16, %rsp\n"
                          "  dec %ebp\n"
                          "  jnz 3b\n"
                          "  add $40, %rsp\n"
                          "  pop %rbp\n"
                          "  pop %rbx\n"
                          "  ret\n" END(hand_pushes)
    /* The stack is realigned; SP is kept in a register. */
    FUNCTION(hand_realigns) "  push %r14\n"
                            "  mov %rsp, %r14\n"
                            "  and $-64, %rsp\n"
                            "  sub $256, %rsp\n"
                            "  mov $60, %ecx\n"
                            "1: mov %rdi, 64(%rsp)\n"
                            "  add 64(%rsp), %rdi\n"
                            "  dec %ecx\n"
                            "  jnz 1b\n"
                            "  mov %rdi, %rax\n"
                            "  mov %r14, %rsp\n"
                            "  pop %r14\n"
                            "  ret\n" END(hand_realigns)
    /* … in a register that the helper leaves alone. The function has no symbol: its address is taken. */
    ".Lhelper:\n"
    "  mov %rdi, %rax\n"
    "  mov $20, %ecx\n"
    "1: imul $7, %rax, %rax\n"
    "  mov %rax, 24(%rsp)\n"
    "  dec %ecx\n"
    "  jnz 1b\n"
    "  ret\n"
    ".p2align 4\n"
    ".Lunnamed:\n"
    "  mov %rsp, %r8\n"
    "  and $-32, %rsp\n"
    "  sub $96, %rsp\n"
    "  call .Lhelper\n"
    "  sub $64, %rsp\n"
    "  call .Lhelper\n"
    "  mov %r8, %rsp\n"
    "  ret\n"
    ".p2align 4\n" FUNCTION(hand_unnamed) "  lea .Lunnamed(%rip), %rax\n"
                                          "  ret\n" END(hand_unnamed)
    /* A jump through a register to a label inside, with a jump to another label: no function starts there. */
    FUNCTION(hand_dispatches) "  push %rbx\n"
                              "  push %rbp\n"
                              "  mov $20, %ecx\n"
                              "  mov %rdi, %rax\n"
                              "  lea 1f(%rip), %r8\n"
                              "  test %rdi, %rdi\n"
                              "  {disp32} js 2f\n"
                              "  jmp *%r8\n"
                              ".p2align 4\n"
                              "1: imul $7, %rax, %rax\n"
                              "  add $3, %rax\n"
                              "  dec %ecx\n"
                              "  jz 2f\n"
                              "  jmp *%r8\n"
                              ".p2align 4\n"
                              "2: pop %rbp\n"
                              "  pop %rbx\n"
                              "  ret\n" END(hand_dispatches)
    /* Code entered by a jump, in the frame of hand_enters, as Haskell code in that of StgRun. Leaves by a jump, too. */
    ".Lentered:\n"
    "  mov %rdi, %rax\n"
    "  mov $20, %ecx\n"
    "1: imul $7, %rax, %rax\n"
    "  dec %ecx\n"
    "  jnz 1b\n"
    "  mov %rax, %rdi\n"
    "  sub $16, %rsp\n"
    "  call hand_work\n"
    "  add $16, %rsp\n"
    "  mov (%rbp), %r8\n"
    "  jmp *%r8\n"
    ".p2align 4\n" FUNCTION(hand_enters) "  push %rbp\n"
                                         "  push %rbx\n"
                                         "  sub $4104, %rsp\n"
                                         "  lea .Lleave(%rip), %rax\n"
                                         "  push %rax\n"
                                         "  mov %rsp, %rbp\n"
                                         "  lea .Lentered(%rip), %rax\n"
                                         "  jmp *%rax\n"
                                         ".Lleave: add $4112, %rsp\n"
                                         "  pop %rbx\n"
                                         "  pop %rbp\n"
                                         "  ret\n" END(hand_enters)
    /* Words that look like return addresses lie below the true one, and SP is restored from memory: the frame is
     * unknown. Called directly, the true one is the only one behind a call of hand_decoys. */
    ".pushsection .data\n"
    "hand_words: .quad .Lbehind_call, .Lbehind_data, .Lbehind_more_data\n"
    "hand_sp: .quad 0\n"
    ".popsection\n"
    ".byte 0xe8, 0, 0, 0, 0\n"          /* data like a direct call */
    ".Lbehind_data: .byte 0xff, 0xd0\n" /* like call *%rax */
    ".Lbehind_more_data:\n"
    ".p2align 4\n" FUNCTION(hand_decoys) "  mov %rsp, hand_sp(%rip)\n"
                                         "  and $-64, %rsp\n"
                                         "  sub $128, %rsp\n"
                                         "  mov hand_words(%rip), %rax\n"
                                         "  mov %rax, (%rsp)\n"
                                         "  mov 8+hand_words(%rip), %rax\n"
                                         "  mov %rax, 8(%rsp)\n"
                                         "  mov 16+hand_words(%rip), %rax\n"
                                         "  mov %rax, 16(%rsp)\n"
                                         "  imul $7, %rdi, %rax\n"
                                         "  mov hand_sp(%rip), %rsp\n"
                                         "  ret\n" END(hand_decoys)
    /* … and on the stack, across calls. */
    FUNCTION(hand_realigns_and_calls) "  mov %rsp, %rax\n"
                                      "  and $-32, %rsp\n"
                                      "  sub $96, %rsp\n"
                                      "  mov %rax, 80(%rsp)\n"
                                      "  call hand_work\n"
                                      "  mov %rax, %rdi\n"
                                      "  call hand_work\n"
                                      "  mov 80(%rsp), %rsp\n"
                                      "  ret\n" END(hand_realigns_and_calls)
    /* Two functions that branch to one end. */
    FUNCTION(hand_branches) "  inc %rdi\n"
                            "  jge 1f\n"
                            "  xor %eax, %eax\n"
                            "  ret\n" END(hand_branches)
                                FUNCTION(hand_also_branches) "  dec %rdi\n"
                                                             "  jge 1f\n"
                                                             "  ret\n"
                                                             "1: mov $40, %ecx\n"
                                                             "2: imul $5, %rdi, %rdi\n"
                                                             "  dec %ecx\n"
                                                             "  jnz 2b\n"
                                                             "  mov %rdi, %rax\n"
                                                             "  ret\n" END(hand_also_branches)
    /* Two functions with one end. */
    FUNCTION(hand_end) "  lea 1(%rdi), %rax\n"
                       "hand_shared:\n"
                       "  mov $30, %ecx\n"
                       "1: imul $5, %rax, %rax\n"
                       "  dec %ecx\n"
                       "  jnz 1b\n"
                       "  ret\n" END(hand_end)
                           FUNCTION(hand_other) "  lea 2(%rdi), %rax\n"
                                                "  jmp hand_shared\n" END(hand_other)
    /* ... with two entries, and a jump back to that end. */
    FUNCTION(hand_first_entry) "  inc %rdi\n" FUNCTION(hand_second_entry) "  mov %rdi, %rax\n"
                                                                          "  jmp hand_shared\n" END(
                                                                              hand_second_entry)
    /* The loop has CFI that is wrong. */
    FUNCTION(hand_conflicts) "  push %rbx\n"
                             "  mov %rdi, %rbx\n"
                             "  mov $20, %ecx\n"
                             ".cfi_startproc\n"
                             "1: imul $7, %rbx, %rbx\n"
                             "  dec %ecx\n"
                             "  jnz 1b\n"
                             ".cfi_endproc\n"
                             "  mov %rbx, %rax\n"
                             "  pop %rbx\n"
                             "  ret\n" END(hand_conflicts));

long hand_leaf(long n), hand_pushes(long n), hand_realigns(long n), hand_realigns_and_calls(long n),
    hand_end(long n), hand_other(long n), hand_dispatches(long n), hand_branches(long n),
    hand_also_branches(long n), hand_first_entry(long n), hand_second_entry(long n),
    hand_enters(long n), hand_decoys(long n);
long (*hand_unnamed(void))(long n);

static long (*volatile const by_pointer[])(long) = {
    hand_leaf,  hand_pushes, hand_realigns_and_calls, hand_realigns, hand_end,
    hand_other, hand_decoys};
enum { COUNT = sizeof(by_pointer) / sizeof(by_pointer[0]) };

__attribute__((noinline)) static long call_all(long n)
{
    long sum = hand_leaf(n) + hand_pushes(n | 1) + hand_pushes(n & ~1L) + hand_realigns(n);
    sum += hand_realigns_and_calls(n) + hand_end(n) + hand_other(n);
    sum += hand_unnamed()(n) + hand_dispatches(n) + hand_branches(n) + hand_also_branches(n);
    sum += hand_first_entry(n) + hand_second_entry(n) + hand_enters(n) + hand_decoys(n);
    for (int i = 0; i < COUNT; i++)
        sum += by_pointer[i](n + i);
    return sum;
}

int main(int argc, char **argv)
{
    uint64_t end_ns = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000 : 0;
    long sum = 0;
    for (int i = 0; i < 4; i++)
        sum += call_all(i);
    while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
        for (int i = 0; i < 1000; i++)
            sum += call_all(sum);
    return sum == 1;
}
