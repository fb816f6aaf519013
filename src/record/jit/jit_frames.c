/* SPDX-License-Identifier: MIT */
#include "record/jit/jit_frames.h"

#include "record/jit/code_reader.h"
#include "unwind/arch/machine.h"
#include "wire/records.h"

/* The interpreter of HotSpot is the largest code behind a single prologue. */
enum { FIRST_BYTES = 2 << 10, FACTOR = 8, AHEAD_BYTES = 4 << 10, KNOWN_MOST = 1 << 14 };

/* A stack has hundreds of new return addresses at most, and code after its first samples none. A
 * program that makes up addresses in 128 KiB without a prologue costs a millisecond for each. */
enum { STACK_BYTES = 16 << 10, AHEAD_BYTES_MAX = 16 << 20 };

/* The code at an address of a process: another program that runs there later under the same pid is
 * mostly of the same runtime. Address 0 stands for all code of the process read before. */
struct known_code {
    struct two_way_cache_key key;
    enum code_fp fp;
};

static const struct known_code *find(const struct jit_frames *jit, pid_t pid, uint64_t avma)
{
    const struct two_way_cache_key key = {(uint64_t)pid, avma};
    return two_way_cache_find(&jit->known, sizeof(struct known_code), key);
}

static void keep(struct jit_frames *jit, pid_t pid, uint64_t avma, enum code_fp fp)
{
    const struct two_way_cache_key key = {(uint64_t)pid, avma};
    struct known_code *known = two_way_cache_add(&jit->known, sizeof(*known), KNOWN_MOST, key);
    if (known)
        known->fp = fp;
}

const uint8_t *jit_frames_read(struct jit_frames *jit, pid_t pid, uint64_t avma, size_t bytes)
{
    if (bytes > AHEAD_BYTES_MAX - jit->read_bytes)
        return NULL;
    jit->read_bytes += bytes;
    if (jit->memory)
        return jit->memory->read(jit->memory->context, avma, bytes);
    if (!jit->reader && !jit->has_no_reader)
        jit->reader = code_reader_open();
    jit->has_no_reader = !jit->reader;
    return jit->reader ? code_reader_read(jit->reader, pid, avma, bytes) : NULL;
}

/* NULL: no stack has a known gap. */
static const struct machine_code *machine_here(void)
{
    return unwind_machine_own()->code;
}

/* The last prologue before the return address decides, searched in growing pieces; without one in
 * 128 KiB, the first one ahead. False: the code could not be read. */
static bool read_fp(struct jit_frames *jit, pid_t pid, const struct process_mapping *mapping,
                    uint64_t avma, enum code_fp *fp)
{
    uint64_t most = avma - mapping->start_avma;
    const struct machine_code *machine = machine_here();
    *fp = CODE_FP_UNKNOWN;
    for (uint64_t bytes = FIRST_BYTES; bytes <= CODE_READ_BYTES_MAX; bytes *= FACTOR) {
        size_t size = (size_t)(bytes < most ? bytes : most);
        const uint8_t *code = jit_frames_read(jit, pid, avma - size, size);
        if (!code)
            return false;
        *fp = machine->fp_before_end(code, size);
        if (*fp != CODE_FP_UNKNOWN)
            return true;
        if (size == most)
            break;
    }
    most = mapping->end_avma - avma;
    size_t size = (size_t)(most < AHEAD_BYTES ? most : AHEAD_BYTES);
    const uint8_t *code = jit_frames_read(jit, pid, avma, size);
    if (code)
        *fp = machine->fp_from_start(code, size);
    return code;
}

/* Code of a process that has ended counts as the code read before; so does code beyond the bytes
 * for a stack. */
static enum code_fp fp_of(struct jit_frames *jit, pid_t pid, const struct process_mapping *mapping,
                          uint64_t avma)
{
    const struct known_code *known = find(jit, pid, avma);
    enum code_fp fp;
    if (known)
        return known->fp;
    if (!read_fp(jit, pid, mapping, avma, &fp)) {
        known = find(jit, pid, 0);
        return known ? known->fp : CODE_FP_UNKNOWN;
    }
    keep(jit, pid, avma, fp);
    known = find(jit, pid, 0);
    if (!known || known->fp == CODE_FP_SET)
        keep(jit, pid, 0, fp);
    return fp;
}

size_t jit_frames_before_gap(struct jit_frames *jit, const struct jit_stack *stack)
{
    const struct process_map *map = stack->map;
    if (!machine_here() || !map || map->jit_start_avma == map->jit_end_avma)
        return 0;
    jit->read_bytes -= jit->read_bytes < STACK_BYTES ? jit->read_bytes : STACK_BYTES;
    for (size_t i = 0; i < stack->count; i++) {
        uint64_t avma = stack->frames[i];
        bool is_verified = i >= stack->verified_from && i < stack->verified_to;
        if (is_verified || avma <= map->jit_start_avma || avma > map->jit_end_avma)
            continue;
        const struct process_mapping *mapping = process_map_find(map, avma - (i > 0));
        if (mapping && !mapping->module && fp_of(jit, stack->pid, mapping, avma) != CODE_FP_SET)
            return i + 1;
    }
    return 0;
}

void jit_frames_free(struct jit_frames *jit)
{
    two_way_cache_free(&jit->known);
    two_way_cache_free(&jit->code);
    code_reader_close(jit->reader);
    *jit = (struct jit_frames){0};
}
