/* SPDX-License-Identifier: MIT */
/*
 * The descriptors of a worker, from the fork to the job:
 *
 *     fork        all of the parent
 *     prepared    0 1 2 /dev/null │ CONFINE_ANSWER_FD pipe │ CONFINE_RULES_FD │ kept ones, above
 *     confined    rules applied and closed
 *     end         u64 size behind the result: a result cut off by a crash is no result
 *
 * A worker that closes the pipe may still exit: done() runs at once, and the process is reaped when
 * its place is needed, or by workers_reap().
 */
#include "base/sandbox/workers.h"

#include "base/budget.h"
#include "base/clock.h"
#include "base/files/io.h"
#include "base/heap.h"
#include "base/pid_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_worker;

enum {
    CHUNK_BYTES = 1 << 16,
    PIPE_BYTES = 1 << 20, /* the most without privileges: a worker rarely waits for its reader */
    FAILED_STATUS = 3,
};

size_t workers_at_once(void)
{
    static _Atomic size_t known; /* the C library reads a file each time */
    if (known == 0) {
        long count = sysconf(_SC_NPROCESSORS_ONLN);
        known = count < 1 ? 1 : count > WORKERS_MAX ? WORKERS_MAX : (size_t)count;
    }
    return known;
}

void workers_set_limits(struct workers *workers)
{
    uint64_t half_of_memory =
        (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t share = half_of_memory / workers_at_once();
    workers->limits.memory_bytes = share < UINT64_C(1) << 30 ? UINT64_C(1) << 30 : share;
    workers->limits.cpu_s = 120;
    workers->wall_s = 300;
    workers->answer_limit_bytes = (size_t)1 << 30;
}

/* Restores default actions: the parent's signal handlers must not run in a worker. */
static void forget_handlers(void)
{
    for (int number = 1; number < SIGRTMIN; number++)
        (void)signal(number, SIG_DFL);
}

/* Libraries print to the standard streams, which may be a terminal. Without /dev the streams are
 * closed; a file opened in their place is read-only. */
static void silence_standard_streams(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < CONFINE_ANSWER_FD; fd++)
        if (null < 0)
            close(fd);
        else
            (void)dup2(null, fd);
}

static bool are_in_order(const struct worker_fds *fds)
{
    int above = CONFINE_RULES_FD;
    for (size_t i = 0; i < fds->kept_count; above = fds->kept[i++])
        if (fds->kept[i] <= above)
            return false;
    return true;
}

static void close_all_but(const struct worker_fds *fds)
{
    unsigned from = (fds->rules < 0 ? CONFINE_ANSWER_FD : CONFINE_RULES_FD) + 1;
    for (size_t i = 0; i < fds->kept_count; i++) {
        unsigned kept = (unsigned)fds->kept[i];
        if (kept > from)
            close_range(from, kept - 1, 0);
        from = kept + 1;
    }
    close_range(from, ~0u, 0);
}

int worker_confine(const struct confine_limits *limits, const struct worker_fds *fds, pid_t parent)
{
    is_worker = true;
    heap_save_memory();
    budget_lift_memory();
    forget_handlers();
    if (!are_in_order(fds))
        return -EINVAL;
    /* Duplicates above the target descriptors, because a source may have a target's number. */
    int answer = fcntl(fds->answer, F_DUPFD, CONFINE_RULES_FD + 1);
    int rules = fds->rules < 0 ? -1 : fcntl(fds->rules, F_DUPFD, CONFINE_RULES_FD + 1);
    silence_standard_streams();
    if (answer < 0 || dup2(answer, CONFINE_ANSWER_FD) < 0 ||
        (fds->rules >= 0 && dup2(rules, CONFINE_RULES_FD) < 0))
        return -errno;
    close_all_but(fds);
    return confine(limits, fds->rules < 0 ? -1 : CONFINE_RULES_FD, parent);
}

void worker_end_after(uint64_t cpu_ns)
{
    const struct itimerval limit = {.it_value = {.tv_sec = (time_t)(cpu_ns / 1000000000),
                                                 .tv_usec = (long)(cpu_ns % 1000000000 / 1000)}};
    if (is_worker)
        (void)setitimer(ITIMER_PROF, &limit, NULL);
}

/* Runs the worker; does not return. */
__attribute__((noreturn)) static void work(const struct worker_pool *pool, size_t job, int fd,
                                           pid_t parent)
{
    const struct workers *workers = pool->workers;
    struct buffer answer = {0};
    struct worker_fds fds = workers->fds;
    fds.answer = fd;
    fds.rules = pool->rules_fd;
    if (worker_confine(&workers->limits, &fds, parent) != 0)
        _exit(WORKER_UNCONFINED_STATUS);
    workers->run(workers->context, job, &answer);
    buffer_u64(&answer, answer.size);
    if (answer.failed || io_write(CONFINE_ANSWER_FD, answer.bytes, answer.size) != 0)
        _exit(FAILED_STATUS);
    close(CONFINE_ANSWER_FD); /* lets the parent use the result during this process' exit */
    _exit(0);
}

/* A worker that was taken over may sleep after its answer. */
static void reap_place(struct worker *worker)
{
    if (worker->pid) {
        kill(worker->pid, SIGKILL);
        (void)worker_reap(worker->pid);
    }
    worker->pid = 0;
}

static bool start(struct worker_pool *pool, struct worker *worker, size_t job)
{
    int ends[2];
    reap_place(worker);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    (void)fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0)
        work(pool, job, ends[1], parent);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    *worker = (struct worker){.pid = pid,
                              .fd = ends[0],
                              .job = job,
                              .end_ms = (uint64_t)monotonic_ms() +
                                        pool->workers->wall_s * UINT64_C(1000)};
    pool->busy_count++;
    return true;
}

