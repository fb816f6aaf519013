/* SPDX-License-Identifier: MIT */
/*
 * pprof's profile.proto.
 *
 *     Sample   ── location ids, leaf first; values: of the main event, then of each event, then
 *                 wall time, if off-CPU time was recorded; labels pid, tid, comm, thread; cpu and
 *                 cgroup where recorded; reason and object of off-CPU time
 *     Location, Function, Line: see pprof_locations.h
 *     Mapping  ── a lib of the model: see pprof_mappings.h
 *
 * Samples with equal stack, thread, CPU and object are added up: pprof has no time line.
 */
#include "export/export.h"

#include "export/common.h"
#include "export/pprof/pprof_fields.h"
#include "export/pprof/pprof_locations.h"
#include "export/pprof/pprof_mappings.h"
#include "export/pprof/pprof_tallies.h"
#include "export/pprof/protobuf.h"
#include "profile/metric.h"
#include "profile/wait_objects.h"
#include "profile/waits.h"
#include "profile/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct thread_labels { /* bytes of pprof.labels; size 0: not made yet */
    size_t first, size;
};

struct pprof {
    const struct profile *profile;
    const struct export_diff *diff; /* NULL: none */
    uint64_t counts_left[2];        /* of diff: samples below one for each run, by side */
    struct buffer *out;
    struct text_table texts; /* id 0 is "", as the format demands */
    struct pprof_tallies tallies;
    uint64_t *values; /* of the sample being written: see pprof_tallies_values() */
    size_t value_count;
    uint32_t cpu, off_cpu;               /* events; PROFILE_NONE: none */
    bool adds_wall;                      /* the last value is their sum */
    struct thread_labels *thread_labels; /* of each thread */
    struct buffer labels;
    struct pprof_mappings mappings;
    struct pprof_locations locations;
    struct buffer message, nested, list; /* scratch, by depth */
};

static uint32_t text(struct pprof *pprof, const char *text)
{
    return text_table_add(&pprof->texts, text);
}

static uint32_t model_text(struct pprof *pprof, uint32_t string)
{
    return text(pprof, profile_text(pprof->profile, string));
}

static void write_value_type(struct pprof *pprof, uint32_t field, const char *type,
                             const char *unit)
{
    buffer_clear(&pprof->message);
    pb_integer(&pprof->message, VALUE_TYPE_TYPE, text(pprof, type));
    pb_integer(&pprof->message, VALUE_TYPE_UNIT, text(pprof, unit));
    pb_message(pprof->out, field, &pprof->message);
}

/* The main clock is "cpu", as in Go's profiles; other events keep their names. */
static const char *event_type(const struct pprof *pprof, uint32_t index)
{
    const struct profile *profile = pprof->profile;
    if (index < profile->event_count && index != pprof->cpu)
        return profile_text(profile, profile->events[index].name);
    return profile_metric_name(PROFILE_CPU);
}

static void write_event_type(struct pprof *pprof, uint32_t field, uint32_t index)
{
    const struct profile *profile = pprof->profile;
    bool is_time =
        index >= profile->event_count || profile->events[index].unit == PROFILE_NANOSECONDS;
    write_value_type(pprof, field, event_type(pprof, index), is_time ? "nanoseconds" : "count");
}

static void write_header(struct pprof *pprof)
{
    const struct profile *profile = pprof->profile;
    uint32_t main_event = profile->main_event;
    write_value_type(pprof, PROFILE_SAMPLE_TYPE, "samples", "count");
    for (uint32_t i = 0; i + 1 + pprof->adds_wall < pprof->value_count; i++)
        write_event_type(pprof, PROFILE_SAMPLE_TYPE, i);
    if (pprof->adds_wall)
        write_value_type(pprof, PROFILE_SAMPLE_TYPE, profile_metric_name(PROFILE_WALL),
                         "nanoseconds");
    write_event_type(pprof, PROFILE_PERIOD_TYPE, main_event);
    pb_integer(pprof->out, PROFILE_PERIOD, export_period(profile, main_event));
    pb_integer(pprof->out, PROFILE_TIME_NANOS, profile->start_wall_ns);
    if (profile->end_ns > profile->start_ns)
        pb_integer(pprof->out, PROFILE_DURATION_NANOS, profile->end_ns - profile->start_ns);
    pb_integer(pprof->out, PROFILE_DEFAULT_SAMPLE_TYPE, text(pprof, event_type(pprof, main_event)));
}

/* The recording's summary. pprof shows comments with '#' for -comments only, other comments on
 * top of every view. */
static void write_comments(struct pprof *pprof)
{
    const struct profile *profile = pprof->profile;
    buffer_clear(&pprof->list);
    for (size_t i = 0; i < profile->note_count; i++) {
        buffer_clear(&pprof->nested);
        const char *key = profile_text(profile, profile->notes[i].key);
        buffer_printf(&pprof->nested, "%s%s=%s", strcmp(key, "damage") == 0 ? "" : "#", key,
                      profile_text(profile, profile->notes[i].value));
        buffer_u8(&pprof->nested, 0);
        if (!pprof->nested.failed)
            pb_varint(&pprof->list, text(pprof, (const char *)pprof->nested.bytes));
    }
    if (pprof->list.size)
        pb_message(pprof->out, PROFILE_COMMENT, &pprof->list);
}

