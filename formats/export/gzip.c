/* SPDX-License-Identifier: MIT */
#include "export/gzip.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

enum { GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8, PIECE_BYTES = 1 << 16, LARGEST_INPUT = 1 << 30 };

struct gzip {
    z_stream stream;
    gzip_sink *sink;
    void *context;
};

int gzip_open(struct gzip **out, int level, gzip_sink *sink, void *context)
{
    struct gzip *gzip = calloc(1, sizeof(*gzip));
    *out = NULL;
    if (!gzip || deflateInit2(&gzip->stream, level, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
                              Z_DEFAULT_STRATEGY) != Z_OK) {
        free(gzip);
        return -ENOMEM;
    }
    gzip->sink = sink;
    gzip->context = context;
    *out = gzip;
    return 0;
}

void gzip_free(struct gzip *gzip)
{
    if (!gzip)
        return;
    deflateEnd(&gzip->stream);
    free(gzip);
}

/* One piece of input, in pieces of output. */
static int deflate_piece(struct gzip *gzip, int flush)
{
    uint8_t piece[PIECE_BYTES];
    int err = 0;
    do {
        gzip->stream.next_out = piece;
        gzip->stream.avail_out = sizeof(piece);
        if (deflate(&gzip->stream, flush) == Z_STREAM_ERROR)
            return -EIO;
        err = gzip->sink(gzip->context, piece, sizeof(piece) - gzip->stream.avail_out);
    } while (err == 0 && gzip->stream.avail_out == 0);
    return err;
}

/* zlib counts input in 32 bits, so large runs come in pieces. */
int gzip_write(struct gzip *gzip, const void *bytes, size_t size)
{
    int err = 0;
    size_t done = 0;
    while (done < size && err == 0) {
        size_t piece = size - done < LARGEST_INPUT ? size - done : LARGEST_INPUT;
        gzip->stream.next_in = (uint8_t *)(uintptr_t)bytes + done;
        gzip->stream.avail_in = (uInt)piece;
        err = deflate_piece(gzip, Z_NO_FLUSH);
        done += piece;
    }
    return err;
}

int gzip_finish(struct gzip *gzip)
{
    gzip->stream.next_in = NULL;
    gzip->stream.avail_in = 0;
    return deflate_piece(gzip, Z_FINISH);
}
