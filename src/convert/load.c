/* SPDX-License-Identifier: MIT */
/*
 * From records to samples. Records are put in order first, so that there is one state, the present:
 * who runs, under which name, with what mapped where. A sample is taken as the present says.
 */
#include "convert/load.h"

#include "base/array.h"
#include "convert/capture.h"
#include "convert/events.h"
#include "convert/facts.h"
#include "convert/modules.h"
#include "convert/order.h"
#include "convert/tasks.h"
#include "perfdata/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct loader {
    struct profile *profile;
    struct capture *capture;
    struct tasks tasks;
    struct modules modules;
    struct address_map kernel;
    struct order order;
    struct events events;
    bool is_disordered; /* a sample came later than the marks allow */
    uint64_t lost;
    uint64_t first_ns, last_ns; /* of records with a time */
    uint32_t *chain;            /* addresses of the sample at hand, innermost first */
    size_t chain_count, chain_capacity;
};

/* Where to look for the code of a frame: an interrupted instruction lies at its address; a return
 * address may already belong to the next line or function, the call lies before it. */
static uint64_t lookup_avma(uint64_t ip, bool is_interrupted)
{
    return is_interrupted || ip == 0 ? ip : ip - 1;
}

static uint32_t kernel_address(struct loader *loader, uint64_t avma)
{
    const struct mapping *mapping = address_map_find(&loader->kernel, avma);
    if (mapping)
        return modules_address(&loader->modules, mapping, avma);
    const struct perfdata_event image = {.path = "[kernel.kallsyms]", .is_kernel = true};
    uint32_t module = modules_id(&loader->modules, &image);
    uint32_t lib = module == PROFILE_NONE ? module : modules_lib(&loader->modules, module);
    return lib == PROFILE_NONE ? lib : profile_address_id(loader->profile, lib, avma);
}

static uint32_t user_address(struct loader *loader, const struct address_map *map, uint64_t avma)
{
    const struct mapping *mapping = address_map_find(map, avma);
    return mapping ? modules_address(&loader->modules, mapping, avma)
                   : profile_address_id(loader->profile, PROFILE_NONE, avma);
}

static int push_address(struct loader *loader, const struct address_map *map, bool is_kernel,
                        uint64_t avma)
{
    uint32_t address = is_kernel ? kernel_address(loader, avma) : user_address(loader, map, avma);
    uint32_t *slot = address == PROFILE_NONE
                         ? NULL
                         : ARRAY_PUSH(loader->chain, loader->chain_count, loader->chain_capacity);
    if (!slot)
        return -ENOMEM;
    *slot = address;
    return 0;
}

/* Fills loader->chain. Markers tell which side the addresses after them are of; the first address
 * of each side is where it was interrupted, all others are return addresses. */
