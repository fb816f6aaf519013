/* SPDX-License-Identifier: MIT */
/* The real perf as a judge. */
#pragma once

#include "capture.h"

#include <sys/wait.h>

/* Everything that a shell command prints on stdout; the caller frees it. */
static inline char *output_of(const char *command, int *status)
{
    struct buffer out = {0};
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(io_read_all(fileno(pipe), &out, 1 << 28), 0);
    buffer_u8(&out, 0);
    assert_false(out.failed);
    *status = pclose(pipe);
    return (char *)out.bytes;
}

static inline bool has_perf(void)
{
    int status;
    free(output_of("perf --version 2>/dev/null", &status));
    return status == 0;
}

/* perf VERB -i FILE REST, without the user's configuration; it must succeed. */
static inline char *perf_output(const char *verb, const char *path, const char *rest)
{
    char command[1024];
    int status;
    snprintf(command, sizeof(command), "HOME=/nonexistent perf %s -i %s %s 2>/dev/null </dev/null",
             verb, path, rest);
    char *text = output_of(command, &status);
    if (status != 0)
        fail_msg("%s: status %d", command, status);
    return text;
}

/* A file name of our own; the caller unlinks it. */
static inline int named_file(char path[64])
{
    strcpy(path, "/tmp/rec-perfdata-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    return fd;
}
