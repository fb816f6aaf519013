/* SPDX-License-Identifier: MIT */
/* waits MILLISECONDS: every kind of call that waits, sleeps or blocks, in parallel threads; counts those
 * that ended otherwise than by time or by what they waited for. */
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHORT_NS = 200000, MILLISECOND_NS = 1000000, MESSAGE_BYTES = 4096, LARGE_BYTES = 256 << 10 };

static const struct timespec short_time = {.tv_nsec = SHORT_NS};

static struct timespec soon(clockid_t clock)
{
    uint64_t at_ns = burn_clock_ns(clock) + SHORT_NS;
    return (struct timespec){.tv_sec = (time_t)(at_ns / 1000000000),
                             .tv_nsec = (long)(at_ns % 1000000000)};
}

static bool timed_out(long result, int error)
{
    return result == -1 && errno == error;
}

/* Sleeps. */

static bool nanosleep_sleeps(void)
{
    uint64_t start_ns = burn_clock_ns(CLOCK_MONOTONIC);
    return nanosleep(&short_time, NULL) == 0 && calls_lasted(start_ns, SHORT_NS);
}

static bool clock_nanosleep_sleeps(void)
{
    uint64_t start_ns = burn_clock_ns(CLOCK_MONOTONIC);
    return clock_nanosleep(CLOCK_MONOTONIC, 0, &short_time, NULL) == 0 &&
           calls_lasted(start_ns, SHORT_NS);
}

static bool clock_nanosleep_sleeps_until(void)
{
    uint64_t start_ns = burn_clock_ns(CLOCK_MONOTONIC);
    struct timespec until = soon(CLOCK_MONOTONIC);
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0 &&
           calls_lasted(start_ns, SHORT_NS);
}

static bool usleep_sleeps(void)
{
    return usleep(SHORT_NS / 1000) == 0;
}

/* Waits for descriptors, of which none is ready. */

static bool poll_times_out(void)
{
    uint64_t start_ns = burn_clock_ns(CLOCK_MONOTONIC);
    return poll(NULL, 0, 1) == 0 && calls_lasted(start_ns, MILLISECOND_NS);
}

static bool ppoll_times_out(void)
{
    return ppoll(NULL, 0, &short_time, NULL) == 0;
}

static bool select_times_out(void)
{
    struct timeval time = {.tv_usec = SHORT_NS / 1000};
    return select(0, NULL, NULL, NULL, &time) == 0;
}

static bool pselect_times_out(void)
{
    return pselect(0, NULL, NULL, NULL, &short_time, NULL) == 0;
}

static bool epoll_wait_times_out(void)
{
    static int events = -1;
    struct epoll_event event;
    if (events < 0)
        events = epoll_create1(0);
    return epoll_wait(events, &event, 1, 1) == 0;
}

static bool recv_times_out(void)
{
    static int ends[2] = {-1, -1};
    struct timeval time = {.tv_usec = 1000};
    char byte;
    if (ends[0] < 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0)
        setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
    return timed_out(recv(ends[0], &byte, 1, 0), EAGAIN);
}

