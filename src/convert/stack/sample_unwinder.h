/* SPDX-License-Identifier: MIT */
/*
 * Unwinds the user part of samples with registers and a copy of the stack (perf record --call-graph
 * dwarf).
 *
 *     sample ── registers, stack bytes ──┐
 *     process's address map ── mapping ──┼─▶ offline unwinder ─▶ PCs, innermost first
 *     module ── its file's CFI ──────────┘
 *
 * A function's CFI is compiled at its first frame, from the file with the recorded build-id, and
 * from the .debug_frame of its separate debug file.
 */
#pragma once

#include "convert/maps/modules.h"
#include "unwind/offline.h"

struct sample_unwinder {
    struct modules *modules;
    const struct unwind_machine *machine; /* NULL: unsupported register numbers */
    uint64_t *pcs;                        /* owned, as is the next */
    bool *are_return_addresses;
    struct two_way_cache cache;
    struct unwind_cache walks;
    struct caller_cache callers;
    struct cached_walk *walk; /* of the last sample; NULL: not cached. Valid until the next */
    size_t count;             /* of the last sample's frames */
    uint64_t steps_left;      /* of the budget */
    bool is_complete;         /* they reach the thread's start */
    /* Of all samples. */
    uint64_t complete;
    uint64_t truncated;     /* the stack was larger than the copy */
    uint64_t lost;          /* for lack of CFI or mapping */
    uint64_t without_steps; /* of these: for lack of steps in the budget */
};

/* machine: as in uname; NULL or empty: this machine. 0 or -ENOMEM. */
int sample_unwinder_init(struct sample_unwinder *unwinder, struct modules *modules,
                         const char *machine);
void sample_unwinder_free(struct sample_unwinder *unwinder);

/*
 * A chain of frame pointers lacks the caller of a leaf function without its own frame. On machines
 * with the return address in a register (aarch64: lr), perf records the register; the CFI at pc
 * shows whether the register still holds the return address. 0: no frame is missing, or
 * undecidable.
 */
uint64_t sample_unwinder_leaf_caller(struct sample_unwinder *unwinder,
                                     const struct perfdata_event *sample,
                                     const struct address_map *map, uint64_t generation,
                                     uint64_t pc);

/* False: nothing to unwind in the sample. map: of its process; generation: of all maps, unique
 * to each state of each map, not 0. */
bool sample_unwinder_run(struct sample_unwinder *unwinder, const struct perfdata_event *sample,
                         const struct address_map *map, uint64_t generation);
