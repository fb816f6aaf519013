/* SPDX-License-Identifier: MIT */
/*
 * One profile at a time. A table comes after the tables its elements refer to, so the ids of the
 * sum are known when an element is translated:
 *
 *     strings ─▶ libs ─▶ symbols, functions ─▶ addresses with frames ─▶ calls ─┐
 *                                              processes ─▶ threads ───────────┤
 *                                                           events ────────────┴▶ samples
 *
 * An address of two profiles is equal only if its frames are: generated code has the same address
 * in many processes, and files may be read with and without debug info. Equal addresses give equal
 * calls, and the stacks of all calls are linked once, at the end.
 */
#include "profile/merge.h"

#include "base/containers/array.h"
#include "base/containers/buffer.h"
#include "profile/merge_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct profile_merge *profile_merge_new(bool adds_samples_up)
{
    struct profile_merge *merge = calloc(1, sizeof(*merge));
    if (!merge)
        return NULL;
    merge->sum = profile_new();
    merge->addresses = intern_new();
    merge->pids = intern_new();
    if (!merge->sum || !merge->addresses || !merge->pids) {
        profile_merge_free(merge);
        return NULL;
    }
    merge->sum->adds_samples_up = adds_samples_up;
    return merge;
}

void profile_merge_free(struct profile_merge *merge)
{
    if (!merge)
        return;
    profile_free(merge->sum);
    intern_free(merge->addresses);
    intern_free(merge->pids);
    free(merge->pid_counts);
    free(merge);
}

const struct profile *profile_merge_sum(const struct profile_merge *merge)
{
    return merge->sum;
}

/* CLOCK_REALTIME minus the clock of the profile, modulo 2^64. Times from a file can be any number:
 * a wall time too large for a signed number counts as unknown. */
static uint64_t wall_shift(const struct profile *from)
{
    uint64_t end_wall_ns;
    bool is_usable =
        from->start_wall_ns && from->end_ns >= from->start_ns &&
        !__builtin_add_overflow(from->start_wall_ns, from->end_ns - from->start_ns, &end_wall_ns) &&
        end_wall_ns <= INT64_MAX;
    return is_usable ? from->start_wall_ns - from->start_ns : 0;
}

/* Copies the frames of a new address of the sum. Frames are never shared, see
 * profile_link_stacks(). */
static void add_frames(struct merge_step *step, uint32_t to, const struct profile_address *address)
{
    struct profile *sum = step->merge->sum;
    uint32_t first = PROFILE_NONE;
    for (uint32_t i = 0; i < address->frame_count; i++) {
        struct profile_frame frame = step->from->frames[address->first_frame + i];
        frame.func = step->funcs[frame.func];
        frame.lib = merge_lib(step, frame.lib);
        frame.file = merge_string(step, frame.file);
        frame.symbol = frame.symbol == PROFILE_NONE ? PROFILE_NONE : step->symbols[frame.symbol];
        uint32_t id = profile_add_frame(sum, &frame);
        first = i == 0 ? id : first;
    }
    if (sum->failed)
        return;
    sum->addresses[to].first_frame = first;
    sum->addresses[to].frame_count = address->frame_count;
    sum->addresses[to].is_nameless = address->is_nameless;
}

/* All that a reader can see of a frame, in ids of the sum: equal bytes for equal frames of any two
 * profiles. */
static void append_frame_key(const struct merge_step *step, const struct profile_frame *frame,
                             struct buffer *key)
{
    const uint32_t words[] = {step->funcs[frame->func],
                              merge_lib(step, frame->lib),
                              frame->symbol == PROFILE_NONE ? PROFILE_NONE
                                                            : step->symbols[frame->symbol],
                              merge_string(step, frame->file),
                              frame->line,
                              frame->column,
                              frame->inline_depth,
                              (uint32_t)frame->category};
    buffer_append(key, words, sizeof(words));
    buffer_append(key, &frame->svma, sizeof(frame->svma));
}

/* The id of an address of the sum. */
static uint32_t address_id(struct merge_step *step, const struct profile_address *address,
                           struct buffer *key)
{
    struct profile *sum = step->merge->sum;
    const uint64_t place[] = {merge_lib(step, address->lib), address->svma};
    buffer_clear(key);
    buffer_append(key, place, sizeof(place));
    for (uint32_t i = 0; i < address->frame_count; i++)
        append_frame_key(step, &step->from->frames[address->first_frame + i], key);
    uint32_t id = key->failed || sum->failed
                      ? INTERN_NONE
                      : intern_add(step->merge->addresses, key->bytes, key->size);
    if (id == INTERN_NONE) {
        sum->failed = true;
        return PROFILE_NONE;
    }
    if (id == sum->address_count) {
        (void)profile_add_address(sum, merge_lib(step, address->lib), address->svma);
        add_frames(step, id, address);
    }
    return id;
}

