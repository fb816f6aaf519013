/* SPDX-License-Identifier: MIT */
#include "record/jit/jit_code.h"

#include "unwind/arch/machine.h"

enum {
    KNOWN_MOST = 1 << 14,
    ENTRY_BYTES = 16 << 10, /* the runtime's own code comes first */
    LEAVE_BYTES = 512,
    FP_BYTES = 64, /* a prologue, or the end of an epilogue */
};

/* Keys of an address: the pid, and the kind of result. Address 0 has the entry of the runtime. */
#define OF_ENTRY (UINT64_C(1) << 32)
#define OF_LEAVE (UINT64_C(2) << 32)
#define OF_CALL (UINT64_C(3) << 32)
#define OF_FP (UINT64_C(4) << 32)

struct known_code {
    struct two_way_cache_key key;
    union {
        struct code_entry entry;
        struct code_leave leave;
        bool is_behind_call;
        struct {
            bool is_callers;
            uint64_t return_bytes;
        } fp;
    };
};

static const struct known_code *find(const struct jit_code *code, uint64_t of, uint64_t avma)
{
    const struct two_way_cache_key key = {(uint32_t)code->pid | of, avma};
    return two_way_cache_find(&code->jit->code, sizeof(struct known_code), key);
}

static void keep(const struct jit_code *code, uint64_t of, uint64_t avma,
                 const struct known_code *known)
{
    const struct two_way_cache_key key = {(uint32_t)code->pid | of, avma};
    struct known_code *kept = two_way_cache_add(&code->jit->code, sizeof(*kept), KNOWN_MOST, key);
    if (!kept)
        return;
    *kept = *known;
    kept->key = key;
}

/* NULL: no generated code is mapped there. */
static const struct process_mapping *mapping_of(const struct jit_code *code, uint64_t avma)
{
    const struct process_mapping *mapping =
        code->map && unwind_machine_own()->code ? process_map_find(code->map, avma) : NULL;
    return mapping && !mapping->module ? mapping : NULL;
}

static const uint8_t *read_code(const struct jit_code *code, uint64_t avma, size_t bytes)
{
    return jit_frames_read(code->jit, code->pid, avma, bytes);
}

static size_t bytes_up_to(uint64_t start_avma, uint64_t end_avma, size_t most)
{
    return end_avma - start_avma < most ? (size_t)(end_avma - start_avma) : most;
}

static void read_entry(const struct jit_code *code, const struct process_mapping *mapping)
{
    const size_t size = bytes_up_to(mapping->start_avma, mapping->end_avma, ENTRY_BYTES);
    const uint8_t *bytes = read_code(code, mapping->start_avma, size);
    struct known_code known = {0};
    if (bytes)
        known.entry = unwind_machine_own()->code->realigning_entry(bytes, size);
    keep(code, OF_ENTRY, mapping->start_avma, &known);
    /* An unreadable or foreign mapping is remembered as well: one read for each. */
    if (known.entry.bytes > 0)
        keep(code, OF_ENTRY, 0, &known);
}

/* A runtime has a single entry, in the first mapping of generated code. */
static bool find_entry(void *context, uint64_t avma, struct code_entry *entry)
{
    const struct jit_code *code = context;
    const struct process_mapping *mapping = mapping_of(code, avma);
    if (!mapping)
        return false;
    if (!find(code, OF_ENTRY, mapping->start_avma))
        read_entry(code, mapping);
    const struct known_code *known = find(code, OF_ENTRY, 0);
    *entry = known ? known->entry : (struct code_entry){0};
    return known;
}

static bool find_leave(void *context, uint64_t avma, struct code_leave *leave)
{
    const struct jit_code *code = context;
    const struct process_mapping *mapping = mapping_of(code, avma);
    if (!mapping)
        return false;
    const struct known_code *before = find(code, OF_LEAVE, avma);
    struct known_code known = {0};
    if (before) {
        known = *before;
    } else {
        const size_t size = bytes_up_to(avma, mapping->end_avma, LEAVE_BYTES);
        const uint8_t *bytes = read_code(code, avma, size);
        if (bytes)
            known.leave = unwind_machine_own()->code->leave(bytes, size, avma);
        keep(code, OF_LEAVE, avma, &known);
    }
    *leave = known.leave;
    return leave->kind != LEAVE_UNKNOWN;
}

static bool look_for_call(const struct jit_code *code, const struct process_mapping *mapping,
                          uint64_t return_avma, bool *is_behind_call)
{
    if (!mapping || return_avma - mapping->start_avma < CODE_CALL_BYTES_MAX)
        return false;
    const struct known_code *before = find(code, OF_CALL, return_avma);
    if (before) {
        *is_behind_call = before->is_behind_call;
        return true;
    }
    const uint8_t *bytes = read_code(code, return_avma - CODE_CALL_BYTES_MAX, CODE_CALL_BYTES_MAX);
    if (!bytes)
        return false;
    const struct code_branch branch =
        unwind_machine_own()->code->call_before(bytes, CODE_CALL_BYTES_MAX, return_avma);
    struct known_code known = {.is_behind_call = branch.kind != BRANCH_NONE};
    keep(code, OF_CALL, return_avma, &known);
    *is_behind_call = known.is_behind_call;
    return true;
}

static bool find_call(void *context, uint64_t return_avma, bool *is_behind_call)
{
    const struct jit_code *code = context;
    return look_for_call(code, mapping_of(code, return_avma - 1), return_avma, is_behind_call);
}

static bool is_returned_to(void *context, uint64_t avma)
{
    const struct jit_code *code = context;
    const struct process_mapping *mapping =
        code->map && unwind_machine_own()->code ? process_map_find(code->map, avma - 1) : NULL;
    bool is_behind_call;
    return look_for_call(code, mapping, avma, &is_behind_call) && is_behind_call;
}

static enum code_fp find_fp(void *context, uint64_t avma, uint64_t *return_bytes)
{
    const struct jit_code *code = context;
    const struct process_mapping *mapping = mapping_of(code, avma);
    if (!mapping)
        return CODE_FP_SET;
    const struct known_code *before = find(code, OF_FP, avma);
    struct known_code known = {0};
    if (before) {
        known = *before;
    } else {
        const size_t size = bytes_up_to(avma, mapping->end_avma, FP_BYTES);
        const uint8_t *bytes = read_code(code, avma, size);
        if (!bytes)
            return CODE_FP_UNKNOWN;
        known.fp.is_callers =
            unwind_machine_own()->code->has_callers_fp(bytes, size, &known.fp.return_bytes);
        keep(code, OF_FP, avma, &known);
    }
    *return_bytes = known.fp.return_bytes;
    return known.fp.is_callers ? CODE_FP_FREE : CODE_FP_SET;
}

bool jit_code_has_callers_fp(struct jit_code *code, uint64_t avma)
{
    uint64_t return_bytes;
    const bool may_be =
        code->map && code->map->jit_start_avma <= avma && avma < code->map->jit_end_avma;
    return may_be && find_fp(code, avma, &return_bytes) == CODE_FP_FREE;
}

const struct generated_code jit_generated_code = {.find_entry = find_entry,
                                                  .find_leave = find_leave,
                                                  .find_call = find_call,
                                                  .find_fp = find_fp,
                                                  .is_returned_to = is_returned_to};
