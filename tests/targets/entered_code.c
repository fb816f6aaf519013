/* SPDX-License-Identifier: MIT */
/*
 * entered_code MILLISECONDS: 17 MiB of code with neither CFI nor symbols, entered by a jump in the frame of enter(), as
 * in Haskell programs: StgRun reserves 16 KiB, RBP points to the heap, and the code leaves by a jump.
 */
#include "burn.h"

#include <stdlib.h>

__asm__(".text\n"
        ".skip 17 << 20, 0xcc\n"
        ".p2align 4\n"
        ".Lentered:\n"
        "  mov %rdi, %rax\n"
        "1: imul $7, %rax, %rax\n"
        "  dec %rsi\n"
        "  jnz 1b\n"
        "  jmp *(%rbp)\n"
        ".skip 4096, 0xcc\n"
        ".p2align 4\n"
        ".globl enter\n"
        ".type enter, @function\n"
        "enter:\n"
        "  .cfi_startproc\n"
        "  sub $24, %rsp\n"
        "  .cfi_def_cfa_offset 32\n"
        "  mov %rsp, %rax\n"
        "  sub $16384, %rsp\n"
        "  .cfi_def_cfa_offset 16416\n"
        "  mov %rbp, (%rax)\n"
        "  .cfi_offset rbp, -32\n"
        "  mov %rdx, %rbp\n"
        "  lea .Lleave(%rip), %rax\n"
        "  mov %rax, (%rbp)\n"
        "  lea .Lentered(%rip), %rax\n"
        "  jmp *%rax\n"
        ".Lleave:\n"
        "  add $16384, %rsp\n"
        "  .cfi_def_cfa_offset 32\n"
        "  mov (%rsp), %rbp\n"
        "  .cfi_restore rbp\n"
        "  add $24, %rsp\n"
        "  .cfi_def_cfa_offset 8\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size enter, . - enter\n");
uint64_t enter(uint64_t n, uint64_t rounds, void **heap);

__attribute__((noinline)) static uint64_t schedule(void **heap)
{
    return enter(3, 100000, heap) + 1;
}

int main(int argc, char **argv)
{
    uint64_t end_ns = strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 1000000, sum = 0;
    void **heap = malloc(sizeof(*heap));
    while (heap && burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
        sum += schedule(heap);
    free(heap);
    return sum == 1;
}
