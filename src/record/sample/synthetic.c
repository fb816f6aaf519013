/* SPDX-License-Identifier: MIT */
#include "record/sample/synthetic.h"

const char *synthetic_name(enum synthetic synthetic)
{
    static const char *const names[SYNTHETICS] = {
        [SYNTHETIC_KERNEL] = "[kernel]",
        [SYNTHETIC_EXEC] = "[exec and dynamic linking]",
        [SYNTHETIC_BETWEEN] = "[between samples]",
        [SYNTHETIC_EXIT] = "[exit]",
        [SYNTHETIC_TRUNCATED] = "[truncated]",
        [SYNTHETIC_LOST] = "[lost]",
        [SYNTHETIC_NOT_FOLLOWED] = "[not followed]",
    };
    return names[synthetic];
}

enum synthetic synthetic_of(uint64_t avma)
{
    const uint64_t page = (avma - SYNTHETIC_BASE) / SYNTHETIC_BYTES;
    return avma >= SYNTHETIC_BASE && page < SYNTHETICS ? (enum synthetic)page : SYNTHETICS;
}
