/* SPDX-License-Identifier: MIT */
/* Input of the offline unwinder for a process. */
#pragma once

#include "base/containers/two_way_cache.h"
#include "unwind/arch/machine.h"
#include "unwind/code/caller_search.h"
#include "unwind/unwind_cache.h"

#include <stdbool.h>
#include <stdint.h>

/* An executable mapping of the process at the time of the sample. */
struct offline_mapping {
    uint64_t start_avma;
    uint64_t end_avma;
    uint64_t bias;                      /* avma - svma */
    const struct unwind_module *module; /* NULL: no CFI (JIT code, unreadable file) */
};

/* Lookup of a process' mappings. */
struct offline_map {
    /* False: nothing is mapped executable at pc. */
    bool (*find)(void *context, uint64_t pc, struct offline_mapping *mapping);
    void *context;
    struct two_way_cache *cache; /* rules by PC; starts as zeros. NULL: none */
    struct unwind_cache *walks;  /* the same of walks */
    uint64_t generation;         /* of both caches: changes with every change of the map; not 0 */
    const struct unwind_machine *machine; /* machine of the code; NULL: x86-64 */
    const struct code_map *code;          /* where CFI ends; NULL: callers are not searched for */
};
