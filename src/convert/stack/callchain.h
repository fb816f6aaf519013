/* SPDX-License-Identifier: MIT */
/*
 * The stack of one sample, out of whatever was recorded of it: a callchain of the kernel, registers and
 * stack bytes, the processor's own record of calls (LBR).
 *
 *     callchain   marker address … marker address …     a marker tells which side the next ones are of
 *                 └─ kernel, hypervisor, guest ─┘└ user ┘
 *                                                 └─ replaced by what is unwound here, or by LBR
 *
 * The first address of each side is where it was interrupted, all others are return addresses, which
 * are looked up one byte earlier. In recordings of simpleperf they lie in the call instruction.
 */
#pragma once

#include "base/containers/two_way_cache.h"
#include "convert/jit/jits.h"
#include "convert/stack/sample_unwinder.h"

struct callchain_step { /* outermost first */
    uint32_t address, call;
};

struct callchain {
    struct modules *modules;
    const struct address_map *kernel;
    bool has_call_addresses; /* of callers in callchains; else they are return addresses */
    struct jits *jits;       /* borrowed: code that is in no file, … */
    uint32_t process;        /* … of the sample at hand, … */
    uint64_t time_ns;        /* … at this time */
    struct sample_unwinder unwinder;
    struct two_way_cache address_cache; /* user addresses */
    uint32_t *addresses;                /* owned; of the profile, innermost first */
    size_t count, capacity;
    struct callchain_step *steps; /* owned; of the last chain: most begin as the one before */
    size_t step_count, step_capacity;
    struct cached_walk *walk; /* all of this one, of which the call may be known; else NULL */
    /* Equal callchains may be other stacks: some of it is code made at run time, which may be replaced,
     * or the chain has no address, and the sample's own stands for it. */
    bool depends_on_more;
    bool is_deferred; /* the user part follows in a record of its own, … */
    uint64_t cookie;  /* … with this number */
};

/* kernel: what is mapped in the kernel, borrowed. 0 or -ENOMEM. */
int callchain_init(struct callchain *callchain, struct modules *modules,
                   const struct address_map *kernel, const struct perfdata_facts *facts);
void callchain_free(struct callchain *callchain);

/* The stack of a sample of a process with this map; chain->process and time_ns are set. 0 or -ENOMEM. */
int callchain_build(struct callchain *callchain, const struct perfdata_event *sample,
                    const struct perfdata_attr *attr, const struct address_map *map);

/* Begins with these addresses again, and adds the user part that came later. 0 or -ENOMEM. */
int callchain_resume(struct callchain *callchain, const uint32_t *addresses, size_t count,
                     const struct perfdata_event *deferred, const struct address_map *map);

/* "[truncated]" at the outer end. 0 or -ENOMEM. */
int callchain_mark_truncated(struct callchain *callchain);

/* As a call of the profile; PROFILE_NONE: empty, or out of memory (profile->failed). */
uint32_t callchain_call(struct callchain *callchain);
