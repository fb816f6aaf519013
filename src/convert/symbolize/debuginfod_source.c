/* SPDX-License-Identifier: MIT */
#include "convert/symbolize/debuginfod_source.h"

#include "base/files/io.h"
#include "convert/symbolize/debuginfod_fetch.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

enum { SECONDS = 20, SOURCE_BYTES = 1 << 20 };

int debuginfod_source(const struct profile_lib *lib, const char *source, struct buffer *path)
{
    const struct debuginfod_fetch fetch = {.build_id = lib->build_id,
                                           .build_id_bytes = lib->build_id_bytes,
                                           .source = source,
                                           .largest_bytes = SOURCE_BYTES,
                                           .seconds = SECONDS};
    int fd;
    if (lib->build_id_bytes == 0)
        return -ENOENT;
    pid_t pid = debuginfod_fetch_start(&fetch, &fd);
    if (pid < 0)
        return pid;
    int err = io_read_all(fd, path, PATH_MAX);
    close(fd);
    int ended = debuginfod_fetch_end(pid);
    buffer_u8(path, 0);
    return ended ? ended : path->failed ? -ENOMEM : err;
}
