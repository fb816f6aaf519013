/* SPDX-License-Identifier: MIT */
#include "elf/decompress.h"

#include "base/budget.h"
#include "base/containers/array.h"
#include "base/containers/table.h"
#include "base/loaded_library.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#ifdef REC_HAVE_DEFLATE
#include <libdeflate.h>
#endif
#ifdef REC_HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef REC_HAVE_LZMA
#include <lzma.h>
#endif

/* zlib's maximum ratio is 1032:1; larger claims are malformed. */
#define INFLATE_RATIO_MAX 1032
/* Debug sections shrink to a tenth at most. */
#define USUAL_RATIO_MAX 32

size_t decompress_limit(size_t stored)
{
    size_t more;
    if (__builtin_mul_overflow(stored, USUAL_RATIO_MAX, &more) ||
        __builtin_add_overflow(more, budget_amount(BUDGET_SECTION_BYTES), &more))
        return SIZE_MAX;
    return more;
}

/* Loading libdeflate takes as long as zlib for so many: names of a small capture are fewer. */
enum { LOADING_PAYS_BYTES = 32 << 10 };

/* Room for size more bytes; NULL: out of memory. Large pages: page faults took a third of the
 * time of inflating. */
static uint8_t *room(struct buffer *out, size_t size)
{
    size_t need;
    if (__builtin_add_overflow(out->size, size, &need) ||
        array_reserve((void **)&out->bytes, &out->capacity, need ? need : 1, 1) != 0)
        return NULL;
    table_prefer_large_pages(out->bytes + out->size, size);
    return out->bytes + out->size;
}

#ifdef REC_HAVE_DEFLATE
static __typeof__(libdeflate_alloc_decompressor) *inflater_new;
static __typeof__(libdeflate_zlib_decompress) *inflater_run;
static __typeof__(libdeflate_free_decompressor) *inflater_free;
static struct library_at_need libdeflate =
    LIBRARY_AT_NEED("libdeflate.so.0", {"libdeflate_alloc_decompressor", &inflater_new},
                    {"libdeflate_zlib_decompress", &inflater_run},
                    {"libdeflate_free_decompressor", &inflater_free});

/* libdeflate: two fifths of zlib's time; needs the whole input and the output's size. */
static bool inflate_fast(const void *bytes, size_t stored, uint8_t *to, size_t size)
{
    struct libdeflate_decompressor *inflater = inflater_new();
    bool is_whole =
        inflater && inflater_run(inflater, bytes, stored, to, size, NULL) == LIBDEFLATE_SUCCESS;
    inflater_free(inflater);
    return is_whole;
}
#endif

static bool inflate_all(const void *bytes, size_t stored, uint8_t *to, size_t size)
{
    uLongf got = size;
#ifdef REC_HAVE_DEFLATE
    if (size >= LOADING_PAYS_BYTES && library_need(&libdeflate))
        return inflate_fast(bytes, stored, to, size);
#endif
    return uncompress(to, &got, bytes, stored) == Z_OK && got == size;
}

int decompress_zlib(const void *bytes, size_t stored, size_t size, struct buffer *out)
{
    if (size / INFLATE_RATIO_MAX > stored)
        return -EBADMSG;
    if (size > decompress_limit(stored))
        return -EFBIG;
    uint8_t *to = room(out, size);
    if (!to)
        return -ENOMEM;
    if (size > 0 && !inflate_all(bytes, stored, to, size))
        return -EBADMSG;
    out->size += size;
    return 0;
}

#ifdef REC_HAVE_ZSTD
static __typeof__(ZSTD_decompress) *zstd_decompress;
static struct library_at_need libzstd =
    LIBRARY_AT_NEED("libzstd.so.1", {"ZSTD_decompress", &zstd_decompress});
#endif

void decompress_prepare(void)
{
#ifdef REC_HAVE_DEFLATE
    library_need(&libdeflate);
#endif
#ifdef REC_HAVE_ZSTD
    library_need(&libzstd);
#endif
}

int decompress_zstd(const void *bytes, size_t stored, size_t size, struct buffer *out)
{
#ifdef REC_HAVE_ZSTD
    if (size > decompress_limit(stored))
        return -EFBIG;
    if (!library_need(&libzstd))
        return -ENOTSUP;
    uint8_t *to = room(out, size);
    if (!to)
        return -ENOMEM;
    if (zstd_decompress(to, size, bytes, stored) != size)
        return -EBADMSG;
    out->size += size;
    return 0;
#else
    (void)bytes, (void)stored, (void)size, (void)out;
    return -ENOTSUP;
#endif
}

#ifdef REC_HAVE_LZMA
/* Decompression needs 65 MiB at the highest preset (xz(1)). */
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

#ifdef REC_HAVE_ZSTD
#define WITHOUT_ZSTD ""
#else
#define WITHOUT_ZSTD ", libzstd-dev (perf record -z, zstd sections)"
#endif
#ifdef REC_HAVE_LZMA
#define WITHOUT_LZMA ""
#else
#define WITHOUT_LZMA ", liblzma-dev (.gnu_debugdata)"
#endif
#ifdef REC_HAVE_DEFLATE
#define WITHOUT_DEFLATE ""
#else
#define WITHOUT_DEFLATE ", libdeflate-dev (compressed debug info and .gz files in half the time)"
#endif
#ifdef REC_HAVE_ISAL
#define WITHOUT_ISAL ""
#else
#define WITHOUT_ISAL ", libisal-dev (compressed debug info in less memory)"
#endif

const char *decompress_missing(void)
{
    static const char missing[] = WITHOUT_ZSTD WITHOUT_LZMA WITHOUT_DEFLATE WITHOUT_ISAL;
    return missing + (missing[0] ? 2 : 0);
}
