/* SPDX-License-Identifier: MIT */
/*
 * fcontexts MILLISECONDS: four fibers take turns by a switch written by hand. The first function of each returns to
 * code that ends the program, as Boost.Context and PHP arrange it; no call leads there, and no CFI describes it.
 */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { COUNT = 4, STACK_BYTES = 64 << 10 };

static void *fibers[COUNT], *scheduler;
static unsigned long turns[COUNT];
static int running;

/* fiber_switch(where to save SP, the SP to go on with) */
__asm__(".text\n"
        ".globl fiber_switch, fiber_start, fiber_end\n"
        ".type fiber_start, @function\n.type fiber_end, @function\n"
        "fiber_switch:\n"
        "  push %rbp; push %rbx\n"
        "  mov %rsp, (%rdi)\n"
        "  mov %rsi, %rsp\n"
        "  pop %rbx; pop %rbp\n"
        "  ret\n"
        "fiber_start:\n" /* the function is in rbx, the place to return to in rbp */
        "  push %rbp\n"
        "  jmp *%rbx\n"
        "fiber_end:\n"
        "  xor %edi, %edi\n"
        "  call _exit@PLT\n"
        "  hlt\n"
        ".size fiber_start, . - fiber_start\n");
void fiber_switch(void **from, void *to);
void fiber_start(void);
void fiber_end(void);

__attribute__((noinline)) static void turn_of_a_fiber(void)
{
    burn_rounds((uint64_t)running, 20000);
    turns[running]++;
    __asm__ volatile("");
}

__attribute__((noinline)) static void work_of_a_fiber(void)
{
    for (;;) {
        turn_of_a_fiber();
        fiber_switch(&fibers[running], scheduler);
    }
}

static void *make_fiber(void)
{
    char *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        exit(1);
    void **sp = (void **)(void *)(stack + STACK_BYTES) - 4;
    sp[0] = (void *)(uintptr_t)work_of_a_fiber;
    sp[1] = (void *)(uintptr_t)fiber_end;
    sp[2] = (void *)(uintptr_t)fiber_start;
    return sp;
}

int main(int argc, char **argv)
{
    uint64_t end_ns = strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 1000000;
    unsigned long rounds = 0, missing = 0;
    for (int i = 0; i < COUNT; i++)
        fibers[i] = make_fiber();
    for (; burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns; rounds++)
        for (running = 0; running < COUNT; running++)
            fiber_switch(&scheduler, fibers[running]);
    for (int i = 0; i < COUNT; i++)
        missing += rounds - turns[i];
    printf("missing turns: %lu\n", missing);
    return 0;
}
