/* SPDX-License-Identifier: MIT */
#include "export/gzip.h"

#include <errno.h>
#include <zlib.h>

enum { GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8, PIECE_BYTES = 1 << 16, LARGEST_INPUT = 1 << 30 };

/* One piece of input, in pieces of output. zlib counts input in 32 bits, so large runs come in
 * pieces. */
static int deflate_piece(z_stream *stream, struct buffer *out, int flush)
{
    uint8_t piece[PIECE_BYTES];
    do {
        stream->next_out = piece;
        stream->avail_out = sizeof(piece);
        if (deflate(stream, flush) == Z_STREAM_ERROR)
            return -EIO;
        buffer_append(out, piece, sizeof(piece) - stream->avail_out);
    } while (stream->avail_out == 0);
    return out->failed ? -ENOMEM : 0;
}

int gzip_append(struct buffer *out, const void *bytes, size_t size, int level)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, level, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return -ENOMEM;
    size_t done = 0;
    int err;
    do {
        size_t piece = size - done < LARGEST_INPUT ? size - done : LARGEST_INPUT;
        stream.next_in = piece ? (uint8_t *)(uintptr_t)bytes + done : NULL;
        stream.avail_in = (uInt)piece;
        done += piece;
        err = deflate_piece(&stream, out, done < size ? Z_NO_FLUSH : Z_FINISH);
    } while (err == 0 && done < size);
    deflateEnd(&stream);
    return err;
}
