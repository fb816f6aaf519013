/* SPDX-License-Identifier: MIT */
/*
 * The call of a record, found once for all samples of the record:
 *
 *     callchain_cache_find()     equal bytes and mappings had this call before
 *     callchain_build()          else by the recorded parts of the stack
 *     deferred_add()             the user part comes later, in a DEFERRED record
 *
 * Samples outside of the selection may still be needed: off_cpu derives waits from neighbours.
 */
#include "convert/load/samples.h"

#include "profile/wait_objects.h"

#include <errno.h>
#include <linux/perf_event.h>

static int add(void *context, const struct profile_sample *sample)
{
    struct samples *samples = context;
    bool is_off_cpu = samples->profile->events[sample->event].is_off_cpu;
    if (is_off_cpu && off_cpu_note_wait(&samples->off_cpu, sample) != 0)
        return -ENOMEM;
    return profile_add_sample(samples->profile, sample);
}

/* By the thread's name at the sample: filters run during loading, in the order of time. */
static bool has_thread(const struct samples *samples, uint32_t index)
{
    const struct profile_thread *thread = &samples->profile->threads[index];
    const struct profile_process *process = &samples->profile->processes[thread->process];
    return filter_accepts_task(samples->filter, (uint32_t)process->pid, (uint32_t)thread->tid) &&
           filter_accepts_comm(samples->filter, profile_text(samples->profile, thread->name));
}

static int add_off_cpu(void *context, const struct profile_sample *sample)
{
    struct samples *samples = context;
    struct profile *profile = samples->profile;
    if (!filter_accepts_event(samples->filter, EVENTS_OFF_CPU) ||
        !has_thread(samples, sample->thread) ||
        !filter_accepts_time(samples->filter, sample->time_ns))
        return 0;
    if (samples->off_cpu_event == PROFILE_NONE)
        samples->off_cpu_event = profile_add_event(
            profile, &(struct profile_event){.name = profile_string(profile, EVENTS_OFF_CPU),
                                             .unit = PROFILE_NANOSECONDS,
                                             .is_off_cpu = true});
    struct profile_sample added = *sample;
    added.event = (uint16_t)samples->off_cpu_event;
    return profile->failed ? -ENOMEM : add(samples, &added);
}

int samples_init(struct samples *samples, struct tasks *tasks, struct modules *modules,
                 const struct address_map *kernel, struct perfdata_reader *reader,
                 const struct filter *filter)
{
    *samples = (struct samples){.profile = tasks->profile,
                                .tasks = tasks,
                                .filter = filter,
                                .is_whole = filter_is_empty(filter),
                                .off_cpu_event = PROFILE_NONE};
    callchain_cache_init(&samples->callchain_cache);
    off_cpu_init(&samples->off_cpu, tasks, reader);
    samples->off_cpu.handle = add_off_cpu;
    samples->deferred.handle = add;
    samples->off_cpu.context = samples->deferred.context = samples;
    int err = events_init(&samples->events, tasks->profile, reader);
    if (err == 0)
        err = deferred_init(&samples->deferred);
    if (err == 0)
        err = thread_lives_init(&samples->lives, &samples->events);
    if (err == 0)
        err = cgroups_init(&samples->cgroups, tasks->profile);
    if (err == 0)
        err = group_reads_init(&samples->reads);
    if (err == 0)
        err = callchain_init(&samples->callchain, modules, kernel, perfdata_facts(reader));
    return err;
}

void samples_free(struct samples *samples)
{
    callchain_free(&samples->callchain);
    callchain_cache_free(&samples->callchain_cache);
    events_free(&samples->events);
    deferred_free(&samples->deferred);
    off_cpu_free(&samples->off_cpu);
    thread_lives_free(&samples->lives);
    cgroups_free(&samples->cgroups);
    group_reads_free(&samples->reads);
}

/* Builds the callchain from all recorded parts of the stack. */
static int gather(struct samples *samples, const struct perfdata_event *event, uint32_t process)
{
    samples->callchain.process = process;
    samples->callchain.time_ns = event->time_ns;
    return callchain_build(&samples->callchain, event, samples->event->attr,
                           &samples->tasks->processes[process].map);
}

