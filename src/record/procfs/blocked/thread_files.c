/* SPDX-License-Identifier: MIT */
#include "record/procfs/blocked/thread_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int open_file(pid_t pid, pid_t tid, const char *name)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int thread_files_open(struct thread_files *files, pid_t pid, pid_t tid)
{
    files->account_fd = open_file(pid, tid, "schedstat");
    files->call_fd = files->account_fd < 0 ? -1 : open_file(pid, tid, "syscall");
    int err = files->account_fd < 0 ? files->account_fd : files->call_fd < 0 ? files->call_fd : 0;
    if (err)
        thread_files_close(files);
    return err;
}

void thread_files_close(struct thread_files *files)
{
    if (files->account_fd >= 0)
        close(files->account_fd);
    if (files->call_fd >= 0)
        close(files->call_fd);
    *files = (struct thread_files){-1, -1};
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
    return err ? err : run_account_parse(account, text) ? 0 : -EBADMSG;
}

int thread_account_read(pid_t pid, pid_t tid, struct run_account *account)
{
    struct thread_files files = {.account_fd = open_file(pid, tid, "schedstat"), .call_fd = -1};
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
