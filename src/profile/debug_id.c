/* SPDX-License-Identifier: MIT */
#include "profile/debug_id.h"

void debug_id_write(const struct profile_lib *lib, char out[34])
{
    static const char digits[] = "0123456789ABCDEF";
    static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    for (size_t i = 0; i < sizeof(order); i++) {
        uint8_t byte = order[i] < lib->build_id_bytes ? lib->build_id[order[i]] : 0;
        *out++ = digits[byte >> 4];
        *out++ = digits[byte & 15];
    }
    *out++ = '0';
    *out = '\0';
}

uint32_t debug_name(const struct profile_lib *lib)
{
    return lib->category == PROFILE_JIT ? lib->path : lib->name;
}
