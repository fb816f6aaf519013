/* SPDX-License-Identifier: MIT */
/*
 * The user part of a sample that came as registers and a copy of the stack (perf record --call-graph
 * dwarf), unwound here.
 *
 *     sample ── registers, stack bytes ──┐
 *     process's address map ── mapping ──┼─▶ offline unwinder ─▶ PCs, innermost first
 *     module ── its file's CFI ──────────┘
 *
 * The CFI of a function is compiled when the first frame lies in it, from that of the file whose build-id is the
 * recorded one, and from the .debug_frame of its separate debug file.
 */
#pragma once

#include "convert/maps/modules.h"
#include "unwind/offline.h"

struct sample_unwinder {
    struct modules *modules;
    const struct unwind_machine *machine; /* NULL: one whose registers nobody knows */
    uint64_t *pcs;                        /* owned, as is the next */
    bool *are_return_addresses;
    struct two_way_cache cache;
    struct unwind_cache walks;
    struct cached_walk *walk; /* of the last sample; NULL: not known again. Valid until the next */
    size_t count;             /* of the last sample's frames */
    bool is_complete;         /* they reach the thread's start */
    /* Of all samples. */
    uint64_t complete;
    uint64_t truncated; /* the stack was larger than the copy */
    uint64_t lost;      /* for want of CFI or of a mapping */
};

/* machine: as uname has it; NULL or empty: this one's. 0 or -ENOMEM. */
int sample_unwinder_init(struct sample_unwinder *unwinder, struct modules *modules,
                         const char *machine);
void sample_unwinder_free(struct sample_unwinder *unwinder);

/*
 * A chain of frame pointers lacks the caller of an innermost function that has no frame of its own. On machines
 * where calls leave the return address in a register, perf records that register for it (aarch64: lr); the CFI at
 * pc tells whether it still holds the return address. 0: there is none missing, or nobody knows.
 */
uint64_t sample_unwinder_leaf_caller(struct sample_unwinder *unwinder,
                                     const struct perfdata_event *sample,
                                     const struct address_map *map, uint64_t generation,
                                     uint64_t pc);

/* False: the sample holds nothing to unwind. map: of its process; generation: of all maps, another number for
 * each state of each, not 0. */
bool sample_unwinder_run(struct sample_unwinder *unwinder, const struct perfdata_event *sample,
                         const struct address_map *map, uint64_t generation);
