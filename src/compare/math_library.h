/* SPDX-License-Identifier: MIT */
/* Functions of libm.so.6, loaded for comparisons alone: loading takes 60 us, 3 % of the conversion
 * of a small capture. */
#pragma once

#include <stdbool.h>

struct math_library {
    double (*erfc)(double);
    double (*exp)(double);
    double (*lgamma)(double);
    double (*log)(double);
    double (*log1p)(double);
    double (*sqrt)(double);
};

extern struct math_library math_library;

/* Before the first statistics. False: the library is not there. */
bool math_library_load(void);
