/* SPDX-License-Identifier: MIT */
/*
 * A pending sample, from the first look to the last:
 *
 *     kept ─▶ WAITS_FOR_MAP ─┬▶ a newer map, kept for the sample ─▶ WAITS_FOR_CFI ─▶ finished
 *                            ├▶ the walk is complete with the present map ─────────▶ finished
 *                            └▶ NEEDS_MAP: unknown code on the way, a map is requested
 *
 * A map newer than the sample may have another library at the addresses of the sample only if the
 * process has unloaded code: unload_count in the record and in the map. WAITS_NO_LONGER finishes
 * every sample: under memory pressure, at the end of the recording, or before the engine goes.
 *
 * The bytes of all samples lie in one buffer, by offset, as the buffer may move:
 *
 *     pending_stacks.bytes   │ record │ kernel frames │ pad to 8 │ record │ kernel frames │ …
 */
#include "record/sample/pending_stacks.h"

#include "base/containers/array.h"
#include "record/tables/maps/map_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Above this number of pending bytes, all samples are finished with the available tables. */
#define PENDING_BYTES_MAX (UINT32_C(64) << 20)

/* A sample's remaining needs, and the reason for leaving the sample pending. */
enum patience { WAITS_FOR_MAP, WAITS_FOR_CFI, WAITS_NO_LONGER };
enum outcome { FINISHED, NEEDS_MAP, NEEDS_CFI };

struct pending_stack {
    struct process_map *map; /* the awaited map; NULL: still pending */
    uint32_t slot;           /* of its process */
    pid_t tid;
    uint64_t time_ns;
    uint64_t cpu_ns;
    size_t record_offset; /* in pending_stacks.bytes */
    size_t record_bytes;
    uint32_t kernel_count; /* frames in the kernel, behind the record */
    struct sample_object object;
    bool needs_newer_map; /* unloaded code since the last map, or the walk ended at unknown code */
    bool needs_cfi;
};

static const uint8_t *record_of(const struct pending_stacks *pending,
                                const struct pending_stack *item)
{
    return pending->bytes.bytes + item->record_offset;
}

/* Records are multiples of 8 bytes. */
static const uint64_t *kernel_frames_of(const struct pending_stacks *pending,
                                        const struct pending_stack *item)
{
    return (const uint64_t *)(const void *)(record_of(pending, item) + item->record_bytes);
}

static void count_lost(struct pending_stacks *pending)
{
    pending->samples->summary->lost[RECORD_LOST_OTHER]++;
}

/* A copy that ends before the stack does is a cut of its own; a cut on a stack made by the program
 * (coroutines) is not counted against the tables. */
static enum record_cut cut_of(const struct stack_copy *from, const struct offline_result *result)
{
    const bool is_whole = stack_copy_is_whole(from);
    const enum offline_end end = is_whole ? result->end_if_whole : result->end;
    if (from->copy.is_foreign &&
        (end == OFFLINE_CUT || end == OFFLINE_NO_CFI || end == OFFLINE_NO_CODE))
        return RECORD_CUT_FOREIGN;
    if (end == OFFLINE_CUT && !is_whole)
        return RECORD_CUT_STACK_COPY;
    return stack_cut_of(end);
}

static void note_module(struct record_summary *summary, const struct process_map *map,
                        uint64_t avma)
{
    const struct process_mapping *mapping = map ? process_map_find(map, avma) : NULL;
    const char *path = mapping ? mapping->path : "[unknown]";
    if (summary->worst_module.misses == 0)
        snprintf(summary->worst_module.path, sizeof(summary->worst_module.path), "%s", path);
    if (strncmp(summary->worst_module.path, path, sizeof(summary->worst_module.path) - 1) == 0)
        summary->worst_module.misses++;
}

/* Stack words other than user addresses end the stack. */
static void cut_at_no_address(struct offline_result *result, const uint64_t *frames)
{
    size_t count = record_user_frames(frames, result->frame_count);
    if (count < result->frame_count)
        *result = (struct offline_result){
            .end = OFFLINE_UNMAPPED,
            .end_if_whole = OFFLINE_UNMAPPED,
            .frame_count = count,
            .dropped = count > record_frames_leaf(stack_unwind_frames_max()) ? result->dropped : 0};
}

/* Coroutines start in code that ends the thread, or without a return address. Both ends are normal
 * on a stack made by the program, and a cut on a stack of the C library. */
static bool is_fiber(const struct stack_copy *from, const struct offline_result *result)
{
    return from->copy.is_foreign && (result->root_is_in_code || result->end == OFFLINE_NO_CALLER);
}

