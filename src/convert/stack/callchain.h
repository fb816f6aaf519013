/* SPDX-License-Identifier: MIT */
/*
 * The stack of a sample, from all recorded parts: the kernel's callchain, registers and stack
 * bytes, and the processor's call records (LBR).
 *
 *     callchain   marker address … marker address …     a marker: the side of the next addresses
 *                 └─ kernel, hypervisor, guest ─┘└ user ┘
 *                                                 └─ replaced by our unwinding, or by LBR
 *
 * The first address of each side is the interrupted PC, all others are return addresses, looked up
 * a byte earlier. In simpleperf's recordings they already point into the call instruction.
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
    struct jits *jits;       /* borrowed: code outside of all files, … */
    uint32_t process;        /* … of the sample at hand, … */
    uint64_t time_ns;        /* … at this time */
    struct sample_unwinder unwinder;
    struct two_way_cache address_cache; /* user addresses */
    uint32_t *addresses;                /* owned; of the profile, innermost first */
    size_t count, capacity;
    struct callchain_step *steps; /* owned; the last callchain: the next mostly starts alike */
    size_t step_count, step_capacity;
    struct cached_walk *walk; /* the whole callchain is this walk, with a cached call; else NULL */
    /* The stack depends on more than the callchain: code generated at run time may be replaced;
     * an empty callchain stands for the sample's own address. */
    bool depends_on_more;
    bool is_deferred; /* the user part follows in a separate record, … */
    uint64_t cookie;  /* … with this number */
};

/* kernel: the kernel's mappings, borrowed. 0 or -ENOMEM. */
int callchain_init(struct callchain *callchain, struct modules *modules,
                   const struct address_map *kernel, const struct perfdata_facts *facts);
void callchain_free(struct callchain *callchain);

/* The stack of a sample, with its process' map; chain->process and time_ns are set. 0 or
 * -ENOMEM. */
int callchain_build(struct callchain *callchain, const struct perfdata_event *sample,
                    const struct perfdata_attr *attr, const struct address_map *map);

/* Restores the given addresses, and adds the user part of a later record. 0 or -ENOMEM. */
int callchain_resume(struct callchain *callchain, const uint32_t *addresses, size_t count,
                     const struct perfdata_event *deferred, const struct address_map *map);

/* "[truncated]" at the outer end. 0 or -ENOMEM. */
int callchain_mark_truncated(struct callchain *callchain);

/* As a call of the profile; PROFILE_NONE: empty, or out of memory (profile->failed). */
uint32_t callchain_call(struct callchain *callchain);
