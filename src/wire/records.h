/* SPDX-License-Identifier: MIT */
/*
 * What a thread writes into its ring. Every record is a multiple of 8 bytes, contiguous, and committed
 * whole: a reader never sees half of one.
 */
#pragma once

#include <stdint.h>

#define RECORD_FRAMES_MAX 1024u
#define RECORD_FRAMES_LEAF \
    768u /* deeper stacks keep this many from the leaf, the rest from the root */
/* Of a stack that is larger than both: rustc has one frame of 525 KiB, 10 to 60 below it and 50 above. */
#define RECORD_COPY_LEAF_BYTES (UINT32_C(64) << 10)
#define RECORD_COPY_ROOT_BYTES (UINT32_C(64) << 10)
#define RECORD_COPY_BYTES_MAX (RECORD_COPY_LEAF_BYTES + RECORD_COPY_ROOT_BYTES)

enum record_kind {
    RECORD_PADDING = 1, /* fills the ring's end */
    RECORD_STACK = 2,   /* a sample, walked by the thread itself */
    RECORD_COPY = 3,    /* a sample to be finished: frames so far, registers, stack bytes */
    RECORD_CHECK = 4,   /* a walked sample that also carries registers and stack bytes */
    RECORD_EXIT = 5,    /* the thread's last record: CPU time not yet accounted, and its name */
};

/* Why a walk stopped. */
enum walk_end {
    WALK_ROOT = 0,      /* a frame whose return address is undefined */
    WALK_NO_CFI = 1,    /* a PC without CFI, and no frame pointer to follow */
    WALK_UNKNOWN = 2,   /* a PC in no known module */
    WALK_COMPLEX = 3,   /* a rule that does not fit a row */
    WALK_OFF_STACK = 4, /* the rule pointed outside of the stack */
    WALK_FOREIGN = 5,   /* SP is on no known stack: leaf only */
    WALK_TOO_LONG = 6,  /* gave up: more frames than anybody could want */
    WALK_WITHHELD = 7,  /* the tables are withheld (a test switch) */
    WALK_ENDS,
};

enum record_flags {
    RECORD_KERNEL = 1, /* the weight is time spent in the kernel on behalf of this stack */
};

struct record_header {
    uint32_t bytes; /* of the whole record, header included */
    uint16_t kind;  /* enum record_kind */
    uint16_t flags; /* enum record_flags */
    uint64_t ticks; /* clock of the sample */
    uint64_t weight_ns;
};
_Static_assert(sizeof(struct record_header) == 24, "in shared memory");

/* RECORD_STACK: header, this, frame_count frames. */
struct record_stack {
    uint32_t frame_count;
    uint32_t dropped;      /* frames between the leaf part and the root part that are not here */
    uint32_t end;          /* enum walk_end */
    uint32_t unload_count; /* of the process, as the walk saw it */
};

/*
 * RECORD_COPY: header, stack, this, the frames, the bytes. The registers are those of the frame that
 * comes after frame_count frames: the interrupted ones (all known) when that is 0, else PC, SP and FP
 * only. RECORD_CHECK: the same, with the complete frames and the interrupted registers.
 */
struct record_copy {
    uint64_t registers[17]; /* DWARF numbers; 16 is the PC */
    uint32_t known;         /* bit i: registers[i] is known */
    uint32_t stack_bytes;   /* copied; a multiple of 8 */
    uint32_t root_bytes; /* the last of these, from right below stack_end_avma; a multiple of 8 */
    uint32_t is_foreign; /* of this stack no more than a page is known to be there */
    uint64_t stack_start_avma; /* of the others */
    uint64_t stack_end_avma;   /* where the stack really ends: more than copied means a hole */
};
_Static_assert(sizeof(struct record_copy) == 168, "in shared memory");

/* RECORD_EXIT: weighs the CPU time that no sample of this thread covered. */
struct record_exit {
    uint64_t start_avma; /* the start routine */
    char name[16];
};