/* The walk behind the sampler's frames; writes nothing. */
static enum outcome walk_copy(struct pending_stacks *pending, const struct stack_copy *from,
                              struct walked_sample *sample, enum patience patience)
{
    uint64_t *frames = pending->frames;
    struct stack_walk walk = {
        .map = sample->map, .from = from, .pid = sample->process->pid, .frames = frames};
    struct offline_result result = stack_unwind(&pending->unwinder, &walk);
    /* The walk is not used: with the CFI, it may take another way from this frame on. */
    if (walk.unread && patience != WAITS_NO_LONGER) {
        stack_unwind_want(&pending->unwinder, &walk);
        return NEEDS_CFI;
    }
    /* A newer map may have code at the PC, or the file of the mapping. */
    bool leads_out =
        result.end == OFFLINE_UNMAPPED || result.end == OFFLINE_NO_CODE || walk.awaits_file;
    if (leads_out && patience == WAITS_FOR_MAP)
        return NEEDS_MAP;
    pending->samples->summary->callers_verified += result.searched.verified;
    pending->samples->summary->callers_plausible += result.searched.plausible;
    cut_at_no_address(&result, frames);
    sample->verified_from = from->stack.frame_count;
    sample->verified_to = sample->verified_from + (uint32_t)result.verified;
    stack_unwind_join(from, frames, &result);
    if (result.dropped)
        sample->verified_to = 0;
    sample->frames = frames;
    sample->frame_count = (uint32_t)result.frame_count;
    sample->dropped = result.dropped;
    sample->is_fiber = is_fiber(from, &result);
    sample->is_complete = result.end == OFFLINE_ROOT || sample->is_fiber;
    sample->cut = cut_of(from, &result);
    return FINISHED;
}

/* misses of the summary: CPU samples that the sampler could not finish itself. */
static enum outcome finish_copy(struct pending_stacks *pending, const struct raw_sample *raw,
                                struct process_map *map, enum patience patience)
{
    struct stack_copy from;
    if (!stack_copy_parse(&from, raw->record, raw->bytes)) {
        count_lost(pending);
        return FINISHED;
    }
    struct walked_sample sample = {
        .process = raw->process,
        .map = map,
        .tid = raw->tid,
        .time_ns = raw->time_ns,
        .event = from.header.event,
        .weight = from.header.weight_ns,
        .object = raw->object,
        .kernel_frames = raw->kernel_frames,
        .kernel_count = raw->kernel_count,
        .flags = from.header.flags,
    };
    enum outcome outcome = walk_copy(pending, &from, &sample, patience);
    if (outcome != FINISHED)
        return outcome;
    if (sample.event == RECORD_EVENT_CPU && sample.kernel_count == 0) {
        note_module(pending->samples->summary, map, from.copy.registers[UNWIND_DWARF_PC]);
        pending->samples->summary->misses++;
    }
    sample_write(pending->samples, &sample);
    return FINISHED;
}

/* Unwinds a RECORD_CHECK from its copy, and compares the result with the sampler's frames: the same
 * CFI by two programs, the sampler's compiled rows and the offline unwinder. */
static void self_check(struct pending_stacks *pending, const struct raw_sample *raw)
{
    struct stack_copy from;
    struct record_summary *summary = pending->samples->summary;
    if (!raw->process->map || !stack_copy_parse(&from, raw->record, raw->bytes))
        return;
    struct stack_walk walk = {.map = raw->process->map,
                              .from = &from,
                              .pid = raw->process->pid,
                              .frames = pending->frames};
    struct offline_result result = stack_unwind(&pending->unwinder, &walk);
    summary->checked++;
    if (result.frame_count != from.stack.frame_count ||
        memcmp(pending->frames, from.frames, 8 * result.frame_count) != 0)
        summary->check_differed++;
}

static uint16_t kind_of(const struct raw_sample *raw)
{
    struct record_header header;
    memcpy(&header, raw->record, sizeof(header));
    return header.kind;
}

/* WAITS_NO_LONGER writes every sample: frames without CFI or map end the stack. */
static enum outcome finish(struct pending_stacks *pending, const struct raw_sample *raw,
                           struct process_map *map, enum patience patience)
{
    uint16_t kind = kind_of(raw);
    if (kind == RECORD_COPY)
        return finish_copy(pending, raw, map, patience);
    sample_write_record(pending->samples, raw, map);
    if (kind == RECORD_CHECK)
        self_check(pending, raw);
    return FINISHED;
}

static void keep(struct pending_stacks *pending, const struct raw_sample *raw)
{
    struct record_header header;
    memcpy(&header, raw->record, sizeof(header));
    buffer_zeros(&pending->bytes, -pending->bytes.size & 7u);
    struct pending_stack *item = ARRAY_PUSH(pending->items, pending->count, pending->capacity);
    if (!item) {
        count_lost(pending);
        return;
    }
    *item = (struct pending_stack){
        .slot = raw->process->slot,
        .tid = raw->tid,
        .time_ns = raw->time_ns,
        .cpu_ns = record_cpu_ns(&header),
        .record_offset = pending->bytes.size,
        .record_bytes = raw->bytes,
        .kernel_count = raw->kernel_count,
        .object = raw->object,
    };
    buffer_append(&pending->bytes, raw->record, raw->bytes);
    buffer_append(&pending->bytes, raw->kernel_frames, 8 * (size_t)raw->kernel_count);
    if (pending->bytes.failed) {
        pending->count--;
        count_lost(pending);
        return;
    }
    /* In the account from now on, so the gap does not grow by samples under way. */
    raw->process->account.waiting_ns += record_cpu_ns(&header);
    raw->process->waiting_count++;
    if (pending->bytes.size > PENDING_BYTES_MAX)
        pending_finish(pending, true);
}

