/* SPDX-License-Identifier: MIT */
#include "convert/convert.h"

#include "convert/store/capture.h"
#include "perfdata/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int replace(const char *path, const struct buffer *store, struct error *error)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return error_set(error, -errno, "cannot store names in %s: %s", path, strerror(errno));
    int err =
        perfdata_replace_feature(fd, PERFDATA_FEATURE_SYMBOLS, store->bytes, store->size, error);
    close(fd);
    return err;
}

int convert_store_names(const struct profile *profile, const char *path, struct error *error)
{
    struct capture capture;
    int err = capture_open(&capture, path, path, error);
    if (err != 0)
        return err;
    struct buffer store = {0};
    err = symbol_store_write(profile, capture.store, &store);
    capture_close(&capture);
    if (err != 0)
        error_set(error, err, "out of memory while storing names in %s", path);
    else
        err = replace(path, &store, error);
    buffer_free(&store);
    return err;
}
