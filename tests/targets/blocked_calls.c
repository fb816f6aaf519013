/* SPDX-License-Identifier: MIT */
/*
 * blocked_calls SECONDS: 50 calls that block for so long, each in a thread of its own with the name of the
 * call, three frames deep. Prints "ready", then the calls that ended early, with an error or with a short
 * count, then "N of 50 differ".
 */
#include "blocked_calls.h"

#include <aio.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>

enum { LARGE_BYTES = 1 << 20, EVENT_SIGNAL = 37 };

static char large[LARGE_BYTES];

/* A linker option puts this code far away: then the code of the program spans as much as in large programs. */
__attribute__((section(".far_code"), used)) static void far_code(void)
{
}

/* Sleeps. */

static long call_nanosleep(void)
{
    struct timespec time = blocked_time();
    return nanosleep(&time, NULL);
}

static long call_clock_nanosleep(void)
{
    struct timespec time = blocked_time();
    return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static long call_clock_nanosleep_until(void)
{
    struct timespec until = blocked_until(CLOCK_MONOTONIC);
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static long call_usleep(void)
{
    return usleep((useconds_t)blocked_seconds * 1000000);
}

static long call_sleep(void)
{
    return sleep((unsigned)blocked_seconds);
}

/* Waits for descriptors. */

static long call_poll(void)
{
    return poll(NULL, 0, blocked_seconds * 1000);
}

static long call_ppoll(void)
{
    struct timespec time = blocked_time();
    return ppoll(NULL, 0, &time, NULL);
}

static long call_select(void)
{
    struct timeval time = {.tv_sec = blocked_seconds};
    return select(0, NULL, NULL, NULL, &time);
}

static long call_pselect(void)
{
    struct timespec time = blocked_time();
    return pselect(0, NULL, NULL, NULL, &time, NULL);
}

static long call_epoll_wait(void)
{
    struct epoll_event event;
    return epoll_wait(epoll_create1(0), &event, 1, blocked_seconds * 1000);
}

static int timer_fd(void)
{
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec time = {.it_value = blocked_time()};
    timerfd_settime(timer, 0, &time, NULL);
    return timer;
}

static long call_epoll_endless(void)
{
    int epoll = epoll_create1(0), timer = timer_fd();
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event);
    return epoll_wait(epoll, &event, 1, -1) - 1;
}

static long call_epoll_pwait2(void)
{
    struct epoll_event event;
    struct timespec time = blocked_time();
    return syscall(SYS_epoll_pwait2, epoll_create1(0), &event, 1, &time, NULL, 0);
}

/* Locks and their kin. */

static long call_futex(void)
{
    static uint32_t word;
    struct timespec time = blocked_time();
    return blocked_expect(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time), ETIMEDOUT);
}

static long call_futex_bitset(void)
{
    static uint32_t word;
    struct timespec until = blocked_until(CLOCK_MONOTONIC);
    return blocked_expect(
        syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &until, NULL, ~0u), ETIMEDOUT);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, timed_mutex = PTHREAD_MUTEX_INITIALIZER,
                       condition_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static bool is_signalled;

static long call_mutex(void)
{
    return pthread_mutex_lock(&mutex);
}

static long call_mutex_timed(void)
{
    struct timespec until = blocked_until(CLOCK_REALTIME);
    return pthread_mutex_timedlock(&timed_mutex, &until) != ETIMEDOUT;
}

static long call_condition(void)
{
    int result = 0;
    pthread_mutex_lock(&condition_mutex);
    while (!is_signalled)
        result |= pthread_cond_wait(&condition, &condition_mutex);
    pthread_mutex_unlock(&condition_mutex);
    return result;
}

static long call_condition_timed(void)
{
    static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    struct timespec until = blocked_until(CLOCK_REALTIME);
    pthread_mutex_lock(&own);
    return pthread_cond_timedwait(&never, &own, &until) != ETIMEDOUT;
}

static long call_rwlock(void)
{
    return pthread_rwlock_rdlock(&rwlock);
}

static long call_barrier(void)
{
    return pthread_barrier_wait(&barrier) > 0;
}

static long call_semaphore(void)
{
    return sem_wait(&semaphore);
}

static long call_semaphore_timed(void)
{
    static sem_t never;
    struct timespec until = blocked_until(CLOCK_REALTIME);
    return blocked_expect(sem_timedwait(&never, &until), ETIMEDOUT);
}

