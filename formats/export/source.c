/* SPDX-License-Identifier: MIT */
#include "export/source.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCE_LIMIT_BYTES = 1 << 20 };

static int read_text(int fd, struct buffer *out)
{
    struct stat file;
    if (fstat(fd, &file) != 0)
        return -errno;
    if (!S_ISREG(file.st_mode))
        return -EINVAL;
    int err = io_read_all(fd, out, SOURCE_LIMIT_BYTES);
    if (err != 0)
        return err;
    if (out->size && memchr(out->bytes, '\0', out->size))
        return -EINVAL;
    buffer_u8(out, 0);
    return out->failed ? -ENOMEM : 0;
}

int source_read(const char *path, struct buffer *out)
{
    if (path[0] != '/')
        return -EINVAL;
    /* O_NONBLOCK: opening a FIFO must not wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -errno;
    int err = read_text(fd, out);
    close(fd);
    return err;
}
