/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/file/wait_frames.h"

#include <stdio.h>

unsigned wait_frame_of(uint64_t avma)
{
    const uint64_t first = SYNTHETIC_BASE + SYNTHETIC_BYTES * SYNTHETICS;
    uint64_t frame = (avma - first) / SYNTHETIC_BYTES;
    if (avma == wait_frame_avma(WAIT_FRAME_TRUNCATED))
        return WAIT_FRAME_TRUNCATED;
    return avma >= first && frame < WAIT_FRAME_TRUNCATED ? (unsigned)frame : WAIT_FRAMES;
}

void wait_frame_name(unsigned frame, char name[64])
{
    static const char *const others[] = {
        [WAIT_FRAME_SHORT - WAIT_KINDS] = "[short waits]",
        [WAIT_FRAME_UNSEEN - WAIT_KINDS] = "[waiting]",
        [WAIT_FRAME_RUNNABLE - WAIT_KINDS] = "[runnable]",
    };
    if (frame == WAIT_ASYNC_IO) /* readers take a slash for the end of a folder */
        snprintf(name, 64, "[waiting: asynchronous IO]");
    else if (frame < WAIT_KINDS)
        snprintf(name, 64, "[waiting: %s]", wait_kind_name((enum wait_kind)frame));
    else if (frame == WAIT_FRAME_TRUNCATED)
        snprintf(name, 64, "%s", synthetic_name(SYNTHETIC_TRUNCATED));
    else
        snprintf(name, 64, "%s", others[frame - WAIT_KINDS]);
}
