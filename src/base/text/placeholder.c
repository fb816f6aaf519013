/* SPDX-License-Identifier: MIT */
#include "base/text/placeholder.h"

#include <string.h>

bool name_is_placeholder(const char *name)
{
    const char *plus = strrchr(name, '+');
    return plus && strncmp(plus, "+0x", 3) == 0 && plus[3] &&
           plus[3 + strspn(plus + 3, "0123456789abcdef")] == '\0';
}
