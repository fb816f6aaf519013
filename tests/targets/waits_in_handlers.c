/* SPDX-License-Identifier: MIT */
/* waits_in_handlers MILLISECONDS: threads that wait in a signal handler on an alternate stack, which lies in the heap, below
 * the guard page of the thread's stack, or in a frame of the thread; and one that waits in a coroutine. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

enum { ALTERNATE_BYTES = 64 << 10, GUARD_BYTES = 4096, STACK_BYTES = 256 << 10 };

static unsigned long milliseconds = 300;
static ucontext_t outside, inside;

__attribute__((noinline)) static void nap(void)
{
    struct timespec length = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    nanosleep(&length, NULL);
    __asm__ volatile("");
}

static void nap_in_handler(int signal)
{
    (void)signal;
    nap();
    __asm__ volatile("");
}

__attribute__((noinline)) static void interrupted(void *stack)
{
    const stack_t alternate = {.ss_sp = stack, .ss_size = ALTERNATE_BYTES};
    if (sigaltstack(&alternate, NULL) == 0)
        pthread_kill(pthread_self(), SIGUSR1);
    __asm__ volatile("");
}

static void *run_heap(void *unused)
{
    void *stack = malloc(ALTERNATE_BYTES);
    interrupted(stack);
    __asm__ volatile("");
    return unused;
}

static void *run_below(void *own_stack)
{
    interrupted((uint8_t *)own_stack - GUARD_BYTES - ALTERNATE_BYTES);
    __asm__ volatile("");
    return NULL;
}

static void *run_frame(void *unused)
{
    uint8_t stack[ALTERNATE_BYTES];
    interrupted(stack);
    __asm__ volatile("");
    return unused;
}

static void run_in_coroutine(void)
{
    nap();
    __asm__ volatile("");
}

static void *run_coroutine(void *unused)
{
    getcontext(&inside);
    inside.uc_stack.ss_sp = malloc(ALTERNATE_BYTES);
    inside.uc_stack.ss_size = ALTERNATE_BYTES;
    inside.uc_link = &outside;
    makecontext(&inside, run_in_coroutine, 0);
    swapcontext(&outside, &inside);
    return unused;
}

int main(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = nap_in_handler, .sa_flags = SA_ONSTACK};
    const size_t bytes = ALTERNATE_BYTES + GUARD_BYTES + STACK_BYTES;
    uint8_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t threads[4];
    pthread_attr_t attributes;
    if (memory == MAP_FAILED || mprotect(memory + ALTERNATE_BYTES, GUARD_BYTES, PROT_NONE) != 0)
        return 1;
    uint8_t *own_stack = memory + ALTERNATE_BYTES + GUARD_BYTES;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, own_stack, STACK_BYTES);
    if (argc > 1)
        milliseconds = strtoul(argv[1], NULL, 10);
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&threads[0], NULL, run_heap, NULL);
    pthread_create(&threads[1], &attributes, run_below, own_stack);
    pthread_create(&threads[2], NULL, run_frame, NULL);
    pthread_create(&threads[3], NULL, run_coroutine, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
