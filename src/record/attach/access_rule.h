/* SPDX-License-Identifier: MIT */
/*
 * The rules of the kernel for access to other processes: which rule refused an access, and what
 * lifts the rule. One table for the messages of all commands and for `rec doctor`. The facts are
 * arguments: nothing is read here.
 */
#pragma once

#include "record/attach/own_rights.h"
#include "record/attach/target_facts.h"

enum access {
    ACCESS_EVENTS, /* perf_event_open(2), and mapping the rings */
    ACCESS_MEMORY, /* /proc/PID/syscall, process_vm_readv(2), ptrace(2) */
};

/* In the order in which the kernel checks. */
enum access_rule {
    RULE_SECCOMP,
    RULE_PARANOID,
    RULE_SECURITY_MODULE,
    RULE_NAMESPACE,
    RULE_USER,
    RULE_GROUP,
    RULE_DUMPABLE,
    RULE_CAPABILITY,
    RULE_PTRACE_SCOPE,
    RULE_LOCKED_MEMORY,
    RULE_UNKNOWN,
    ACCESS_RULES
};

struct access_refusal {
    const struct own_rights *own;
    const struct target_facts *target; /* NULL: rec itself, or the whole system */
    enum access access;
    int err; /* negative errno */
};

struct rule_text {
    char text[320];
};

enum access_rule access_rule_find(const struct access_refusal *refusal);

/* The rule, and what lifts it. */
struct rule_text access_rule_explain(const struct access_refusal *refusal);

const char *access_rule_name(enum access_rule rule);
