/* SPDX-License-Identifier: MIT */
/* async_io MILLISECONDS [whole]: io_uring, userfaultfd, POSIX AIO and timers with threads, in parallel threads; counts the
 * operations that fail, move less or leave other bytes; whole: also waits of io_uring that end early. */
#include "calls.h"

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BYTES = 256 << 10, ENTRIES = 16, PAGE = 4096, PAGES = 64, STACK = 64 << 10 };

static int file, events;
static bool may_end_early = true;
static char pattern[BYTES];

/* io_uring, without its library. */

struct io_ring {
    int fd;
    char *queues;
    struct io_uring_sqe *entries;
    struct io_uring_params parameters;
};

static bool ring_opens(struct io_ring *ring)
{
    ring->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &ring->parameters);
    if (ring->fd < 0)
        return false;
    size_t bytes =
        ring->parameters.cq_off.cqes + ring->parameters.cq_entries * sizeof(struct io_uring_cqe);
    ring->queues =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
    ring->entries = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQES);
    return ring->queues != MAP_FAILED && ring->entries != MAP_FAILED;
}

static _Atomic unsigned *ring_word(const struct io_ring *ring, unsigned offset)
{
    return (_Atomic unsigned *)(void *)(ring->queues + offset);
}

static void ring_put(struct io_ring *ring, int opcode, int fd, void *bytes, unsigned count)
{
    _Atomic unsigned *tail = ring_word(ring, ring->parameters.sq_off.tail);
    unsigned at = atomic_load_explicit(tail, memory_order_relaxed) % ENTRIES;
    ring->entries[at] = (struct io_uring_sqe){.opcode = (unsigned char)opcode,
                                              .fd = fd,
                                              .addr = (uint64_t)(uintptr_t)bytes,
                                              .len = count,
                                              .user_data = count};
    *ring_word(ring, ring->parameters.sq_off.array + 4 * at) = at;
    atomic_fetch_add_explicit(tail, 1, memory_order_release);
}

/* Linux runs expired CPU timers inside the wait: EINTR, or a return with fewer completions, as after any signal. */
static bool ring_waits(struct io_ring *ring, unsigned count, const _Atomic unsigned *head)
{
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    unsigned submitted = count;
    while (*ring_word(ring, ring->parameters.cq_off.tail) - *head < count) {
        long result = syscall(SYS_io_uring_enter, ring->fd, submitted, count,
                              IORING_ENTER_GETEVENTS, &mask, _NSIG / 8);
        if (result < 0 ? errno != EINTR : result != (long)submitted)
            return false;
        submitted = 0;
        if (!may_end_early && *ring_word(ring, ring->parameters.cq_off.tail) - *head < count)
            return false;
    }
    return *ring_word(ring, ring->parameters.cq_off.tail) - *head == count;
}

/* Waits for count completions with a signal mask; the expected result of each is in its user_data. */
static bool ring_is_done(struct io_ring *ring, unsigned count)
{
    _Atomic unsigned *head = ring_word(ring, ring->parameters.cq_off.head);
    unsigned last = *ring_word(ring, ring->parameters.cq_off.ring_mask);
    const struct io_uring_cqe *done =
        (const struct io_uring_cqe *)(const void *)(ring->queues + ring->parameters.cq_off.cqes);
    bool is_right = ring_waits(ring, count, head);
    for (unsigned i = 0; is_right && i < count; i++)
        is_right = done[(*head + i) & last].res == (int)done[(*head + i) & last].user_data;
    *head += count;
    return is_right;
}

/* Opens the ring at the first call. Containers forbid io_uring. */
static bool ring_is_refused(struct io_ring *ring)
{
    if (ring->queues == NULL && !ring_opens(ring) && errno != EPERM && errno != ENOSYS)
        abort();
    return ring->queues == NULL;
}

static bool rings_move_all(void)
{
    static struct io_ring ring;
    static char bytes[BYTES];
    if (ring_is_refused(&ring))
        return true;
    memset(bytes, 0, BYTES);
    for (int i = 0; i < ENTRIES - 1; i++)
        ring_put(&ring, IORING_OP_NOP, -1, NULL, 0);
    ring_put(&ring, IORING_OP_READ, file, bytes, BYTES);
    return ring_is_done(&ring, ENTRIES) && memcmp(bytes, pattern, BYTES) == 0;
}

/* The completion is a wait for another thread's write. */
static bool rings_wait(void)
{
    static struct io_ring ring;
    uint64_t count = 0;
    if (ring_is_refused(&ring))
        return true;
    ring_put(&ring, IORING_OP_READ, events, &count, sizeof(count));
    return ring_is_done(&ring, 1) && count > 0;
}

static void *write_events(void *unused)
{
    uint64_t one = 1;
    struct timespec pause = {.tv_nsec = 500000};
    while (write(events, &one, sizeof(one)) == sizeof(one))
        nanosleep(&pause, NULL);
    return unused;
}

/* userfaultfd: each first touch of a page waits for the monitor. */

static int faults;
static char page_of_fault[PAGE];

static void *serve_faults(void *unused)
{
    struct uffd_msg message;
    while (read(faults, &message, sizeof(message)) == sizeof(message)) {
        uint64_t page = message.arg.pagefault.address & ~(uint64_t)(PAGE - 1);
        memset(page_of_fault, (int)(page / PAGE % 251), PAGE);
        struct uffdio_copy copy = {
            .dst = page, .src = (uint64_t)(uintptr_t)page_of_fault, .len = PAGE};
        ioctl(faults, UFFDIO_COPY, &copy);
    }
    return unused;
}

