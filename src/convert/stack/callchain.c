/* SPDX-License-Identifier: MIT */
/*
 * From a record to addresses of the profile, innermost first:
 *
 *     callchain    KERNEL k0 k1 … USER u0 u1 u2 …          push_other_sides() up to the user part
 *     user part    registers and stack: unwound frames     push_unwound(); u0 u1 … beyond the copy
 *                  LBR: calls                              push_branches()
 *                  u0 u1 u2 …                              push_chain(): with the caller of a leaf
 *                  nothing                                 the sample's own address
 *                  USER_DEFERRED cookie                    a later record: callchain_resume()
 *
 * Two shortcuts for repeated stacks: `walk` is set where the unwinder found the same registers and
 * stack bytes before, and its call is reused without any address; `steps` hold the last chain, so a
 * chain that starts alike at the outer end looks up its inner calls only.
 */
#include "convert/stack/callchain.h"

#include "base/containers/array.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* Newer than the headers of many systems. PERF_CONTEXT_USER_DEFERRED of linux/perf_event.h: */
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)

/* The profile's address of a user address. */
struct cached_address {
    struct two_way_cache_key key;
    uint32_t address; /* of the profile */
};
enum { CACHED_ADDRESSES_MAX = 1 << 16 };
enum { SOON = 16 }; /* while so many are looked up, memory answers */

enum side { SIDE_USER, SIDE_KERNEL, SIDE_HYPERVISOR, SIDE_GUEST_KERNEL, SIDE_GUEST_USER };

int callchain_init(struct callchain *callchain, struct modules *modules,
                   const struct address_map *kernel, const struct perfdata_facts *facts)
{
    *callchain = (struct callchain){
        .modules = modules, .kernel = kernel, .has_call_addresses = facts->has_call_addresses};
    return sample_unwinder_init(&callchain->unwinder, modules, facts->arch);
}

