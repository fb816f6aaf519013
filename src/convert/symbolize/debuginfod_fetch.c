/* SPDX-License-Identifier: MIT */
#include "convert/symbolize/debuginfod_fetch.h"

#include "base/budget.h"
#include "base/files/io.h"
#include "base/sandbox/confine.h"
#include "base/sandbox/workers.h"
#include "convert/files/module_segments.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEMORY_BYTES = 128 << 20 };

typedef void *begin_function(void);
typedef int find_function(void *client, const unsigned char *build_id, int size, char **path);
typedef int source_function(void *client, const unsigned char *build_id, int size,
                            const char *source, char **path);

/* The parent's exit status has 8 bits; errnos of Linux are below 134. */
__attribute__((noreturn)) static void end(int err)
{
    _exit(-err);
}

/* The write fails with EFBIG instead, and the library removes the file. */
static int limit_file(uint64_t largest_bytes)
{
    struct rlimit limit = {largest_bytes, largest_bytes};
    if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return -errno;
    return 0;
}

/* proc(5), /proc/PID/io: bytes of all writes. The library has no error of its own for a short
 * write. */
static bool has_written(int io_fd, uint64_t bytes)
{
    char text[512];
    ssize_t n = pread(io_fd, text, sizeof(text) - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    const char *written = strstr(text, "wchar: ");
    return written && strtoull(written + strlen("wchar: "), NULL, 10) >= bytes;
}

static void set_number(const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    setenv(name, text, 1);
}

/* Root's rights serve no download. The cache is in the home directory of the user. */
static int use_user(void)
{
    uid_t before = geteuid();
    int err = confine_rights();
    if (err)
        return err;
    const struct passwd *user = geteuid() != before ? getpwuid(geteuid()) : NULL;
    if (user)
        setenv("HOME", user->pw_dir, 1);
    return 0;
}

/* Closes every other descriptor: the capture and the outputs may be open for writing. */
static int keep_only(int fd)
{
    int kept = dup2(fd, STDERR_FILENO + 1);
    if (kept < 0 || close_range((unsigned)kept + 1, ~0u, 0) != 0)
        end(-errno);
    return kept;
}

static int download(const struct debuginfod_fetch *fetch, int io_fd, char **path)
{
    void *library = dlopen("libdebuginfod.so.1", RTLD_NOW);
    begin_function *begin = library ? (begin_function *)dlsym(library, "debuginfod_begin") : NULL;
    void *find = library ? dlsym(library, fetch->source ? "debuginfod_find_source"
                                                        : "debuginfod_find_debuginfo")
                         : NULL;
    if (!begin || !find)
        return DEBUGINFOD_NO_LIBRARY;
    void *client = begin();
    int fd = -ENOMEM;
    if (client && fetch->source)
        fd = ((source_function *)find)(client, fetch->build_id, fetch->build_id_bytes,
                                       fetch->source, path);
    else if (client)
        fd = ((find_function *)find)(client, fetch->build_id, fetch->build_id_bytes, path);
    if (fd < 0 && has_written(io_fd, fetch->largest_bytes))
        return DEBUGINFOD_TOO_LARGE;
    return fd < 0 ? fd : 0;
}

/* Servers send anything; caches keep it. */
static int check_build(const struct debuginfod_fetch *fetch, const char *path)
{
    struct elf_file *elf;
    int err = module_file_open(&elf, path, fetch->build_id, fetch->build_id_bytes);
    elf_close(elf);
    return err ? DEBUGINFOD_OTHER_BUILD : 0;
}

__attribute__((noreturn)) static void run(const struct debuginfod_fetch *fetch, int out)
{
    char *path = NULL;
    out = keep_only(out);
    int io_fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC); /* not readable after use_user() */
    budget_lift_memory();                                    /* the limit of the parent */
    budget_begin_conversion(0, MEMORY_BYTES);
    int err = limit_file(fetch->largest_bytes);
    if (!err)
        err = use_user();
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the change of ids: the change clears the signal */
    set_number("DEBUGINFOD_MAXTIME", fetch->seconds);
    set_number("DEBUGINFOD_MAXSIZE", fetch->largest_bytes);
    unsetenv("DEBUGINFOD_PROGRESS");
    if (!err)
        err = download(fetch, io_fd, &path);
    if (!err && !fetch->source)
        err = check_build(fetch, path);
    if (!err)
        err = io_write(out, path, strlen(path));
    end(err);
}

pid_t debuginfod_fetch_start(const struct debuginfod_fetch *fetch, int *fd)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    pid_t pid = fork();
    if (pid == 0)
        run(fetch, ends[1]);
    pid = pid < 0 ? -errno : pid;
    close(ends[1]);
    *fd = ends[0];
    if (pid < 0)
        close(ends[0]);
    return pid;
}

int debuginfod_fetch_end(pid_t pid)
{
    int status = worker_reap(pid);
    if (WIFEXITED(status))
        return -WEXITSTATUS(status);
    return WTERMSIG(status) == SIGKILL ? DEBUGINFOD_TOO_SLOW : -EIO;
}