/* -1: forbidden on this machine. */
static int open_faults(void)
{
    struct uffdio_api api = {.api = UFFD_API};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static char *watched_memory(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_register range = {.range = {.start = (uint64_t)(uintptr_t)memory, .len = bytes},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (memory != MAP_FAILED && ioctl(faults, UFFDIO_REGISTER, &range) == 0)
        return memory;
    munmap(memory, bytes);
    return NULL;
}

static bool faults_are_served(void)
{
    if (faults < 0) /* forbidden here */
        return true;
    char *memory = watched_memory(PAGES * PAGE);
    bool is_right = memory != NULL;
    for (int i = 0; is_right && i < PAGES; i++) {
        const volatile unsigned char *page = (const volatile unsigned char *)memory + i * PAGE;
        is_right = *page == (uint64_t)(uintptr_t)page / PAGE % 251;
    }
    return is_right && munmap(memory, PAGES * PAGE) == 0;
}

static void *deep_sum(void *argument)
{
    volatile char room[STACK / 2];
    for (size_t i = 0; i < sizeof(room); i += PAGE / 4)
        room[i] = 1;
    *(uint64_t *)argument = burn_rounds(1, 20000) + (uint64_t)room[0] - 1;
    return argument;
}

/* A thread on a stack without pages. */
static bool faults_of_a_stack_are_served(void)
{
    if (faults < 0)
        return true;
    char *stack = watched_memory(STACK);
    pthread_attr_t attributes;
    pthread_t thread;
    uint64_t sum = 0;
    pthread_attr_init(&attributes);
    bool is_right = stack != NULL && pthread_attr_setstack(&attributes, stack, STACK) == 0 &&
                    pthread_create(&thread, &attributes, deep_sum, &sum) == 0 &&
                    pthread_join(thread, NULL) == 0;
    pthread_attr_destroy(&attributes);
    return is_right && sum == burn_rounds(1, 20000) && munmap(stack, STACK) == 0;
}

/* POSIX AIO, and notices in threads of their own. */

static sem_t noticed;

static void notice(union sigval unused)
{
    (void)unused;
    sem_post(&noticed);
}

static bool is_noticed(void)
{
    while (sem_wait(&noticed) != 0)
        if (errno != EINTR)
            return false;
    return true;
}

static bool aio_moves_all(void)
{
    static char bytes[BYTES];
    struct aiocb requests[4];
    memset(bytes, 0, BYTES);
    for (int i = 0; i < 4; i++) {
        requests[i] = (struct aiocb){.aio_fildes = file,
                                     .aio_buf = bytes + i * (BYTES / 4),
                                     .aio_nbytes = BYTES / 4,
                                     .aio_offset = i * (BYTES / 4)};
        if (aio_read(&requests[i]) != 0)
            return false;
    }
    bool is_right = true;
    for (int i = 0; i < 4; i++) {
        const struct aiocb *request = &requests[i];
        while (aio_error(request) == EINPROGRESS)
            is_right &= aio_suspend(&request, 1, NULL) == 0;
        is_right &= aio_return(&requests[i]) == BYTES / 4;
    }
    return is_right && memcmp(bytes, pattern, BYTES) == 0;
}

static bool aio_notices_in_a_thread(void)
{
    static char bytes[PAGE];
    struct aiocb request = {
        .aio_fildes = file,
        .aio_buf = bytes,
        .aio_nbytes = PAGE,
        .aio_sigevent = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notice}};
    memset(bytes, 0, PAGE);
    return aio_read(&request) == 0 && is_noticed() && aio_return(&request) == PAGE &&
           memcmp(bytes, pattern, PAGE) == 0;
}

static sem_t expired;

static void expire(union sigval unused)
{
    (void)unused;
    sem_post(&expired);
}

static bool timer_expires_in_threads(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = expire};
    struct itimerspec times = {.it_value.tv_nsec = 200000};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &times, NULL) != 0)
        return false;
    while (sem_wait(&expired) != 0)
        if (errno != EINTR)
            return false;
    return timer_delete(timer) == 0;
}

static struct call calls[] = {
    {.name = "rings_move_all", .is_right = rings_move_all},
    {.name = "rings_wait", .is_right = rings_wait},
    {.name = "faults_are_served", .is_right = faults_are_served},
    {.name = "faults_of_a_stack_are_served", .is_right = faults_of_a_stack_are_served},
    {.name = "aio_moves_all", .is_right = aio_moves_all},
    {.name = "aio_notices_in_a_thread", .is_right = aio_notices_in_a_thread},
    {.name = "timer_expires_in_threads", .is_right = timer_expires_in_threads},
};

static bool prepare(void)
{
    for (int i = 0; i < BYTES; i++)
        pattern[i] = (char)(i % 253);
    file = memfd_create("pattern", MFD_CLOEXEC);
    events = eventfd(0, EFD_CLOEXEC);
    sem_init(&noticed, 0, 0);
    sem_init(&expired, 0, 0);
    if (file < 0 || events < 0 || write(file, pattern, BYTES) != BYTES)
        return false;
    calls_beside(write_events);
    faults = open_faults();
    if (faults >= 0)
        calls_beside(serve_faults);
    return true;
}

int main(int argc, char **argv)
{
    may_end_early = argc < 3 || strcmp(argv[2], "whole") != 0;
    if (!prepare())
        return 1;
    return calls_run(calls, sizeof(calls) / sizeof(calls[0]), argc > 1 ? argv[1] : "1000");
}