static long call_join(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, blocked_sleep, NULL);
    return pthread_join(thread, NULL);
}

/* Signals. */

static sigset_t set_of(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    return set;
}

static long call_sigtimedwait(void)
{
    sigset_t set = set_of(SIGUSR1);
    struct timespec time = blocked_time();
    return blocked_expect(sigtimedwait(&set, NULL, &time), EAGAIN);
}

static long call_sigwaitinfo(void)
{
    sigset_t set = set_of(SIGUSR2);
    return sigwaitinfo(&set, NULL) - SIGUSR2;
}

/* Pipes, sockets and messages. */

static int full_pipe[2], empty_pipe[2], full_socket[2], empty_socket[2], listener, messages,
    semaphores, event, watcher, lock_file, terminal;
static struct sockaddr_un address;
static socklen_t address_bytes;
static char directory[] = "/tmp/blocked-XXXXXX";

static long call_read_pipe(void)
{
    char byte;
    return read(empty_pipe[0], &byte, 1) - 1;
}

static long call_write_pipe(void)
{
    return write(full_pipe[1], large, sizeof(large)) - LARGE_BYTES;
}

static long call_read_socket(void)
{
    char byte;
    return read(empty_socket[0], &byte, 1) - 1;
}

static void limit_receiving(int fd)
{
    struct timeval time = {.tv_sec = blocked_seconds};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
}

static long call_recv_timed(void)
{
    int ends[2];
    char byte;
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    limit_receiving(ends[0]);
    return blocked_expect(recv(ends[0], &byte, 1, 0), EAGAIN);
}

static long call_send_socket(void)
{
    return send(full_socket[0], large, sizeof(large), 0) - LARGE_BYTES;
}

static long call_accept(void)
{
    return accept(listener, NULL, NULL) < 0;
}

/* A socket that listens at a name of the kernel's choice. */
static int listen_anywhere(struct sockaddr_un *at, socklen_t *bytes)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    bind(fd, (struct sockaddr *)at, sizeof(sa_family_t));
    *bytes = sizeof(*at);
    getsockname(fd, (struct sockaddr *)at, bytes);
    listen(fd, 1);
    return fd;
}

static long call_accept_timed(void)
{
    struct sockaddr_un at;
    socklen_t bytes;
    int fd = listen_anywhere(&at, &bytes);
    limit_receiving(fd);
    return blocked_expect(accept(fd, NULL, NULL), EAGAIN);
}

struct message {
    long type;
    char text[8];
};

static long call_msgrcv(void)
{
    struct message message;
    return msgrcv(messages, &message, sizeof(message.text), 0, 0) < 0;
}

static long call_semop(void)
{
    struct sembuf take = {.sem_op = -1};
    return semop(semaphores, &take, 1);
}

static long call_semtimedop(void)
{
    struct sembuf take = {.sem_num = 1, .sem_op = -1};
    struct timespec time = blocked_time();
    return blocked_expect(semtimedop(semaphores, &take, 1, &time), EAGAIN);
}

static long call_io_getevents(void)
{
    aio_context_t context = 0;
    struct io_event done;
    struct timespec time = blocked_time();
    syscall(SYS_io_setup, 8, &context);
    return syscall(SYS_io_getevents, context, 1, 1, &done, &time);
}

static long call_mq_timedreceive(void)
{
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
    char name[32], text[8];
    snprintf(name, sizeof(name), "/blocked-%d", (int)getpid());
    mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
    mq_unlink(name);
    struct timespec until = blocked_until(CLOCK_REALTIME);
    return blocked_expect(mq_timedreceive(queue, text, sizeof(text), NULL, &until), ETIMEDOUT);
}

/* Other descriptors. */

static long read_whole(int fd, size_t size)
{
    char bytes[512];
    return read(fd, bytes, size) - (ssize_t)size;
}

static long call_timerfd(void)
{
    return read_whole(timer_fd(), 8);
}

static long call_eventfd(void)
{
    return read_whole(event, 8);
}

static long call_signalfd(void)
{
    sigset_t set = set_of(EVENT_SIGNAL);
    return read_whole(signalfd(-1, &set, 0), sizeof(struct signalfd_siginfo));
}

static long call_inotify(void)
{
    char bytes[512];
    return read(watcher, bytes, sizeof(bytes)) <= 0;
}

static long call_flock(void)
{
    return flock(open("lock", O_RDWR), LOCK_EX);
}

