/* SPDX-License-Identifier: MIT */
/*
 * Off-CPU time: from where a thread stopped running to where it runs again, as samples of an event of its
 * own, "off-cpu".
 *
 *     thread    ══ runs ══╗                    ╔══ runs ══
 *                         ╚═ switch out … in ══╝
 *     known by            SWITCH record, or    SWITCH record, or a sched:sched_switch sample with it as
 *                         a sched:sched_switch the next one; where neither was recorded, whatever it is
 *                         sample of it         first seen doing
 *     stack               the one of that sample, or of a context-switches sample there
 *
 * Waiting for a CPU counts like waiting for anything else.
 */
#pragma once

#include "convert/load/tasks.h"

struct off_cpu_thread { /* of one thread, by its index in the profile */
    bool is_off;
    bool has_call;     /* call is where it stopped */
    uint64_t since_ns; /* 0: it was never seen to stop */
    uint32_t call;
    uint16_t cpu;
};

struct off_cpu {
    struct tasks *tasks;
    struct perfdata_reader *reader;
    bool has_records; /* SWITCH records were asked for */
    /* Of the sched_switch event that was met: where its samples have the next thread. */
    size_t field_attr_index; /* SIZE_MAX: none was met */
    bool has_next_pid;
    struct perfdata_field next_pid;
    struct off_cpu_thread *threads;
    size_t count, capacity;
    int (*handle)(void *context, const struct profile_sample *sample); /* without its event */
    void *context;
};

void off_cpu_init(struct off_cpu *off_cpu, struct tasks *tasks, struct perfdata_reader *reader);
void off_cpu_free(struct off_cpu *off_cpu);

/* Whether samples of this event are wanted for what they tell of switches. */
bool off_cpu_needs(const struct off_cpu *off_cpu, const struct perfdata_attr *attr);

/* A sample of any event, once its stack is known. 0 or what handle() returned, or -ENOMEM. */
int off_cpu_sample(struct off_cpu *off_cpu, const struct perfdata_event *event,
                   const struct profile_sample *sample);

/* A SWITCH record. Returns as above. */
int off_cpu_record(struct off_cpu *off_cpu, const struct perfdata_event *event);

/* Threads that are off at the end of the recording were so to the end. Returns as above. */
int off_cpu_finish(struct off_cpu *off_cpu, uint64_t end_ns);
