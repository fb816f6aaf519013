/* SPDX-License-Identifier: MIT */
/*
 * What a thread writes into its ring. Every record is a multiple of 8 bytes, contiguous, and committed
 * whole: a reader never sees half of one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* User addresses of x86-64 end here (Linux Documentation/arch/x86/x86_64/mm.rst). With 5 levels of
 * page tables a program gets higher ones only where it passes such a hint to mmap()
 * (5level-paging.rst): its frames there are refused. */
#define RECORD_ADDRESS_BITS 47
#define RECORD_ADDRESSES_END (UINT64_C(1) << RECORD_ADDRESS_BITS)

#define RECORD_FRAMES_MAX 1024u
#define RECORD_FRAMES_LEAF \
    768u /* deeper stacks keep this many from the leaf, the rest from the root */
#define RECORD_COPY_BYTES_MAX (UINT32_C(192) << 10) /* of a stack, words included */

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

/* Whether all of them can be addresses of the program: what else a target writes gets into no file.
 * No branch in the loop: the compiler takes several frames at once. */
static inline bool record_are_user_frames(const uint64_t *frames, uint32_t count)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < count; i++)
        bits |= frames[i];
    return bits < RECORD_ADDRESSES_END;
}

/*
 * RECORD_COPY: header, stack, this, the frames, the bytes. The registers are those of the frame that
 * comes after frame_count frames: the interrupted ones (all known) when that is 0, else PC, SP and FP
 * only. RECORD_CHECK: the same, with the complete frames and the interrupted registers.
 *
 * Of a stack that is too large, the bytes are three parts:
 *
 *     stack_start_avma                                                          stack_end_avma
 *     ┌──────┬──────────────────────────────────────────┬───────────────┬────────┐
 *     │ leaf │ middle: of its words only those that can  │ nothing of it │ root   │
 *     │      │ lead a walk on, see record_word()         │               │        │
 *     └──────┴──────────────────────────────────────────┴───────────────┴────────┘
 */
struct record_copy {
    uint64_t registers[17]; /* DWARF numbers; 16 is the PC */
    uint32_t known;         /* bit i: registers[i] is known */
    uint32_t is_foreign;    /* of this stack no more than a page is known to be there */
    uint32_t leaf_bytes, middle_bytes, root_bytes; /* of the stack; multiples of 8 */
    uint32_t word_count;                           /* of the middle */
    uint64_t stack_start_avma;
    uint64_t stack_end_avma; /* where the stack really ends: more than the parts means a hole */
};
_Static_assert(sizeof(struct record_copy) == 176, "in shared memory");

/* A word of the middle, by its number there: an address of code or of the stack itself. So it takes 8 bytes. */
#define RECORD_MIDDLE_BYTES_MAX (UINT32_C(8) << (64 - RECORD_ADDRESS_BITS))

static inline uint64_t record_word(uint32_t number, uint64_t address)
{
    return (uint64_t)number << RECORD_ADDRESS_BITS | (address & (RECORD_ADDRESSES_END - 1));
}

static inline uint32_t record_word_number(uint64_t word)
{
    return (uint32_t)(word >> RECORD_ADDRESS_BITS);
}

static inline uint64_t record_word_address(uint64_t word)
{
    return word & (RECORD_ADDRESSES_END - 1);
}

/* RECORD_EXIT: weighs the CPU time that no sample of this thread covered. */
struct record_exit {
    uint64_t start_avma; /* the start routine */
    char name[16];
};
