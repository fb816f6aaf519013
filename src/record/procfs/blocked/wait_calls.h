/* SPDX-License-Identifier: MIT */
/* The system calls that block, with the meaning of their arguments. */
#pragma once

#include "record/procfs/blocked/wait_kind.h"

#include <stdint.h>

struct wait_call {
    uint16_t number;
    const char *name;
    enum wait_kind kind;
    int8_t descriptor; /* number of the argument with a descriptor; -1: none */
};

/* NULL: not in the table. */
const struct wait_call *wait_call_find(uint64_t number);
