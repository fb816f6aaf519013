/* SPDX-License-Identifier: MIT */
/*
 * Off-CPU time: from a thread's switch-out to its next switch-in, as samples of an event "off-cpu".
 *
 *     thread    ══ runs ══╗ waits     ╎ runnable ╔══ runs ══
 *                         ╚═ switch out … wake … in ══╝
 *     source    out       SWITCH record, or a sched:sched_switch sample
 *               wake      sched:sched_waking or sched_wakeup sample of the thread; may be missing
 *               in        SWITCH record, or a sched:sched_switch sample with the thread as next;
 *                         without these, the thread's next sample of any kind
 *     stack     of the sample at the switch-out, or of a context-switches sample at the same time
 *
 * The stack gets a synthetic leaf (profile/waits.h). The reason is known for a preempted thread
 * (runnable), and from prev_state of sched_switch for sleep on a disk and for stops.
 */
#pragma once

#include "convert/load/events/event_role.h"
#include "convert/load/tasks.h"
#include "profile/waits.h"

enum off_cpu_leaf {
    OFF_CPU_UNKNOWN,
    OFF_CPU_RUNNABLE,
    OFF_CPU_DISK,
    OFF_CPU_STOPPED,
    OFF_CPU_LEAVES,
};

struct off_cpu_thread { /* by index of the thread in the profile */
    bool is_off;
    bool has_call; /* call: where the thread stopped */
    enum off_cpu_leaf leaf;
    uint64_t since_ns; /* 0: no stop recorded */
    uint64_t ready_ns; /* woken; 0: not yet */
    uint32_t call;
    uint16_t cpu;
    uint64_t noted_end_ns; /* of the latest wait, … */
    uint32_t noted_call;   /* … and its call */
};

/* A field of a tracepoint. All formats of tracepoints are a text, searched once for each event. */
struct off_cpu_field {
    const char *name;
    size_t attr_index; /* of the search; SIZE_MAX: none */
    bool is_found;
    struct perfdata_field place;
};

struct off_cpu {
    struct tasks *tasks;
    struct perfdata_reader *reader;
    bool has_records;                          /* recorded with SWITCH records */
    struct off_cpu_field next_pid, prev_state; /* of sched_switch */
    struct off_cpu_field woken_pid;            /* of sched_waking, sched_wakeup */
    uint32_t leaves[OFF_CPU_LEAVES];           /* addresses; PROFILE_NONE: not used yet */
    uint64_t end_ns;                           /* end of the last wait with several samples */
    struct off_cpu_thread *threads;
    size_t count, capacity;
    int (*handle)(void *context, const struct profile_sample *sample); /* without its event */
    void *context;
};

void off_cpu_init(struct off_cpu *off_cpu, struct tasks *tasks, struct perfdata_reader *reader);
void off_cpu_free(struct off_cpu *off_cpu);

/* Whether samples of this event carry switches. */
bool off_cpu_needs(const struct off_cpu *off_cpu, enum event_role role);

/* A sample of any event, with its stack. 0, handle()'s error, or -ENOMEM. */
int off_cpu_sample(struct off_cpu *off_cpu, const struct perfdata_event *event,
                   enum event_role role, const struct profile_sample *sample);

/* Of a sample with EVENT_PERF_OFF_CPU. */
int off_cpu_convert(struct off_cpu *off_cpu, struct profile_sample *sample); /* 0 or -ENOMEM */

/* A wait of the profile: keeps the end of a wait with several samples. The lengths of shorter waits
 * may be shares of a sum, and then reach beyond the end of the recording. 0 or -ENOMEM. */
int off_cpu_note_wait(struct off_cpu *off_cpu, const struct profile_sample *sample);

/* The time of samples that perf adds at the end, sums of waits: OFF_CPU_TIMESTAMP of
 * tools/perf/util/off_cpu.h. */
#define OFF_CPU_AT_THE_END (~UINT64_C(0) << 32)

/* A SWITCH record. Returns as above. */
int off_cpu_record(struct off_cpu *off_cpu, const struct perfdata_event *event);

/* Ends the waits of threads still off the CPU at the end of the recording. Returns as above. */
int off_cpu_finish(struct off_cpu *off_cpu, uint64_t end_ns);
