/* SPDX-License-Identifier: MIT */
/*
 * From records to samples. Records are sorted first, so that a single state exists, the present:
 * threads, their names, and mappings. A sample belongs to the present state.
 */
#include "convert/convert.h"

#include "base/budget.h"
#include "base/prefetch.h"
#include "convert/files/symfs.h"
#include "convert/files/vdso.h"
#include "convert/jit/jit_base.h"
#include "convert/load/load_notes.h"
#include "convert/load/load_times.h"
#include "convert/load/metadata.h"
#include "convert/symbolize/early/early_names.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum {
    LARGE_BYTES = 1 << 10,
    INNERMOST_BYTES = 640, /* registers, and the innermost frames of a stack copy */
};

/* The first file mapped by a process after its exec is its program. The first process's program
 * becomes the profile's first lib, as expected by formats with a main program. */
static void note_program(struct loader *loader, uint32_t process, uint32_t module)
{
    struct task_process *task = &loader->tasks.processes[process];
    if (task->has_program || !modules_is_file(&loader->modules, module))
        return;
    task->has_program = true;
    modules_set_program(&loader->modules, module, loader->profile->processes[process].name);
    if (task->is_named_by_exec && loader->profile->lib_count == 0)
        (void)modules_lib(&loader->modules, module);
}

/* Saturates: bytes is any number from the file. */
static uint64_t end_of(const struct perfdata_event *mapping)
{
    uint64_t end;
    return __builtin_add_overflow(mapping->start_avma, mapping->bytes, &end) ? UINT64_MAX : end;
}

/* Data (perf record -d) in place of code: the code is gone. */
static int load_data_mapping(struct loader *loader, const struct perfdata_event *event)
{
    struct mapping hole = {
        .start_avma = event->start_avma, .end_avma = end_of(event), .module = ADDRESS_MAP_HOLE};
    uint32_t process =
        event->is_kernel ? PROFILE_NONE : tasks_process(&loader->tasks, event->pid, event->time_ns);
    if (process == PROFILE_NONE)
        return event->is_kernel ? 0 : -ENOMEM;
    return address_map_add(&loader->tasks.processes[process].map, &hole);
}

static int load_mapping(struct loader *loader, const struct perfdata_event *event)
{
    if (event->is_guest)
        return 0;
    if (event->protection && !(event->protection & PROT_EXEC))
        return load_data_mapping(loader, event);
    struct perfdata_event identified = *event;
    vdso_add_build_id(&identified, perfdata_facts(loader->capture->reader)->os_release);
    struct mapping mapping = {.start_avma = event->start_avma,
                              .end_avma = end_of(event),
                              .file_offset = event->file_offset,
                              .module = modules_id(&loader->modules, &identified)};
    if (mapping.module == PROFILE_NONE)
        return -ENOMEM;
    /* The recorded end is the end of the kernel's usual code; the code for its start lies
     * behind. Modules are mapped later, hence on top. */
    if (event->is_kernel && strncmp(event->path, "[kernel.kallsyms]", 17) == 0)
        mapping.end_avma = UINT64_MAX;
    if (event->is_kernel)
        return address_map_add(&loader->kernel, &mapping);
    uint32_t process = tasks_process(&loader->tasks, event->pid, event->time_ns);
    if (process == PROFILE_NONE)
        return -ENOMEM;
    note_program(loader, process, mapping.module);
    if (jits_note_file(&loader->jits, process, event->path) != 0)
        return -ENOMEM;
    return address_map_add(&loader->tasks.processes[process].map, &mapping);
}

/* Code loaded by the kernel at run time: bpf programs, trampolines. Replaces other code, and may
 * be unloaded. */
static int load_kernel_symbol(struct loader *loader, const struct perfdata_event *event)
{
    struct mapping code = {
        .start_avma = event->start_avma, .end_avma = end_of(event), .module = ADDRESS_MAP_HOLE};
    if (event->name[0] == '\0')
        return 0;
    if (!event->is_gone) {
        code.module = modules_function_id(&loader->modules, event);
        if (code.module == PROFILE_NONE)
            return -ENOMEM;
    }
    return address_map_add(&loader->kernel, &code);
}

/* The first exec in the recording names the profile. */
static int load_comm(struct loader *loader, const struct perfdata_event *event)
{
    if (event->is_exec && loader->profile->product == PROFILE_NONE) {
        loader->profile->product = profile_string(loader->profile, event->name);
        loader->profile->is_product_executed = true;
    }
    uint32_t thread = tasks_thread(&loader->tasks, event->pid, event->tid, event->time_ns);
    uint32_t before = thread == PROFILE_NONE ? PROFILE_NONE : loader->profile->threads[thread].name;
    int err = tasks_comm(&loader->tasks, event);
    if (err == 0 && event->is_exec)
        return thread_lives_exec(&loader->samples.lives, thread, event->time_ns);
    if (err != 0 || before == loader->profile->threads[thread].name)
        return err;
    return thread_lives_name(&loader->samples.lives, thread, event->time_ns);
}