/* Unselected events may still mark switches of threads and their stacks. */
static int take_stack(struct samples *samples, const struct perfdata_event *event,
                      const struct event *of, struct profile_sample *sample, bool is_wanted)
{
    uint32_t process = samples->profile->threads[sample->thread].process;
    struct address_map *map = &samples->tasks->processes[process].map;
    /* A sample in user mode proves the end of an exec. */
    if ((event->record.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER)
        address_map_forget_former(map);
    const struct callchain_context place = {process, map, samples->callchain.kernel};
    if (samples->has_call) {
        sample->call = samples->call;
    } else if (!callchain_cache_find(&samples->callchain_cache, samples->callchain_hash, &place,
                                     &sample->call)) {
        int err = gather(samples, event, process);
        if (err != 0)
            return err;
        if (samples->callchain.is_deferred && is_wanted)
            return deferred_add(&samples->deferred, &samples->callchain, event->tid, sample);
        sample->call = callchain_call(&samples->callchain);
        /* Only calls that depend on the callchain and the mappings alone. */
        if (!samples->callchain.is_deferred && !samples->callchain.depends_on_more)
            callchain_cache_add(&samples->callchain_cache, sample->call);
    }
    int err = samples->profile->failed ? -ENOMEM : 0;
    if (err == 0 && of == samples->event)
        err = off_cpu_sample(&samples->off_cpu, event, of->role, sample);
    samples->has_call = true;
    samples->call = sample->call;
    if (err == 0 && of->role == EVENT_PERF_OFF_CPU)
        err = off_cpu_convert(&samples->off_cpu, sample);
    return err == 0 && is_wanted ? add(samples, sample) : err;
}

static uint16_t cpu_of(const struct perfdata_event *event)
{
    return event->cpu < PROFILE_NO_CPU ? (uint16_t)event->cpu : PROFILE_NO_CPU;
}

/* The thread has the cgroup of its last sample. */
static void note_cgroup(struct samples *samples, uint32_t thread, uint64_t id)
{
    uint32_t path = cgroups_path(&samples->cgroups, id);
    if (path != PROFILE_NONE)
        samples->profile->threads[thread].cgroup = path;
}

/* The object of a wait recorded by rec. */
static int take_object(struct samples *samples, const struct perfdata_event *event,
                       const struct event *of, const struct profile_sample *sample)
{
    if (!(of->attr->sample_type & PERF_SAMPLE_ADDR) || (!event->data_avma && !event->weight))
        return 0;
    return profile_add_wait_object(samples->profile, sample, event->data_avma,
                                   (uint32_t)event->weight);
}

/* Beyond the weight of a stack. */
static int take_meaning(struct samples *samples, const struct perfdata_event *event,
                        const struct event *of, const struct profile_sample *sample)
{
    switch (of->role) {
    case EVENT_OFF_CPU:
    case EVENT_PERF_OFF_CPU:
        return take_object(samples, event, of, sample);
    case EVENT_THREAD_CREATE:
    case EVENT_THREAD_JOIN:
    case EVENT_THREAD_DETACH:
        return thread_lives_sample(&samples->lives, event, of->role, sample);
    default:
        return 0;
    }
}

/* The cheap tests first. A thread must be known before a filter by name, and an event enters the
 * profile with its first wanted sample. */
static int take(struct samples *samples, const struct perfdata_event *event, struct event *of)
{
    struct profile_sample sample = {
        .time_ns = event->time_ns, .stack = PROFILE_NONE, .cpu = cpu_of(event)};
    bool is_wanted = samples->is_whole || filter_accepts_sample(samples->filter, event);
    if (!is_wanted && !off_cpu_needs(&samples->off_cpu, of->role))
        return 0;
    sample.thread = tasks_thread(samples->tasks, event->pid, event->tid, event->time_ns);
    if (sample.thread == PROFILE_NONE)
        return -ENOMEM;
    if (is_wanted && !samples->is_whole)
        is_wanted = has_thread(samples, sample.thread) && event_is_wanted(of, samples->filter);
    if (!is_wanted && !off_cpu_needs(&samples->off_cpu, of->role))
        return 0;
    if (is_wanted) {
        uint32_t id = events_id(&samples->events, of);
        if (id == PROFILE_NONE)
            return -ENOMEM;
        sample.event = (uint16_t)id;
        sample.weight = event_weight(of, event);
        if (event->cgroup)
            note_cgroup(samples, sample.thread, event->cgroup);
    }
    int err = take_stack(samples, event, of, &sample, is_wanted);
    return err || !is_wanted ? err : take_meaning(samples, event, of, &sample);
}

/* A sample for each counter with an increase. */
static int take_counts(struct samples *samples, const struct perfdata_event *event)
{
    uint32_t tid = samples->event->attr->is_inherited ? event->tid : 0;
    int err = 0;
    for (size_t i = 0; i < event->count_count && err == 0; i++) {
        struct perfdata_event member = *event;
        struct event *of = events_at(&samples->events, event->counts[i].attr_index);
        err = group_reads_delta(&samples->reads, &event->counts[i], tid, &member.period);
        if (err == 0 && of && member.period)
            err = take(samples, &member, of);
    }
    return err;
}

/* Members of a group share the stack: has_call spares the second build. */
int samples_take(struct samples *samples, const struct perfdata_event *event)
{
    struct event *of = events_at(&samples->events, event->attr_index);
    if (!of)
        return 0;
    samples->event = of;
    samples->has_call = false;
    return event->count_count ? take_counts(samples, event) : take(samples, event, of);
}

int samples_deferred(struct samples *samples, const struct perfdata_event *event)
{
    uint32_t process = tasks_process(samples->tasks, event->pid, event->time_ns);
    if (process == PROFILE_NONE)
        return -ENOMEM;
    samples->callchain.process = process;
    samples->callchain.time_ns = event->time_ns;
    return deferred_resume(&samples->deferred, &samples->callchain, event,
                           &samples->tasks->processes[process].map);
}

/* Deferred callchains first: their samples may start off-CPU times. */
int samples_finish(struct samples *samples, uint64_t end_ns)
{
    int err = deferred_finish(&samples->deferred, &samples->callchain);
    if (err == 0)
        err = off_cpu_finish(&samples->off_cpu, end_ns);
    if (err == 0)
        err = profile_finish_samples(samples->profile);
    profile_sort_wait_objects(samples->profile);
    thread_lives_finish(&samples->lives);
    events_choose_main(&samples->events, samples->off_cpu_event);
    events_add_times(&samples->events, samples->filter);
    return err;
}
