/* SPDX-License-Identifier: MIT */
#include "convert/load/load_times.h"

#include <sys/stat.h>

/* perf record stores the wall time only with -k. Otherwise: the file's last write was the end. */
static void set_wall_time(struct loader *loader)
{
    struct profile *profile = loader->profile;
    const struct perfdata_facts *facts = perfdata_facts(loader->capture->reader);
    uint64_t span_ns = profile->end_ns - profile->start_ns;
    struct stat st;
    if (facts->wall_ns) {
        profile->start_wall_ns = facts->wall_ns + (profile->start_ns - facts->clock_ns);
    } else if (fstat(loader->capture->fd, &st) == 0) {
        uint64_t end_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
        profile->start_wall_ns = end_ns > span_ns ? end_ns - span_ns : 0;
        profile->is_wall_time_of_file = true;
    }
}

/* The time of a wait is its start: the recording ends later, with a record of another kind or with
 * the end of a wait. */
static void extend_to_waits(struct loader *loader)
{
    struct profile *profile = loader->profile;
    uint64_t end_ns = loader->samples.off_cpu.end_ns;
    if (profile_metric_event(profile, PROFILE_OFF_CPU) == PROFILE_NONE)
        return;
    end_ns = end_ns > loader->last_ns ? end_ns : loader->last_ns;
    if (end_ns > profile->end_ns)
        profile->end_ns = end_ns;
}

/* The recording's own range, extended to all samples. */
void load_set_times(struct loader *loader)
{
    struct profile *profile = loader->profile;
    if (profile->end_ns == 0) {
        profile->start_ns = loader->first_ns;
        profile->end_ns = loader->last_ns;
    }
    for (size_t i = 0; i < profile->list_count; i++) {
        const struct sample_list *samples = &profile->lists[i].samples;
        if (samples->first_ns < profile->start_ns)
            profile->start_ns = samples->first_ns;
        if (samples->last_ns > profile->end_ns)
            profile->end_ns = samples->last_ns;
    }
    extend_to_waits(loader);
    profile->recorded_ns =
        profile->end_ns > profile->start_ns ? profile->end_ns - profile->start_ns : 0;
    set_wall_time(loader);
    for (size_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].start_ns == 0)
            profile->processes[i].start_ns = profile->start_ns;
    for (size_t i = 0; i < profile->thread_count; i++)
        if (profile->threads[i].start_ns == 0)
            profile->threads[i].start_ns = profile->start_ns;
}