static int load_fork(struct loader *loader, const struct perfdata_event *event)
{
    int err = tasks_fork(&loader->tasks, event);
    if (err == 0)
        thread_lives_fork(&loader->samples.lives,
                          tasks_thread(&loader->tasks, event->pid, event->tid, event->time_ns));
    return err;
}

/* Of the off-CPU event of rec: time between the start and the end of the thread, by the kernel. */
static int load_value(struct loader *loader, const struct perfdata_event *event)
{
    const struct event *of = events_at(&loader->samples.events, event->attr_index);
    if (!of || !event_role_is_off_cpu(of->role))
        return 0;
    uint32_t thread = tasks_find_thread(&loader->tasks, event->tid);
    if (thread != PROFILE_NONE)
        loader->profile->threads[thread].lifetime_ns += event->value;
    return 0;
}

/* The counter means nothing in times of another clock. */
static void take_counter(struct loader *loader, const struct perfdata_event *event)
{
    const struct perfdata_reader *reader = loader->capture->reader;
    for (size_t i = 0; i < perfdata_attr_count(reader); i++)
        if (perfdata_attr(reader, i)->has_own_clock)
            return;
    loader->jits.counter = (struct jit_counter){.shift = event->counter_shift,
                                                .multiplier = event->counter_multiplier,
                                                .zero_ns = event->counter_zero_ns};
}

/* first_ns and last_ns: of all records with a time, also of those that no profile shows. */
static int load_event(struct loader *loader, const struct perfdata_event *event)
{
    if (event->time_ns && loader->first_ns == 0)
        loader->first_ns = event->time_ns;
    if (event->time_ns > loader->last_ns)
        loader->last_ns = event->time_ns;
    switch (event->kind) {
    case PERFDATA_SAMPLE:
        return samples_take(&loader->samples, event);
    case PERFDATA_CGROUP:
        return cgroups_name(&loader->samples.cgroups, event);
    case PERFDATA_DEFERRED:
        return samples_deferred(&loader->samples, event);
    case PERFDATA_SWITCH:
        return off_cpu_record(&loader->samples.off_cpu, event);
    case PERFDATA_MAPPING:
        return load_mapping(loader, event);
    case PERFDATA_KSYMBOL:
        return load_kernel_symbol(loader, event);
    case PERFDATA_COMM:
        return load_comm(loader, event);
    case PERFDATA_FORK:
        return load_fork(loader, event);
    case PERFDATA_EXIT:
        return tasks_exit(&loader->tasks, event);
    case PERFDATA_READ:
        return load_value(loader, event);
    case PERFDATA_LOST:
        *(event->is_of_samples ? &loader->lost_samples : &loader->lost_records) += event->lost;
        return 0;
    case PERFDATA_COUNTER:
        take_counter(loader, event);
        return 0;
    case PERFDATA_UNKNOWN:
        loader->unknown++;
        return 0;
    default:
        return 0;
    }
}

/* Decoded only now: the state at the record's time is complete. Sums of waits, which perf adds at
 * the end, get the last time. */
static int load_record(void *context, const struct ordered_record *record)
{
    struct loader *loader = context;
    struct perfdata_event event;
    if (!perfdata_decode(loader->capture->reader, &record->record, &event))
        return 0;
    loader->samples.callchain_hash = record->callchain_hash;
    if (event.time_ns >= OFF_CPU_AT_THE_END)
        event.time_ns = loader->last_ns;
    return load_event(loader, &event);
}

/* A stack copy lies behind the registers; small records are left to the hardware prefetcher. */
static void prefetch_record(void *context, const struct ordered_record *record)
{
    const struct loader *loader = context;
    if (record->callchain_hash)
        callchain_cache_prefetch(&loader->samples.callchain_cache, record->callchain_hash);
    if (record->record.body_bytes >= LARGE_BYTES)
        prefetch_bytes(record->record.body, INNERMOST_BYTES);
}

/* Callchains are hashed while their bytes are in the processor's cache. */
static int load_records(struct loader *loader)
{
    struct perfdata_reader *reader = loader->capture->reader;
    const struct callchain_cache *cache = &loader->samples.callchain_cache;
    struct perfdata_record record;
    struct perfdata_stack stack;
    int err = 0, more;
    while (err == 0 && (more = perfdata_next_record(reader, &record)) > 0) {
        uint64_t hash = perfdata_find_stack(reader, &record, &stack)
                            ? callchain_cache_hash(cache, &stack, &record)
                            : 0;
        err = ordered_events_add(&loader->events, &record, hash);
        if (loader->early)
            early_names_send(loader->early, loader->profile, record.body_bytes);
    }
    if (err == 0 && more < 0)
        err = more;
    return err ? err : ordered_events_finish(&loader->events);
}

