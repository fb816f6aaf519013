/* SPDX-License-Identifier: MIT */
#include "record/sample/sample_writer.h"

#include "base/budget.h"
#include "record/events/event_request.h"
#include "record/jit/jit_code.h"
#include "record/sample/task_records.h"

#include <string.h>

/* Ends of processes and threads longer than this beyond their periods should have had samples. */
#define END_MAX_NS 100000000

static void push(struct frame_list *list, uint64_t avma)
{
    if (list->count < SAMPLE_FRAMES_MAX)
        list->frames[list->count++] = avma;
}

/* The sampler's thread start between the C library's and the program's is removed. A leaf in the
 * sampler stays: the overhead is part of the profile. */
static bool is_own_frame(const struct process_map *map, uint64_t avma)
{
    return map && avma > map->sampler_start_avma && avma <= map->sampler_end_avma;
}

/* Most samples go into the file unchanged. The loop has no branch: branches were most of the
 * cost. */
static bool is_plain(const struct walked_sample *sample)
{
    bool has_mark = (sample->flags & RECORD_KERNEL) && sample->kernel_count == 0;
    if (has_mark || sample->dropped || !sample->is_complete || sample->event != RECORD_EVENT_CPU)
        return false;
    const struct process_map *map = sample->map;
    if (!map)
        return true;
    uint64_t start = map->sampler_start_avma, bytes = map->sampler_end_avma - start;
    uint64_t own = 0;
    for (uint32_t i = 1; i < sample->frame_count; i++)
        own |= sample->frames[i] - start - 1 < bytes;
    return own == 0;
}

/* The first frame to keep. The walk of a hook starts in the sampler; the function with the hook,
 * which has the name of the function called by the program, is the leaf. */
static uint32_t first_frame(const struct walked_sample *sample)
{
    uint32_t first = 0;
    if (sample->event == RECORD_EVENT_CPU)
        return 0;
    while (first + 1 < sample->frame_count && is_own_frame(sample->map, sample->frames[first + 1]))
        first++;
    return first;
}

static void collect_frames(const struct walked_sample *sample, struct frame_list *list)
{
    list->count = 0;
    uint32_t first = first_frame(sample);
    uint32_t leaf = record_frames_leaf((uint32_t)budget_amount(BUDGET_FRAMES));
    if (sample->object.code_avma)
        push(list, sample->object.code_avma);
    if ((sample->flags & RECORD_KERNEL) && sample->kernel_count == 0)
        push(list, synthetic_avma(SYNTHETIC_KERNEL));
    for (uint32_t i = first; i < sample->frame_count; i++) {
        if (sample->dropped && i == leaf)
            push(list, synthetic_avma(SYNTHETIC_TRUNCATED));
        if (i == first || !is_own_frame(sample->map, sample->frames[i]))
            push(list, sample->frames[i]);
        if (i + 1 == sample->before_gap)
            push(list, synthetic_avma(SYNTHETIC_TRUNCATED));
    }
    if (!sample->is_complete && !sample->before_gap)
        push(list, synthetic_avma(SYNTHETIC_TRUNCATED));
}

/* Threads and programs begin in an entry function or in the C library. */
static bool is_root(const struct process_map *map, uint64_t avma)
{
    const struct process_mapping *mapping = map ? process_map_find(map, avma) : NULL;
    if (!mapping || !mapping->module)
        return false;
    uint64_t svma = avma - mapping->bias;
    return svma >= mapping->module->root_start_svma && svma < mapping->module->root_end_svma;
}

/* Frames but the leaf are return addresses: the call lies before. */
static bool ends_at_root(const struct walked_sample *sample)
{
    uint64_t avma = sample->frames[sample->frame_count - 1] - (sample->frame_count > 1);
    return is_root(sample->map, avma);
}

/* Remembers the frames below the start routine, for the samples of thread ends. The stack of a
 * fiber has a single frame in the C library. */
static void note_thread_root(const struct walked_sample *sample)
{
    struct process *process = sample->process;
    if (process->thread_root_avmas[0] || sample->tid == process->pid ||
        sample->frame_count <= THREAD_ROOT_FRAMES)
        return;
    const uint64_t *root_avmas = sample->frames + sample->frame_count - THREAD_ROOT_FRAMES;
    if (is_root(sample->map, root_avmas[0] - 1))
        memcpy(process->thread_root_avmas, root_avmas, sizeof(process->thread_root_avmas));
}