static long call_fcntl_lock(void)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    return fcntl(open("lock", O_RDWR), F_OFD_SETLKW, &whole);
}

static long call_open_fifo(void)
{
    return open("fifo", O_RDONLY) < 0;
}

static long call_read_terminal(void)
{
    char text[8];
    return read(open(ptsname(terminal), O_RDWR | O_NOCTTY), text, sizeof(text)) <= 0;
}

/* Children. */

static long call_waitpid(void)
{
    pid_t pid = blocked_child();
    return waitpid(pid, NULL, 0) - pid;
}

static long call_waitid(void)
{
    siginfo_t info;
    return waitid(P_PID, (id_t)blocked_child(), &info, WEXITED);
}

static long call_vfork(void)
{
    pid_t pid = vfork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        blocked_sleep(NULL);
        _exit(0);
    }
    return waitpid(pid, NULL, 0) - pid;
}

/* Asynchronous requests. */

static long call_io_uring(void)
{
    struct io_uring_params parameters = {0};
    struct timespec time = blocked_time();
    struct io_uring_getevents_arg argument = {.ts = (uint64_t)(uintptr_t)&time};
    long ring = syscall(SYS_io_uring_setup, 4, &parameters);
    if (ring < 0)
        return call_nanosleep(); /* forbidden here */
    return blocked_expect(syscall(SYS_io_uring_enter, ring, 0, 1,
                                  IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &argument,
                                  sizeof(argument)),
                          ETIME);
}

static long call_aio_suspend(void)
{
    int ends[2];
    static char text[8];
    static struct aiocb request;
    const struct aiocb *list[1] = {&request};
    struct timespec time = blocked_time();
    if (pipe(ends) != 0)
        return -1;
    request = (struct aiocb){.aio_fildes = ends[0], .aio_buf = text, .aio_nbytes = 1};
    aio_read(&request);
    return blocked_expect(aio_suspend(list, 1, &time), EAGAIN);
}

static struct blocked_call calls[] = {
    {.name = "nanosleep", .make = call_nanosleep},
    {.name = "clock_nanosleep", .make = call_clock_nanosleep},
    {.name = "sleep_until", .make = call_clock_nanosleep_until},
    {.name = "usleep", .make = call_usleep},
    {.name = "sleep", .make = call_sleep},
    {.name = "poll", .make = call_poll},
    {.name = "ppoll", .make = call_ppoll},
    {.name = "select", .make = call_select},
    {.name = "pselect", .make = call_pselect},
    {.name = "epoll_wait", .make = call_epoll_wait},
    {.name = "epoll_endless", .make = call_epoll_endless},
    {.name = "epoll_pwait2", .make = call_epoll_pwait2},
    {.name = "futex", .make = call_futex},
    {.name = "futex_bitset", .make = call_futex_bitset},
    {.name = "mutex", .make = call_mutex},
    {.name = "mutex_timed", .make = call_mutex_timed},
    {.name = "condition", .make = call_condition},
    {.name = "condition_timed", .make = call_condition_timed},
    {.name = "rwlock", .make = call_rwlock},
    {.name = "barrier", .make = call_barrier},
    {.name = "semaphore", .make = call_semaphore},
    {.name = "semaphore_timed", .make = call_semaphore_timed},
    {.name = "join", .make = call_join},
    {.name = "sigtimedwait", .make = call_sigtimedwait},
    {.name = "sigwaitinfo", .make = call_sigwaitinfo},
    {.name = "read_pipe", .make = call_read_pipe},
    {.name = "write_pipe", .make = call_write_pipe},
    {.name = "read_socket", .make = call_read_socket},
    {.name = "recv_timed", .make = call_recv_timed},
    {.name = "send_socket", .make = call_send_socket},
    {.name = "accept", .make = call_accept},
    {.name = "accept_timed", .make = call_accept_timed},
    {.name = "msgrcv", .make = call_msgrcv},
    {.name = "semop", .make = call_semop},
    {.name = "semtimedop", .make = call_semtimedop},
    {.name = "io_getevents", .make = call_io_getevents},
    {.name = "mq_timedreceive", .make = call_mq_timedreceive},
    {.name = "timerfd", .make = call_timerfd},
    {.name = "eventfd", .make = call_eventfd},
    {.name = "signalfd", .make = call_signalfd},
    {.name = "inotify", .make = call_inotify},
    {.name = "flock", .make = call_flock},
    {.name = "fcntl_lock", .make = call_fcntl_lock},
    {.name = "waitpid", .make = call_waitpid},
    {.name = "waitid", .make = call_waitid},
    {.name = "vfork", .make = call_vfork},
    {.name = "open_fifo", .make = call_open_fifo},
    {.name = "read_terminal", .make = call_read_terminal},
    {.name = "io_uring", .make = call_io_uring},
    {.name = "aio_suspend", .make = call_aio_suspend},
};