/* Why there is no whole answer. */
static const char *trouble_of(const struct worker *worker, int status)
{
    if (worker->trouble)
        return worker->trouble;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return "was killed, possibly for lack of memory";
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGPROF ? "took too long"
                                                                          : "crashed";
    if (WEXITSTATUS(status) == WORKER_UNCONFINED_STATUS)
        return "failed: the worker process could not be confined (see `rec doctor`)";
    return WEXITSTATUS(status) || worker->answer.failed ? "ran out of memory" : "crashed";
}

int worker_reap(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

bool worker_answer_is_whole(struct buffer *answer)
{
    uint64_t size;
    if (answer->failed || answer->size < sizeof(size))
        return false;
    answer->size -= sizeof(size);
    memcpy(&size, answer->bytes + answer->size, sizeof(size));
    return size == answer->size;
}

/* The status of a worker without a whole answer: it has closed its end of the pipe, and ends by
 * itself unless it was taken over. */
static int reap_ending(pid_t pid)
{
    enum { END_MS = 1000 };
    struct pollfd end = {.fd = pid_fd_open(pid), .events = POLLIN};
    if (end.fd >= 0) {
        (void)poll(&end, 1, END_MS);
        close(end.fd);
    }
    kill(pid, SIGKILL);
    return worker_reap(pid);
}

static void finish(struct worker_pool *pool, struct worker *worker)
{
    const struct workers *workers = pool->workers;
    close(worker->fd);
    if (!worker->trouble && worker_answer_is_whole(&worker->answer)) {
        workers->done(workers->context, worker->job, &worker->answer);
    } else {
        workers->failed(workers->context, worker->job,
                        trouble_of(worker, reap_ending(worker->pid)));
        worker->pid = 0;
    }
    buffer_free(&worker->answer);
    *worker = (struct worker){.pid = worker->pid, .fd = -1};
    pool->busy_count--;
}

/* The pipe is read on to its end, and failed() is called there: the process is gone by then. */
static void stop(struct worker *worker, const char *why)
{
    worker->trouble = why;
    kill(worker->pid, SIGKILL);
}

/* False at the end of the answer. */
static bool receive(struct worker_pool *pool, struct worker *worker)
{
    uint8_t *room = buffer_room(&worker->answer, CHUNK_BYTES);
    ssize_t n = room ? read(worker->fd, room, CHUNK_BYTES) : 0;
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    if (n == 0)
        return false;
    if (worker->trouble)
        return true;
    if (worker->answer.size + (size_t)n > pool->workers->answer_limit_bytes)
        stop(worker, "exceeded the size limit of its result");
    else
        worker->answer.size += (size_t)n;
    return true;
}

static int first_end_ms(struct worker_pool *pool)
{
    uint64_t now = (uint64_t)monotonic_ms(), first = now + 60000;
    for (size_t i = 0; i < pool->place_count; i++) {
        struct worker *worker = &pool->places[i];
        if (worker->fd < 0)
            continue;
        if (worker->end_ms <= now)
            stop(worker, "took too long");
        else if (worker->end_ms < first)
            first = worker->end_ms;
    }
    return (int)(first - now);
}

static void wait_for_any(struct worker_pool *pool)
{
    struct pollfd fds[WORKERS_MAX];
    int timeout_ms = first_end_ms(pool);
    for (size_t i = 0; i < pool->place_count; i++)
        fds[i] = (struct pollfd){.fd = pool->places[i].fd, .events = POLLIN};
    if (poll(fds, pool->place_count, timeout_ms) <= 0)
        return;
    for (size_t i = 0; i < pool->place_count; i++)
        if (fds[i].revents && !receive(pool, &pool->places[i]))
            finish(pool, &pool->places[i]);
}

static struct worker *free_place(struct worker_pool *pool)
{
    for (size_t i = 0; i < pool->place_count; i++)
        if (pool->places[i].fd < 0)
            return &pool->places[i];
    return NULL;
}

/* Starts jobs while places are free. */
static void start_some(struct worker_pool *pool)
{
    const struct workers *workers = pool->workers;
    for (; pool->next_job < workers->job_count && pool->busy_count < pool->place_count;
         pool->next_job++) {
        if (workers->is_left_out && workers->is_left_out(workers->context, pool->next_job))
            continue;
        if (!start(pool, free_place(pool), pool->next_job))
            workers->failed(workers->context, pool->next_job, "could not be started");
    }
}

void workers_start(struct worker_pool *pool, const struct workers *workers)
{
    *pool = (struct worker_pool){.workers = workers,
                                 .place_count = workers_at_once(),
                                 .rules_fd =
                                     workers->job_count > 1 ? confine_rules(&workers->limits) : -1};
    for (size_t i = 0; i < pool->place_count; i++)
        pool->places[i].fd = -1;
    start_some(pool);
}

void workers_finish(struct worker_pool *pool)
{
    while (pool->busy_count > 0) {
        wait_for_any(pool);
        start_some(pool);
    }
    if (pool->rules_fd >= 0)
        close(pool->rules_fd);
}

void workers_reap(struct worker_pool *pool)
{
    for (size_t i = 0; i < pool->place_count; i++)
        reap_place(&pool->places[i]);
}

void workers_run(const struct workers *workers)
{
    struct worker_pool pool;
    workers_start(&pool, workers);
    workers_finish(&pool);
    workers_reap(&pool);
}
