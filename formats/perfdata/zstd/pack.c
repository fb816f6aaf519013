/* SPDX-License-Identifier: MIT */
#include "perfdata/zstd/pack.h"

#include "base/loaded_library.h"
#include "perfdata/format.h"

#include <errno.h>
#include <zstd.h>

_Static_assert(RECORD_HEADER_BYTES + ZSTD_COMPRESSBOUND(PACK_PIECE_BYTES) < RECORD_BYTES_MAX,
               "what does not get smaller fits, too");

static __typeof__(ZSTD_compress) *compress_frame;
static __typeof__(ZSTD_isError) *is_error;

static struct library_at_need libzstd = LIBRARY_AT_NEED(
    "libzstd.so.1", {"ZSTD_compress", &compress_frame}, {"ZSTD_isError", &is_error});

bool pack_is_there(void)
{
    return library_need(&libzstd);
}

static int pack_piece(struct buffer *out, const uint8_t *bytes, size_t size, int level)
{
    enum { PACKED_BYTES_MAX = ZSTD_COMPRESSBOUND(PACK_PIECE_BYTES) };
    uint8_t *room = buffer_room(out, RECORD_HEADER_BYTES + PACKED_BYTES_MAX);
    if (!room)
        return -ENOMEM;
    size_t packed_bytes =
        compress_frame(room + RECORD_HEADER_BYTES, PACKED_BYTES_MAX, bytes, size, level);
    if (is_error(packed_bytes))
        return -ENOMEM;
    buffer_u32(out, RECORD_COMPRESSED);
    buffer_u16(out, 0);
    buffer_u16(out, (uint16_t)(RECORD_HEADER_BYTES + packed_bytes));
    out->size += packed_bytes;
    return 0;
}

int pack_records(struct buffer *out, const struct buffer *records, int level)
{
    int err = pack_is_there() ? 0 : -ENOSYS;
    for (size_t at = 0; at < records->size && err == 0; at += PACK_PIECE_BYTES) {
        size_t left = records->size - at;
        err = pack_piece(out, records->bytes + at,
                         left < PACK_PIECE_BYTES ? left : PACK_PIECE_BYTES, level);
    }
    return err;
}