static bool is_same(const struct profile_wait_object *a, const struct profile_wait_object *b)
{
    return a->thread == b->thread && a->call == b->call && a->address == b->address &&
           a->number == b->number;
}

/* Waits for a lock, a file and the like, out of the sums. */
static void tally_objects(struct pprof *pprof)
{
    const struct profile *profile = pprof->profile;
    uint32_t id = 0;
    for (size_t i = 0; i < profile->wait_object_count && pprof->off_cpu != PROFILE_NONE; i++) {
        const struct profile_wait_object *object = &profile->wait_objects[i];
        if (i == 0 || !is_same(object, object - 1))
            id = text(pprof, wait_object_text(profile, object).text);
        const struct profile_sample sample = {.weight = object->weight,
                                              .thread = object->thread,
                                              .call = object->call,
                                              .event = (uint16_t)pprof->off_cpu,
                                              .cpu = PROFILE_NO_CPU,
                                              .count = 1};
        if (id && pprof_tallies_move(&pprof->tallies, &sample, id) != 0)
            pprof->out->failed = true;
    }
}

static void tally_samples(struct pprof *pprof)
{
    const struct profile *profile = pprof->profile;
    struct profile_walk walk = profile_walk_all(profile);
    for (const struct profile_sample *sample; (sample = profile_walk_next(&walk));) {
        if (pprof_tallies_add(&pprof->tallies, sample) != 0) {
            pprof->out->failed = true;
            return;
        }
    }
    tally_objects(pprof);
}

static void add_label(struct pprof *pprof, struct buffer *out, const char *key, uint32_t field,
                      uint64_t value)
{
    buffer_clear(&pprof->nested);
    pb_integer(&pprof->nested, LABEL_KEY, text(pprof, key));
    pb_integer(&pprof->nested, field, value);
    pb_message(out, SAMPLE_LABEL, &pprof->nested);
}

/* As text, because a label of the number 0 is taken for none. */
static uint32_t cpu_text(struct pprof *pprof, uint32_t cpu)
{
    char number[16];
    snprintf(number, sizeof(number), "%u", cpu);
    return text(pprof, number);
}

/* Labels shared by all samples of the thread. */
static void make_thread_labels(struct pprof *pprof, const struct profile_thread *thread,
                               struct thread_labels *made)
{
    const struct profile_process *process = &pprof->profile->processes[thread->process];
    struct buffer *out = &pprof->labels;
    made->first = out->size;
    add_label(pprof, out, "pid", LABEL_NUM, (uint64_t)process->pid);
    add_label(pprof, out, "tid", LABEL_NUM, (uint64_t)thread->tid);
    add_label(pprof, out, "comm", LABEL_STR, model_text(pprof, process->name));
    add_label(pprof, out, "thread", LABEL_STR, model_text(pprof, thread->name));
    made->size = out->size - made->first;
}

static void add_labels(struct pprof *pprof, uint32_t index, uint32_t cpu)
{
    const struct profile_thread *thread = &pprof->profile->threads[index];
    struct thread_labels *labels = &pprof->thread_labels[index];
    if (labels->size == 0)
        make_thread_labels(pprof, thread, labels);
    if (!pprof->labels.failed)
        buffer_append(&pprof->message, pprof->labels.bytes + labels->first, labels->size);
    if (export_is_base(pprof->diff, index))
        add_label(pprof, &pprof->message, "pprof::base", LABEL_STR, text(pprof, "true"));
    if (cpu != PROFILE_NO_CPU)
        add_label(pprof, &pprof->message, "cpu", LABEL_STR, cpu_text(pprof, cpu));
    if (thread->cgroup != PROFILE_NONE)
        add_label(pprof, &pprof->message, "cgroup", LABEL_STR, model_text(pprof, thread->cgroup));
}

/* Of an event; 0: the event is PROFILE_NONE. */
static uint64_t value_of(const struct pprof *pprof, uint32_t event)
{
    return event == PROFILE_NONE ? 0 : pprof->values[1 + event];
}

static void add_reason(struct pprof *pprof, const struct pprof_stack *stack)
{
    struct profile_wait_reason reason = wait_reason_of_call(pprof->profile, stack->call);
    add_label(pprof, &pprof->message, "reason", LABEL_STR, text(pprof, reason.text));
    if (stack->object)
        add_label(pprof, &pprof->message, "object", LABEL_STR, stack->object);
}

static void write_sample(struct pprof *pprof, const struct pprof_stack *stack)
{
    const struct profile *profile = pprof->profile;
    uint32_t call = stack->call;
    buffer_clear(&pprof->message);
    buffer_clear(&pprof->list);
    for (; call != PROFILE_NONE; call = profile->calls[call].parent)
        pb_varint(&pprof->list, profile->calls[call].address + UINT64_C(1));
    pb_message(&pprof->message, SAMPLE_LOCATION_ID, &pprof->list);
    buffer_clear(&pprof->list);
    for (size_t i = 0; i < pprof->value_count; i++)
        pb_varint(&pprof->list, pprof->values[i]);
    pb_message(&pprof->message, SAMPLE_VALUE, &pprof->list);
    add_labels(pprof, stack->thread, stack->cpu);
    if (value_of(pprof, pprof->off_cpu))
        add_reason(pprof, stack);
    pb_message(pprof->out, PROFILE_SAMPLE, &pprof->message);
}

