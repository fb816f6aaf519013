/* SPDX-License-Identifier: MIT */
#include "sampler/process/sanitizer.h"

#include "sampler/base/state.h"

/* The sanitizer's shared library ends a program in which another library precedes it, because
 * functions of that library may hide its own. The sampler exports none of the functions that the
 * sanitizer needs. Programs with a function of this name are not affected. */
const char *__asan_default_options(void)
{
    return process.tables ? "verify_asan_link_order=0" : "";
}
