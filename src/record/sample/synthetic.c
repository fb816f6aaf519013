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
