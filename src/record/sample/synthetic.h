/* SPDX-License-Identifier: MIT */
/*
 * Frames without code: CPU time without a stack, and marks in stacks. Each is a page just above all
 * user addresses, mapped under its name in each process with such a frame: every reader of rec.data
 * shows the name as the module.
 */
#pragma once

#include "wire/records.h"

#include <stdint.h>

enum synthetic {
    SYNTHETIC_KERNEL, /* leaf: time in the kernel on behalf of the frames below */
    SYNTHETIC_EXEC,   /* CPU before the sampler's constructor ran */
    /* CPU between samples: system calls, page faults, runs too short for a sample */
    SYNTHETIC_BETWEEN,
    SYNTHETIC_EXIT,         /* CPU after the program called exit() */
    SYNTHETIC_TRUNCATED,    /* frames are missing here */
    SYNTHETIC_LOST,         /* samples without room */
    SYNTHETIC_NOT_FOLLOWED, /* processes that could not be sampled */
    SYNTHETICS,
};

#define SYNTHETIC_BASE UINT64_C(0x800000000000)
_Static_assert(SYNTHETIC_BASE == RECORD_ADDRESSES_END, "no target can write a frame there");
#define SYNTHETIC_BYTES UINT64_C(4096)

const char *synthetic_name(enum synthetic synthetic);

/* An address inside the page; the address minus 1, as looked up for callers, is inside, too. */
static inline uint64_t synthetic_avma(enum synthetic synthetic)
{
    return SYNTHETIC_BASE + SYNTHETIC_BYTES * (uint64_t)synthetic + 8;
}
