/* SPDX-License-Identifier: MIT */
#include "convert/fetch.h"

#include "base/array.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/io.h"
#include "elf/elf_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AT_ONCE = 8, TOTAL_MS = 120000 };
#define MODULE_SECONDS "45" /* as an environment variable of libdebuginfod */
#define LARGEST_FILE "2000000000"

void fetch_free(struct fetch *fetch)
{
    for (size_t i = 0; fetch->paths && i < fetch->profile->lib_count; i++)
        free(fetch->paths[i]);
    free(fetch->paths);
    free(fetch->libs);
}

/* Whether the file, or its debug file by build-id, is there with debug info. */
static bool has_debug_info(const struct fetch *fetch, const struct profile_lib *lib)
{
    char debug_file[PATH_MAX];
    int length = snprintf(debug_file, sizeof(debug_file), "%s/.build-id/%02x/",
                          fetch->debug_directory, lib->build_id[0]);
    for (unsigned i = 1; i < lib->build_id_bytes && length < PATH_MAX - 16; i++)
        length += snprintf(debug_file + length, 3, "%02x", lib->build_id[i]);
    snprintf(debug_file + length, sizeof(debug_file) - (size_t)length, ".debug");
    struct stat status;
    struct elf_file *elf = NULL;
    int fd = open(profile_text(fetch->profile, lib->path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_elf = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                  elf_open(&elf, fd, NULL) == 0;
    bool has = access(debug_file, R_OK) == 0 || (is_elf && elf_find_section(elf, ".debug_info"));
    elf_close(elf);
    if (fd >= 0)
        close(fd);
    return has;
}

int fetch_add(struct fetch *fetch, uint32_t lib_id)
{
    const struct profile_lib *lib = &fetch->profile->libs[lib_id];
    if (lib->build_id_bytes < 2 || profile_text(fetch->profile, lib->path)[0] != '/' ||
        has_debug_info(fetch, lib))
        return 0;
    uint32_t *slot = ARRAY_PUSH(fetch->libs, fetch->count, fetch->capacity);
    if (!slot)
        return -ENOMEM;
    *slot = lib_id;
    return 0;
}

/* ---- in a process of its own ---- */

typedef void *begin_function(void);
typedef int find_function(void *client, const unsigned char *build_id, int size, char **path);

/* Writes the path of what was fetched; nothing on failure. */
__attribute__((noreturn)) static void fetch_one(const struct profile_lib *lib, int out)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv("DEBUGINFOD_MAXTIME", MODULE_SECONDS, 0);
    setenv("DEBUGINFOD_MAXSIZE", LARGEST_FILE, 0);
    unsetenv("DEBUGINFOD_PROGRESS");
    void *library = dlopen("libdebuginfod.so.1", RTLD_NOW);
    begin_function *begin = library ? (begin_function *)dlsym(library, "debuginfod_begin") : NULL;
    find_function *find =
        library ? (find_function *)dlsym(library, "debuginfod_find_debuginfo") : NULL;
    void *client = begin && find ? begin() : NULL;
    char *path = NULL;
    if (client && find(client, lib->build_id, lib->build_id_bytes, &path) >= 0 && path)
        (void)io_write(out, path, strlen(path));
    else if (!client)
        (void)io_write(out, "-", 1);
    _exit(0);
}

/* ---- in ours ---- */

struct child {
    pid_t pid; /* 0: none */
    int fd;
    uint32_t lib;
    struct buffer answer;
};

static bool start(const struct fetch *fetch, struct child *child, uint32_t lib)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    *child = (struct child){.fd = ends[0], .lib = lib};
    child->pid = fork();
    if (child->pid == 0)
        fetch_one(&fetch->profile->libs[lib], ends[1]);
    close(ends[1]);
    if (child->pid > 0)
        return true;
    close(ends[0]);
    child->pid = 0;
    return false;
}

static void finish(struct fetch *fetch, struct child *child)
{
    close(child->fd);
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    buffer_u8(&child->answer, 0);
    if (!child->answer.failed && child->answer.bytes[0] == '/')
        fetch->paths[child->lib] = (char *)child->answer.bytes;
    else {
        fetch->is_library_missing |= !child->answer.failed && child->answer.bytes[0] == '-';
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
static size_t wait_for(struct fetch *fetch, struct child children[AT_ONCE], int64_t until_ms)
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
        finish(fetch, &children[i]);
        ended++;
    }
    return ended;
}

static void fetch_all(struct fetch *fetch)
{
    struct child children[AT_ONCE] = {{0}};
    size_t started = 0, ended = 0;
    int64_t until_ms = monotonic_ms() + TOTAL_MS;
    while (ended < fetch->count) {
        for (size_t i = 0; i < AT_ONCE && started < fetch->count && monotonic_ms() < until_ms; i++)
            if (!children[i].pid && !start(fetch, &children[i], fetch->libs[started++]))
                ended++;
        if (fetch->progress)
            fetch->progress(fetch->progress_context, "fetching debug info", ended, fetch->count);
        size_t more = wait_for(fetch, children, until_ms);
        ended += more;
        if (more == 0 && monotonic_ms() >= until_ms)
            break;
    }
}

const char *fetch_run(struct fetch *fetch)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    if (fetch->count == 0)
        return NULL;
    if (!urls || urls[0] == '\0')
        return "--debuginfod: no server is known: set DEBUGINFOD_URLS";
    fetch->paths = calloc(fetch->profile->lib_count + 1, sizeof(*fetch->paths));
    if (fetch->paths)
        fetch_all(fetch);
    return fetch->is_library_missing
               ? "--debuginfod: libdebuginfod.so.1 is not installed (Debian: libdebuginfod1)"
               : NULL;
}
