/* SPDX-License-Identifier: MIT */
/*
 * fibers MILLISECONDS: eight fibers on stacks of their own take turns by a switch written by hand, as those
 * of many coroutine libraries: no system call, no CFI. Pages that cannot be read lie on both sides of the stacks
 * of half of them; the others' come and go, each time with another size.
 */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { COUNT = 8, PAGE = 4096, MOST_PAGES = 16 };

struct fiber {
    void *sp;
    char *block;
    size_t bytes;
    unsigned long turns;
};

static struct fiber fibers[COUNT];
static void *scheduler_sp;
static struct fiber *running;

/* switch_to(where to save SP, the SP to go on with) */
__asm__(".text\n"
        ".globl switch_to\n"
        "switch_to:\n"
        "  push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
        "  mov %rsp, (%rdi)\n"
        "  mov %rsi, %rsp\n"
        "  pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
        "  ret\n");
void switch_to(void **from, void *to);

__attribute__((noinline)) static void turn_of_a_fiber(struct fiber *fiber)
{
    burn_rounds((uint64_t)(uintptr_t)fiber, 500);
    fiber->turns++;
    __asm__ volatile("");
}

__attribute__((noinline)) static void work_of_a_fiber(void)
{
    for (;;) {
        turn_of_a_fiber(running);
        switch_to(&running->sp, scheduler_sp);
    }
}

static void make(struct fiber *fiber, size_t pages)
{
    fiber->bytes = (pages + 2) * PAGE;
    fiber->block = mmap(NULL, fiber->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(fiber->block + PAGE, pages * PAGE, PROT_READ | PROT_WRITE);
    void **top = (void **)(void *)(fiber->block + fiber->bytes - PAGE);
    *--top = NULL; /* no caller */
    *--top = (void *)(uintptr_t)work_of_a_fiber;
    fiber->sp = top - 6;
}

int main(int argc, char **argv)
{
    uint64_t end_ns = strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 1000000;
    unsigned long rounds = 0, missing = 0;
    for (int i = 0; i < COUNT; i++)
        make(&fibers[i], 2);
    for (; burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns; rounds++)
        for (int i = 0; i < COUNT; i++) {
            running = &fibers[i];
            switch_to(&scheduler_sp, running->sp);
            if (i % 2 || rounds % 16)
                continue;
            munmap(running->block, running->bytes);
            make(running, 2 + rounds / 16 % MOST_PAGES);
        }
    for (int i = 0; i < COUNT; i++)
        missing += rounds - fibers[i].turns;
    printf("%lu missing\n", missing);
    return 0;
}
