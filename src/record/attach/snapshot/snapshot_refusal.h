/* SPDX-License-Identifier: MIT */
/* Why a process cannot be read from outside: one sentence with the rule, and the remedy. */
#pragma once

#include "base/text/error.h"
#include "record/attach/access_rule.h"
#include "record/attach/own_rights.h"
#include "record/attach/target_facts.h"

#include <sys/types.h>

/* Before the read: tasks without user code. 0, or a negative errno and the sentence. */
int snapshot_refusal_check(const struct target_facts *facts, pid_t own_pid, pid_t pid,
                           struct error *error);

/* Explains the errno of a read. Returns err. */
int snapshot_refusal_explain(const struct target_facts *facts, const struct own_rights *own,
                             pid_t pid, int err, struct error *error);
