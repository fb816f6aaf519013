/* SPDX-License-Identifier: MIT */
#include "convert/chain.h"

#include "base/containers/array.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* Newer than the headers of many systems. */
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)

/* What a user address was found to be. */
struct known_address {
    struct two_way_cache_key key;
    uint32_t address; /* of the profile */
};
enum { KNOWN_MOST = 1 << 16 };
enum { SOON = 16 }; /* while so many are looked up, memory answers */

enum side { SIDE_USER, SIDE_KERNEL, SIDE_HYPERVISOR, SIDE_GUEST_KERNEL, SIDE_GUEST_USER };

int chain_init(struct chain *chain, struct modules *modules, const struct address_map *kernel,
               const struct perfdata_facts *facts)
{
    *chain = (struct chain){
        .modules = modules, .kernel = kernel, .has_call_addresses = facts->has_call_addresses};
    return unwinder_init(&chain->unwinder, modules, facts->arch);
}

void chain_free(struct chain *chain)
{
    unwinder_free(&chain->unwinder);
    two_way_cache_free(&chain->known);
    free(chain->addresses);
    free(chain->steps);
    *chain = (struct chain){0};
}

static enum side side_of_misc(uint16_t misc)
{
    switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
    case PERF_RECORD_MISC_KERNEL:
        return SIDE_KERNEL;
    case PERF_RECORD_MISC_HYPERVISOR:
        return SIDE_HYPERVISOR;
    case PERF_RECORD_MISC_GUEST_KERNEL:
        return SIDE_GUEST_KERNEL;
    case PERF_RECORD_MISC_GUEST_USER:
        return SIDE_GUEST_USER;
    default:
        return SIDE_USER;
    }
}

static enum side side_of_marker(uint64_t marker)
{
    switch (marker) {
    case (uint64_t)PERF_CONTEXT_KERNEL:
        return SIDE_KERNEL;
    case (uint64_t)PERF_CONTEXT_HV:
        return SIDE_HYPERVISOR;
    case (uint64_t)PERF_CONTEXT_GUEST:
    case (uint64_t)PERF_CONTEXT_GUEST_KERNEL:
        return SIDE_GUEST_KERNEL;
    case (uint64_t)PERF_CONTEXT_GUEST_USER:
        return SIDE_GUEST_USER;
    default:
        return SIDE_USER;
    }
}

/* An address in code that is mapped nowhere we know of, but has a name as a whole. */
static uint32_t address_in(struct chain *chain, const char *name, bool is_kernel, uint64_t avma)
{
    const struct perfdata_event image = {.path = name, .is_kernel = is_kernel};
    uint32_t module = modules_id(chain->modules, &image);
    uint32_t lib = module == PROFILE_NONE ? module : modules_lib(chain->modules, module);
    return lib == PROFILE_NONE ? lib : profile_address_id(chain->modules->profile, lib, avma);
}

/* Of all processes' maps; not 0. */
static uint64_t generation_of(const struct chain *chain, const struct address_map *map)
{
    return ((uint64_t)chain->process + 1) << 32 | (uint32_t)map->generation;
}

static void remember(struct chain *chain, struct two_way_cache_key key, uint32_t address)
{
    struct known_address *known = two_way_cache_add(&chain->known, sizeof(*known), KNOWN_MOST, key);
    if (known)
        known->address = address;
}

static uint32_t user_address(struct chain *chain, const struct address_map *map, uint64_t avma)
{
    const struct two_way_cache_key key = {generation_of(chain, map), avma};
    const struct known_address *known = two_way_cache_find(&chain->known, sizeof(*known), key);
    if (known)
        return known->address;
    const struct mapping *mapping = address_map_find(map, avma);
    if (mapping && !modules_is_jit(chain->modules, mapping->module)) {
        uint32_t address = modules_address(chain->modules, mapping, avma);
        if (address != PROFILE_NONE)
            remember(chain, key, address);
        return address;
    }
    struct jit_place place = {.process = chain->process, .time_ns = chain->time_ns};
    chain->depends_on_more = true;
    if (mapping) {
        place.mapping_path = modules_path(chain->modules, mapping->module);
        place.mapping_start_avma = mapping->start_avma;
    }
    return jits_address(chain->jits, &place, avma);
}

static uint32_t kernel_address(struct chain *chain, uint64_t avma)
{
    const struct mapping *mapping = address_map_find(chain->kernel, avma);
    return mapping ? modules_address(chain->modules, mapping, avma)
                   : address_in(chain, "[kernel.kallsyms]", true, avma);
}

static uint32_t address_of(struct chain *chain, const struct address_map *map, enum side side,
                           uint64_t avma)
{
    switch (side) {
    case SIDE_KERNEL:
        return kernel_address(chain, avma);
    case SIDE_HYPERVISOR:
        return address_in(chain, "[hypervisor]", true, avma);
    case SIDE_GUEST_KERNEL:
        return address_in(chain, "[guest kernel]", true, avma);
    case SIDE_GUEST_USER:
        return address_in(chain, "[guest user]", true, avma);
    case SIDE_USER:
        break;
    }
    return user_address(chain, map, avma);
}

