/* SPDX-License-Identifier: MIT */
#include "convert/samples.h"

#include <errno.h>
#include <linux/perf_event.h>

static const char off_cpu[] = "off-cpu";

static int add(void *context, const struct profile_sample *sample)
{
    struct samples *samples = context;
    return profile_add_sample(samples->profile, sample);
}

static bool has_thread(const struct samples *samples, uint32_t index)
{
    const struct profile_thread *thread = &samples->profile->threads[index];
    const struct profile_process *process = &samples->profile->processes[thread->process];
    return cut_has_task(samples->cut, (uint32_t)process->pid, (uint32_t)thread->tid) &&
           cut_has_comm(samples->cut, profile_text(samples->profile, thread->name));
}

static int add_off_cpu(void *context, const struct profile_sample *sample)
{
    struct samples *samples = context;
    struct profile *profile = samples->profile;
    if (!cut_has_event(samples->cut, off_cpu) || !has_thread(samples, sample->thread) ||
        !cut_has_time(samples->cut, sample->time_ns))
        return 0;
    if (samples->off_cpu_event == PROFILE_NONE)
        samples->off_cpu_event = profile_add_event(
            profile, &(struct profile_event){.name = profile_string(profile, off_cpu),
                                             .unit = PROFILE_NANOSECONDS,
                                             .is_off_cpu = true});
    struct profile_sample added = *sample;
    added.event = (uint16_t)samples->off_cpu_event;
    return profile->failed ? -ENOMEM : add(samples, &added);
}

int samples_init(struct samples *samples, struct tasks *tasks, struct modules *modules,
                 const struct address_map *kernel, struct perfdata_reader *reader,
                 const struct cut *cut)
{
    *samples = (struct samples){.profile = tasks->profile,
                                .reader = reader,
                                .tasks = tasks,
                                .cut = cut,
                                .is_whole = cut_is_whole(cut),
                                .off_cpu_event = PROFILE_NONE};
    known_stacks_init(&samples->known);
    switches_init(&samples->switches, tasks, reader);
    samples->switches.handle = add_off_cpu;
    samples->deferred.handle = add;
    samples->switches.context = samples->deferred.context = samples;
    int err = events_init(&samples->events, tasks->profile, reader);
    if (err == 0)
        err = deferred_init(&samples->deferred);
    if (err == 0)
        err = cgroups_init(&samples->cgroups, tasks->profile);
    if (err == 0)
        err = counts_init(&samples->counts);
    if (err == 0)
        err = chain_init(&samples->chain, modules, kernel, perfdata_facts(reader));
    return err;
}

void samples_free(struct samples *samples)
{
    chain_free(&samples->chain);
    known_stacks_free(&samples->known);
    events_free(&samples->events);
    deferred_free(&samples->deferred);
    switches_free(&samples->switches);
    cgroups_free(&samples->cgroups);
    counts_free(&samples->counts);
}

static int gather(struct samples *samples, const struct perfdata_event *event, uint32_t process)
{
    const struct perfdata_attr *attr = perfdata_attr(samples->reader, samples->attr_index);
    samples->chain.process = process;
    samples->chain.time_ns = event->time_ns;
    return chain_gather(&samples->chain, event, attr, &samples->tasks->processes[process].map);
}

