/* SPDX-License-Identifier: MIT */
#include "base/sandbox/subprocess.h"

#include "base/clock.h"
#include "base/sandbox/workers.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 15, FAILED_STATUS = 3 }; /* larger packets may not fit the socket */

static bool send_answer(struct buffer *answer)
{
    buffer_u64(answer, answer->size);
    for (size_t at = 0; !answer->failed && at < answer->size;) {
        size_t left = answer->size - at;
        ssize_t n =
            write(CONFINE_ANSWER_FD, answer->bytes + at, left < CHUNK_BYTES ? left : CHUNK_BYTES);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? (size_t)n : 0;
    }
    return !answer->failed;
}

/* Runs the worker; does not return. */
__attribute__((noreturn)) static void serve(const struct subprocess_work *work, int fd,
                                            pid_t parent)
{
    uint8_t message[SUBPROCESS_MESSAGE_BYTES];
    struct buffer answer = {0};
    ssize_t n;
    if (worker_confine(&work->limits, &(struct worker_fds){.answer = fd, .rules = -1}, parent) != 0)
        _exit(WORKER_UNCONFINED_STATUS);
    while ((n = read(CONFINE_ANSWER_FD, message, sizeof(message))) != 0) {
        if (n < 0 && errno != EINTR)
            _exit(FAILED_STATUS);
        if (n > 0)
            work->take(work->context, message, (size_t)n);
    }
    work->finish(work->context, &answer);
    bool is_sent = send_answer(&answer);
    close(CONFINE_ANSWER_FD); /* lets the parent use the result during this process' exit */
    _exit(is_sent ? 0 : FAILED_STATUS);
}

void subprocess_start(struct subprocess *worker, const struct subprocess_work *work)
{
    int ends[2];
    *worker = (struct subprocess){.fd = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0)
        serve(work, ends[1], parent);
    close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    else
        *worker = (struct subprocess){.pid = pid,
                                      .fd = ends[0],
                                      .wall_s = work->wall_s,
                                      .answer_limit_bytes = work->answer_limit_bytes};
}

void subprocess_stop(struct subprocess *worker)
{
    if (worker->pid == 0)
        return;
    close(worker->fd);
    kill(worker->pid, SIGKILL);
    (void)worker_reap(worker->pid);
    *worker = (struct subprocess){.fd = -1};
}

bool subprocess_send(struct subprocess *worker, const void *message, size_t size)
{
    if (worker->pid == 0)
        return false;
    ssize_t n = send(worker->fd, message, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        subprocess_stop(worker);
    return n >= 0;
}

/* False: the time limit, counted from the first wait, has passed. */
static bool wait_for(struct subprocess *worker, short events)
{
    struct pollfd fd = {.fd = worker->fd, .events = events};
    uint64_t now_ms = (uint64_t)monotonic_ms();
    if (worker->end_ms == 0)
        worker->end_ms = now_ms + worker->wall_s * UINT64_C(1000);
    if (now_ms < worker->end_ms)
        (void)poll(&fd, 1, (int)(worker->end_ms - now_ms));
    return now_ms < worker->end_ms;
}

void subprocess_wait_writable(struct subprocess *worker)
{
    if (worker->pid && !wait_for(worker, POLLOUT))
        subprocess_stop(worker);
}

void subprocess_end_input(struct subprocess *worker)
{
    if (worker->pid && shutdown(worker->fd, SHUT_WR) != 0)
        subprocess_stop(worker); /* both sides would wait for each other */
}

/* False: end of the result, or an error. */
static bool receive(struct subprocess *worker, struct buffer *answer)
{
    uint8_t *room = buffer_room(answer, CHUNK_BYTES);
    ssize_t n = room ? recv(worker->fd, room, CHUNK_BYTES, MSG_DONTWAIT) : 0;
    if (n > 0)
        answer->size += (size_t)n;
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

bool subprocess_receive(struct subprocess *worker, struct buffer *answer)
{
    if (worker->pid == 0)
        return false;
    while (wait_for(worker, POLLIN) && receive(worker, answer) &&
           answer->size <= worker->answer_limit_bytes)
        ;
    return worker_answer_is_whole(answer);
}
