/* SPDX-License-Identifier: MIT */
/* Decodes a record of a kernel ring, as perf_event_open(2) describes the records of
 * RING_SAMPLE_TYPE. */
#pragma once

#include "arch/own.h"
#include "record/perf_ring/rings/kernel_ring.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_SAMPLE_TYPE                                                                         \
    (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_PERIOD | \
     PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
#define RING_REGISTERS ARCH_PERF_REGISTERS

struct ring_record {
    uint32_t type; /* PERF_RECORD_* */
    uint16_t misc;
    uint32_t pid, tid;
    uint32_t parent_pid, parent_tid; /* FORK, EXIT */
    uint64_t time_ns;
    uint64_t id;               /* of the event; an inherited event has the id of its origin */
    uint32_t event, processor; /* of the ring; set by the reader of the ring */
    /* SAMPLE */
    uint64_t pc, period;           /* of clocks: ns */
    const uint64_t *kernel_frames; /* innermost first; in the record */
    size_t kernel_count;           /* 0: user mode, or kernel stacks are not recorded */
    const uint64_t *user_frames;   /* by frame pointers, innermost first; in the record */
    size_t user_count;             /* 0: not recorded */
    uint64_t abi;                  /* PERF_SAMPLE_REGS_ABI_* */
    const uint64_t *registers;     /* of RING_REGISTERS, in the order of the bits; in the record */
    const uint8_t *stack;          /* from SP upwards; in the record */
    size_t stack_bytes;
    bool is_stack_full; /* the stack may be larger than the copy */
    /* MMAP2 */
    uint64_t start_avma, bytes, file_offset, device, inode;
    uint32_t protection;
    const char *text; /* path of MMAP2, name of COMM; in the record */
    uint64_t lost;    /* LOST: number of records */
};

/* False: the record is shorter than its type requires. bytes: header included, aligned to 8. */
bool ring_record_decode(struct ring_record *record, const uint8_t *bytes, size_t size);

/* The ring with the oldest next record in view, decoded; NULL: no record up to this time. Its place
 * is freed by kernel_ring_advance() with *first_bytes. */
struct kernel_ring *ring_record_oldest(struct kernel_ring *rings, size_t count, uint64_t until_ns,
                                       struct ring_record *first, size_t *first_bytes);