/* Perf maps and jitdumps must belong to the owner of the capture, see jit_file.h. */
static void init_jits(struct loader *loader, bool symbols_only)
{
    const struct perfdata_facts *facts = perfdata_facts(loader->capture->reader);
    struct stat st;
    loader->jits = (struct jits){.profile = loader->profile,
                                 .store = loader->capture->store,
                                 .owner = fstat(loader->capture->fd, &st) == 0 ? st.st_uid : 0,
                                 .symbols_only = symbols_only,
                                 .clock_ns = facts->clock_ns,
                                 .wall_ns = facts->wall_ns};
    loader->samples.callchain.jits = &loader->jits;
}

static int load(struct loader *loader, struct profile *profile, struct capture *capture,
                const struct convert_options *options)
{
    *loader = (struct loader){
        .profile = profile, .capture = capture, .early = options->early, .filter = options->filter};
    profile->adds_samples_up = options->adds_samples_up;
    profile->address_limit = (size_t)budget_amount(BUDGET_ADDRESSES);
    loader->events.handle = load_record;
    loader->events.prefetch = prefetch_record;
    loader->events.context = loader;
    metadata_load(profile, capture, &loader->inner_ids);
    int err = tasks_init(&loader->tasks, profile);
    if (err == 0)
        err = modules_init(&loader->modules, profile, capture->store, options);
    if (err == 0)
        err = samples_init(&loader->samples, &loader->tasks, &loader->modules, &loader->kernel,
                           capture->reader, &loader->filter);
    init_jits(loader, options->symbols_only);
    if (err == 0)
        err = load_records(loader);
    if (err == 0)
        err = samples_finish(&loader->samples, loader->last_ns);
    if (err == 0 && loader->early)
        early_names_send_rest(loader->early, profile);
    if (err == 0)
        err = inner_ids_apply(&loader->inner_ids, profile);
    if (err != 0)
        return err;
    /* Without a recorded exec (perf record -a, -p): the first process. */
    if (profile->product == PROFILE_NONE)
        profile->product =
            profile->process_count ? profile->processes[0].name : profile_string(profile, "");
    profile_end_calls(profile);
    jit_bases_set(profile);
    load_set_times(loader);
    load_add_notes(loader);
    profile->address_limit = 0;
    return profile->failed ? -ENOMEM : 0;
}

static void loader_free(struct loader *loader)
{
    tasks_free(&loader->tasks);
    modules_free(&loader->modules);
    jits_free(&loader->jits);
    address_map_free(&loader->kernel);
    ordered_events_free(&loader->events);
    samples_free(&loader->samples);
    inner_ids_free(&loader->inner_ids);
}

static int set_metric(struct profile *profile, enum profile_metric metric, const char *name,
                      struct error *error)
{
    int err = profile_set_metric(profile, metric);
    if (err == -ENOENT && metric == PROFILE_CPU)
        error_set(error, err, "%s has no CPU time; `rec info` lists the events", name);
    else if (err == -ENOENT)
        error_set(error, err, "%s has no off-CPU time: record with `rec --off-cpu -- COMMAND`",
                  name);
    else if (err != 0)
        error_set(error, err, "out of memory while loading %s", name);
    return err;
}

int convert_load_from(struct profile **out, struct capture *capture,
                      const struct convert_options *options, struct error *error)
{
    struct loader loader = {0};
    struct convert_options chosen = options ? *options : (struct convert_options){0};
    struct symfs_path usual = symfs_path(chosen.symfs, CONVERT_DEBUG_DIRECTORY);
    if (!chosen.debug_directory)
        chosen.debug_directory = usual.text;
    const char *name = capture->name;
    *out = NULL;
    int err = filter_prepare(&chosen.filter, capture->reader, name, error);
    if (err != 0)
        return err;
    struct profile *profile = profile_new();
    struct stat status;
    if (!profile || !chosen.early || capture->store || fstat(capture->fd, &status) != 0 ||
        !early_names_start(chosen.early, &chosen, (uint64_t)status.st_size))
        chosen.early = NULL;
    err = profile ? load(&loader, profile, capture, &chosen) : -ENOMEM;
    loader_free(&loader);
    perfdata_end_records(capture->reader);
    if (err != 0)
        error_set(error, err, err == -ENOMEM ? "out of memory while loading %s" : "cannot read %s",
                  name);
    else
        err = set_metric(profile, chosen.filter.metric, name, error);
    if (err != 0)
        profile_free(profile);
    else
        *out = profile;
    return err;
}

int convert_load(struct profile **out, const char *path, const struct convert_options *options,
                 struct error *error)
{
    struct capture capture;
    *out = NULL;
    int err = capture_open(&capture, path, path, error);
    if (err == 0)
        err = convert_load_from(out, &capture, options, error);
    capture_close(&capture);
    return err;
}