/* The mapping of the frame where the walk ended, or left out callers. */
static void count_cut(struct record_summary *summary, const struct walked_sample *sample)
{
    if (sample->frame_count == 0) {
        record_cut_add(summary, sample->cut, NULL);
        return;
    }
    uint32_t count = sample->before_gap ? sample->before_gap : sample->frame_count;
    uint64_t avma = sample->frames[count - 1] - (count > 1);
    const struct process_mapping *mapping =
        sample->map ? process_map_find(sample->map, avma) : NULL;
    record_cut_add(summary, sample->cut, mapping ? mapping->path : NULL);
}

static void count(struct sample_writer *writer, const struct walked_sample *sample)
{
    struct record_summary *summary = writer->summary;
    if (sample->event != writer->main_row) {
        summary->other_samples += sample->event >= EVENT_ROW_FIRST;
        return;
    }
    summary->samples++;
    sample->process->samples++;
    sample->process->foreign_cuts += !sample->is_complete && sample->cut == RECORD_CUT_FOREIGN;
    if (sample->dropped)
        record_cut_add(summary, RECORD_CUT_DEEP, NULL);
    else if (!sample->is_complete)
        count_cut(summary, sample);
    else
        summary->complete++;
    summary->fibers += sample->is_complete && sample->is_fiber;
    bool is_cpu = sample->event == RECORD_EVENT_CPU;
    if (is_cpu && sample->is_complete && !sample->dropped && !writer->round->is_quiet)
        summary->cpu_complete_ns += sample->weight;
}

/* With -e, CPU samples enter the account but not the file: the file has the samples of the main
 * row. */
static void write_and_account(struct sample_writer *writer, struct process *process,
                              struct process_map *map, const struct perfdata_sample *sample)
{
    bool is_cpu = sample->event == RECORD_EVENT_CPU;
    if (writer->round->is_quiet)
        return;
    if (!is_cpu || writer->main_row == RECORD_EVENT_CPU) {
        if (!record_are_user_frames(sample->frames, (uint32_t)sample->frame_count))
            task_map_synthetic(writer->file, process, sample->frames, sample->frame_count,
                               sample->time_ns);
        if (writer->mappings)
            deferred_mappings_write_used(writer->mappings, process, map, sample);
        perfdata_write_sample(writer->file, sample);
    }
    if (!is_cpu)
        return;
    process->account.seen_ns += sample->weight;
    writer->summary->cpu_seen_ns += sample->weight;
    if (sample->frame_count > 0 && sample->frames[0] == synthetic_avma(SYNTHETIC_KERNEL))
        writer->summary->cpu_kernel_ns += sample->weight;
}

/* FP, the caller's at the interrupted instruction, has led past the caller: no return address was
 * where the code has it, or SP had left it behind. */
static bool lacks_first_caller(struct sample_writer *writer, const struct walked_sample *sample)
{
    struct jit_code code = {&writer->jit, sample->process->pid, sample->map};
    bool is_verified = sample->verified_from == 0 && sample->verified_to > 0;
    return !is_verified && sample->frame_count > 1 &&
           jit_code_has_callers_fp(&code, sample->frames[0]);
}

static void find_gap(struct sample_writer *writer, struct walked_sample *sample)
{
    const struct jit_stack stack = {.pid = sample->process->pid,
                                    .map = sample->map,
                                    .frames = sample->frames,
                                    .count = sample->frame_count,
                                    .verified_from = sample->verified_from,
                                    .verified_to = sample->verified_to};
    sample->before_gap = lacks_first_caller(writer, sample)
                             ? 1
                             : (uint32_t)jit_frames_before_gap(&writer->jit, &stack);
    if (sample->before_gap == 0)
        return;
    sample->is_complete = false;
    sample->cut = RECORD_CUT_NO_FP;
}

void sample_write(struct sample_writer *writer, const struct walked_sample *from)
{
    struct walked_sample sample = *from;
    if (sample.frame_count + sample.kernel_count == 0) {
        writer->summary->lost[RECORD_LOST_OTHER]++;
        return;
    }
    bool needs_root = sample.frame_count > 0 && !sample.is_fiber && !sample.is_leaf;
    if (sample.is_complete && needs_root && !ends_at_root(&sample)) {
        sample.is_complete = false;
        sample.cut = RECORD_CUT_ROOT;
    }
    if (sample.is_complete && !sample.is_leaf)
        find_gap(writer, &sample);
    if (sample.is_complete)
        note_thread_root(&sample);
    count(writer, &sample);
    bool plain = is_plain(&sample);
    if (!plain)
        collect_frames(&sample, writer->list);
    struct perfdata_sample record = {
        .pid = (uint32_t)sample.process->pid,
        .tid = (uint32_t)sample.tid,
        .time_ns = sample.time_ns,
        .event = sample.event,
        .weight = sample.weight,
        .object_avma = sample.object.avma,
        .number = sample.object.number,
        .frames = plain ? sample.frames : writer->list->frames,
        .frame_count = plain ? sample.frame_count : writer->list->count,
        .kernel_frames = sample.kernel_frames,
        .kernel_count = sample.kernel_count,
        .copy = sample.frame_count ? sample.copy : NULL,
    };
    write_and_account(writer, sample.process, sample.map, &record);
}

