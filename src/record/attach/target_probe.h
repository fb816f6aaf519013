/* SPDX-License-Identifier: MIT */
/* What rec may do with a running process, found without a recording: for `rec doctor -p`. */
#pragma once

#include "base/text/error.h"
#include "record/attach/target_facts.h"

#include <sys/types.h>

/* Opens an event on the process, closed at once, and counts the descriptors of all events. 0, or a
 * negative errno with the rule. */
int target_probe_ring(const struct target_facts *facts, pid_t pid, struct error *error);

/* Whether stacks and modules can be read. 0, or a negative errno with the rule. */
int target_probe_memory(const struct target_facts *facts, pid_t pid, struct error *error);

/* The same for an event on all tasks of a processor. */
int target_probe_system(struct error *error);
