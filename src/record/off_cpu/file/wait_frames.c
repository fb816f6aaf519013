/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/file/wait_frames.h"

#include <stdio.h>

unsigned synthetic_page_of(uint64_t avma)
{
    uint64_t page = (avma - SYNTHETIC_BASE) / SYNTHETIC_BYTES;
    return avma >= SYNTHETIC_BASE && page < SYNTHETIC_PAGES ? (unsigned)page : SYNTHETIC_PAGES;
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
    else
        snprintf(name, 64, "%s", others[frame - WAIT_KINDS]);
}

void synthetic_page_name(unsigned page, char name[64])
{
    if (page < SYNTHETICS)
        snprintf(name, 64, "%s", synthetic_name((enum synthetic)page));
    else
        wait_frame_name(page - SYNTHETICS, name);
}
