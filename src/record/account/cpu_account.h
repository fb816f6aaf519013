/* SPDX-License-Identifier: MIT */
/*
 * The CPU time of a process, as arithmetic: no I/O, no clock. The kernel's figure is the truth;
 * samples cover the figure except for the gap:
 *
 *     last_cpu_ns = start_cpu_ns + seen_ns + waiting_ns + gap
 *
 *     0 ──────── constructor ─────────────────────────────────────────────── exit() ──── end
 *     │ exec, dynamic linking │ samples, and CPU time between samples         │ teardown │
 *                             │ seen_ns + waiting_ns           │     gap                 │
 *     0                  start_cpu_ns                                             last_cpu_ns
 *
 * All figures are in nanoseconds of CPU time, of all threads of the process, since its fork.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cpu_account {
    uint64_t start_cpu_ns; /* when the sampler of this program started */
    uint64_t seen_ns;      /* weight of samples in the file, with synthetic and lost samples */
    uint64_t waiting_ns;   /* weight of pending samples */
    uint64_t last_cpu_ns;  /* at the last look */
    uint64_t looked_ns;    /* time of the look */
    uint64_t excess_ns;    /* seen_ns and waiting_ns beyond last_cpu_ns, at the last look */
    /* The event's count; stands for the time since the last look when no rusage can be had. */
    uint64_t counted_cpu_ns; /* CPU time when the event was read last, */
    uint64_t last_count_ns;  /* and the count at that time */
};

/* A process with this much CPU time starts to be sampled now. */
struct cpu_account cpu_account_start(uint64_t cpu_ns, uint64_t now_ns);

/* CPU time covered by samples, or before the start of sampling. */
uint64_t cpu_account_settled_ns(const struct cpu_account *account);

/* CPU time without a sample so far. */
uint64_t cpu_account_gap_ns(const struct cpu_account *account);

/* The weight of a further sample in the kernel. Two independent events sample user and kernel time:
 * their sum has noise of both. What is above the CPU time is taken from the samples in the kernel,
 * an eighth of each at most: time of a hypervisor is above the CPU time, too. */
uint64_t cpu_account_weigh(struct cpu_account *account, uint64_t period_ns);

/* A look at the kernel's figure; 0: the process is gone. True: the figure grew. */
bool cpu_account_look(struct cpu_account *account, uint64_t cpu_ns, uint64_t now_ns);

/* A later, possibly larger figure without a time: rusage, or the event's count. */
void cpu_account_raise(struct cpu_account *account, uint64_t cpu_ns);

/* Sampling begins later than the process: nothing before counts. */
void cpu_account_restart(struct cpu_account *account, uint64_t cpu_ns);

/* The event's count so far, continued from the last look at both. */
uint64_t cpu_account_by_count_ns(const struct cpu_account *account, uint64_t count_ns);

/* Splits a rest at the end of the program's own code: `end_cpu_ns` is the CPU time at exit() or
 * execve(), 0 when unknown. The part before it lies between samples; the part after is teardown or
 * another program. */
struct cpu_rest {
    uint64_t between_ns, after_ns;
};
struct cpu_rest cpu_account_split(uint64_t rest_ns, uint64_t settled_ns, uint64_t end_cpu_ns);

/* CPU time of a thread since its last sample, at most: the current period and, for events of
 * user code only, twice the handler's reserve of two periods for the kernel's share. */
uint64_t cpu_account_periods_ns(uint64_t period_ns, bool counts_user_only, uint64_t threads);
