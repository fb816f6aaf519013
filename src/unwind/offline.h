/* SPDX-License-Identifier: MIT */
/*
 * The offline unwinder: registers and stack bytes that were captured in the target, and the map of its
 * modules, give frames. Finishes what the sampler's rows could not do, and everything that was
 * captured as registers and stack to begin with. Launcher side; no threads of its own, may be called from any.
 */
#pragma once

#include "base/containers/two_way_cache.h"
#include "unwind/arch/machine.h"
#include "unwind/code/caller_search.h"
#include "unwind/unwind_cache.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One executable mapping of the process at the time of the sample. */
struct offline_mapping {
    uint64_t start_avma;
    uint64_t end_avma;
    uint64_t bias;                      /* avma - svma */
    const struct unwind_module *module; /* NULL: no CFI known (JIT code, unreadable file) */
};

enum offline_end {
    OFFLINE_ROOT,     /* reached a frame whose return address is undefined */
    OFFLINE_CUT,      /* the captured bytes end before the stack does */
    OFFLINE_NO_CFI,   /* a PC without CFI, and no valid frame-pointer step */
    OFFLINE_NO_CODE,  /* the same, but a step that leads out of every mapping */
    OFFLINE_UNMAPPED, /* a PC outside every mapping */
    OFFLINE_TOO_DEEP, /* more than the frames asked for */
};

struct offline_result {
    size_t frame_count;
    enum offline_end end;
    struct cached_walk
        *walk; /* what it is now known as; NULL: it is not. Valid until the next walk */
};

/* Where the mappings of a process are looked up, by whoever keeps them. */
struct offline_map {
    /* False: nothing is mapped executable at pc. */
    bool (*find)(void *context, uint64_t pc, struct offline_mapping *mapping);
    void *context;
    struct two_way_cache *cache; /* what holds at PCs; starts as zeros. NULL: none */
    struct unwind_cache *walks;  /* the same of walks */
    uint64_t generation;         /* for both: another one for each state of the map, not 0 */
    const struct unwind_machine *machine; /* whose code it is; NULL: x86-64 */
    const struct code_map *code;          /* where CFI ends; NULL: callers are not searched for */
};

struct offline_frames { /* room for the result */
    uint64_t *pcs;
    bool *are_return_addresses; /* NULL: not asked for */
    size_t max;
};

/* Writes the PCs, innermost first: the first is regs' PC, the others return addresses as they stand on
 * the stack (interrupted PCs behind a signal frame as they are). A caller whose PC lies outside every
 * mapping is not written. */
struct offline_result offline_unwind_in(const struct offline_map *map, const struct full_regs *regs,
                                        bool first_is_return_address,
                                        const struct stack_view *stack,
                                        const struct offline_frames *frames);

/* The same with mappings that are sorted and do not overlap. */
struct offline_result offline_unwind(const struct offline_mapping *mappings, size_t mapping_count,
                                     const struct full_regs *regs, bool first_is_return_address,
                                     const struct stack_view *stack, uint64_t *frames,
                                     size_t max_frames);