static int push(struct chain *chain, uint32_t address)
{
    uint32_t *slot = address == PROFILE_NONE
                         ? NULL
                         : ARRAY_PUSH(chain->addresses, chain->count, chain->capacity);
    if (!slot)
        return -ENOMEM;
    *slot = address;
    return 0;
}

/* An interrupted instruction lies at its address; a return address may already belong to the next line
 * or function, the call lies before it. */
static int push_pc(struct chain *chain, const struct address_map *map, enum side side, uint64_t pc,
                   bool is_return_address)
{
    uint64_t avma = is_return_address && pc ? pc - 1 : pc;
    return push(chain, address_of(chain, map, side, avma));
}

static bool is_marker(uint64_t ip)
{
    return ip >= (uint64_t)PERF_CONTEXT_MAX;
}

/* The callchain up to its user part: returns where that begins, or a negative errno. */
static ssize_t push_other_sides(struct chain *chain, const struct perfdata_event *sample,
                                const struct address_map *map)
{
    enum side side = side_of_misc(sample->misc);
    bool is_return_address = false;
    size_t i = 0;
    for (; i < sample->callchain_count; i++) {
        uint64_t ip = sample->callchain[i];
        if (is_marker(ip)) {
            side = side_of_marker(ip);
            is_return_address = false;
        } else if (side == SIDE_USER) {
            break;
        } else if (push_pc(chain, map, side, ip, is_return_address) != 0) {
            return -ENOMEM;
        } else {
            is_return_address = !chain->has_call_addresses;
        }
        if (ip == CONTEXT_USER_DEFERRED)
            break;
    }
    return (ssize_t)i;
}

struct ips { /* a part of a callchain */
    const uint64_t *ips;
    size_t count;
};

static void expect_address(const struct chain *chain, struct ips user, size_t i)
{
    if (i < user.count)
        two_way_cache_prefetch(&chain->known, sizeof(struct known_address), user.ips[i] - 1);
}

static int push_user(struct chain *chain, const struct address_map *map, struct ips user,
                     bool first_is_caller)
{
    bool is_return_address = first_is_caller && !chain->has_call_addresses;
    for (size_t i = 0; i < SOON; i++)
        expect_address(chain, user, i);
    for (size_t i = 0; i < user.count; i++) {
        expect_address(chain, user, i + SOON);
        if (is_marker(user.ips[i]))
            continue;
        if (push_pc(chain, map, SIDE_USER, user.ips[i], is_return_address) != 0)
            return -ENOMEM;
        is_return_address = !chain->has_call_addresses;
    }
    return 0;
}

/* What a chain of frame pointers knows of the frames beyond the copied bytes: those behind the last one
 * that was unwound. */
static struct ips rest_behind(const struct unwinder *unwinder, struct ips user)
{
    uint64_t last = unwinder->pcs[unwinder->count - 1];
    for (size_t i = 0; i < user.count; i++)
        if (user.ips[i] == last)
            return (struct ips){user.ips + i + 1, user.count - i - 1};
    return (struct ips){0};
}

/* A handler returns to the first instruction of the C library's restorer, which nobody called. What it
 * restores is no return address, either. */
static bool is_behind_call(const struct unwinder *unwinder, size_t i)
{
    bool is_restorer = i + 1 < unwinder->count && !unwinder->are_return_addresses[i + 1];
    return unwinder->are_return_addresses[i] && !is_restorer;
}

static int push_unwound(struct chain *chain, const struct address_map *map, struct ips user)
{
    const struct unwinder *unwinder = &chain->unwinder;
    int err = 0;
    /* Within exec() the registers are those of no program. */
    if (chain->count && !address_map_find(map, unwinder->pcs[0]))
        return push_user(chain, map, user, false);
    for (size_t i = 0; i < unwinder->count && err == 0; i++)
        err = push_pc(chain, map, SIDE_USER, unwinder->pcs[i], is_behind_call(unwinder, i));
    if (err != 0 || unwinder->is_complete)
        return err;
    struct ips rest = rest_behind(unwinder, user);
    return rest.count ? push_user(chain, map, rest, true) : chain_mark_truncated(chain);
}

/* LBR in its call-stack mode holds the calls that have not returned, newest first: where each was made.
 * The innermost PC is the callchain's, or the sample's own. */
static int push_branches(struct chain *chain, const struct perfdata_event *sample,
                         const struct address_map *map, struct ips user)
{
    uint64_t pc = user.count ? user.ips[0] : sample->ip;
    int err = 0;
    if (user.count || side_of_misc(sample->misc) == SIDE_USER)
        err = push_pc(chain, map, SIDE_USER, pc, false);
    for (size_t i = 0; i < sample->branch_count && err == 0; i++)
        err = push_pc(chain, map, SIDE_USER, sample->branches[i].from_avma, false);
    return err;
}

