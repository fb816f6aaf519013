/* SPDX-License-Identifier: MIT */
/*
 * From the events of a file to those of the profile. An event enters the profile with its first
 * sample; the cores of a hybrid machine count one event under several entries.
 */
#pragma once

#include "perfdata/reader.h"
#include "profile/profile.h"

struct events {
    struct profile *profile;
    const struct perfdata_reader *reader;
    uint32_t *of_attr; /* owned; profile's event by attr, PROFILE_NONE: no sample yet */
    size_t attr_count;
};

int events_init(struct events *events, struct profile *profile,
                const struct perfdata_reader *reader);
void events_free(struct events *events);

/* The profile's event of a sample; PROFILE_NONE: out of memory, or too many events. */
uint32_t events_of(struct events *events, size_t attr_index);

/* What a sample weighs: its period. A clock that ticks at a frequency and does not write down what
 * passed is taken at its word. */
uint64_t events_weight(const struct events *events, const struct perfdata_event *sample);

/* Chooses the main event: the first clock with samples, else the first event with samples that counts work
 * (`cycles`, say), else off_cpu (an event of the profile, or PROFILE_NONE), else the first event with any. A file
 * without samples keeps its first event's name. */
void events_choose_main(struct events *events, uint32_t off_cpu);