static void block_signals(void)
{
    sigset_t set = set_of(SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, EVENT_SIGNAL);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static void clean_up(void)
{
    unlink("watched/file");
    rmdir("watched");
    unlink("fifo");
    unlink("lock");
    rmdir(directory);
    msgctl(messages, IPC_RMID, NULL);
    semctl(semaphores, 0, IPC_RMID);
}

/* In a process of its own: also when the program is killed. */
static bool clean_up_at_the_end(void)
{
    int ends[2];
    char byte;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid != 0)
        return pid > 0 && close(ends[0]) == 0;
    close(ends[1]);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    signal(SIGINT, SIG_IGN);
    if (read(ends[0], &byte, 1) == 0) /* the last writer has ended */
        clean_up();
    _exit(0);
}

static bool prepare(void)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    if (!mkdtemp(directory) || chdir(directory) != 0 || pipe(full_pipe) != 0 ||
        pipe(empty_pipe) != 0 || mkfifo("fifo", 0600) != 0 || mkdir("watched", 0700) != 0)
        return false;
    socketpair(AF_UNIX, SOCK_STREAM, 0, full_socket);
    socketpair(AF_UNIX, SOCK_STREAM, 0, empty_socket);
    block_signals();
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&timed_mutex);
    pthread_rwlock_wrlock(&rwlock);
    pthread_barrier_init(&barrier, NULL, 2);
    listener = listen_anywhere(&address, &address_bytes);
    messages = msgget(IPC_PRIVATE, 0600);
    semaphores = semget(IPC_PRIVATE, 2, 0600);
    event = eventfd(0, 0);
    watcher = inotify_init();
    inotify_add_watch(watcher, "watched", IN_CREATE);
    lock_file = open("lock", O_RDWR | O_CREAT, 0600);
    flock(lock_file, LOCK_EX);
    fcntl(lock_file, F_OFD_SETLK, &whole);
    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    return grantpt(terminal) == 0 && unlockpt(terminal) == 0 && clean_up_at_the_end();
}

static void release_locks(void)
{
    struct sembuf give = {.sem_op = 1};
    struct flock none = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_len = 1};
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&condition_mutex);
    is_signalled = true;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&condition_mutex);
    pthread_rwlock_unlock(&rwlock);
    pthread_barrier_wait(&barrier);
    sem_post(&semaphore);
    semop(semaphores, &give, 1);
    flock(lock_file, LOCK_UN);
    fcntl(lock_file, F_OFD_SETLK, &none);
}

static void drain(int fd)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    for (ssize_t left = LARGE_BYTES, got = 1; left > 0 && got > 0; left -= got) {
        static char bytes[64 << 10];
        got = poll(&readable, 1, 10000) == 1 ? read(fd, bytes, sizeof(bytes)) : 0;
    }
}

static void write_to(int fd, const void *bytes, size_t size)
{
    if (write(fd, bytes, size) != (ssize_t)size)
        printf("cannot end a call\n");
}

/* What the calls without a time limit wait for. */
static void end_calls(void)
{
    const uint64_t one = 1;
    const struct message message = {.type = 1};
    release_locks();
    write_to(empty_pipe[1], "x", 1);
    write_to(empty_socket[1], "x", 1);
    write_to(event, &one, sizeof(one));
    write_to(terminal, "x\n", 2);
    drain(full_pipe[0]);
    drain(full_socket[1]);
    connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, address_bytes);
    msgsnd(messages, &message, sizeof(message.text), 0);
    close(open("watched/file", O_CREAT | O_WRONLY, 0600));
    open("fifo", O_WRONLY);
    kill(getpid(), SIGUSR2);
    kill(getpid(), EVENT_SIGNAL);
}

int main(int argc, char **argv)
{
    const size_t count = sizeof(calls) / sizeof(calls[0]);
    blocked_seconds = argc > 1 ? atoi(argv[1]) : 3;
    if (!prepare() || !blocked_start(calls, count))
        return 1;
    blocked_sleep(NULL);
    end_calls();
    blocked_print(calls, count);
    return 0;
}
