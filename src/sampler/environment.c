/* SPDX-License-Identifier: MIT */
/*
 * Takes what rec added out of the environment, in place: the array on the stack that the kernel made, which
 * the C library has not looked at yet.
 */
#include "sampler/sampler.h"

#define PRELOAD_NAME "LD_PRELOAD="
#define PRELOAD_NAME_BYTES (sizeof(PRELOAD_NAME) - 1)

/* The text behind "NAME=", or NULL when the entry is of another name. */
static char *value_of(char *entry, const char *assignment)
{
    while (*assignment && *entry == *assignment) {
        entry++;
        assignment++;
    }
    return *assignment ? NULL : entry;
}

/* "LD_PRELOAD=ours:theirs" becomes "LD_PRELOAD=theirs", in its own bytes; NULL when there is no theirs. */
static char *without_sampler(char *value)
{
    while (*value && *value != ':')
        value++;
    if (!*value)
        return NULL;
    char *entry = value + 1 - PRELOAD_NAME_BYTES; /* the sampler's path is longer than that */
    for (uint32_t i = 0; i < PRELOAD_NAME_BYTES; i++)
        entry[i] = PRELOAD_NAME[i];
    return entry;
}

/* Behind the array lie values that some runtimes (Go's) look for by hand, from its first zero on: zeroes
 * in between say that there are none, anything else would be taken for one. */
void environment_restore(char **environment)
{
    char **kept = environment;
    char **entry = environment;
    for (; *entry; entry++) {
        char *preload = value_of(*entry, PRELOAD_NAME);
        char *text = preload ? without_sampler(preload) : *entry;
        if (text && !value_of(*entry, SESSION_VARIABLE "="))
            *kept++ = text;
    }
    for (; kept < entry; kept++)
        *kept = NULL;
}
