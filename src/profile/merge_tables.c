/* SPDX-License-Identifier: MIT */
#include "profile/merge_tables.h"

#include "base/containers/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Never of no bytes: NULL always means out of memory. */
static uint32_t *ids_of(size_t count)
{
    return calloc(count + 1, sizeof(uint32_t));
}

int merge_step_open(struct merge_step *step)
{
    const struct profile *from = step->from;
    step->strings = ids_of(intern_count(from->strings));
    step->libs = ids_of(from->lib_count);
    step->funcs = ids_of(from->func_count);
    step->symbols = ids_of(from->symbol_count);
    step->addresses = ids_of(from->address_count);
    step->calls = ids_of(from->call_count);
    step->events = ids_of(from->event_count);
    bool is_complete = step->strings && step->libs && step->funcs && step->symbols &&
                       step->addresses && step->calls && step->events;
    return is_complete ? 0 : -ENOMEM;
}

void merge_step_close(struct merge_step *step)
{
    free(step->strings);
    free(step->libs);
    free(step->funcs);
    free(step->symbols);
    free(step->addresses);
    free(step->calls);
    free(step->events);
}

uint32_t merge_string(const struct merge_step *step, uint32_t string)
{
    return string == PROFILE_NONE ? PROFILE_NONE : step->strings[string];
}

uint32_t merge_lib(const struct merge_step *step, uint32_t lib)
{
    return lib == PROFILE_NONE ? PROFILE_NONE : step->libs[lib];
}

/* Files are equal by path and build id. The knowledge of both profiles adds up: one may have been
 * resolved with debug info, the other without. */
static void merge_one_lib(struct merge_step *step, size_t index)
{
    struct profile *sum = step->merge->sum;
    const struct profile_lib *from = &step->from->libs[index];
    size_t known = sum->lib_count;
    uint32_t id = profile_lib_id(sum, profile_text(step->from, from->path), from->build_id,
                                 from->build_id_bytes);
    step->libs[index] = id;
    if (sum->failed)
        return;
    struct profile_lib *lib = &sum->libs[id];
    if (id == known) {
        struct profile_lib added = *from;
        added.path = lib->path;
        added.name = lib->name;
        *lib = added;
        return;
    }
    lib->has_functions |= from->has_functions;
    lib->has_files |= from->has_files;
    lib->has_lines |= from->has_lines;
    lib->has_inlines |= from->has_inlines;
}

static void merge_one_symbol(struct merge_step *step, size_t index)
{
    struct profile_symbol symbol = step->from->symbols[index];
    symbol.lib = merge_lib(step, symbol.lib);
    symbol.name = merge_string(step, symbol.name);
    symbol.since_ns = symbol.since_ns ? symbol.since_ns + step->shift_ns : 0;
    step->symbols[index] = profile_symbol_id(step->merge->sum, &symbol);
}

static void merge_one_func(struct merge_step *step, size_t index)
{
    struct profile_func func = step->from->funcs[index];
    func.name = merge_string(step, func.name);
    func.system_name = merge_string(step, func.system_name);
    func.lib = merge_lib(step, func.lib);
    func.file = merge_string(step, func.file);
    step->funcs[index] = profile_func_id(step->merge->sum, &func);
}

int merge_names(struct merge_step *step)
{
    const struct profile *from = step->from;
    struct profile *sum = step->merge->sum;
    for (uint32_t i = 0; i < intern_count(from->strings) && !sum->failed; i++)
        step->strings[i] = profile_string(sum, profile_text(from, i));
    for (size_t i = 0; i < from->lib_count && !sum->failed; i++)
        merge_one_lib(step, i);
    for (size_t i = 0; i < from->symbol_count && !sum->failed; i++)
        merge_one_symbol(step, i);
    for (size_t i = 0; i < from->func_count && !sum->failed; i++)
        merge_one_func(step, i);
    return sum->failed ? -ENOMEM : 0;
}

/* number: of earlier processes with this pid in the sum. */
static int take_number(struct profile_merge *merge, int32_t pid, uint32_t *number)
{
    uint32_t id = intern_add(merge->pids, &pid, sizeof(pid));
    if (id == INTERN_NONE ||
        (id == merge->pid_count &&
         !ARRAY_PUSH(merge->pid_counts, merge->pid_count, merge->pid_capacity)))
        return -ENOMEM;
    *number = merge->pid_counts[id]++;
    return 0;
}

static int add_process(struct merge_step *step, const struct profile_process *from)
{
    struct profile *sum = step->merge->sum;
    struct profile_process *process =
        ARRAY_PUSH(sum->processes, sum->process_count, sum->process_capacity);
    if (!process)
        return -ENOMEM;
    *process = *from;
    process->name = merge_string(step, from->name);
    process->jit_dump = merge_string(step, from->jit_dump);
    process->start_ns += step->shift_ns;
    process->end_ns = from->end_ns ? from->end_ns + step->shift_ns : 0;
    return take_number(step->merge, from->pid, &process->number);
}