static int gather_chain(struct loader *loader, const struct perfdata_event *event,
                        const struct address_map *map)
{
    bool is_kernel = (event->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    bool is_interrupted = true;
    int err = 0;
    loader->chain_count = 0;
    for (size_t i = 0; i < event->callchain_count && err == 0; i++) {
        uint64_t ip = event->callchain[i];
        if (ip >= (uint64_t)PERF_CONTEXT_MAX) {
            is_kernel = ip == (uint64_t)PERF_CONTEXT_KERNEL;
            is_interrupted = true;
            continue;
        }
        err = push_address(loader, map, is_kernel, lookup_avma(ip, is_interrupted));
        is_interrupted = false;
    }
    if (err == 0 && loader->chain_count == 0 && event->ip)
        err = push_address(loader, map, is_kernel, event->ip);
    return err;
}

static uint32_t call_of_chain(struct loader *loader)
{
    uint32_t call = PROFILE_NONE;
    for (size_t i = loader->chain_count; i-- > 0;)
        call = profile_call_id(loader->profile, call, loader->chain[i]);
    return call;
}

static int add_sample(struct loader *loader, const struct profile_sample *sample)
{
    struct profile *profile = loader->profile;
    struct profile_sample *added =
        ARRAY_PUSH(profile->samples, profile->sample_count, profile->sample_capacity);
    if (!added)
        return -ENOMEM;
    *added = *sample;
    loader->is_disordered |= profile->sample_count > 1 && added[-1].time_ns > sample->time_ns;
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct profile_sample *left = a, *right = b;
    return (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
}

static uint16_t cpu_of(const struct perfdata_event *event)
{
    return event->cpu < PROFILE_NO_CPU ? (uint16_t)event->cpu : PROFILE_NO_CPU;
}

static int load_sample(struct loader *loader, const struct perfdata_event *event)
{
    if (event->attr_index >= loader->events.attr_count)
        return 0;
    uint32_t of_event = events_of(&loader->events, event->attr_index);
    uint32_t thread = tasks_thread(&loader->tasks, event->pid, event->tid, event->time_ns);
    if (thread == PROFILE_NONE || of_event == PROFILE_NONE)
        return -ENOMEM;
    uint32_t process = loader->profile->threads[thread].process;
    int err = gather_chain(loader, event, &loader->tasks.processes[process].map);
    if (err != 0)
        return err;
    struct profile_sample sample = {.time_ns = event->time_ns,
                                    .weight = events_weight(&loader->events, event),
                                    .thread = thread,
                                    .call = call_of_chain(loader),
                                    .stack = PROFILE_NONE,
                                    .event = (uint16_t)of_event,
                                    .cpu = cpu_of(event)};
    return loader->profile->failed ? -ENOMEM : add_sample(loader, &sample);
}

/* The first file that a process maps after its exec is its program. That of the first process
 * becomes the profile's first lib, which formats that know a main program expect. */
static void note_program(struct loader *loader, uint32_t process, uint32_t module)
{
    struct task_process *task = &loader->tasks.processes[process];
    if (task->has_program || !modules_is_file(&loader->modules, module))
        return;
    task->has_program = true;
    modules_set_program(&loader->modules, module);
    if (task->is_named_by_exec && loader->profile->lib_count == 0)
        (void)modules_lib(&loader->modules, module);
}

static int load_mapping(struct loader *loader, const struct perfdata_event *event)
{
    struct mapping mapping = {.start_avma = event->start_avma,
                              .file_offset = event->file_offset,
                              .module = modules_id(&loader->modules, event)};
    if (mapping.module == PROFILE_NONE)
        return -ENOMEM;
    if (__builtin_add_overflow(event->start_avma, event->bytes, &mapping.end_avma))
        mapping.end_avma = UINT64_MAX;
    if (event->is_kernel)
        return address_map_add(&loader->kernel, &mapping);
    uint32_t process = tasks_process(&loader->tasks, event->pid, event->time_ns);
    if (process == PROFILE_NONE)
        return -ENOMEM;
    note_program(loader, process, mapping.module);
    return address_map_add(&loader->tasks.processes[process].map, &mapping);
}

static int load_comm(struct loader *loader, const struct perfdata_event *event)
{
    if (event->is_exec && loader->profile->product == PROFILE_NONE)
        loader->profile->product = profile_string(loader->profile, event->name);
    return tasks_comm(&loader->tasks, event);
}

static int load_event(void *context, const struct perfdata_event *event)
{
    struct loader *loader = context;
    if (event->time_ns && loader->first_ns == 0)
        loader->first_ns = event->time_ns;
    if (event->time_ns > loader->last_ns)
        loader->last_ns = event->time_ns;
    switch (event->kind) {
    case PERFDATA_SAMPLE:
        return load_sample(loader, event);
    case PERFDATA_MAPPING:
        return load_mapping(loader, event);
    case PERFDATA_COMM:
        return load_comm(loader, event);
    case PERFDATA_FORK:
        return tasks_fork(&loader->tasks, event);
    case PERFDATA_EXIT:
        return tasks_exit(&loader->tasks, event);
    case PERFDATA_LOST:
        loader->lost += event->lost;
        return 0;
    default:
        return 0;
    }
}

static int load_records(struct loader *loader)
{
    struct perfdata_event event;
    int err = 0, more;
    while (err == 0 && (more = perfdata_next(loader->capture->reader, &event)) > 0) {
        bool is_executable = event.protection == 0 || (event.protection & PROT_EXEC);
        if (event.kind == PERFDATA_ROUND)
            err = order_round(&loader->order);
        else if (event.kind < PERFDATA_ROUND && (event.kind != PERFDATA_MAPPING || is_executable))
            err = order_add(&loader->order, &event);
    }
    if (err == 0 && more < 0)
        err = more;
    return err ? err : order_finish(&loader->order);
}

static void note_count(struct profile *profile, const char *key, uint64_t count)
{
    char text[24];
    if (count == 0)
        return;
    snprintf(text, sizeof(text), "%" PRIu64, count);
    profile_add_note(profile, key, text);
}

static void add_notes(struct loader *loader)
{
    struct profile *profile = loader->profile;
    const char *damage = perfdata_damage(loader->capture->reader);
    if (damage)
        profile_add_note(profile, "damage", damage);
    if (loader->capture->has_unusable_names)
        profile_add_note(profile, "stored_names", "damaged or of another version: not used");
    note_count(profile, "lost_records", loader->lost);
}

/* The recording's own span, widened where samples lie outside of it. */
static void set_times(struct loader *loader)
{
    struct profile *profile = loader->profile;
    const struct perfdata_facts *facts = perfdata_facts(loader->capture->reader);
    if (profile->end_ns == 0) {
        profile->start_ns = loader->first_ns;
        profile->end_ns = loader->last_ns;
    }
    if (profile->sample_count) {
        uint64_t first = profile->samples[0].time_ns;
        uint64_t last = profile->samples[profile->sample_count - 1].time_ns;
        profile->start_ns = first < profile->start_ns ? first : profile->start_ns;
        profile->end_ns = last > profile->end_ns ? last : profile->end_ns;
    }
    if (facts->wall_ns)
        profile->start_wall_ns = facts->wall_ns + (profile->start_ns - facts->clock_ns);
    for (size_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].start_ns == 0)
            profile->processes[i].start_ns = profile->start_ns;
    for (size_t i = 0; i < profile->thread_count; i++)
        if (profile->threads[i].start_ns == 0)
            profile->threads[i].start_ns = profile->start_ns;
}

static int load(struct loader *loader, struct profile *profile, struct capture *capture)
{
    *loader = (struct loader){.profile = profile, .capture = capture};
    loader->order.handle = load_event;
    loader->order.context = loader;
    facts_load(profile, capture);
    int err = tasks_init(&loader->tasks, profile);
    if (err == 0)
        err = events_init(&loader->events, profile, capture->reader);
    if (err == 0)
        err = modules_init(&loader->modules, profile, capture->names);
    if (err == 0)
        err = load_records(loader);
    if (err != 0)
        return err;
    if (profile->product == PROFILE_NONE)
        profile->product =
            profile->process_count ? profile->processes[0].name : profile_string(profile, "");
    events_choose_main(&loader->events);
    if (loader->is_disordered)
        qsort(profile->samples, profile->sample_count, sizeof(*profile->samples), by_time);
    set_times(loader);
    add_notes(loader);
    return profile->failed ? -ENOMEM : 0;
}

static void loader_free(struct loader *loader)
{
    tasks_free(&loader->tasks);
    events_free(&loader->events);
    modules_free(&loader->modules);
    address_map_free(&loader->kernel);
    order_free(&loader->order);
    free(loader->chain);
}

int convert_load(struct profile **out, const char *path, struct error *error)
{
    struct capture capture;
    *out = NULL;
    int err = capture_open(&capture, path, error);
    if (err != 0)
        return err;
    struct loader loader = {0};
    struct profile *profile = profile_new();
    err = profile ? load(&loader, profile, &capture) : -ENOMEM;
    loader_free(&loader);
    capture_close(&capture);
    if (err != 0) {
        profile_free(profile);
        return error_set(
            error, err, err == -ENOMEM ? "out of memory while loading %s" : "cannot read %s", path);
    }
    *out = profile;
    return 0;
}