static bool send_times_out(void)
{
    static int ends[2] = {-1, -1};
    struct timeval time = {.tv_usec = 1000};
    static char bytes[LARGE_BYTES];
    if (ends[0] < 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0) {
        while (send(ends[0], bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
            continue;
        setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
    }
    return timed_out(send(ends[0], bytes, sizeof(bytes), 0), EAGAIN);
}

/* A socket that listens at a name of the kernel's choice. */
static int listen_anywhere(int backlog, struct sockaddr_un *address, socklen_t *length)
{
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    address->sun_family = AF_UNIX;
    bind(listener, (struct sockaddr *)address, sizeof(sa_family_t));
    *length = sizeof(*address);
    getsockname(listener, (struct sockaddr *)address, length);
    listen(listener, backlog);
    return listener;
}

static bool accept_times_out(void)
{
    static int listener = -1;
    struct sockaddr_un address;
    socklen_t length;
    struct timeval time = {.tv_usec = 1000};
    if (listener < 0) {
        listener = listen_anywhere(1, &address, &length);
        setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
    }
    return timed_out(accept(listener, NULL, NULL), EAGAIN);
}

static bool connect_times_out(void)
{
    static int caller = -1;
    static struct sockaddr_un address;
    static socklen_t length;
    struct timeval time = {.tv_usec = 1000};
    if (caller < 0) {
        listen_anywhere(0, &address, &length);
        connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address,
                length); /* now it is full */
        caller = socket(AF_UNIX, SOCK_STREAM, 0);
        setsockopt(caller, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
    }
    return timed_out(connect(caller, (struct sockaddr *)&address, length), EAGAIN);
}

/* Waits for locks, semaphores, signals, messages, until a time. */

static bool sem_timedwait_times_out(void)
{
    static sem_t semaphore;
    struct timespec until = soon(CLOCK_REALTIME);
    return timed_out(sem_timedwait(&semaphore, &until), ETIMEDOUT);
}

static bool sem_clockwait_times_out(void)
{
    static sem_t semaphore;
    struct timespec until = soon(CLOCK_MONOTONIC);
    return timed_out(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until), ETIMEDOUT);
}

static bool cond_timedwait_times_out(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    struct timespec until = soon(CLOCK_REALTIME);
    pthread_mutex_lock(&mutex);
    int result = pthread_cond_timedwait(&condition, &mutex, &until);
    pthread_mutex_unlock(&mutex);
    return result == ETIMEDOUT;
}

static bool futex_times_out(void)
{
    static uint32_t word;
    return timed_out(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &short_time, NULL, 0), ETIMEDOUT);
}

static int semaphores = -1, messages = -1;

static bool semtimedop_times_out(void)
{
    struct sembuf take = {.sem_op = -1};
    return semaphores < 0 || timed_out(semtimedop(semaphores, &take, 1, &short_time), EAGAIN);
}

static bool sigtimedwait_times_out(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return timed_out(sigtimedwait(&set, NULL, &short_time), EAGAIN);
}

static bool mq_timedreceive_times_out(void)
{
    static mqd_t queue = -2;
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 16};
    char bytes[16], name[32];
    if (queue == -2) {
        snprintf(name, sizeof(name), "/waits-%d", (int)getpid());
        queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
        mq_unlink(name);
    }
    struct timespec until = soon(CLOCK_REALTIME);
    return queue == -1 ||
           timed_out(mq_timedreceive(queue, bytes, sizeof(bytes), NULL, &until), ETIMEDOUT);
}

/* Blocking calls that somebody else ends. */

struct message {
    long type;
    char text[16];
};

static void *send_messages(void *unused)
{
    (void)unused;
    for (struct message message = {.type = 1};;) {
        usleep(SHORT_NS / 1000);
        msgsnd(messages, &message, sizeof(message.text), IPC_NOWAIT);
    }
    return NULL;
}

static bool msgrcv_receives(void)
{
    struct message message;
    return messages < 0 ||
           msgrcv(messages, &message, sizeof(message.text), 0, 0) == sizeof(message.text);
}

static int read_pipe[2], write_pipe[2], event_fd;

static void *write_often(void *unused)
{
    (void)unused;
    static char bytes[MESSAGE_BYTES];
    const uint64_t one = 1;
    ssize_t written = 0;
    /* Neither write blocks: that nobody reads the one any more must not stop the other. */
    while (written >= 0 || errno == EAGAIN) {
        usleep(SHORT_NS / 1000);
        written = write(read_pipe[1], bytes, sizeof(bytes));
        if (write(event_fd, &one, sizeof(one)) < 0)
            break;
    }
    return NULL;
}

static bool read_gives_what_was_written(void)
{
    static char bytes[MESSAGE_BYTES];
    return read(read_pipe[0], bytes, sizeof(bytes)) == sizeof(bytes);
}

static bool eventfd_read_gives_a_number(void)
{
    uint64_t number;
    return read(event_fd, &number, sizeof(number)) == sizeof(number);
}

static void *read_slowly(void *unused)
{
    (void)unused;
    static char bytes[LARGE_BYTES / 8];
    while (read(write_pipe[0], bytes, sizeof(bytes)) > 0)
        usleep(SHORT_NS / 2000);
    return NULL;
}

