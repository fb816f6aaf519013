/* SPDX-License-Identifier: MIT */
#include "record/procfs/blocked/thread_files.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* tasks NULL: by the whole path. */
static int open_file(const struct task_directory *tasks, pid_t pid, pid_t tid, const char *name)
{
    char path[64];
    if (tasks)
        snprintf(path, sizeof(path), "%d/%s", (int)tid, name);
    else
        snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
    int fd = openat(tasks ? tasks->fd : AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* schedstat first: readable for every user. syscall needs the right to trace the process
 * (proc(5)). */
static int open_files(struct thread_files *files, const struct task_directory *tasks, pid_t pid,
                      pid_t tid)
{
    files->stack_fd = -1;
    files->account_fd = open_file(tasks, pid, tid, "schedstat");
    files->call_fd = files->account_fd < 0 ? -1 : open_file(tasks, pid, tid, "syscall");
    int err = files->account_fd < 0 ? files->account_fd : files->call_fd < 0 ? files->call_fd : 0;
    if (err)
        thread_files_close(files);
    return err;
}

int thread_files_open(struct thread_files *files, pid_t pid, pid_t tid)
{
    return open_files(files, NULL, pid, tid);
}

/* The lookup of /proc/PID/task is done once for all threads of a process. */
int thread_files_open_in(struct thread_files *files, struct task_directory *tasks, pid_t pid,
                         pid_t tid)
{
    char path[32];
    if (tasks->pid != pid) {
        task_directory_close(tasks);
        snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
        int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            return -errno;
        *tasks = (struct task_directory){pid, fd};
    }
    return open_files(files, tasks, pid, tid);
}

void thread_files_open_stack(struct thread_files *files, const struct task_directory *tasks,
                             pid_t tid)
{
    int fd = open_file(tasks, tasks->pid, tid, "stack");
    files->stack_fd = fd < 0 ? -1 : fd;
}

void task_directory_close(struct task_directory *tasks)
{
    if (tasks->pid)
        close(tasks->fd);
    *tasks = (struct task_directory){0};
}

void thread_files_close(struct thread_files *files)
{
    if (files->account_fd >= 0)
        close(files->account_fd);
    if (files->call_fd >= 0)
        close(files->call_fd);
    if (files->stack_fd >= 0)
        close(files->stack_fd);
    *files = (struct thread_files){-1, -1, -1};
}

/* The content in one read, as the kernel makes it. */
static int read_text(int fd, char *text, size_t size)
{
    ssize_t got = pread(fd, text, size - 1, 0);
    if (got < 0)
        return -errno;
    text[got] = '\0';
    return 0;
}

int thread_files_account(const struct thread_files *files, struct run_account *account)
{
    char text[128];
    int err = read_text(files->account_fd, text, sizeof(text));
    account->read_ns = monotonic_ns();
    return err ? err : run_account_parse(account, text) ? 0 : -EBADMSG;
}

int thread_account_read(pid_t pid, pid_t tid, struct run_account *account)
{
    struct thread_files files = {
        .account_fd = open_file(NULL, pid, tid, "schedstat"), .call_fd = -1, .stack_fd = -1};
    int err = files.account_fd < 0 ? files.account_fd : thread_files_account(&files, account);
    thread_files_close(&files);
    return err;
}

int thread_files_call(const struct thread_files *files, struct blocked_call *call)
{
    char text[256];
    int err = read_text(files->call_fd, text, sizeof(text));
    return err ? err : blocked_call_parse(call, text) ? 0 : -EBADMSG;
}

void thread_files_kernel_stack(const struct thread_files *files, char *text, size_t size)
{
    if (files->stack_fd < 0 || read_text(files->stack_fd, text, size) != 0)
        text[0] = '\0';
}