void callchain_free(struct callchain *callchain)
{
    sample_unwinder_free(&callchain->unwinder);
    two_way_cache_free(&callchain->address_cache);
    free(callchain->addresses);
    free(callchain->steps);
    *callchain = (struct callchain){0};
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

/* Marks are PERF_CONTEXT_* of linux/perf_event.h: the addresses behind a mark are of its side. */
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

/* An address outside of all recorded mappings, in code with a common name. */
static uint32_t address_in(struct callchain *callchain, const char *name, bool is_kernel,
                           uint64_t avma)
{
    const struct perfdata_event image = {.path = name, .is_kernel = is_kernel};
    uint32_t module = modules_id(callchain->modules, &image);
    uint32_t lib = module == PROFILE_NONE ? module : modules_lib(callchain->modules, module);
    return lib == PROFILE_NONE ? lib : profile_address_id(callchain->modules->profile, lib, avma);
}

/* Of all processes' maps; not 0. */
static uint64_t generation_of(const struct callchain *callchain, const struct address_map *map)
{
    return ((uint64_t)callchain->process + 1) << 32 | (uint32_t)map->generation;
}

static void remember(struct callchain *callchain, struct two_way_cache_key key, uint32_t address)
{
    struct cached_address *known =
        two_way_cache_add(&callchain->address_cache, sizeof(*known), CACHED_ADDRESSES_MAX, key);
    if (known)
        known->address = address;
}

/* Generated code is not cached: its meaning depends on the time of the sample. */
static uint32_t user_address(struct callchain *callchain, const struct address_map *map,
                             uint64_t avma)
{
    const struct two_way_cache_key key = {generation_of(callchain, map), avma};
    const struct cached_address *known =
        two_way_cache_find(&callchain->address_cache, sizeof(*known), key);
    if (known)
        return known->address;
    const struct mapping *mapping = address_map_find(map, avma);
    if (mapping && !modules_is_jit(callchain->modules, mapping->module)) {
        uint32_t address = modules_address(callchain->modules, mapping, avma);
        if (address != PROFILE_NONE)
            remember(callchain, key, address);
        return address;
    }
    struct jit_place place = {.process = callchain->process, .time_ns = callchain->time_ns};
    callchain->depends_on_more = true;
    if (mapping) {
        place.mapping_path = modules_path(callchain->modules, mapping->module);
        place.mapping_start_avma = mapping->start_avma;
    }
    return jits_address(callchain->jits, &place, avma);
}

/* Code outside of all recorded mappings still belongs to the kernel. */
static uint32_t kernel_address(struct callchain *callchain, uint64_t avma)
{
    const struct mapping *mapping = address_map_find(callchain->kernel, avma);
    return mapping ? modules_address(callchain->modules, mapping, avma)
                   : address_in(callchain, "[kernel.kallsyms]", true, avma);
}

static uint32_t address_of(struct callchain *callchain, const struct address_map *map,
                           enum side side, uint64_t avma)
{
    switch (side) {
    case SIDE_KERNEL:
        return kernel_address(callchain, avma);
    case SIDE_HYPERVISOR:
        return address_in(callchain, "[hypervisor]", true, avma);
    case SIDE_GUEST_KERNEL:
        return address_in(callchain, "[guest kernel]", true, avma);
    case SIDE_GUEST_USER:
        return address_in(callchain, "[guest user]", true, avma);
    case SIDE_USER:
        break;
    }
    return user_address(callchain, map, avma);
}

static int push(struct callchain *callchain, uint32_t address)
{
    uint32_t *slot = address == PROFILE_NONE
                         ? NULL
                         : ARRAY_PUSH(callchain->addresses, callchain->count, callchain->capacity);
    if (!slot)
        return -ENOMEM;
    *slot = address;
    return 0;
}

/* A return address may belong to the next line or function: the call lies before. An interrupted
 * instruction has its own address. */
static int push_pc(struct callchain *callchain, const struct address_map *map, enum side side,
                   uint64_t pc, bool is_return_address)
{
    uint64_t avma = is_return_address && pc ? pc - 1 : pc;
    return push(callchain, address_of(callchain, map, side, avma));
}

/* PERF_CONTEXT_* are the highest addresses (linux/perf_event.h). */
static bool is_marker(uint64_t ip)
{
    return ip >= (uint64_t)PERF_CONTEXT_MAX;
}

/* Pushes the callchain before its user part; returns the index of the user part, or a negative
 * errno. */
static ssize_t push_other_sides(struct callchain *callchain, const struct perfdata_event *sample,
                                const struct address_map *map)
{
    enum side side = side_of_misc(sample->record.misc);
    bool is_return_address = false;
    size_t i = 0;
    for (; i < sample->callchain_count; i++) {
        uint64_t ip = sample->callchain[i];
        if (is_marker(ip)) {
            side = side_of_marker(ip);
            is_return_address = false;
        } else if (side == SIDE_USER) {
            break;
        } else if (push_pc(callchain, map, side, ip, is_return_address) != 0) {
            return -ENOMEM;
        } else {
            is_return_address = !callchain->has_call_addresses;
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

static void expect_address(const struct callchain *callchain, struct ips user, size_t i)
{
    if (i < user.count)
        two_way_cache_prefetch(&callchain->address_cache, sizeof(struct cached_address),
                               user.ips[i] - 1);
}

/* In rec's stacks of waits, kernel frames follow the synthetic leaf. */
static int push_user(struct callchain *callchain, const struct address_map *map, struct ips user,
                     bool first_is_caller)
{
    bool is_return_address = first_is_caller && !callchain->has_call_addresses;
    enum side side = SIDE_USER;
    for (size_t i = 0; i < SOON; i++)
        expect_address(callchain, user, i);
    for (size_t i = 0; i < user.count; i++) {
        expect_address(callchain, user, i + SOON);
        if (is_marker(user.ips[i])) {
            side = side_of_marker(user.ips[i]);
            continue;
        }
        if (push_pc(callchain, map, side, user.ips[i], is_return_address) != 0)
            return -ENOMEM;
        is_return_address = !callchain->has_call_addresses;
    }
    return 0;
}

/* The frame-pointer chain beyond the copied stack: frames behind the last unwound frame. */
static struct ips rest_behind(const struct sample_unwinder *unwinder, struct ips user)
{
    uint64_t last = unwinder->pcs[unwinder->count - 1];
    for (size_t i = 0; i < user.count; i++)
        if (user.ips[i] == last)
            return (struct ips){user.ips + i + 1, user.count - i - 1};
    return (struct ips){0};
}

/* A signal handler returns to the first instruction of the C library's restorer, without a call
 * before. The PC restored from the signal frame is no return address, either. */
static bool is_behind_call(const struct sample_unwinder *unwinder, size_t i)
{
    bool is_restorer = i + 1 < unwinder->count && !unwinder->are_return_addresses[i + 1];
    return unwinder->are_return_addresses[i] && !is_restorer;
}

static int push_unwound(struct callchain *callchain, const struct address_map *map, struct ips user)
{
    const struct sample_unwinder *unwinder = &callchain->unwinder;
    int err = 0;
    /* During exec() the registers belong to no program. */
    if (callchain->count && !address_map_find(map, unwinder->pcs[0]))
        return push_user(callchain, map, user, false);
    for (size_t i = 0; i < unwinder->count && err == 0; i++)
        err = push_pc(callchain, map, SIDE_USER, unwinder->pcs[i], is_behind_call(unwinder, i));
    if (err != 0 || unwinder->is_complete)
        return err;
    struct ips rest = rest_behind(unwinder, user);
    return rest.count ? push_user(callchain, map, rest, true) : callchain_mark_truncated(callchain);
}

/* LBR in call-stack mode holds the call instructions of all open calls, newest first. The
 * innermost PC is the callchain's, or the sample's own. */
static int push_branches(struct callchain *callchain, const struct perfdata_event *sample,
                         const struct address_map *map, struct ips user)
{
    uint64_t pc = user.count ? user.ips[0] : sample->ip;
    int err = 0;
    if (user.count || side_of_misc(sample->record.misc) == SIDE_USER)
        err = push_pc(callchain, map, SIDE_USER, pc, false);
    for (size_t i = 0; i < sample->branch_count && err == 0; i++)
        err = push_pc(callchain, map, SIDE_USER, sample->branches[i].from_avma, false);
    return err;
}

/* A frame-pointer chain, plus the caller of a leaf function. */
static int push_chain(struct callchain *callchain, const struct perfdata_event *sample,
                      const struct address_map *map, struct ips user)
{
    uint64_t caller = user.count
                          ? sample_unwinder_leaf_caller(&callchain->unwinder, sample, map,
                                                        generation_of(callchain, map), user.ips[0])
                          : 0;
    if (!caller)
        return push_user(callchain, map, user, false);
    int err = push_pc(callchain, map, SIDE_USER, user.ips[0], false);
    if (err == 0)
        err = push_pc(callchain, map, SIDE_USER, caller, true);
    return err ? err : push_user(callchain, map, (struct ips){user.ips + 1, user.count - 1}, true);
}

/* An earlier sample had the same walk, and nothing but the walk: its call holds. */
static bool is_known(const struct callchain *callchain)
{
    return callchain->walk && callchain->walk->call;
}

/* In order of trust: the stack copy, unwound; LBR; the frame-pointer chain; the PC alone. A stack
 * copy without registers of a 64-bit program leaves the PC, marked as truncated. */
static int push_user_part(struct callchain *callchain, const struct perfdata_event *sample,
                          const struct perfdata_attr *attr, const struct address_map *map,
                          struct ips user)
{
    if (sample_unwinder_run(&callchain->unwinder, sample, map, generation_of(callchain, map))) {
        callchain->walk = callchain->count == 0 ? callchain->unwinder.walk : NULL;
        return is_known(callchain) ? 0 : push_unwound(callchain, map, user);
    }
    if (sample->branch_count && (attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
        return push_branches(callchain, sample, map, user);
    int err = push_chain(callchain, sample, map, user);
    if (err == 0 && callchain->count == 0 && sample->ip) {
        callchain->depends_on_more = true;
        err = push_pc(callchain, map, side_of_misc(sample->record.misc), sample->ip, false);
    }
    bool is_leaf_only = attr->sample_type & PERF_SAMPLE_STACK_USER && user.count == 0;
    return err == 0 && is_leaf_only && sample->user_abi != PERFDATA_ABI_NONE
               ? callchain_mark_truncated(callchain)
               : err;
}

/* Kernel part, then user part. CONTEXT_USER_DEFERRED and a cookie stand for a user part in a later
 * record. */
int callchain_build(struct callchain *callchain, const struct perfdata_event *sample,
                    const struct perfdata_attr *attr, const struct address_map *map)
{
    callchain->count = 0;
    callchain->walk = NULL;
    callchain->is_deferred = callchain->depends_on_more = false;
    ssize_t at = push_other_sides(callchain, sample, map);
    if (at < 0)
        return (int)at;
    struct ips user = {.count = sample->callchain_count - (size_t)at};
    if (user.count)
        user.ips = sample->callchain + at;
    if (user.count && user.ips[0] == CONTEXT_USER_DEFERRED) {
        callchain->is_deferred = user.count > 1;
        callchain->cookie = callchain->is_deferred ? user.ips[1] : 0;
        return 0;
    }
    return push_user_part(callchain, sample, attr, map, user);
}

int callchain_resume(struct callchain *callchain, const uint32_t *addresses, size_t count,
                     const struct perfdata_event *deferred, const struct address_map *map)
{
    callchain->count = 0;
    callchain->walk = NULL;
    for (size_t i = 0; i < count; i++)
        if (push(callchain, addresses[i]) != 0)
            return -ENOMEM;
    return push_user(callchain, map, (struct ips){deferred->callchain, deferred->callchain_count},
                     false);
}

int callchain_mark_truncated(struct callchain *callchain)
{
    return push(callchain, address_in(callchain, "[truncated]", false, 0));
}

/* How many of the outermost calls are the last chain's. */
static size_t shared_calls(const struct callchain *callchain)
{
    const uint32_t *addresses = callchain->addresses;
    size_t most =
        callchain->count < callchain->step_count ? callchain->count : callchain->step_count;
    size_t shared = 0;
    while (shared < most &&
           callchain->steps[shared].address == addresses[callchain->count - 1 - shared])
        shared++;
    return shared;
}

uint32_t callchain_call(struct callchain *callchain)
{
    if (is_known(callchain))
        return callchain->walk->call - 1;
    size_t shared = shared_calls(callchain);
    uint32_t call = shared ? callchain->steps[shared - 1].call : PROFILE_NONE;
    callchain->step_count = shared;
    profile_expect_path(callchain->modules->profile, call, callchain->addresses,
                        callchain->count - shared);
    while (callchain->step_count < callchain->count) {
        uint32_t address = callchain->addresses[callchain->count - 1 - callchain->step_count];
        struct callchain_step *made =
            ARRAY_PUSH(callchain->steps, callchain->step_count, callchain->step_capacity);
        call = made ? profile_call_id(callchain->modules->profile, call, address) : PROFILE_NONE;
        if (call == PROFILE_NONE)
            break;
        *made = (struct callchain_step){address, call};
    }
    if (callchain->count && call == PROFILE_NONE) {
        callchain->modules->profile->failed = true;
        callchain->step_count = 0;
    }
    if (callchain->walk && !callchain->depends_on_more)
        callchain->walk->call = call + 1;
    return call;
}
