/* SPDX-License-Identifier: MIT */
/* The synthetic frames of off-CPU time, on the pages above those of synthetic.h. Mapped in a
 * process of the file at their first use there. */
#pragma once

#include "record/procfs/blocked/wait_kind.h"
#include "record/sample/synthetic.h"

#include <stdint.h>

enum wait_frame {
    WAIT_FRAME_SHORT = WAIT_KINDS, /* [short waits]: no tick has met them */
    WAIT_FRAME_UNSEEN,             /* [waiting]: stack and reason are not known */
    WAIT_FRAME_RUNNABLE,           /* [runnable]: ready, without a processor */
    WAIT_FRAME_TRUNCATED,          /* the mark of synthetic.h in stacks */
    WAIT_FRAMES,
};

/* The frame of a kind of wait is its number: enum wait_kind. */
static inline uint64_t wait_frame_avma(unsigned frame)
{
    return frame == WAIT_FRAME_TRUNCATED
               ? synthetic_avma(SYNTHETIC_TRUNCATED)
               : SYNTHETIC_BASE + SYNTHETIC_BYTES * (SYNTHETICS + (uint64_t)frame) + 8;
}

/* The frame of an address; WAIT_FRAMES: none. */
unsigned wait_frame_of(uint64_t avma);

/* "[waiting: lock]" … */
void wait_frame_name(unsigned frame, char name[64]);
