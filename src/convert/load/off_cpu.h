/* SPDX-License-Identifier: MIT */
/*
 * Off-CPU time: from a thread's switch-out to its next switch-in, as samples of an event "off-cpu".
 *
 *     thread    ══ runs ══╗                    ╔══ runs ══
 *                         ╚═ switch out … in ══╝
 *     source              SWITCH record, or    SWITCH record, or a sched:sched_switch sample with
 *                         a sched:sched_switch the thread as next; without these, the thread's next
 *                         sample               record of any kind
 *     stack               from the same sample, or from a context-switches sample at the same time
 *
 * Waiting for a CPU counts like any other wait.
 */
#pragma once

#include "convert/load/tasks.h"

struct off_cpu_thread { /* by index of the thread in the profile */
    bool is_off;
    bool has_call;     /* call: where the thread stopped */
    uint64_t since_ns; /* 0: no stop recorded */
    uint32_t call;
    uint16_t cpu;
};

struct off_cpu {
    struct tasks *tasks;
    struct perfdata_reader *reader;
    bool has_records; /* recorded with SWITCH records */
    /* The place of the next thread's pid in samples of the sched_switch event. */
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

/* Whether samples of this event carry switches. */
bool off_cpu_needs(const struct off_cpu *off_cpu, const struct perfdata_attr *attr);

/* A sample of any event, with its stack. 0, handle()'s error, or -ENOMEM. */
int off_cpu_sample(struct off_cpu *off_cpu, const struct perfdata_event *event,
                   const struct profile_sample *sample);

/* A SWITCH record. Returns as above. */
int off_cpu_record(struct off_cpu *off_cpu, const struct perfdata_event *event);

/* Ends the waits of threads still off the CPU at the end of the recording. Returns as above. */
int off_cpu_finish(struct off_cpu *off_cpu, uint64_t end_ns);
