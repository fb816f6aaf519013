/* SPDX-License-Identifier: MIT */
/*
 * deep_fibers MILLISECONDS DEPTH [thread]: in the main thread, or in a thread of its own, eight fibers take turns by a switch written by hand, from the bottom of DEPTH calls,
 * 3 KiB for ten of them. Each stack spells its fiber: fiber 6 (binary 110) works in
 *
 *     work_6 step_0 step_1 step_1 step_0 step_1 step_1 … leaf_6
 *
 * so a stack of parts of two fibers, or of two times, is found out. The stacks come and go: after some turns a fiber's
 * is unmapped, and the fiber begins again on a stack of another size, between pages that cannot be read.
 */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { COUNT = 8, BITS = 3, PAGE = 4096, FRAME = 256, MOST_PAGES = 16 };

struct fiber {
    unsigned id;
    void *sp;
    char *block;
    size_t bytes;
    unsigned long turns;
};

static struct fiber fibers[COUNT];
static void *scheduler_sp;
static struct fiber *running;
static unsigned depth;

/* switch_to(where to save SP, the SP to go on with) */
__asm__(".text\n"
        ".globl switch_to\n"
        ".type switch_to, @function\n"
        "switch_to:\n"
        "  push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
        "  mov %rsp, (%rdi)\n"
        "  mov %rsi, %rsp\n"
        "  pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
        "  ret\n"
        ".size switch_to, . - switch_to\n");
void switch_to(void **from, void *to);

static void descend(struct fiber *fiber, unsigned level);

static void take_turn(struct fiber *fiber)
{
    burn_rounds(fiber->id, 300);
    fiber->turns++;
    switch_to(&fiber->sp, scheduler_sp);
    burn_rounds(fiber->id, 300);
}

#define KEEP_FRAME(bytes) \
    char room[bytes];     \
    __asm__ volatile("" : : "r"(room) : "memory")
#define NO_TAIL_CALL() __asm__ volatile("" : : : "memory")

#define STEP(bit)                                                                                 \
    __attribute__((noinline, no_icf)) static void step_##bit(struct fiber *fiber, unsigned level) \
    {                                                                                             \
        KEEP_FRAME(FRAME);                                                                        \
        descend(fiber, level);                                                                    \
        NO_TAIL_CALL();                                                                           \
    }
STEP(0)
STEP(1)

#define FIBER(id)                                                                \
    __attribute__((noinline, no_icf)) static void leaf_##id(struct fiber *fiber) \
    {                                                                            \
        take_turn(fiber);                                                        \
        NO_TAIL_CALL();                                                          \
    }                                                                            \
    __attribute__((noinline, no_icf)) static void work_##id(void)                \
    {                                                                            \
        for (;;)                                                                 \
            descend(&fibers[id], 0);                                             \
    }
FIBER(0)
FIBER(1)
FIBER(2)
FIBER(3)
FIBER(4)
FIBER(5)
FIBER(6)
FIBER(7)

typedef void leaf_function(struct fiber *fiber);
static leaf_function *const leaves[COUNT] = {leaf_0, leaf_1, leaf_2, leaf_3,
                                             leaf_4, leaf_5, leaf_6, leaf_7};
typedef void work_function(void);
static work_function *const works[COUNT] = {work_0, work_1, work_2, work_3,
                                            work_4, work_5, work_6, work_7};

__attribute__((always_inline)) static inline void descend(struct fiber *fiber, unsigned level)
{
    if (level == depth)
        leaves[fiber->id](fiber);
    else if (fiber->id >> level % BITS & 1)
        step_1(fiber, level + 1);
    else
        step_0(fiber, level + 1);
}

static void make(struct fiber *fiber, size_t pages)
{
    fiber->bytes = (pages + 2) * PAGE;
    fiber->block = mmap(NULL, fiber->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fiber->block == MAP_FAILED ||
        mprotect(fiber->block + PAGE, pages * PAGE, PROT_READ | PROT_WRITE) != 0)
        exit(2);
    void **top = (void **)(void *)(fiber->block + fiber->bytes - PAGE);
    *--top = NULL; /* no caller */
    *--top = (void *)(uintptr_t)works[fiber->id];
    fiber->sp = top - 6;
}

static void *take_turns(void *argument)
{
    const uint64_t end_ns = *(const uint64_t *)argument;
    size_t least = 2 + (size_t)depth * (FRAME + 64) / PAGE;
    unsigned long rounds = 0, missing = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        fibers[i].id = i;
        make(&fibers[i], least);
    }
    for (; burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns; rounds++)
        for (int i = 0; i < COUNT; i++) {
            running = &fibers[i];
            switch_to(&scheduler_sp, running->sp);
            if (i % 2 || rounds % 512)
                continue;
            munmap(running->block, running->bytes);
            make(running, least + rounds / 512 % MOST_PAGES);
        }
    for (int i = 0; i < COUNT; i++)
        missing += rounds - fibers[i].turns;
    printf("%lu missing\n", missing);
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t end_ns = strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 1000000;
    pthread_t thread;
    depth = argc > 2 ? (unsigned)atoi(argv[2]) : 40;
    if (argc <= 3)
        take_turns(&end_ns);
    else if (pthread_create(&thread, NULL, take_turns, &end_ns) != 0 ||
             pthread_join(thread, NULL) != 0)
        return 2;
    return 0;
}
