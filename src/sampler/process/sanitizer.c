/* SPDX-License-Identifier: MIT */
/* The address sanitizer's shared library ends a program before whose libraries another one was loaded,
 * because functions of that one could come before its own. None of ours is one that it needs. */
#include "sampler/sampler.h"

__attribute__((visibility("default"))) const char *__asan_default_options(void);

/* Asked for by the sanitizer alone, and not ours when the program has one of its own. Not
 * async-signal-safe. */
const char *__asan_default_options(void)
{
    return process.tables ? "verify_asan_link_order=0" : "";
}
