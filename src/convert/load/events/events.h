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

struct events {
    struct profile *profile;
    const struct perfdata_reader *reader;
    uint32_t *of_attr; /* owned; profile's event by attr, PROFILE_NONE: no sample yet */
    uint8_t *roles;    /* owned; enum event_role by attr */
    size_t attr_count;
};

int events_init(struct events *events, struct profile *profile,
                const struct perfdata_reader *reader);
void events_free(struct events *events);

/* Names of events may be updated before their first sample. */
static inline enum event_role events_role(struct events *events, size_t attr_index)
{
    if (events->roles[attr_index] == EVENT_UNSEEN)
        events->roles[attr_index] =
            (uint8_t)event_role_of(perfdata_attr(events->reader, attr_index));
    return (enum event_role)events->roles[attr_index];
}

/* The profile's event of a sample; PROFILE_NONE: out of memory, or too many events. */
uint32_t events_of(struct events *events, size_t attr_index);

/* A sample's weight: its period. Clock events with a frequency but without recorded periods get
 * the nominal period. */
uint64_t events_weight(const struct events *events, const struct perfdata_event *sample);

/* Chooses the main event: the first clock with samples, else the first event of work with
 * samples (`cycles`, for example), else off_cpu (an event of the profile, or PROFILE_NONE), else
 * the first event with samples. A file without samples keeps its first event's name. */
void events_choose_main(struct events *events, uint32_t off_cpu);

/* Of a capture with off-CPU time as an event: adds this event and the clock, with samples or
 * without. A program that only waited has a CPU time of zero, not an unknown CPU time. After
 * events_choose_main(). */
void events_add_times(struct events *events, const struct filter *filter);

/* By the recorded name, or the name in the profile. */
bool events_are_wanted(const struct filter *filter, const struct perfdata_attr *attr);
