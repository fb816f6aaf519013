/* SPDX-License-Identifier: MIT */
#include "convert/symbolize/debuginfod.h"

#include "base/clock.h"
#include "base/containers/buffer.h"
#include "base/files/io.h"
#include "base/sandbox/confine.h"
#include "base/sandbox/workers.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AT_ONCE = 8, TOTAL_MS = 120000 };
#define MODULE_SECONDS "45" /* as an environment variable of libdebuginfod */
#define LARGEST_FILE "2000000000"

void debuginfod_free(struct debuginfod *debuginfod)
{
    for (size_t i = 0; i < debuginfod->count; i++)
        free(debuginfod->files[i].path);
    free(debuginfod->files);
}

const char *debuginfod_find(const struct debuginfod *debuginfod, const uint8_t *build_id,
                            size_t build_id_bytes)
{
    for (size_t i = 0; i < debuginfod->count; i++)
        if (debuginfod->files[i].build_id_bytes == build_id_bytes &&
            memcmp(debuginfod->files[i].build_id, build_id, build_id_bytes) == 0)
            return debuginfod->files[i].path;
    return NULL;
}

/* ---- in a process of its own ---- */

typedef void *begin_function(void);
typedef int find_function(void *client, const unsigned char *build_id, int size, char **path);

/* What a server sends is not handled with the rights of root; those who read it need not have them either. The cache is
 * in the home directory of the user. */
static void use_user(void)
{
    uid_t before = geteuid();
    if (confine_rights() != 0)
        _exit(0);
    const struct passwd *user = geteuid() != before ? getpwuid(geteuid()) : NULL;
    if (user)
        setenv("HOME", user->pw_dir, 1);
}

/* Closes every other descriptor: the capture and the outputs may be open for writing. */
static int keep_only(int fd)
{
    int kept = dup2(fd, STDERR_FILENO + 1);
    if (kept < 0 || close_range((unsigned)kept + 1, ~0u, 0) != 0)
        _exit(0);
    return kept;
}

/* Writes the path of what was fetched; nothing on failure. */
__attribute__((noreturn)) static void fetch_one(const struct debuginfod_file *file, int out)
{
    out = keep_only(out);
    use_user();
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* which a change of ids takes away */
    setenv("DEBUGINFOD_MAXTIME", MODULE_SECONDS, 0);
    setenv("DEBUGINFOD_MAXSIZE", LARGEST_FILE, 0);
    unsetenv("DEBUGINFOD_PROGRESS");
    void *library = dlopen("libdebuginfod.so.1", RTLD_NOW);
    begin_function *begin = library ? (begin_function *)dlsym(library, "debuginfod_begin") : NULL;
    find_function *find =
        library ? (find_function *)dlsym(library, "debuginfod_find_debuginfo") : NULL;
    void *client = begin && find ? begin() : NULL;
    char *path = NULL;
    if (client && find(client, file->build_id, file->build_id_bytes, &path) >= 0 && path)
        (void)io_write(out, path, strlen(path));
    else if (!client)
        (void)io_write(out, "-", 1);
    _exit(0);
}

/* ---- in ours ---- */

struct child {
    pid_t pid; /* 0: none */
    int fd;
    struct debuginfod_file *file;
    struct buffer answer;
};

static bool start(struct debuginfod_file *file, struct child *child)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    *child = (struct child){.fd = ends[0], .file = file};
    child->pid = fork();
    if (child->pid == 0)
        fetch_one(file, ends[1]);
    close(ends[1]);
    if (child->pid > 0)
        return true;
    close(ends[0]);
    child->pid = 0;
    return false;
}

static void finish(struct debuginfod *debuginfod, struct child *child)
{
    close(child->fd);
    (void)worker_reap(child->pid);
    buffer_u8(&child->answer, 0);
    if (!child->answer.failed && child->answer.bytes[0] == '/')
        child->file->path = (char *)child->answer.bytes;
    else {
        debuginfod->is_library_missing |= !child->answer.failed && child->answer.bytes[0] == '-';
        buffer_free(&child->answer);
    }
    child->pid = 0;
}

/* True: it has ended. */
static bool hear(struct child *child)
{
    char bytes[PATH_MAX];
    ssize_t n = read(child->fd, bytes, sizeof(bytes));
    if (n > 0)
        buffer_append(&child->answer, bytes, (size_t)n);
    return n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
}

/* Waits until some child says something or time is up, and hears it. Returns how many ended. */
static size_t wait_for(struct debuginfod *debuginfod, struct child children[AT_ONCE],
                       int64_t until_ms)
{
    struct pollfd polled[AT_ONCE];
    size_t ended = 0;
    for (size_t i = 0; i < AT_ONCE; i++)
        polled[i] = (struct pollfd){.fd = children[i].pid ? children[i].fd : -1, .events = POLLIN};
    int64_t left_ms = until_ms - monotonic_ms();
    bool is_late = left_ms <= 0 || poll(polled, AT_ONCE, (int)left_ms) == 0;
    for (size_t i = 0; i < AT_ONCE; i++) {
        if (!children[i].pid || (!is_late && polled[i].revents == 0))
            continue;
        if (is_late)
            kill(children[i].pid, SIGKILL);
        else if (!hear(&children[i]))
            continue;
        finish(debuginfod, &children[i]);
        ended++;
    }
    return ended;
}

static void debuginfod_all(struct debuginfod *debuginfod)
{
    struct child children[AT_ONCE] = {{0}};
    size_t ended = debuginfod->tried;
    int64_t until_ms = debuginfod->until_ms;
    while (ended < debuginfod->count) {
        for (size_t i = 0; i < AT_ONCE && debuginfod->tried < debuginfod->count; i++)
            if (!children[i].pid && monotonic_ms() < until_ms &&
                !start(&debuginfod->files[debuginfod->tried++], &children[i]))
                ended++;
        if (debuginfod->options->progress)
            debuginfod->options->progress(debuginfod->options->progress_context,
                                          "fetching debug info", ended, debuginfod->count);
        size_t more = wait_for(debuginfod, children, until_ms);
        ended += more;
        if (more == 0 && monotonic_ms() >= until_ms)
            break;
    }
}

const char *debuginfod_run(struct debuginfod *debuginfod)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    if (debuginfod->tried == debuginfod->count)
        return NULL;
    if (!urls || urls[0] == '\0')
        return "--debuginfod: no server is known: set DEBUGINFOD_URLS";
    if (debuginfod->until_ms == 0)
        debuginfod->until_ms = monotonic_ms() + TOTAL_MS;
    debuginfod_all(debuginfod);
    return debuginfod->is_library_missing
               ? "--debuginfod: libdebuginfod.so.1 is not installed (Debian: libdebuginfod1)"
               : NULL;
}
