/* SPDX-License-Identifier: MIT */
#include "convert/store/capture.h"

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

int capture_open(struct capture *capture, const char *path, const char *name, struct error *error)
{
    *capture = (struct capture){.fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (capture->fd < 0)
        return error_set(error, -errno, "cannot open %s: %s", name, strerror(errno));
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
