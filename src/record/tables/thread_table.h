/* SPDX-License-Identifier: MIT */
/*
 * The threads of the recording.
 *
 *     slot ACTIVE ─▶ FORK ─▶ names, records ─▶ thread or process ended: EXIT ─▶ slot FREE
 */
#pragma once

#include "perfdata/writer.h"
#include "record/namespaces/pid_namespace.h"
#include "record/process/process_table.h"
#include "record/sample/ring_reader.h"
#include "record/round.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct thread {
    bool in_use; /* false: ended; kept until another thread has the slot */
    struct process *process;
    uint32_t slot; /* in the memory of the process */
    struct thread_memory *shared;
    pid_t tid;
    struct ring_reader reader;
    uint64_t due_bytes; /* content of the ring at the start of the round */
    char name[16];
    uint64_t name_due_ns, name_wait_ns;
    uint64_t name_cpu_ns; /* of the process, at the last read of the name */
    uint64_t start_ns;
    uint64_t last_ns;           /* of its latest record */
    bool has_exited;            /* the last record arrived, with the end time */
    uint64_t skipped_ns;        /* CPU time before sampling began, and of samples in the kernel:
                                 * not the time of the last record */
    struct thread_slot counted; /* counters already added to the summary */
};

/* Of all processes. Even then a process has room for its first threads. */
#define THREADS_KEPT_MAX 65536u
#define THREADS_KEPT_ALWAYS 16u

struct thread_table {
    struct process_table *processes;
    struct pid_namespaces *namespaces;
    struct perfdata_writer *file;
    struct record_summary *summary;
    const struct round *round;
    struct thread **active; /* in no order */
    size_t active_count, capacity;
};

/* The i-th thread in use, i < active_count. */
static inline struct thread *thread_table_at(struct thread_table *table, size_t i)
{
    return table->active[i];
}

/* Adopts threads of the process that became active since the last call. */
void thread_table_find_new(struct thread_table *table, struct process *process);

/* The present or the last thread of a slot; NULL: none yet. */
struct thread *thread_of_slot(const struct process *process, uint64_t slot);

/* NULL: the thread has no slot, or its last record was read. */
struct thread *thread_of_tid(const struct process *process, pid_t tid);

/* Writes the EXIT of the i-th thread, and frees the slot. */
void thread_table_forget(struct thread_table *table, size_t i);

void thread_table_free(struct thread_table *table);

bool thread_table_has(const struct thread_table *table, const struct process *process, pid_t tid);

/* Writes a COMM if the name is new. */
void thread_set_name(struct thread_table *table, struct thread *thread, const char name[16],
                     uint64_t time_ns);
/* Before the thread's records are read. */
bool thread_name_is_due(const struct thread_table *table, const struct thread *thread);
/* After the thread's records: reads the name from /proc. The name stays as it is, and due, if there
 * are new records by then. */
void thread_refresh_name(struct thread_table *table, struct thread *thread);
