/* SPDX-License-Identifier: MIT */
#include "record/procfs/stack_pages.h"

#include "base/clock.h"

#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define PAGE_BYTES UINT64_C(4096)
/* No copy is larger than 64 KiB. */
enum { PAGES_AT_ONCE = 16 };
/* A request is done after this time; a page can be absent again later, on the stack of a new
 * thread. */
#define READ_NS UINT64_C(20000000)
#define AGAIN_NS UINT64_C(200000000)
enum { CLOSE_SECONDS = 1 };

struct request {
    pid_t pid;
    uint64_t avma;
};

/* Stops at the end of the mapping. One byte of each page: the page, not its content, is needed. */
static void read_pages(const struct request *request)
{
    uint8_t bytes[PAGES_AT_ONCE];
    const struct iovec here = {bytes, sizeof(bytes)};
    struct iovec there[PAGES_AT_ONCE];
    for (uint64_t i = 0; i < PAGES_AT_ONCE; i++)
        there[i] = (struct iovec){(void *)(request->avma + i * PAGE_BYTES), 1};
    (void)process_vm_readv(request->pid, &here, 1, there, PAGES_AT_ONCE, 0);
}

static void *stack_pages_thread(void *argument)
{
    int fd = (int)(intptr_t)argument;
    struct request request;
    while (read(fd, &request, sizeof(request)) == (ssize_t)sizeof(request))
        read_pages(&request);
    close(fd);
    return NULL;
}

static void start(struct stack_pages *pages)
{
    int ends[2];
    pages->has_failed = true;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    pages->fd = ends[1];
    bool is_started =
        fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0 &&
        pthread_create(&pages->thread, NULL, stack_pages_thread, (void *)(intptr_t)ends[0]) == 0;
    pages->is_open = is_started;
    pages->has_failed = !is_started;
    if (!is_started) {
        close(ends[0]);
        close(ends[1]);
    }
}

/* A page displaced from the table is requested again, and costs another read. */
bool stack_pages_request(struct stack_pages *pages, pid_t pid, uint64_t avma, uint64_t time_ns)
{
    const struct request request = {pid, avma & ~(PAGE_BYTES - 1)};
    uint64_t hash = (request.avma / PAGE_BYTES + (uint64_t)pid * 31) % STACK_PAGES_KNOWN;
    struct stack_page *page = &pages->known[hash];
    uint64_t now_ns = monotonic_ns();
    bool is_known = page->pid == pid && page->avma == request.avma;
    if (is_known && now_ns - page->requested_ns < AGAIN_NS)
        return time_ns < page->requested_ns + READ_NS;
    if (!pages->is_open && !pages->has_failed)
        start(pages);
    *page = (struct stack_page){pid, request.avma, now_ns};
    /* a full pipe: the next copy requests again */
    return pages->is_open && write(pages->fd, &request, sizeof(request)) > 0;
}

void stack_pages_close(struct stack_pages *pages)
{
    struct timespec limit;
    if (!pages->is_open)
        return;
    pages->is_open = false;
    close(pages->fd);
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += CLOSE_SECONDS;
    (void)pthread_timedjoin_np(pages->thread, NULL, &limit);
}
