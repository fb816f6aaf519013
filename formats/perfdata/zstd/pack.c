/* SPDX-License-Identifier: MIT */
#include "perfdata/zstd/pack.h"

#include "perfdata/format.h"

#include <errno.h>
#include <zstd.h>

_Static_assert(RECORD_HEADER_BYTES + ZSTD_COMPRESSBOUND(PACK_PIECE_BYTES) < RECORD_BYTES_MAX,
               "what does not get smaller fits, too");

bool pack_is_there(void)
{
    return true;
}

static int pack_piece(struct buffer *out, const uint8_t *bytes, size_t size, int level)
{
    enum { PACKED_BYTES_MAX = ZSTD_COMPRESSBOUND(PACK_PIECE_BYTES) };
    uint8_t *room = buffer_room(out, RECORD_HEADER_BYTES + PACKED_BYTES_MAX);
    if (!room)
        return -ENOMEM;
    size_t packed_bytes =
        ZSTD_compress(room + RECORD_HEADER_BYTES, PACKED_BYTES_MAX, bytes, size, level);
    if (ZSTD_isError(packed_bytes))
        return -ENOMEM;
    buffer_u32(out, RECORD_COMPRESSED);
    buffer_u16(out, 0);
    buffer_u16(out, (uint16_t)(RECORD_HEADER_BYTES + packed_bytes));
    out->size += packed_bytes;
    return 0;
}

int pack_records(struct buffer *out, const struct buffer *records, int level)
{
    int err = 0;
    for (size_t at = 0; at < records->size && err == 0; at += PACK_PIECE_BYTES) {
        size_t left = records->size - at;
        err = pack_piece(out, records->bytes + at,
                         left < PACK_PIECE_BYTES ? left : PACK_PIECE_BYTES, level);
    }
    return err;
}
