/* SPDX-License-Identifier: MIT */
/* Which program files take the two variables. */
#pragma once

#include <stdbool.h>

enum exec_kind {
    EXEC_TAKES_SAMPLER, /* or in doubt: unreadable, missing, of unknown format */
    EXEC_STATIC,        /* has no dynamic linker; passes the two variables on */
    EXEC_OTHER_LOADER,  /* a dynamic linker that cannot load the sampler */
    EXEC_UNSUITABLE,    /* another machine, or a change of identity */
};

/* Of a script: the kind of its interpreter. Async-signal-safe. */
enum exec_kind exec_target_kind(const char *path);

static inline bool exec_kind_takes_variables(enum exec_kind kind)
{
    return kind == EXEC_TAKES_SAMPLER || kind == EXEC_STATIC;
}
