/* SPDX-License-Identifier: MIT */
/*
 * From SAMPLE records to the profile's samples: selection, weight, thread, and stack. Some stacks
 * are completed later.
 *
 *     SAMPLE ─▶ reads ─▶ filter ─▶ callchain ─┬──────────────────────────▶ profile
 *                                             ├─▶ deferred ── DEFERRED ──▶
 *     SWITCH ─────────────────────────────────┴─▶ off_cpu ───────────────▶
 */
#pragma once

#include "convert/filter.h"
#include "convert/load/cgroups.h"
#include "convert/load/events/events.h"
#include "convert/load/group_read.h"
#include "convert/load/off_cpu.h"
#include "convert/load/thread_lives.h"
#include "convert/stack/callchain_cache.h"
#include "convert/stack/deferred.h"

struct samples {
    struct profile *profile;
    struct tasks *tasks;
    const struct filter *filter; /* settled */
    bool is_whole;               /* all samples pass */
    struct callchain callchain;  /* of the sample at hand */
    struct callchain_cache callchain_cache;
    struct events events;
    struct deferred deferred;
    struct off_cpu off_cpu;
    struct thread_lives lives;
    struct cgroups cgroups;
    struct group_reads reads;
    /* Of the current record, for all of its samples. */
    uint64_t callchain_hash; /* set by the caller; 0: none */
    const struct event *event;
    bool has_call;
    uint32_t call;
    uint32_t off_cpu_event; /* PROFILE_NONE: nothing was off yet */
};

/* All are borrowed. 0 or -ENOMEM. */
int samples_init(struct samples *samples, struct tasks *tasks, struct modules *modules,
                 const struct address_map *kernel, struct perfdata_reader *reader,
                 const struct filter *filter);
void samples_free(struct samples *samples);

/* SAMPLE and DEFERRED, in the order of time; SWITCH and CGROUP go to off_cpu and cgroups. 0 or
 * -ENOMEM. */
int samples_take(struct samples *samples, const struct perfdata_event *event);
int samples_deferred(struct samples *samples, const struct perfdata_event *event);

/* At the end of the recording: completes pending samples, sorts, chooses the main event. 0 or
 * -ENOMEM. */
int samples_finish(struct samples *samples, uint64_t end_ns);