/* A chain of frame pointers, with the caller that it lacks. */
static int push_chain(struct chain *chain, const struct perfdata_event *sample,
                      const struct address_map *map, struct ips user)
{
    uint64_t caller = user.count ? unwinder_leaf_caller(&chain->unwinder, sample, map,
                                                        generation_of(chain, map), user.ips[0])
                                 : 0;
    if (!caller)
        return push_user(chain, map, user, false);
    int err = push_pc(chain, map, SIDE_USER, user.ips[0], false);
    if (err == 0)
        err = push_pc(chain, map, SIDE_USER, caller, true);
    return err ? err : push_user(chain, map, (struct ips){user.ips + 1, user.count - 1}, true);
}

static bool is_known(const struct chain *chain)
{
    return chain->walk && chain->walk->call;
}

static int push_user_part(struct chain *chain, const struct perfdata_event *sample,
                          const struct perfdata_attr *attr, const struct address_map *map,
                          struct ips user)
{
    if (unwinder_run(&chain->unwinder, sample, map, generation_of(chain, map))) {
        chain->walk = chain->count == 0 ? chain->unwinder.walk : NULL;
        return is_known(chain) ? 0 : push_unwound(chain, map, user);
    }
    if (sample->branch_count && (attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
        return push_branches(chain, sample, map, user);
    int err = push_chain(chain, sample, map, user);
    if (err == 0 && chain->count == 0 && sample->ip) {
        chain->depends_on_more = true;
        err = push_pc(chain, map, side_of_misc(sample->misc), sample->ip, false);
    }
    bool is_leaf_only = attr->sample_type & PERF_SAMPLE_STACK_USER && user.count == 0;
    return err == 0 && is_leaf_only && sample->user_abi != PERFDATA_ABI_NONE
               ? chain_mark_truncated(chain)
               : err;
}

int chain_gather(struct chain *chain, const struct perfdata_event *sample,
                 const struct perfdata_attr *attr, const struct address_map *map)
{
    chain->count = 0;
    chain->walk = NULL;
    chain->is_deferred = chain->depends_on_more = false;
    ssize_t at = push_other_sides(chain, sample, map);
    if (at < 0)
        return (int)at;
    struct ips user = {.count = sample->callchain_count - (size_t)at};
    if (user.count)
        user.ips = sample->callchain + at;
    if (user.count && user.ips[0] == CONTEXT_USER_DEFERRED) {
        chain->is_deferred = user.count > 1;
        chain->cookie = chain->is_deferred ? user.ips[1] : 0;
        return 0;
    }
    return push_user_part(chain, sample, attr, map, user);
}

int chain_resume(struct chain *chain, const uint32_t *addresses, size_t count,
                 const struct perfdata_event *deferred, const struct address_map *map)
{
    chain->count = 0;
    chain->walk = NULL;
    for (size_t i = 0; i < count; i++)
        if (push(chain, addresses[i]) != 0)
            return -ENOMEM;
    return push_user(chain, map, (struct ips){deferred->callchain, deferred->callchain_count},
                     false);
}

int chain_mark_truncated(struct chain *chain)
{
    return push(chain, address_in(chain, "[truncated]", false, 0));
}

/* How many of the outermost calls are the last chain's. */
static size_t shared_calls(const struct chain *chain)
{
    const uint32_t *addresses = chain->addresses;
    size_t most = chain->count < chain->step_count ? chain->count : chain->step_count;
    size_t shared = 0;
    while (shared < most && chain->steps[shared].address == addresses[chain->count - 1 - shared])
        shared++;
    return shared;
}

uint32_t chain_call(struct chain *chain)
{
    if (is_known(chain))
        return chain->walk->call - 1;
    size_t shared = shared_calls(chain);
    uint32_t call = shared ? chain->steps[shared - 1].call : PROFILE_NONE;
    chain->step_count = shared;
    profile_expect_path(chain->modules->profile, call, chain->addresses, chain->count - shared);
    while (chain->step_count < chain->count) {
        uint32_t address = chain->addresses[chain->count - 1 - chain->step_count];
        struct chain_step *made = ARRAY_PUSH(chain->steps, chain->step_count, chain->step_capacity);
        call = made ? profile_call_id(chain->modules->profile, call, address) : PROFILE_NONE;
        if (call == PROFILE_NONE)
            break;
        *made = (struct chain_step){address, call};
    }
    if (chain->count && call == PROFILE_NONE) {
        chain->modules->profile->failed = true;
        chain->step_count = 0;
    }
    if (chain->walk && !chain->depends_on_more)
        chain->walk->call = call + 1;
    return call;
}