/* The base is negative and has a label, as with -diff_base of pprof. Weights are for each run
 * already, counts of samples are not. */
static void make_difference(struct pprof *pprof, uint32_t thread)
{
    bool is_base = export_is_base(pprof->diff, thread);
    uint32_t runs = is_base ? pprof->diff->base_runs : pprof->diff->new_runs;
    uint64_t *left = &pprof->counts_left[is_base];
    *left += pprof->values[0];
    pprof->values[0] = *left / runs;
    *left %= runs;
    for (size_t i = 0; is_base && i < pprof->value_count; i++)
        pprof->values[i] = -pprof->values[i];
}

static bool has_values(const struct pprof *pprof)
{
    for (size_t i = 0; i < pprof->value_count; i++)
        if (pprof->values[i])
            return true;
    return false;
}

static void write_samples(struct pprof *pprof)
{
    tally_samples(pprof);
    for (uint32_t i = 0; i < pprof->tallies.stack_count; i++) {
        memset(pprof->values, 0, pprof->value_count * sizeof(*pprof->values));
        pprof_tallies_values(&pprof->tallies, i, pprof->profile->main_event, pprof->values);
        const struct pprof_stack *stack = pprof_tallies_stack(&pprof->tallies, i);
        if (!has_values(pprof)) /* all of it has objects */
            continue;
        if (pprof->adds_wall)
            pprof->values[pprof->value_count - 1] =
                value_of(pprof, pprof->cpu) + value_of(pprof, pprof->off_cpu);
        if (pprof->diff)
            make_difference(pprof, stack->thread);
        write_sample(pprof, stack);
    }
}

static void write_strings(struct pprof *pprof)
{
    for (uint32_t i = 0; i < intern_count(pprof->texts.texts); i++) {
        size_t size;
        const void *bytes = intern_bytes(pprof->texts.texts, i, &size);
        pb_bytes(pprof->out, PROFILE_STRING_TABLE, bytes, size);
    }
}

static void write_profile(struct pprof *pprof)
{
    text(pprof, "");
    write_header(pprof);
    write_comments(pprof);
    pprof_mappings_write(&pprof->mappings, &pprof->texts, pprof->out);
    pprof_locations_write(&pprof->locations, &pprof->mappings);
    write_samples(pprof);
    write_strings(pprof);
}

static int pprof_write(const struct profile *profile, const struct export_options *options,
                       struct buffer *out, struct error *error)
{
    struct pprof pprof = {.profile = profile,
                          .out = out,
                          .diff = options ? options->diff : NULL,
                          .cpu = profile_metric_event(profile, PROFILE_CPU),
                          .off_cpu = profile_metric_event(profile, PROFILE_OFF_CPU)};
    pprof.adds_wall = pprof.off_cpu != PROFILE_NONE &&
                      profile_metric_event(profile, PROFILE_WALL) == PROFILE_NONE;
    pprof.value_count = 1 + (profile->event_count ? profile->event_count : 1) + pprof.adds_wall;
    const bool no_files = options && options->no_files;
    int err = text_table_open(&pprof.texts);
    if (err == 0)
        err = pprof_mappings_open(&pprof.mappings, profile, no_files);
    if (err == 0)
        err = pprof_locations_open(&pprof.locations, profile, &pprof.texts, out, no_files);
    if (err == 0)
        err = pprof_tallies_open(&pprof.tallies);
    pprof.values = calloc(pprof.value_count, sizeof(*pprof.values));
    pprof.thread_labels = calloc(profile->thread_count + 1, sizeof(*pprof.thread_labels));
    if (err == 0 && pprof.values && pprof.thread_labels)
        write_profile(&pprof);
    else
        err = -ENOMEM;
    if (pprof.texts.failed || pprof.labels.failed || out->failed)
        err = -ENOMEM;
    if (err != 0)
        error_set(error, err, "not enough memory to write the pprof profile");
    text_table_close(&pprof.texts);
    pprof_locations_close(&pprof.locations);
    pprof_tallies_close(&pprof.tallies);
    free(pprof.values);
    free(pprof.thread_labels);
    buffer_free(&pprof.labels);
    pprof_mappings_close(&pprof.mappings);
    buffer_free(&pprof.message);
    buffer_free(&pprof.nested);
    buffer_free(&pprof.list);
    return err;
}

static const char *const suffixes[] = {".pb.gz", ".pb", ".pprof", NULL};

const struct exporter export_pprof = {
    .name = "pprof",
    .description = "pprof profile, for go tool pprof, speedscope and profile stores",
    .suffixes = suffixes,
    .compressed_suffix = ".gz",
    .has_diff = true,
    .gzip_level = 1, /* a third of the time of 6 for 10 % more bytes */
    .write = pprof_write,
};
