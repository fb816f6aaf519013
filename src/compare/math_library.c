/* SPDX-License-Identifier: MIT */
#include "compare/math_library.h"

#include "base/loaded_library.h"

struct math_library math_library;

static struct library_at_need libm =
    LIBRARY_AT_NEED("libm.so.6", {"erfc", &math_library.erfc}, {"exp", &math_library.exp},
                    {"lgamma", &math_library.lgamma}, {"log", &math_library.log},
                    {"log1p", &math_library.log1p}, {"sqrt", &math_library.sqrt});

bool math_library_load(void)
{
    return library_need(&libm);
}
