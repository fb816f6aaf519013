/* SPDX-License-Identifier: MIT */
/*
 * The consumer's side of a ring: from bytes in shared memory to a callback for each record. The
 * producer is not trusted; hostile input ends here. A record is copied first, its length checked in
 * the copy, and a ring with impossible positions or lengths is skipped to its head.
 */
#pragma once

#include "wire/ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring_reader {
    uint64_t tail; /* ours; the tail in shared memory is for the producer only */
};

/*
 * Receives a record: `record` holds header->bytes bytes, at least a header, aligned to 8 bytes and
 * valid until the next call; contents behind the header are unchecked. Padding is not passed on.
 */
typedef void ring_record_handler(void *context, const struct record_header *header,
                                 const uint8_t *record);

struct ring_read {
    uint64_t bytes;   /* content of the ring before */
    uint64_t taken;   /* of these, in records */
    uint32_t damaged; /* times the rest was skipped */
};

/* scratch: SESSION_RING_BYTES, aligned to 8. */
struct ring_target {
    uint8_t *scratch;
    ring_record_handler *handler;
    void *context;
};

/* Passes on committed records, and returns the space. No further record begins once the records
 * have bytes_max bytes. */
struct ring_read ring_read(struct ring_reader *reader, const struct ring *ring, uint64_t bytes_max,
                           const struct ring_target *target);
