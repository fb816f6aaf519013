/* SPDX-License-Identifier: MIT */
/*
 * The records of a thread in its ring. Every record is a multiple of 8 bytes, contiguous, and
 * committed whole: a reader never sees half of a record.
 */
#pragma once

#include "arch/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The end of user addresses. */
#define RECORD_ADDRESS_BITS ARCH_ADDRESS_BITS
#define RECORD_ADDRESSES_END (UINT64_C(1) << RECORD_ADDRESS_BITS)

/* Frames of a stack: a recording sets its own limit up to this one, tables_header.frames_max. The
 * size of a PERF_RECORD_SAMPLE has 16 bits. */
#define RECORD_FRAMES_MAX 8000u
#define RECORD_COPY_BYTES_MAX (UINT32_C(192) << 10) /* of a stack, words included */

/* Of a deeper stack, so many frames are kept from the leaf, and the rest from the root. */
static inline uint32_t record_frames_leaf(uint32_t frames_max)
{
    return frames_max - frames_max / 4;
}

enum record_kind {
    RECORD_PADDING = 1, /* fills the ring's end */
    RECORD_STACK = 2,   /* a sample, walked by the thread itself */
    RECORD_COPY = 3,    /* an unfinished sample: frames so far, registers, stack bytes */
    RECORD_CHECK = 4,   /* a walked sample with registers and stack bytes */
    RECORD_EXIT = 5,    /* the thread's last record: name, and CPU time since the last sample */
    RECORD_NAME = 6,    /* a thread has got another name */
};

/* Why a walk stopped. */
enum walk_end {
    WALK_ROOT = 0,      /* the return address of the frame is undefined */
    WALK_NO_CFI = 1,    /* a PC without CFI, and no frame pointer to follow */
    WALK_UNKNOWN = 2,   /* a PC in no known module */
    WALK_COMPLEX = 3,   /* a rule that does not fit a row */
    WALK_OFF_STACK = 4, /* the rule pointed outside of the stack */
    WALK_FOREIGN = 5,   /* SP is on no known stack: leaf only */
    WALK_TOO_LONG = 6,  /* more frames than any reasonable stack */
    WALK_WITHHELD = 7,  /* the tables are withheld (a test switch) */
    WALK_SEARCH = 8,    /* a PC without CFI in a module with a caller search by the launcher */
    WALK_FIBER = 9,     /* the root of an unknown stack: no return address, or the address 0 */
    WALK_ENDS,
};

enum record_flags {
    RECORD_KERNEL = 1, /* the weight is time spent in the kernel on behalf of this stack */
    RECORD_OBJECT = 2, /* the record ends with a struct record_object */
};

/* The event of a record. Its row in src/record/recorders/ has name and unit of the weight. */
enum record_event {
    RECORD_EVENT_CPU = 0, /* CPU time in nanoseconds */
    RECORD_EVENT_THREAD_CREATE = 1,
    RECORD_EVENT_THREAD_JOIN = 2,
    RECORD_EVENT_THREAD_DETACH = 3,
    RECORD_EVENT_OFF_CPU = 4, /* waiting, or runnable without a processor, in nanoseconds */
    RECORD_EVENTS,
};

struct record_header {
    uint32_t bytes;     /* of the whole record, header included */
    uint16_t event;     /* enum record_event; not of padding */
    uint8_t kind;       /* enum record_kind */
    uint8_t flags;      /* enum record_flags */
    uint64_t ticks;     /* clock of the sample */
    uint64_t weight_ns; /* of RECORD_EVENT_CPU; of other events: the weight, in their unit */
};
_Static_assert(sizeof(struct record_header) == 24, "in shared memory");

/* CPU time that the record stands for. */
static inline uint64_t record_cpu_ns(const struct record_header *header)
{
    return header->event == RECORD_EVENT_CPU ? header->weight_ns : 0;
}

/* RECORD_STACK: header, this, frame_count frames. */
struct record_stack {
    uint32_t frame_count;
    uint32_t dropped;      /* frames left out between the leaf part and the root part */
    uint32_t end;          /* enum walk_end */
    uint32_t unload_count; /* of the process, read by the walk */
};

/* Whether all frames can be addresses of the program: other values written by a target enter no
 * file. The loop has no branch, so the compiler can take several frames at once. */
static inline bool record_are_user_frames(const uint64_t *frames, uint32_t count)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < count; i++)
        bits |= frames[i];
    return bits < RECORD_ADDRESSES_END;
}

/* The number of frames up to the first word outside of all user addresses, which ends a stack. */
static inline size_t record_user_frames(const uint64_t *frames, size_t count)
{
    size_t users = 0;
    while (users < count && frames[users] < RECORD_ADDRESSES_END)
        users++;
    return users;
}

/*
 * RECORD_COPY: header, stack, this, the frames, the bytes. The registers belong to the frame after
 * frame_count and dropped frames: the interrupted registers (all known) if frame_count is 0, else
 * PC, SP and FP only. RECORD_CHECK: the same, with the complete frames and the interrupted
 * registers.
 *
 * The bytes of a large stack are three parts:
 *
 *     stack_start_avma                                                          stack_end_avma
 *     ┌──────┬──────────────────────────────────────────┬───────────────┬────────┐
 *     │ leaf │ middle: only words that can lead a walk  │ left out      │ root   │
 *     │      │ on, see record_word()                    │               │        │
 *     └──────┴──────────────────────────────────────────┴───────────────┴────────┘
 */
struct record_copy {
    uint64_t registers[17]; /* DWARF numbers; 16 is the PC */
    uint32_t known;         /* bit i: registers[i] is valid */
    uint32_t is_foreign;    /* only a page of this stack is certain to be mapped */
    uint32_t leaf_bytes, middle_bytes, root_bytes; /* of the stack; multiples of 8 */
    uint32_t word_count;                           /* of the middle */
    uint64_t stack_start_avma;
    uint64_t stack_end_avma; /* end of the stack itself: if beyond the parts, there is a hole */
};
_Static_assert(sizeof(struct record_copy) == 176, "in shared memory");

/* A word of the middle: its number there, and an address of code or of the stack itself. Both fit
 * into 8 bytes. */
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

/*
 * The object of an event, behind the stack.
 *
 *     event    avma                                number                        code_avma
 *     create   handle; 0: created as detached      thread slot of the creator    start routine
 *     join     handle of the joined thread
 *     detach   handle of the detached thread
 *
 * A handle is a pthread_t. The record of a creation is the first record in the new thread's ring.
 */
struct record_object {
    uint64_t avma, code_avma;
    uint64_t number;
};
#define RECORD_NO_SLOT UINT32_MAX /* the creator is not recorded */

/* RECORD_NAME: the new name of the thread in this slot. */
struct record_name {
    uint32_t slot;
    uint32_t unused;
    char name[16];
};

/* RECORD_EXIT: the weight is CPU time without a sample of this thread. */
struct record_exit {
    uint64_t start_avma; /* the start routine */
    char name[16];
};