static bool write_takes_all(void)
{
    static char bytes[LARGE_BYTES];
    return write(write_pipe[1], bytes, sizeof(bytes)) == sizeof(bytes);
}

static int lock_here, lock_there; /* two open files */
static const struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
static const struct flock none = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

static void *lock_often(void *unused)
{
    (void)unused;
    for (;;) {
        if (flock(lock_there, LOCK_EX) == 0 && fcntl(lock_there, F_OFD_SETLKW, &whole) == 0)
            usleep(SHORT_NS / 1000);
        flock(lock_there, LOCK_UN);
        fcntl(lock_there, F_OFD_SETLKW, &none);
        usleep(SHORT_NS / 2000);
    }
    return NULL;
}

static bool flock_locks(void)
{
    return flock(lock_here, LOCK_EX) == 0 && flock(lock_here, LOCK_UN) == 0;
}

static bool setlkw_locks(void)
{
    return fcntl(lock_here, F_OFD_SETLKW, &whole) == 0 &&
           fcntl(lock_here, F_OFD_SETLKW, &none) == 0;
}

static bool wait4_waits(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        usleep(SHORT_NS / 1000);
        _exit(7);
    }
    int status;
    return wait4(pid, &status, 0, NULL) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

/* The descriptors and partners that these need. */
static bool prepare(void)
{
    char path[] = "/tmp/waits-XXXXXX";
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    messages = msgget(IPC_PRIVATE, 0600);
    event_fd = eventfd(0, 0);
    lock_here = mkstemp(path);
    lock_there = open(path, O_RDWR);
    unlink(path);
    if (lock_there < 0 || pipe(read_pipe) != 0 || pipe(write_pipe) != 0 ||
        fcntl(read_pipe[1], F_SETFL, O_NONBLOCK) != 0)
        return false;
    void *(*const partners[])(void *) = {send_messages, write_often, read_slowly, lock_often};
    for (size_t i = 0; i < sizeof(partners) / sizeof(partners[0]); i++)
        calls_beside(partners[i]);
    return true;
}

static struct call calls[] = {
    {.name = "nanosleep", .is_right = nanosleep_sleeps},
    {.name = "clock_nanosleep", .is_right = clock_nanosleep_sleeps},
    {.name = "clock_nanosleep-absolute", .is_right = clock_nanosleep_sleeps_until},
    {.name = "usleep", .is_right = usleep_sleeps},
    {.name = "poll", .is_right = poll_times_out},
    {.name = "ppoll", .is_right = ppoll_times_out},
    {.name = "select", .is_right = select_times_out},
    {.name = "pselect", .is_right = pselect_times_out},
    {.name = "epoll_wait", .is_right = epoll_wait_times_out},
    {.name = "recv", .is_right = recv_times_out},
    {.name = "send", .is_right = send_times_out},
    {.name = "accept", .is_right = accept_times_out},
    {.name = "connect", .is_right = connect_times_out},
    {.name = "sem_timedwait", .is_right = sem_timedwait_times_out},
    {.name = "sem_clockwait", .is_right = sem_clockwait_times_out},
    {.name = "pthread_cond_timedwait", .is_right = cond_timedwait_times_out},
    {.name = "futex", .is_right = futex_times_out},
    {.name = "semtimedop", .is_right = semtimedop_times_out},
    {.name = "sigtimedwait", .is_right = sigtimedwait_times_out},
    {.name = "mq_timedreceive", .is_right = mq_timedreceive_times_out},
    {.name = "msgrcv", .is_right = msgrcv_receives},
    {.name = "read", .is_right = read_gives_what_was_written},
    {.name = "read-eventfd", .is_right = eventfd_read_gives_a_number},
    {.name = "write", .is_right = write_takes_all},
    {.name = "flock", .is_right = flock_locks},
    {.name = "fcntl-setlkw", .is_right = setlkw_locks},
    {.name = "wait4", .is_right = wait4_waits},
};

int main(int argc, char **argv)
{
    if (!prepare())
        return 1;
    int result = calls_run(calls, sizeof(calls) / sizeof(calls[0]), argc > 1 ? argv[1] : "1000");
    semctl(semaphores, 0, IPC_RMID);
    msgctl(messages, IPC_RMID, NULL);
    return result;
}