/* Time before the first and after the last sample; longer ends are not expected and stay
 * uncounted. */
static void count_end(struct sample_writer *writer, uint64_t weight_ns, uint64_t periods_ns)
{
    if (weight_ns < END_MAX_NS + periods_ns && !writer->round->is_quiet)
        writer->summary->cpu_ends_ns += weight_ns;
}

void sample_write_synthetic(struct sample_writer *writer, struct process *process, pid_t tid,
                            enum synthetic kind, uint64_t weight_ns, uint64_t time_ns)
{
    if (weight_ns == 0)
        return;
    /* A stack of the mark alone: readers show a function of this name below the process. */
    uint64_t frame = synthetic_avma(kind);
    struct perfdata_sample record = {
        .pid = (uint32_t)process->pid,
        .tid = (uint32_t)tid,
        .time_ns = time_ns,
        .weight = weight_ns,
        .frames = &frame,
        .frame_count = 1,
    };
    write_and_account(writer, process, process->map, &record);
    if (kind == SYNTHETIC_EXEC || kind == SYNTHETIC_BETWEEN || kind == SYNTHETIC_EXIT)
        count_end(writer, weight_ns, process_periods_ns(process, writer->period_ns));
}

void sample_write_thread_end(struct sample_writer *writer, struct process *process, pid_t tid,
                             uint64_t start_avma, uint64_t weight_ns, uint64_t time_ns)
{
    /* Callers are looked up one byte before their address. */
    uint64_t frames[2 + THREAD_ROOT_FRAMES] = {synthetic_avma(SYNTHETIC_BETWEEN), start_avma + 1};
    memcpy(frames + 2, process->thread_root_avmas, sizeof(process->thread_root_avmas));
    struct perfdata_sample record = {
        .pid = (uint32_t)process->pid,
        .tid = (uint32_t)tid,
        .time_ns = time_ns,
        .weight = weight_ns,
        .frames = frames,
        .frame_count = process->thread_root_avmas[0] ? 2 + THREAD_ROOT_FRAMES : 2,
    };
    write_and_account(writer, process, process->map, &record);
    count_end(writer, weight_ns, writer->period_ns);
}

static enum record_cut cut_of(uint32_t end)
{
    switch (end) {
    case WALK_UNKNOWN:
        return RECORD_CUT_UNMAPPED;
    case WALK_FOREIGN:
        return RECORD_CUT_FOREIGN;
    case WALK_TOO_LONG:
        return RECORD_CUT_DEEP;
    default:
        return RECORD_CUT_NO_CFI;
    }
}

void sample_write_record(struct sample_writer *writer, const struct raw_sample *raw,
                         struct process_map *map)
{
    struct record_header header;
    struct record_stack stack;
    if (raw->bytes < sizeof(header) + sizeof(stack)) {
        writer->summary->lost[RECORD_LOST_OTHER]++;
        return;
    }
    memcpy(&header, raw->record, sizeof(header));
    memcpy(&stack, raw->record + sizeof(header), sizeof(stack));
    bool is_check = header.kind == RECORD_CHECK;
    size_t fixed = sizeof(header) + sizeof(stack) + (is_check ? sizeof(struct record_copy) : 0);
    if (stack.frame_count == 0 || stack.frame_count > RECORD_FRAMES_MAX ||
        raw->bytes < fixed + 8 * (size_t)stack.frame_count) {
        writer->summary->lost[RECORD_LOST_OTHER]++;
        return;
    }
    const uint64_t *frames = (const uint64_t *)(const void *)(raw->record + fixed);
    if (!record_are_user_frames(frames, stack.frame_count)) {
        writer->summary->lost[RECORD_LOST_OTHER]++;
        return;
    }
    struct walked_sample sample = {
        .process = raw->process,
        .map = map,
        .tid = raw->tid,
        .time_ns = raw->time_ns,
        .event = header.event,
        .weight = header.weight_ns,
        .object = raw->object,
        .frames = frames,
        .frame_count = stack.frame_count,
        .dropped = stack.dropped,
        .flags = header.flags,
        .is_complete = stack.end == WALK_ROOT || stack.end == WALK_FIBER,
        .is_fiber = stack.end == WALK_FIBER,
        .cut = cut_of(stack.end),
    };
    sample_write(writer, &sample);
}