static int merge_addresses(struct merge_step *step)
{
    struct buffer key = {0};
    for (size_t i = 0; i < step->from->address_count && !step->merge->sum->failed; i++)
        step->addresses[i] = address_id(step, &step->from->addresses[i], &key);
    buffer_free(&key);
    return step->merge->sum->failed ? -ENOMEM : 0;
}

static int merge_calls(struct merge_step *step)
{
    struct profile *sum = step->merge->sum;
    for (size_t i = 0; i < step->from->call_count && !sum->failed; i++) {
        const struct profile_call *call = &step->from->calls[i];
        uint32_t parent = call->parent == PROFILE_NONE ? PROFILE_NONE : step->calls[call->parent];
        step->calls[i] = profile_call_id(sum, parent, step->addresses[call->address]);
    }
    if (step->from->has_callless && step->from->no_stack_call != PROFILE_NONE)
        sum->no_stack_call = step->calls[step->from->no_stack_call];
    return sum->failed ? -ENOMEM : 0;
}

/* The carry is the remainder of the samples before, in this list: the sum over the list is exact to
 * less than a unit of the event. */
static int merge_list(struct merge_step *step, const struct profile_list *list)
{
    struct profile *sum = step->merge->sum;
    uint64_t carry = 0;
    int err = 0;
    struct sample_reader reader = sample_list_read(
        &list->samples, step->first_thread + list->thread, (uint16_t)step->events[list->event]);
    while (err == 0 && sample_reader_next(&reader)) {
        struct profile_sample sample = reader.sample;
        sample.time_ns += step->shift_ns;
        sample.call = sample.call == PROFILE_NONE ? PROFILE_NONE : step->calls[sample.call];
        carry += sample.weight % step->divisor;
        sample.weight = sample.weight / step->divisor + carry / step->divisor;
        carry %= step->divisor;
        err = profile_add_sample(sum, &sample);
    }
    return err;
}

/* Processes and threads are appended: merge_tasks() has set the first thread. */
static int merge_lists(struct merge_step *step)
{
    int err = 0;
    for (size_t i = step->from->list_count; i-- > 0 && err == 0;)
        err = merge_list(step, &step->from->lists[i]);
    return err;
}

/* The sum spans all profiles, with the gaps between them; recorded_ns has no gaps. */
static void merge_times(struct merge_step *step)
{
    struct profile *sum = step->merge->sum;
    const struct profile *from = step->from;
    uint64_t start_ns = from->start_ns + step->shift_ns, end_ns = from->end_ns + step->shift_ns;
    bool is_first = step->merge->profile_count == 0;
    sum->start_ns = is_first || start_ns < sum->start_ns ? start_ns : sum->start_ns;
    sum->end_ns = is_first || end_ns > sum->end_ns ? end_ns : sum->end_ns;
    sum->start_wall_ns = sum->start_ns;
    sum->recorded_ns += from->recorded_ns;
    sum->is_wall_time_of_file |= from->is_wall_time_of_file;
}

static void take_host(struct merge_step *step)
{
    struct profile *sum = step->merge->sum;
    const struct profile *from = step->from;
    sum->product = merge_string(step, from->product);
    sum->is_product_executed = from->is_product_executed;
    sum->command_line = merge_string(step, from->command_line);
    sum->os = merge_string(step, from->os);
    sum->cpu = merge_string(step, from->cpu);
    sum->cpus_online = from->cpus_online;
}

int profile_merge_add(struct profile_merge *merge, const struct profile *from, uint32_t divisor)
{
    struct merge_step step = {
        .merge = merge, .from = from, .divisor = divisor, .shift_ns = wall_shift(from)};
    int err = merge_step_open(&step);
    if (err == 0)
        err = merge_names(&step);
    if (err == 0)
        err = merge_addresses(&step);
    if (err == 0)
        err = merge_calls(&step);
    if (err == 0)
        err = merge_tasks(&step);
    if (err == 0)
        err = merge_events(&step);
    if (err == 0)
        err = merge_lists(&step);
    if (err == 0 && merge->profile_count == 0)
        take_host(&step);
    if (err == 0) {
        merge_notes(&step);
        merge_times(&step);
        merge->profile_count++;
        err = merge->sum->failed ? -ENOMEM : 0;
    }
    merge_step_close(&step);
    return err;
}

struct profile *profile_merge_finish(struct profile_merge *merge)
{
    struct profile *sum = merge->sum;
    if (profile_finish_samples(sum) != 0)
        return NULL;
    profile_link_stacks(sum);
    profile_end_calls(sum);
    profile_end_names(sum);
    if (sum->failed)
        return NULL;
    merge->sum = NULL;
    return sum;
}
