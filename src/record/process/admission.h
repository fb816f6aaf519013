/* SPDX-License-Identifier: MIT */
/* Admission of a process after the handshake request, and the engine for its samples. */
#pragma once

#include "record/launch/perf_event.h"
#include "record/launch/go_programs.h"
#include "record/process/process_table.h"
#include "record/procfs/maps/proc_maps.h"

#include <stdbool.h>
#include <stdint.h>

struct admission {
    enum record_engine engine; /* as chosen by the user */
    bool may_arm;              /* perf-trap is enabled, and permitted for this user */
    struct perf_event_config event;
    struct go_programs go_programs;
};

/* A reason, for a process that the launcher cannot look at. */
extern const char admission_not_visible[];

/* The program of a process. */
struct executable {
    bool is_there; /* false: no file, or hidden */
    bool is_go;    /* the Go runtime owns the signals */
    uint64_t id;
};
struct executable admission_look(struct admission *admission, pid_t pid);

/* A reason, for a program inside an emulator: the kernel shows the emulator. */
extern const char admission_is_emulated[];
/* Whether the process states another vDSO or executable than the kernel. */
bool admission_has_other_view(const struct process_slot *request, pid_t pid,
                              const struct proc_maps *mappings);

/*
 * Sets process->engine, and for perf-trap opens the event, disabled. executable: NULL for a forked
 * child that still runs the program of its recorded parent, as judged for the parent.
 * may_be_traced: reads /proc/PID/status for a tracer (18 us). Returns the reason against sampling
 * (static text), or NULL.
 */
const char *admission_judge(const struct admission *admission, struct process *process,
                            const struct executable *executable, const struct process_slot *request,
                            const struct proc_maps *mappings, bool may_be_traced);