void pending_take(struct pending_stacks *pending, const struct raw_sample *raw)
{
    struct process *process = raw->process;
    if (!process->map)
        map_request_first(pending->compiler, process);
    bool needs_first_map = !process->map && process->map_requests > 0;
    if (kind_of(raw) == RECORD_COPY || needs_first_map)
        keep(pending, raw);
    else
        finish(pending, raw, process_map_at(process, raw->time_ns), WAITS_NO_LONGER);
}

/* The present map may have another library where this sample's code lay. */
static bool map_is_outdated(const struct pending_stacks *pending, const struct process *process,
                            const struct pending_stack *item)
{
    struct record_stack stack;
    if (!process->map || item->record_bytes < sizeof(struct record_header) + sizeof(stack))
        return false;
    memcpy(&stack, record_of(pending, item) + sizeof(struct record_header), sizeof(stack));
    return stack.unload_count != process->map->unload_count;
}

/* Later maps may have another library at the same place, so the sample keeps this map. */
static void settle_on_map(const struct process *process, struct pending_stack *item)
{
    item->map = process->map;
    if (item->map)
        item->map->users++;
}

/* True: finished. Modules loaded after the map was read are unknown, at the sample's PC as well
 * as at a caller behind a frame for the launcher's unwinder only. */
static bool try_to_finish(struct pending_stacks *pending, struct pending_stack *item,
                          const struct raw_sample *raw)
{
    struct process *process = raw->process;
    uint64_t now_ns = pending->round->now_ns;
    if (!item->map && process->map && process->map->read_ns > item->time_ns)
        settle_on_map(process, item);
    if (!item->map && process->map_requests > 0)
        return false;
    bool is_final = item->map || process->has_ended;
    item->needs_newer_map |= !is_final && map_is_outdated(pending, process, item);
    enum outcome outcome = NEEDS_MAP;
    if (!item->needs_newer_map || is_final)
        outcome = finish(pending, raw, item->map ? item->map : process->map,
                         is_final ? WAITS_FOR_CFI : WAITS_FOR_MAP);
    item->needs_cfi = outcome == NEEDS_CFI;
    if (outcome != NEEDS_MAP)
        return outcome == FINISHED;
    item->needs_newer_map = true;
    if (now_ns - process->map_requested_ns > process->map_pause_ns)
        map_request(pending->compiler, process, now_ns);
    return false;
}

/* In the order of arrival; `bytes` is freed once no sample is left, since records are kept by
 * offset. */
void pending_finish(struct pending_stacks *pending, bool force)
{
    size_t kept = 0;
    for (size_t i = 0; i < pending->count; i++) {
        struct pending_stack *item = &pending->items[i];
        struct process *process = &pending->processes->processes[item->slot];
        if (!process->in_use)
            continue;
        const struct raw_sample raw = {.process = process,
                                       .tid = item->tid,
                                       .time_ns = item->time_ns,
                                       .record = record_of(pending, item),
                                       .bytes = item->record_bytes,
                                       .kernel_frames = kernel_frames_of(pending, item),
                                       .kernel_count = item->kernel_count,
                                       .object = item->object};
        if (force)
            finish(pending, &raw, item->map ? item->map : process->map, WAITS_NO_LONGER);
        else if (!try_to_finish(pending, item, &raw)) {
            pending->items[kept++] = *item;
            continue;
        }
        process->account.waiting_ns -= item->cpu_ns;
        process->waiting_count--;
        process_map_release(item->map);
    }
    pending->count = kept;
    if (kept == 0)
        buffer_clear(&pending->bytes);
}

uint64_t pending_oldest_ns(const struct pending_stacks *pending, const struct process *process,
                           uint64_t limit_ns)
{
    for (size_t i = 0; i < pending->count; i++) {
        const struct pending_stack *item = &pending->items[i];
        if (item->slot == process->slot && !item->map && item->time_ns < limit_ns)
            limit_ns = item->time_ns;
    }
    return limit_ns;
}

bool pending_needs_cfi(const struct pending_stacks *pending)
{
    for (size_t i = 0; i < pending->count; i++)
        if (pending->items[i].needs_cfi)
            return true;
    return false;
}

void pending_free(struct pending_stacks *pending)
{
    for (size_t i = 0; i < pending->count; i++)
        process_map_release(pending->items[i].map);
    free(pending->items);
    buffer_free(&pending->bytes);
    stack_unwinder_free(&pending->unwinder);
}
