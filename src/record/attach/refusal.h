/* SPDX-License-Identifier: MIT */
/* Why a task cannot be recorded from outside: one sentence with the rule, and the remedy. */
#pragma once

#include "base/text/error.h"
#include "record/attach/target_facts.h"

#include <stdbool.h>
#include <sys/types.h>

/* The user of rec. */
struct observer_facts {
    pid_t pid;
    uid_t uid;
    int paranoid;    /* kernel.perf_event_paranoid; 0: unknown */
    int own_error;   /* of an event on rec itself: 0, or a negative errno */
    bool may_others; /* root, or CAP_PERFMON */
};
struct observer_facts observer_facts_read(void);

/* Before any event is opened: tasks without user code. 0, or a negative errno and the sentence. */
int refusal_check(const struct target_facts *facts, const struct observer_facts *observer, pid_t id,
                  bool is_thread, struct error *error);

/* Explains the kernel's errno for events on all processes. Returns err. */
int refusal_explain_system(const struct observer_facts *observer, int err, struct error *error);

/* Explains the kernel's errno. Returns err. */
int refusal_explain(const struct target_facts *facts, const struct observer_facts *observer,
                    pid_t id, int err, struct error *error);
