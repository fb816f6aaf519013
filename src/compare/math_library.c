/* SPDX-License-Identifier: MIT */
#include "compare/math_library.h"

#include "base/loaded_library.h"

struct math_library math_library;

bool math_library_load(void)
{
    const struct library_function functions[] = {
        {"erfc", &math_library.erfc},     {"exp", &math_library.exp},
        {"lgamma", &math_library.lgamma}, {"log", &math_library.log},
        {"log1p", &math_library.log1p},   {"sqrt", &math_library.sqrt},
    };
    return library_load("libm.so.6", functions, sizeof(functions) / sizeof(functions[0]));
}
