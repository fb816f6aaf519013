/* SPDX-License-Identifier: MIT */
#include "record/sample/ring_reader.h"

#include "wire/atomic.h"

#include <string.h>

/* The header is read twice: once for the length to copy, and again in the copy, as the target may
 * write in between. False: no valid record at the tail, or the record changed during the copy. */
static bool copy_record(const struct ring_reader *reader, const struct ring *ring, uint64_t head,
                        uint8_t *scratch, struct record_header *header)
{
    uint64_t at = ring_place(load_relaxed(&ring->control->base), reader->tail);
    uint64_t available = head - reader->tail;
    uint64_t to_end = SESSION_RING_BYTES - at;
    uint64_t most = available < to_end ? available : to_end;
    memset(header, 0, sizeof(*header));
    memcpy(header, ring->data + at, most < sizeof(*header) ? (size_t)most : sizeof(*header));
    if (header->bytes == 0 || header->bytes % 8 != 0 || header->bytes > most)
        return false;
    if (header->kind == RECORD_PADDING)
        return true;
    if (header->bytes < sizeof(*header))
        return false;
    uint32_t bytes = header->bytes;
    memcpy(scratch, ring->data + at, bytes);
    memcpy(header, scratch, sizeof(*header));
    return header->bytes == bytes;
}

struct ring_read ring_read(struct ring_reader *reader, const struct ring *ring, uint64_t bytes_max,
                           const struct ring_target *target)
{
    struct ring_read result = {0};
    uint64_t head = load_acquire(&ring->control->head); /* all bytes before are committed */
    /* Positions are 64-bit counts that never wrap; more than a ring between them is a lie or an
     * overrun. */
    if (head - reader->tail > SESSION_RING_BYTES || head % 8 != 0) {
        reader->tail = head;
        result.damaged++;
    }
    result.bytes = head - reader->tail;
    while (reader->tail != head && result.taken < bytes_max) {
        struct record_header header;
        if (!copy_record(reader, ring, head, target->scratch, &header)) {
            reader->tail = head;
            result.damaged++;
            break;
        }
        reader->tail += header.bytes;
        result.taken += header.bytes;
        if (header.kind != RECORD_PADDING)
            target->handler(target->context, &header, target->scratch);
    }
    store_release(&ring->control->tail, reader->tail); /* returns the space */
    return result;
}
