/* SPDX-License-Identifier: MIT */
/* Why a task cannot be recorded from outside: one sentence with the rule, and the remedy. */
#pragma once

#include "base/text/error.h"
#include "record/attach/access_rule.h"

#include <stdbool.h>
#include <sys/types.h>

/* Before any event is opened: tasks without user code. 0, or a negative errno and the sentence. */
int refusal_check(const struct target_facts *facts, const struct own_rights *own, pid_t id,
                  bool is_thread, struct error *error);

/* The rule for an access by rec, whatever the target, and the remedy. */
struct rule_text refusal_of_rec(enum access access, int err);

/* Explains the kernel's errno for events on all processes. Returns err. */
int refusal_explain_system(const struct own_rights *own, int err, struct error *error);

/* Explains the kernel's errno. Returns err. */
int refusal_explain(const struct target_facts *facts, const struct own_rights *own, pid_t id,
                    int err, struct error *error);

/* The same for the rings, before any task is known. */
int refusal_explain_rings(const struct own_rights *own, int err, struct error *error);
