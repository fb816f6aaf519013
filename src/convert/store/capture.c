/* SPDX-License-Identifier: MIT */
#include "convert/store/capture.h"

#include "base/files/foreign_file.h"
#include "perfdata/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int read_names(struct capture *capture)
{
    size_t size;
    const uint8_t *bytes = perfdata_feature(capture->reader, PERFDATA_FEATURE_SYMBOLS, &size);
    int err = bytes ? symbol_store_parse(&capture->store, bytes, size) : 0;
    perfdata_forget_feature(capture->reader, PERFDATA_FEATURE_SYMBOLS);
    capture->has_unusable_store = err == -EBADMSG;
    return err == -EBADMSG ? 0 : err;
}

/* A regular file or a directory. Another user may have replaced the object of the path by a
 * device since the path was checked. */
static int open_input(const char *path)
{
    int place = foreign_file_find(0, path, 0, NULL);
    int fd = place < 0 ? place : openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (place < 0 || (fd < 0 && errno == ENOTDIR))
        return foreign_file_reopen(place, NULL, NULL);
    fd = fd < 0 ? -errno : fd;
    close(place);
    return fd;
}

int capture_open(struct capture *capture, const char *path, const char *name, struct error *error)
{
    *capture = (struct capture){.name = name, .fd = open_input(path)};
    if (capture->fd < 0)
        return error_set(error, capture->fd, "cannot open %s: %s", name,
                         foreign_file_error(capture->fd));
    int err = perfdata_reader_open(&capture->reader, capture->fd, name, error);
    if (err == 0 && (err = read_names(capture)) != 0)
        error_set(error, err, "out of memory while reading %s", name);
    if (err != 0)
        capture_close(capture);
    return err;
}

void capture_close(struct capture *capture)
{
    symbol_store_free(capture->store);
    perfdata_reader_close(capture->reader);
    if (capture->fd >= 0)
        close(capture->fd);
    *capture = (struct capture){.fd = -1};
}
