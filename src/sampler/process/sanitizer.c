/* SPDX-License-Identifier: MIT */
#include "sampler/process/sanitizer.h"

#include "sampler/base/state.h"

/* The sanitizer's shared library ends a program with another library in front, because functions of
 * the first library may hide the sanitizer's. The sampler exports none of the functions needed by
 * the sanitizer. Programs with a function of this name are not affected. */
const char *__asan_default_options(void)
{
    return process.tables ? "verify_asan_link_order=0" : "";
}