static int add_thread(struct merge_step *step, const struct profile_thread *from)
{
    struct profile *sum = step->merge->sum;
    struct profile_thread *thread =
        ARRAY_PUSH(sum->threads, sum->thread_count, sum->thread_capacity);
    if (!thread)
        return -ENOMEM;
    *thread = *from;
    thread->process += step->first_process;
    thread->name = merge_string(step, from->name);
    thread->cgroup = merge_string(step, from->cgroup);
    thread->start_ns += step->shift_ns;
    thread->end_ns = from->end_ns ? from->end_ns + step->shift_ns : 0;
    thread->first_list = thread->recent_list = 0;
    return 0;
}

int merge_tasks(struct merge_step *step)
{
    const struct profile *from = step->from;
    struct profile *sum = step->merge->sum;
    int err = 0;
    step->first_process = (uint32_t)sum->process_count;
    step->first_thread = (uint32_t)sum->thread_count;
    for (size_t i = 0; i < from->process_count && err == 0; i++)
        err = add_process(step, &from->processes[i]);
    for (size_t i = 0; i < from->thread_count && err == 0; i++)
        err = add_thread(step, &from->threads[i]);
    return err;
}

/* `from` has the string ids of the sum. CPU time of two clocks in one profile is the same time:
 * only one clock is added to the main event. */
static bool is_same_event(const struct merge_step *step, const struct profile_event *from,
                          bool is_main, uint32_t index)
{
    const struct profile *sum = step->merge->sum;
    const struct profile_event *event = &sum->events[index];
    struct profile_event main_event = profile_main_event(step->from);
    if (index == sum->main_event && profile_is_cpu_time(event) && profile_is_cpu_time(&main_event))
        return is_main;
    return event->name == from->name && event->unit == from->unit &&
           event->is_off_cpu == from->is_off_cpu && event->is_wall == from->is_wall;
}

/* Two events of one profile stay two, even if both fit the same event of the sum. */
static bool is_taken(const struct merge_step *step, uint32_t index, uint32_t event)
{
    for (uint32_t i = 0; i < index; i++)
        if (step->events[i] == event)
            return true;
    return false;
}

/* known: number of events of the earlier profiles. Different periods have no common nominal
 * weight. */
static uint32_t event_id(struct merge_step *step, uint32_t index, uint32_t known)
{
    struct profile *sum = step->merge->sum;
    struct profile_event event = step->from->events[index];
    event.name = merge_string(step, event.name);
    bool is_main = index == step->from->main_event;
    for (uint32_t i = 0; i < known; i++) {
        if (!is_same_event(step, &event, is_main, i) || is_taken(step, index, i))
            continue;
        if (sum->events[i].period != event.period)
            sum->events[i].period = 0;
        return i;
    }
    return sum->event_count < UINT16_MAX ? profile_add_event(sum, &event) : PROFILE_NONE;
}

int merge_events(struct merge_step *step)
{
    const struct profile *from = step->from;
    struct profile *sum = step->merge->sum;
    uint32_t known = (uint32_t)sum->event_count;
    for (uint32_t i = 0; i < from->event_count; i++) {
        step->events[i] = event_id(step, i, known);
        if (step->events[i] == PROFILE_NONE)
            return -ENOMEM;
        if (known == 0 && i == from->main_event)
            sum->main_event = step->events[i];
    }
    return 0;
}

/* Requested rates and percentiles do not add up. */
static bool is_counter(const char *key, const char *value)
{
    static const char *const others[] = {"frequency_", "handler_", "tables_ready_ns", "delay_ns"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strncmp(key, others[i], strlen(others[i])) == 0)
            return false;
    return value[0] && strlen(value) < 19 && strspn(value, "0123456789") == strlen(value);
}

static struct profile_note *find_note(struct profile *profile, const char *key)
{
    const uint32_t string = profile_string(profile, key);
    for (size_t i = 0; i < profile->note_count; i++)
        if (profile->notes[i].key == string)
            return &profile->notes[i];
    return NULL;
}

/* Below 19 digits neither number nor sum overflows 64 bits. Any other text becomes a further note
 * of the same key. */
static void merge_note(struct profile *sum, const char *key, const char *value)
{
    struct profile_note *note = find_note(sum, key);
    if (!note || !is_counter(key, value) || !is_counter(key, profile_text(sum, note->value))) {
        profile_add_note(sum, key, value);
        return;
    }
    char text[24];
    snprintf(text, sizeof(text), "%llu",
             strtoull(profile_text(sum, note->value), NULL, 10) + strtoull(value, NULL, 10));
    note->value = profile_string(sum, text);
}

void merge_notes(struct merge_step *step)
{
    const struct profile *from = step->from;
    for (size_t i = 0; i < from->note_count; i++)
        merge_note(step->merge->sum, profile_text(from, from->notes[i].key),
                   profile_text(from, from->notes[i].value));
}
