/* SPDX-License-Identifier: MIT */
#include "convert/symbolize/debuginfod_fetch.h"

#include "base/budget.h"
#include "base/files/io.h"
#include "base/loaded_library.h"
#include "base/sandbox/confine.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MEMORY_BYTES = 128 << 20, SPARE_SECONDS = 2 };

typedef void *begin_function(void);
typedef int find_function(void *client, const unsigned char *build_id, int size, char **path);
typedef int source_function(void *client, const unsigned char *build_id, int size,
                            const char *source, char **path);

static int reply_fd;

__attribute__((noreturn)) static void reply(int err, const char *path)
{
    const uint8_t positive = (uint8_t)-err; /* errnos of Linux are below 134 */
    if (io_write(reply_fd, &positive, 1) == 0 && err == 0)
        (void)io_write(reply_fd, path, strlen(path));
    _exit(0);
}

static void reply_too_slow(int signal_number)
{
    (void)signal_number;
    reply(DEBUGINFOD_TOO_SLOW, NULL);
}

/* For a library that misses its own limit. The library disables the timeouts of libcurl by the
 * same signal (CURLOPT_NOSIGNAL). */
static void limit_time(unsigned seconds)
{
    (void)signal(SIGALRM, reply_too_slow);
    (void)alarm(seconds + SPARE_SECONDS);
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

/* The functions are those of debuginfod_find_debuginfo(3). */
static int download(const struct debuginfod_fetch *fetch, int io_fd, char **path)
{
    begin_function *begin;
    void *find;
    const struct library_function functions[] = {
        {"debuginfod_begin", &begin},
        {fetch->source ? "debuginfod_find_source" : "debuginfod_find_debuginfo", &find},
        {NULL, NULL}};
    if (!library_load("libdebuginfod.so.1", functions))
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

void debuginfod_fetch_run(const struct debuginfod_fetch *fetch, int out)
{
    char *path = NULL;
    reply_fd = out;
    int io_fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC); /* unreadable for another user */
    budget_lift_memory();                                    /* the limit of the parent */
    budget_begin_conversion(0, MEMORY_BYTES);
    int err = limit_file(fetch->largest_bytes);
    if (!err) /* root's rights serve no download; the cache is in the user's home directory */
        err = confine_rights_and_home();
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* after the change of ids: the change clears the signal */
    set_number("DEBUGINFOD_MAXTIME", fetch->seconds);
    set_number("DEBUGINFOD_MAXSIZE", fetch->largest_bytes);
    unsetenv("DEBUGINFOD_PROGRESS");
    limit_time(fetch->seconds);
    if (!err)
        err = download(fetch, io_fd, &path);
    reply(err, path);
}
