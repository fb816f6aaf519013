/* SPDX-License-Identifier: MIT */
#include "convert/symbolize/debuginfod_source.h"

#include "base/files/io.h"
#include "convert/symbolize/debuginfod_client.h"

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
    if (lib->build_id_bytes == 0)
        return -ENOENT;
    int fd = debuginfod_client_request(&fetch);
    if (fd < 0)
        return fd;
    int err = io_read_all(fd, path, PATH_MAX);
    close(fd);
    return err ? err : debuginfod_client_take_reply(path);
}