/* An event that is not wanted may still tell when threads stop and run, and where. */
static int take_stack(struct samples *samples, const struct perfdata_event *event,
                      struct profile_sample *sample, bool is_wanted)
{
    uint32_t process = samples->profile->threads[sample->thread].process;
    struct address_map *map = &samples->tasks->processes[process].map;
    if ((event->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER)
        address_map_forget_former(map);
    const struct known_place place = {process, map, samples->chain.kernel};
    if (samples->has_call) {
        sample->call = samples->call;
    } else if (!known_stacks_find(&samples->known, event->callchain_hash, &place, &sample->call)) {
        int err = gather(samples, event, process);
        if (err != 0)
            return err;
        if (samples->chain.is_deferred && is_wanted)
            return deferred_add(&samples->deferred, &samples->chain, event->tid, sample);
        sample->call = chain_call(&samples->chain);
        if (!samples->chain.is_deferred && !samples->chain.depends_on_more)
            known_stacks_add(&samples->known, sample->call);
    }
    int err = samples->profile->failed ? -ENOMEM : 0;
    if (err == 0 && event->attr_index == samples->attr_index)
        err = switches_sample(&samples->switches, event, sample);
    samples->has_call = true;
    samples->call = sample->call;
    return err == 0 && is_wanted ? add(samples, sample) : err;
}

static uint16_t cpu_of(const struct perfdata_event *event)
{
    return event->cpu < PROFILE_NO_CPU ? (uint16_t)event->cpu : PROFILE_NO_CPU;
}

static void note_cgroup(struct samples *samples, uint32_t thread, uint64_t id)
{
    uint32_t path = id ? cgroups_path(&samples->cgroups, id) : PROFILE_NONE;
    if (path != PROFILE_NONE)
        samples->profile->threads[thread].cgroup = path;
}

static bool is_wanted_here(const struct samples *samples, const struct perfdata_event *event)
{
    return samples->is_whole || cut_has_sample(samples->cut, event);
}

static bool is_wanted_of(const struct samples *samples, uint32_t thread,
                         const struct perfdata_attr *attr)
{
    return samples->is_whole || (has_thread(samples, thread) &&
                                 cut_has_event(samples->cut, attr->name ? attr->name : ""));
}

static int take(struct samples *samples, const struct perfdata_event *event)
{
    if (event->attr_index >= samples->events.attr_count)
        return 0;
    const struct perfdata_attr *attr = perfdata_attr(samples->reader, event->attr_index);
    struct profile_sample sample = {
        .time_ns = event->time_ns, .stack = PROFILE_NONE, .cpu = cpu_of(event)};
    bool is_wanted = is_wanted_here(samples, event);
    if (!is_wanted && !switches_needs(&samples->switches, attr))
        return 0;
    sample.thread = tasks_thread(samples->tasks, event->pid, event->tid, event->time_ns);
    if (sample.thread == PROFILE_NONE)
        return -ENOMEM;
    is_wanted = is_wanted && is_wanted_of(samples, sample.thread, attr);
    if (!is_wanted && !switches_needs(&samples->switches, attr))
        return 0;
    if (is_wanted) {
        uint32_t of_event = events_of(&samples->events, event->attr_index);
        if (of_event == PROFILE_NONE)
            return -ENOMEM;
        sample.event = (uint16_t)of_event;
        sample.weight = events_weight(&samples->events, event);
        note_cgroup(samples, sample.thread, event->cgroup);
    }
    return take_stack(samples, event, &sample, is_wanted);
}

/* One sample for each counter that moved. */
static int take_counts(struct samples *samples, const struct perfdata_event *event)
{
    const struct perfdata_attr *attr = perfdata_attr(samples->reader, event->attr_index);
    int err = 0;
    for (size_t i = 0; i < event->count_count && err == 0; i++) {
        struct perfdata_event member = *event;
        member.attr_index = event->counts[i].attr_index;
        err = counts_rise(&samples->counts, &event->counts[i], attr->is_inherited ? event->tid : 0,
                          &member.period);
        if (err == 0 && member.period)
            err = take(samples, &member);
    }
    return err;
}

int samples_take(struct samples *samples, const struct perfdata_event *event)
{
    if (event->attr_index >= samples->events.attr_count)
        return 0;
    samples->attr_index = event->attr_index;
    samples->has_call = false;
    return event->count_count ? take_counts(samples, event) : take(samples, event);
}

int samples_deferred(struct samples *samples, const struct perfdata_event *event)
{
    uint32_t process = tasks_process(samples->tasks, event->pid, event->time_ns);
    if (process == PROFILE_NONE)
        return -ENOMEM;
    samples->chain.process = process;
    samples->chain.time_ns = event->time_ns;
    return deferred_resume(&samples->deferred, &samples->chain, event,
                           &samples->tasks->processes[process].map);
}

int samples_switch(struct samples *samples, const struct perfdata_event *event)
{
    return switches_record(&samples->switches, event);
}

int samples_cgroup(struct samples *samples, const struct perfdata_event *event)
{
    return event->path ? cgroups_name(&samples->cgroups, event) : 0;
}

int samples_finish(struct samples *samples, uint64_t end_ns)
{
    int err = deferred_finish(&samples->deferred, &samples->chain);
    if (err == 0)
        err = switches_finish(&samples->switches, end_ns);
    if (err == 0)
        err = profile_finish_samples(samples->profile);
    events_choose_main(&samples->events, samples->off_cpu_event);
    return err;
}
