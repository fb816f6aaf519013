/* SPDX-License-Identifier: MIT */
#include "cli/report/info/info.h"

#include "profile/metric.h"
#include "profile/synthetic.h"
#include "profile/waits.h"
#include "profile/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void count(struct info_share *share, const struct profile_sample *sample, bool was_taken)
{
    share->samples += was_taken ? sample->count : 0;
    share->weight += sample->weight;
}

static void count_sample(struct info *info, const struct profile_sample *sample)
{
    const struct profile *profile = info->profile;
    bool was_taken = sample_is_measured(profile, sample);
    count(&info->threads[sample->thread], sample, was_taken);
    count(&info->processes[profile->threads[sample->thread].process], sample, was_taken);
    if (sample->call == PROFILE_NONE)
        return;
    uint32_t lib = profile->addresses[profile->calls[sample->call].address].lib;
    if (lib != PROFILE_NONE)
        count(&info->libs[lib], sample, was_taken);
}

int info_build(struct info *info, const struct profile *profile)
{
    *info = (struct info){.profile = profile};
    info->processes = calloc(profile->process_count + 1, sizeof(*info->processes));
    info->threads = calloc(profile->thread_count + 1, sizeof(*info->threads));
    info->libs = calloc(profile->lib_count + 1, sizeof(*info->libs));
    info->event_samples = calloc(profile->event_count + 1, sizeof(*info->event_samples));
    if (!info->processes || !info->threads || !info->libs || !info->event_samples) {
        info_free(info);
        return -ENOMEM;
    }
    struct profile_walk walk = profile_walk_all(profile);
    for (const struct profile_sample *sample; (sample = profile_walk_next(&walk));) {
        info->event_samples[sample->event] +=
            sample_is_measured(profile, sample) ? sample->count : 0;
        if (profile_is_main(profile, sample))
            count_sample(info, sample);
    }
    return 0;
}

struct info_times info_times(const struct profile *profile, uint32_t index)
{
    const struct profile_thread *thread = &profile->threads[index];
    const struct profile_list *cpu =
        profile_list_of(profile, index, profile_metric_event(profile, PROFILE_CPU));
    struct profile_walk walk =
        profile_walk_of(profile, index, profile_metric_event(profile, PROFILE_OFF_CPU));
    uint64_t end_ns = thread->end_ns ? thread->end_ns : profile->end_ns;
    struct info_times times = {.cpu_ns = cpu ? cpu->samples.weight : 0,
                               .lifetime_ns =
                                   end_ns > thread->start_ns ? end_ns - thread->start_ns : 0};
    for (const struct profile_sample *sample; (sample = profile_walk_next(&walk));) {
        bool is_runnable = wait_reason_of_call(profile, sample->call).kind == PROFILE_RUNNABLE;
        *(is_runnable ? &times.runnable_ns : &times.waiting_ns) += sample->weight;
    }
    uint64_t off_ns = times.waiting_ns + times.runnable_ns;
    if (thread->lifetime_ns == 0)
        return times;
    times.lifetime_ns = thread->lifetime_ns;
    times.cpu_ns = thread->lifetime_ns > off_ns ? thread->lifetime_ns - off_ns : 0;
    return times;
}

void info_free(struct info *info)
{
    free(info->processes);
    free(info->threads);
    free(info->libs);
    free(info->event_samples);
    *info = (struct info){0};
}

struct info_build_id info_build_id(const struct profile_lib *lib)
{
    struct info_build_id id = {{0}};
    for (size_t i = 0; i < lib->build_id_bytes && i < sizeof(lib->build_id); i++)
        snprintf(id.text + 2 * i, 3, "%02x", lib->build_id[i]);
    return id;
}
