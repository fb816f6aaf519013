/* SPDX-License-Identifier: MIT */
#include "record/launch/launch.h"

#include "record/launch/job_control.h"
#include "record/sample/tsc_clock.h"
#include "wire/atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* An hour; then the wait starts again. */
#define WAIT_MAX_NS UINT64_C(3600000000000)

/* From rec to the waiting child. */
enum order { ORDER_RUN = 'r', ORDER_END = 'e' };

/* Forwarded to the command if sent to rec alone. INT, QUIT and TSTP of the terminal reach the whole
 * process group, the command included. */
static const int forwarded[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,  SIGUSR1,
                                SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH};

/* The exit statuses of shells: 127 not found, 126 found but not runnable. */
static int is_runnable(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return errno == ENOENT || errno == ENOTDIR ? 127 : 126;
    return S_ISREG(status.st_mode) && access(path, X_OK) == 0 ? 0 : 126;
}

static int cannot(int status, const char *command, struct error *error)
{
    if (status == 126)
        error_set(error, 0, "%s: cannot run: permission denied, or not a program", command);
    else
        error_set(error, 0, strchr(command, '/') ? "%s: no such file" : "%s: command not found",
                  command);
    return status;
}

/* As execvp(3): the first runnable file counts; status 126 if a file was found, but none can
 * run. */
int launch_find(const char *command, char path[4096], struct error *error)
{
    if (strchr(command, '/')) {
        snprintf(path, 4096, "%s", command);
        int status = is_runnable(path);
        return status ? cannot(status, command, error) : 0;
    }
    const char *places = getenv("PATH");
    if (!places)
        places = "/usr/local/bin:/usr/bin:/bin";
    int worst = 127;
    while (command[0]) {
        size_t length = strcspn(places, ":");
        if (length == 0)
            snprintf(path, 4096, "./%s", command);
        else
            snprintf(path, 4096, "%.*s/%s", (int)length, places, command);
        int status = is_runnable(path);
        if (status == 0)
            return 0;
        if (status == 126)
            worst = 126;
        if (places[length] == '\0')
            break;
        places += length + 1;
    }
    return cannot(worst, command, error);
}

static void signals_to_wait_for(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
        sigaddset(set, forwarded[i]);
}

void launch_block_signals(struct launch *launch)
{
    sigset_t set;
    signals_to_wait_for(&set);
    sigprocmask(SIG_BLOCK, &set, &launch->old_mask);
    /* An ignored SIGCHLD is inherited across exec. The kernel would then reap the command, and
     * lose the exit status. */
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &launch->old_child);
    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, &launch->old_file_size);
    sigaction(LAUNCH_WAKE_SIGNAL, NULL, &launch->old_wake);
    getrlimit(RLIMIT_NOFILE, &launch->old_files);
}

void launch_restore_signals(const struct launch *launch)
{
    sigaction(SIGCHLD, &launch->old_child, NULL);
    sigaction(SIGXFSZ, &launch->old_file_size, NULL);
    sigaction(LAUNCH_WAKE_SIGNAL, &launch->old_wake, NULL);
    sigprocmask(SIG_SETMASK, &launch->old_mask, NULL);
}

void launch_raise_files(struct launch *launch)
{
    struct rlimit most = {launch->old_files.rlim_max, launch->old_files.rlim_max};
    setrlimit(RLIMIT_NOFILE, &most);
}

/* All bytes, or fewer at the end of the other side. */
static size_t receive(int fd, void *bytes, size_t size)
{
    ssize_t n;
    do
        n = recv(fd, bytes, size, MSG_WAITALL);
    while (n < 0 && errno == EINTR);
    return n > 0 ? (size_t)n : 0;
}

/* In the child: exec, or send errno. */
static void run(const struct launch *launch, int link_fd, const char *path, char *const *argv,
                char **environment)
{
    launch_restore_signals(launch);
    setrlimit(RLIMIT_NOFILE, &launch->old_files);
    execve(path, argv, environment);
    int err = errno;
    if (err == ENOEXEC) {
        /* A script without "#!": run by /bin/sh, as shells and execvp(3) do. */
        size_t count = 0;
        while (argv[count])
            count++;
        char **shell = calloc(count + 2, sizeof(*shell));
        if (shell) {
            shell[0] = (char *)(uintptr_t) "/bin/sh";
            shell[1] = (char *)(uintptr_t)path;
            memcpy(shell + 2, argv + 1, count * sizeof(*shell));
            execve(shell[0], shell, environment);
        }
    }
    ssize_t n = send(link_fd, &err, sizeof(err), MSG_NOSIGNAL);
    _exit(n == (ssize_t)sizeof(err) ? 127 : 126);
}

