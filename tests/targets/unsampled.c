/* SPDX-License-Identifier: MIT */
/*
 * unsampled HOW MILLISECONDS: uses CPU time where no signal of the sampler comes.
 *
 *     blocked   every signal is blocked, by a system call of our own
 *     clone     a thread that the C library does not know of
 *     tls       the same, with thread-local memory that is none of the C library's
 */
#include "burn.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_BYTES 4096

static uint64_t end_ns;
static volatile int is_done;

/* No thread-local memory: the parent's is not ours. */
static int burn_alone(void *argument)
{
    volatile uint64_t sum = 0;
    (void)argument;
    while (!is_done)
        sum = sum + 1;
    return 0;
}

/* Nothing is mapped before it. */
static void *own_tls(void)
{
    char *memory = mmap(NULL, 2 * PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED ||
        mprotect(memory + PAGE_BYTES, PAGE_BYTES, PROT_READ | PROT_WRITE) != 0)
        exit(3);
    return memory + PAGE_BYTES;
}

static void burn_in_clone(int more_flags)
{
    static char stack[65536] __attribute__((aligned(16)));
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    if (clone(burn_alone, stack + sizeof(stack), flags | more_flags, NULL, NULL, own_tls()) < 0)
        exit(2);
    usleep((useconds_t)(end_ns / 1000));
    is_done = 1;
    usleep(10000);
}

int main(int argc, char **argv)
{
    uint64_t all = ~UINT64_C(0);
    end_ns = strtoull(argc > 2 ? argv[2] : "1000", NULL, 10) * 1000000;
    if (argc > 1 && strcmp(argv[1], "blocked") != 0) {
        burn_in_clone(strcmp(argv[1], "tls") == 0 ? CLONE_SETTLS : 0);
        return 0;
    }
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
    return burn_until_ns(end_ns) == 0;
}
