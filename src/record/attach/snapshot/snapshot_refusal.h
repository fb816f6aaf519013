/* SPDX-License-Identifier: MIT */
/* Why a process cannot be read from outside: one sentence with the rule, and the remedy. */
#pragma once

#include "base/text/error.h"
#include "record/attach/target_facts.h"

#include <sys/types.h>

/* The user of rec. */
struct reader_facts {
    pid_t pid;
    uid_t uid;
    int ptrace_scope; /* kernel.yama.ptrace_scope; 0: no such rule */
};
struct reader_facts reader_facts_read(void);

/* Before the read: tasks without user code. 0, or a negative errno and the sentence. */
int snapshot_refusal_check(const struct target_facts *facts, const struct reader_facts *reader,
                           pid_t pid, struct error *error);

/* Explains the errno of a read. Returns err. */
int snapshot_refusal_explain(const struct target_facts *facts, const struct reader_facts *reader,
                             pid_t pid, int err, struct error *error);
