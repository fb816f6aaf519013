/* SPDX-License-Identifier: MIT */
#include "elf/decompress.h"

#include "base/array.h"

#include <errno.h>
#include <zlib.h>

#ifdef REC_HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef REC_HAVE_LZMA
#include <lzma.h>
#endif

/* zlib cannot do better than 1032:1, so who promises more is lying. */
#define INFLATE_RATIO_MAX 1032

/* Room for size bytes after what is there; NULL when memory is out. */
static uint8_t *room(struct buffer *out, size_t size)
{
    size_t need;
    if (__builtin_add_overflow(out->size, size, &need) ||
        array_reserve((void **)&out->bytes, &out->capacity, need ? need : 1, 1) != 0)
        return NULL;
    return out->bytes + out->size;
}

int decompress_zlib(const void *bytes, size_t stored, size_t size, struct buffer *out)
{
    if (size / INFLATE_RATIO_MAX > stored)
        return -EBADMSG;
    uint8_t *to = room(out, size);
    uLongf got = size;
    if (!to)
        return -ENOMEM;
    if (size > 0 && (uncompress(to, &got, bytes, stored) != Z_OK || got != size))
        return -EBADMSG;
    out->size += size;
    return 0;
}

int decompress_zstd(const void *bytes, size_t stored, size_t size, struct buffer *out)
{
#ifdef REC_HAVE_ZSTD
    uint8_t *to = room(out, size);
    if (!to)
        return -ENOMEM;
    if (ZSTD_decompress(to, size, bytes, stored) != size)
        return -EBADMSG;
    out->size += size;
    return 0;
#else
    (void)bytes, (void)stored, (void)size, (void)out;
    return -ENOTSUP;
#endif
}

#ifdef REC_HAVE_LZMA
enum { XZ_MEMORY_MAX = 128 << 20, XZ_CHUNK = 1 << 20 };

static int run_xz(lzma_stream *stream, size_t limit, struct buffer *out)
{
    size_t before = out->size;
    lzma_ret status = LZMA_OK;
    while (status == LZMA_OK) {
        stream->next_out = room(out, XZ_CHUNK);
        if (!stream->next_out)
            return -ENOMEM;
        stream->avail_out = XZ_CHUNK;
        status = lzma_code(stream, LZMA_FINISH);
        out->size += XZ_CHUNK - stream->avail_out;
        if (out->size - before > limit)
            return -EFBIG;
    }
    return status == LZMA_STREAM_END ? 0 : status == LZMA_MEM_ERROR ? -ENOMEM : -EBADMSG;
}
#endif

int decompress_xz(const void *bytes, size_t stored, size_t limit, struct buffer *out)
{
#ifdef REC_HAVE_LZMA
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, XZ_MEMORY_MAX, 0) != LZMA_OK)
        return -ENOMEM;
    stream.next_in = bytes;
    stream.avail_in = stored;
    size_t before = out->size;
    int err = run_xz(&stream, limit, out);
    if (err != 0)
        out->size = before;
    lzma_end(&stream);
    return err;
#else
    (void)bytes, (void)stored, (void)limit, (void)out;
    return -ENOTSUP;
#endif
}

const char *decompress_missing(void)
{
#if defined(REC_HAVE_ZSTD) && defined(REC_HAVE_LZMA)
    return "";
#elif defined(REC_HAVE_ZSTD)
    return "liblzma-dev (.gnu_debugdata)";
#elif defined(REC_HAVE_LZMA)
    return "libzstd-dev (perf record -z, zstd sections)";
#else
    return "libzstd-dev (perf record -z, zstd sections), liblzma-dev (.gnu_debugdata)";
#endif
}
