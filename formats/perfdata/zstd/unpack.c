/* SPDX-License-Identifier: MIT */
#include "perfdata/zstd/unpack.h"

#include "base/budget.h"
#include "base/loaded_library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
    FED_BYTES_MAX = 1 << 16,
    OUT_BYTES = 1 << 18,
    USUAL_RATIO_MAX = 64, /* observed: records with different times shrink to a tenth */
};

struct unpacker {
    ZSTD_DStream *stream;
    ZSTD_inBuffer in; /* of `fed` */
    uint64_t fed_bytes, produced_bytes;
    size_t start, end; /* in `out`: not taken yet */
    uint8_t fed[FED_BYTES_MAX];
    uint8_t out[OUT_BYTES];
};

static __typeof__(ZSTD_createDStream) *stream_new;
static __typeof__(ZSTD_freeDStream) *stream_free;
static __typeof__(ZSTD_decompressStream) *stream_run;
static __typeof__(ZSTD_isError) *is_error;

static struct library_at_need libzstd = LIBRARY_AT_NEED(
    "libzstd.so.1", {"ZSTD_createDStream", &stream_new}, {"ZSTD_freeDStream", &stream_free},
    {"ZSTD_decompressStream", &stream_run}, {"ZSTD_isError", &is_error});

bool unpacker_is_there(void)
{
    return library_need(&libzstd);
}

struct unpacker *unpacker_new(void)
{
    struct unpacker *unpacker = unpacker_is_there() ? calloc(1, sizeof(*unpacker)) : NULL;
    if (!unpacker)
        return NULL;
    unpacker->stream = stream_new();
    unpacker->in.src = unpacker->fed;
    if (unpacker->stream)
        return unpacker;
    free(unpacker);
    return NULL;
}

void unpacker_free(struct unpacker *unpacker)
{
    if (!unpacker)
        return;
    stream_free(unpacker->stream);
    free(unpacker);
}

void unpacker_feed(struct unpacker *unpacker, const uint8_t *bytes, size_t size)
{
    unpacker->in.size = size < FED_BYTES_MAX ? size : FED_BYTES_MAX;
    unpacker->in.pos = 0;
    unpacker->fed_bytes += unpacker->in.size;
    memcpy(unpacker->fed, bytes, unpacker->in.size);
}

/* 1 when there is more than before, 0 when the input is used up. */
static int unpack(struct unpacker *unpacker)
{
    memmove(unpacker->out, unpacker->out + unpacker->start, unpacker->end - unpacker->start);
    unpacker->end -= unpacker->start;
    unpacker->start = 0;
    size_t before = unpacker->end;
    ZSTD_outBuffer out = {unpacker->out, OUT_BYTES, unpacker->end};
    size_t hint = stream_run(unpacker->stream, &out, &unpacker->in);
    if (is_error(hint))
        return -EBADMSG;
    unpacker->end = out.pos;
    unpacker->produced_bytes += out.pos - before;
    if (unpacker->produced_bytes >
        budget_amount(BUDGET_RECORD_BYTES) + USUAL_RATIO_MAX * unpacker->fed_bytes)
        return -EFBIG;
    return out.pos > before || unpacker->in.pos < unpacker->in.size;
}

int unpacker_peek(struct unpacker *unpacker, size_t size, const uint8_t **bytes)
{
    while (unpacker->end - unpacker->start < size) {
        int more = unpack(unpacker);
        if (more <= 0)
            return more;
    }
    *bytes = unpacker->out + unpacker->start;
    return 1;
}

void unpacker_take(struct unpacker *unpacker, size_t size)
{
    unpacker->start += size;
}

bool unpacker_has_rest(const struct unpacker *unpacker)
{
    return unpacker && unpacker->start < unpacker->end;
}
