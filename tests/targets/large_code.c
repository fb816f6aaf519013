/* SPDX-License-Identifier: MIT */
/*
 * large_code MILLISECONDS: 17 MiB of code, more than is scanned for function starts, and functions without CFI behind,
 * called by pointer 200 KiB deep: with SP in RBX and a buffer of 28 KiB, as matrix kernels; and one without a symbol,
 * of which the start is not known.
 */
#include "burn.h"

#include <stdlib.h>

enum { DEPTH = 200, FRAME_BYTES = 1024 };

__asm__(".text\n"
        ".skip 17 << 20, 0xcc\n"
        ".p2align 4\n"
        ".globl large_kernel\n"
        ".type large_kernel, @function\n"
        "large_kernel:\n"
        "  sub $16, %rsp\n"
        "  mov %rbx, (%rsp)\n"
        "  mov %rsp, %rbx\n"
        "  sub $28672, %rsp\n"
        "  and $-4096, %rsp\n"
        "1: imul $7, %rdi, %rdi\n"
        "  mov %rdi, 64(%rsp)\n"
        "  dec %rsi\n"
        "  jnz 1b\n"
        "  mov %rdi, %rax\n"
        "  mov %rbx, %rsp\n"
        "  mov (%rsp), %rbx\n"
        "  add $16, %rsp\n"
        "  ret\n"
        ".size large_kernel, . - large_kernel\n"
        ".p2align 4\n"
        ".type Builtins_made_up, @function\n"
        "Builtins_made_up:\n"
        "  ret\n"
        ".size Builtins_made_up, . - Builtins_made_up\n"
        ".p2align 4\n"
        ".Lunnamed:\n"
        "  push %rbx\n"
        "  mov %rdi, %rbx\n"
        "2: imul $7, %rbx, %rbx\n"
        "  dec %rsi\n"
        "  jnz 2b\n"
        "  mov %rbx, %rax\n"
        "  pop %rbx\n"
        "  ret\n"
        ".p2align 4\n"
        ".globl large_unnamed\n"
        ".type large_unnamed, @function\n"
        "large_unnamed:\n"
        "  lea .Lunnamed(%rip), %rax\n"
        "  ret\n"
        ".size large_unnamed, . - large_unnamed\n");
typedef uint64_t kernel(uint64_t n, uint64_t rounds);
kernel large_kernel, *large_unnamed(void);

__attribute__((noinline)) static uint64_t descend(unsigned depth, kernel *volatile *functions)
{
    char room[FRAME_BYTES];
    __asm__ volatile("" : : "r"(room) : "memory");
    if (depth > 0)
        return descend(depth - 1, functions) + 1;
    return functions[0](3, 40000) + functions[1](5, 1000);
}

int main(int argc, char **argv)
{
    uint64_t end_ns = strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 1000000;
    static kernel *volatile functions[2];
    uint64_t sum = 0;
    functions[0] = large_kernel;
    functions[1] = large_unnamed();
    while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
        sum += descend(DEPTH, functions);
    return sum == 1;
}
