/* SPDX-License-Identifier: MIT */
/*
 * From the events of a file to the profile's events. An event enters the profile with its first
 * sample; on hybrid machines several entries are the same event.
 */
#pragma once

#include "convert/filter.h"
#include "convert/load/events/event_role.h"
#include "perfdata/reader.h"
#include "profile/profile.h"

struct event { /* of the file */
    const struct perfdata_attr *attr;
    enum event_role role;
    uint32_t id; /* in the profile; PROFILE_NONE: no sample yet */
};

struct events {
    struct profile *profile;
    struct event *items; /* owned; by attr */
    size_t count;
};

int events_init(struct events *events, struct profile *profile,
                const struct perfdata_reader *reader);
void events_free(struct events *events);

/* NULL: undescribed. Names of events may be updated before their first sample. */
static inline struct event *events_at(struct events *events, size_t attr_index)
{
    struct event *event = attr_index < events->count ? &events->items[attr_index] : NULL;
    if (event && event->role == EVENT_UNSEEN)
        event->role = event_role_of(event->attr);
    return event;
}

/* The id of an event with a sample; PROFILE_NONE: out of memory, or too many events. */
uint32_t events_id(struct events *events, struct event *event);

/* A sample's weight: its period. Clock events with a frequency but without recorded periods get
 * the nominal period. */
uint64_t event_weight(const struct event *event, const struct perfdata_event *sample);

/* Chooses the main event: the first clock with samples, else the first event of work with
 * samples (`cycles`, for example), else off_cpu (an event of the profile, or PROFILE_NONE), else
 * the first event with samples. A file without samples keeps its first event's name. */
void events_choose_main(struct events *events, uint32_t off_cpu);

/* Of a capture with off-CPU time as an event: adds this event and the clock, with samples or
 * without. A program that only waited has a CPU time of zero, not an unknown CPU time. After
 * events_choose_main(). */
void events_add_times(struct events *events, const struct filter *filter);

/* By the recorded name, or the name in the profile. */
bool event_is_wanted(const struct event *event, const struct filter *filter);
