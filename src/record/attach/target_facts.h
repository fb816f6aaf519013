/* SPDX-License-Identifier: MIT */
/* Facts about a task to be recorded from outside, from /proc/ID/status. The parser takes text. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct task_ids {
    uint32_t real, effective, saved;
};

struct target_facts {
    char name[16];
    char state;     /* 'R', 'S', 'Z' … */
    pid_t pid;      /* of the process; 0: no such task */
    pid_t inner_id; /* of the task in its own pid namespace; 0: the same as here */
    struct task_ids uids, gids;
    uint64_t capabilities;      /* permitted */
    uint32_t threads;           /* of the process */
    bool has_memory;            /* false: kernel thread, or zombie */
    bool is_dumpable;           /* the effective user owns the files in /proc/ID */
    bool is_in_other_namespace; /* of users */
};

struct target_facts target_facts_parse(const char *text);
/* All 0 without such a task. */
struct target_facts target_facts_read(pid_t id);
