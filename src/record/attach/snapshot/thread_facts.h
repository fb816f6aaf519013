/* SPDX-License-Identifier: MIT */
/* Counters and state of a thread from its stat, status and schedstat in /proc. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct thread_facts {
    char name[16];
    char state;                      /* 'R', 'S', 'D', 'T', … */
    int processor;                   /* where the thread last ran */
    uint64_t user_ns, kernel_ns;     /* in ticks of 10 ms */
    uint64_t cpu_ns, delay_ns;       /* on a processor; runnable without a processor */
    uint64_t voluntary, involuntary; /* context switches */
};

/* 0 or -ESRCH: the thread has ended. */
int thread_facts_read(struct thread_facts *facts, pid_t pid, pid_t tid);

/* The texts of stat and status. False: malformed. */
bool thread_facts_parse_stat(struct thread_facts *facts, const char *text);
void thread_facts_parse_status(struct thread_facts *facts, const char *text);
