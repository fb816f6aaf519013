/* SPDX-License-Identifier: MIT */
/*
 * unsampled HOW MILLISECONDS [PROGRAM]: uses CPU time where no signal of the sampler comes; then executes PROGRAM.
 *
 *     blocked   every signal is blocked, by a system call of our own
 *     killed    the same, and ends by SIGKILL
 *     held      both signals that a sampler may use are blocked by sighold()
 *     ignored   both are ignored by sigignore()
 *     foreign   both are blocked by sigprocmask(), then sent to this process
 *     clone     a thread that the C library does not know of
 *     tls       the same, with thread-local memory that is none of the C library's
 *     aio       a thread that the C library makes for itself, which reads /dev/zero
 *     io_uring  a thread of the kernel that looks for requests; status 4: it makes none
 */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "burn.h"

#include <aio.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
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

static void read_by_another(void)
{
    static char bytes[1 << 24];
    int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    uint64_t start_ns = burn_clock_ns(CLOCK_MONOTONIC);
    while (burn_clock_ns(CLOCK_MONOTONIC) - start_ns < end_ns) {
        struct aiocb request = {.aio_fildes = fd, .aio_buf = bytes, .aio_nbytes = sizeof(bytes)};
        const struct aiocb *const requests[] = {&request};
        if (aio_read(&request) != 0)
            exit(2);
        while (aio_suspend(requests, 1, NULL) != 0)
            continue;
        if (aio_return(&request) != sizeof(bytes))
            exit(2);
    }
}

static void *map_ring(int fd, size_t bytes, off_t offset)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    if (memory == MAP_FAILED)
        exit(2);
    return memory;
}

/* After one request, one of nothing, the kernel's thread looks for the next until it has been idle for so long. */
static void let_the_kernel_look(void)
{
    unsigned idle_ms = (unsigned)(end_ns / 1000000) + 1000;
    struct io_uring_params params = {.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = idle_ms};
    int fd = (int)syscall(SYS_io_uring_setup, 1, &params);
    if (fd < 0)
        exit(4);
    char *ring = map_ring(fd, params.sq_off.array + sizeof(uint32_t), IORING_OFF_SQ_RING);
    memset(map_ring(fd, sizeof(struct io_uring_sqe), IORING_OFF_SQES), 0,
           sizeof(struct io_uring_sqe));
    __atomic_store_n((uint32_t *)(void *)(ring + params.sq_off.tail), 1, __ATOMIC_RELEASE);
    if (syscall(SYS_io_uring_enter, fd, 1, 0, IORING_ENTER_SQ_WAKEUP, NULL, 0) < 0)
        exit(2);
    usleep((useconds_t)(end_ns / 1000));
}

static bool block_and_send(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    return sigprocmask(SIG_BLOCK, &set, NULL) == 0 && kill(getpid(), number) == 0;
}

/* Whether the time is to be used by main(). */
static bool hide_from_samples(const char *how)
{
    uint64_t all = ~UINT64_C(0);
    if (strcmp(how, "blocked") == 0 || strcmp(how, "killed") == 0)
        return syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all)) == 0;
    if (strcmp(how, "held") == 0)
        return sighold(SIGTRAP) == 0 && sighold(SIGPROF) == 0;
    if (strcmp(how, "ignored") == 0)
        return sigignore(SIGTRAP) == 0 && sigignore(SIGPROF) == 0;
    if (strcmp(how, "foreign") == 0)
        return block_and_send(SIGTRAP) && block_and_send(SIGPROF);
    return false;
}

int main(int argc, char **argv)
{
    end_ns = strtoull(argc > 2 ? argv[2] : "1000", NULL, 10) * 1000000;
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "clone") == 0 || strcmp(how, "tls") == 0)
        burn_in_clone(strcmp(how, "tls") == 0 ? CLONE_SETTLS : 0);
    else if (strcmp(how, "aio") == 0)
        read_by_another();
    else if (strcmp(how, "io_uring") == 0)
        let_the_kernel_look();
    if (!hide_from_samples(how))
        return 0;
    uint64_t value = burn_until_ns(end_ns);
    if (strcmp(how, "killed") == 0)
        kill(getpid(), SIGKILL);
    if (argc > 3)
        execl(argv[3], argv[3], NULL);
    return argc > 3 || value == 0;
}