static int cannot_run(const char *command, int err, struct error *error)
{
    error_set(error, 0, "%s: cannot run: %s", command, strerror(err));
    return err == ENOENT ? 127 : 126;
}

/* The child waits for an order, so that its pid is known, and events are open, before the exec. */
int launch_fork(struct launch *launch, const char *path, char *const *argv, char **environment,
                struct error *error)
{
    int link[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link) != 0)
        return cannot_run(argv[0], errno, error);
    pid_t pid = fork();
    if (pid == 0) {
        /* Stays if rec is killed now: the command runs all the same, without a recording. */
        char order = ORDER_RUN;
        close(link[0]);
        receive(link[1], &order, sizeof(order));
        if (order == ORDER_RUN)
            run(launch, link[1], path, argv, environment);
        _exit(126);
    }
    int err = errno;
    close(link[1]);
    if (pid < 0) {
        close(link[0]);
        return cannot_run(argv[0], err, error);
    }
    launch->pid = pid;
    launch->link_fd = link[0];
    return 0;
}

/* The exec closes the link (SOCK_CLOEXEC); errno comes through the link if the exec fails. */
int launch_exec(struct launch *launch, const char *command, struct error *error)
{
    const char order = ORDER_RUN;
    int err = 0;
    /* A child killed before its exec closes the link, too: launch_reap() returns the signal. */
    if (send(launch->link_fd, &order, sizeof(order), MSG_NOSIGNAL) != sizeof(order) ||
        receive(launch->link_fd, &err, sizeof(err)) != sizeof(err))
        err = 0; /* closed by the exec */
    if (err == 0) {
        close(launch->link_fd);
        launch->link_fd = -1;
        return 0;
    }
    launch_abandon(launch);
    return cannot_run(command, err, error);
}

void launch_abandon(struct launch *launch)
{
    const char order = ORDER_END;
    if (launch->link_fd < 0)
        return;
    send(launch->link_fd, &order, sizeof(order), MSG_NOSIGNAL);
    close(launch->link_fd);
    launch->link_fd = -1;
    waitpid(launch->pid, NULL, 0);
}

/* True when the command has ended (and stays a zombie). Stops rec when the command has stopped;
 * *waker is then a possible sender of SIGCONT to rec, not to be forwarded. */
static bool look_at_child(pid_t pid, pid_t *waker)
{
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid)
        return true;
    info.si_pid = 0;
    if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG) == 0 && info.si_pid == pid)
        *waker = job_control_stop_with(pid);
    return false;
}

static bool was_sent_to_us(const siginfo_t *info)
{
    return info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL;
}

/* The next signal, or 0 after wait_ns. */
static int next_signal(uint64_t wait_ns, siginfo_t *info)
{
    sigset_t set;
    signals_to_wait_for(&set);
    struct timespec wait = {.tv_sec = (time_t)(wait_ns / 1000000000),
                            .tv_nsec = (long)(wait_ns % 1000000000)};
    int number = sigtimedwait(&set, info, &wait);
    return number > 0 ? number : 0;
}

enum launch_wakeup launch_wait(const struct launch *launch, uint64_t deadline_ns,
                               const uint32_t *call)
{
    pid_t waker = 0;
    while (!look_at_child(launch->pid, &waker)) {
        uint64_t now_ns = monotonic_ns();
        if (call && load_acquire(call))
            return LAUNCH_CALLED;
        if (deadline_ns && now_ns >= deadline_ns)
            return LAUNCH_TIMED_OUT;
        siginfo_t info;
        int number = next_signal(deadline_ns ? deadline_ns - now_ns : WAIT_MAX_NS, &info);
        if (number && number != SIGCHLD && was_sent_to_us(&info) && info.si_pid != waker)
            kill(launch->pid, number);
    }
    return LAUNCH_ENDED;
}

/* SIGCHLD is blocked in every thread: launch_wait() receives it. */
void launch_call(void)
{
    kill(getpid(), SIGCHLD);
}

bool launch_pause(uint64_t wait_ns)
{
    siginfo_t info;
    int number = next_signal(wait_ns, &info);
    return number == SIGINT || number == SIGQUIT || number == SIGTERM || number == SIGHUP;
}

int launch_reap(const struct launch *launch, int *wait_status, struct rusage *usage)
{
    while (wait4(launch->pid, wait_status, 0, usage) < 0)
        if (errno != EINTR)
            return -errno;
    return 0;
}
