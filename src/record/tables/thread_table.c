/* SPDX-License-Identifier: MIT */
#include "record/tables/thread_table.h"

#include "record/procfs/proc.h"
#include "record/sample/task_records.h"
#include "wire/atomic.h"

#include <string.h>

/* A thread's name is read from /proc soon after its start, then less and less often. */
#define NAME_FIRST_NS 5000000
#define NAME_FACTOR 8

void thread_set_name(struct thread_table *table, struct thread *thread, const char name[16],
                     uint64_t time_ns)
{
    if (memcmp(thread->name, name, 16) == 0)
        return;
    memcpy(thread->name, name, 16);
    /* The name may be read in a round begun before the thread: the COMM must follow the FORK. */
    uint64_t after_ns = time_ns > thread->start_ns ? time_ns : thread->start_ns;
    struct perfdata_task task = {
        .pid = (uint32_t)thread->process->pid, .tid = (uint32_t)thread->tid, .time_ns = after_ns};
    perfdata_write_comm(table->file, &task, name, false);
}

/* A new thread inherits its creator's name, and its last record holds the final name. The lookup
 * serves long-lived threads, and thread names before the first samples. */
bool thread_name_is_due(const struct thread_table *table, uint32_t slot)
{
    const struct thread *thread = &table->threads[slot];
    bool is_first = thread->name_wait_ns == NAME_FIRST_NS;
    return table->round->now_ns >= thread->name_due_ns ||
           (is_first && load_relaxed(&table->rings->controls[slot].head) != thread->reader.tail);
}

void thread_refresh_name(struct thread_table *table, uint32_t slot)
{
    struct thread *thread = &table->threads[slot];
    char name[16] = {0};
    if (proc_name(thread->process->pid, thread->tid, name) == 0)
        thread_set_name(table, thread, name, table->round->now_ns);
    thread->name_due_ns = table->round->now_ns + thread->name_wait_ns;
    thread->name_wait_ns *= NAME_FACTOR;
}

static void free_slot(struct thread_table *table, uint32_t slot)
{
    struct ring_control *control = &table->rings->controls[slot];
    store_relaxed(&control->head, 0);
    store_relaxed(&control->base, 0);
    store_relaxed(&control->tail, 0);
    store_release(&table->rings->threads[slot].state, THREAD_FREE);
}

/* A last record has the time. A killed thread ended before this round began, but its records may
 * be newer than the round. */
static uint64_t end_ns(const struct thread_table *table, const struct thread *thread)
{
    uint64_t end_ns = process_end_ns(thread->process, table->round->now_ns);
    if (thread->has_exited || thread->last_ns > end_ns)
        end_ns = thread->last_ns;
    return end_ns > thread->start_ns ? end_ns : thread->start_ns;
}

void thread_table_forget(struct thread_table *table, uint32_t slot)
{
    struct thread *thread = &table->threads[slot];
    struct process *process = thread->process;
    struct perfdata_task task =
        task_record(process, thread->tid, process->parent_pid, end_ns(table, thread));
    /* The EXIT of the main thread is written with the process. */
    if (thread->tid != process->pid)
        perfdata_write_exit(table->file, &task);
    thread->in_use = false;
    process->threads--;
    for (size_t i = 0; i < table->active_count; i++)
        if (table->active[i] == slot)
            table->active[i--] = table->active[--table->active_count];
    free_slot(table, slot);
}

static void adopt(struct thread_table *table, uint32_t slot, struct process *process)
{
    const struct thread_slot *shared = &table->rings->threads[slot];
    struct thread *thread = &table->threads[slot];
    *thread = (struct thread){
        .in_use = true,
        .process = process,
        .tid = pid_namespace_tid(table->namespaces, process, shared),
        .start_ns = round_time_ns(table->round, load_relaxed(&shared->start_ticks)),
        .name_wait_ns = NAME_FIRST_NS,
        .name_due_ns = table->round->now_ns + NAME_FIRST_NS,
    };
    table->active[table->active_count++] = slot;
    process->threads++;
    if (thread->tid != process->pid || !process->follows_exec)
        table->summary->threads++;
    memcpy(thread->name, process->name, sizeof(thread->name));
    if (thread->tid == process->pid)
        return;
    struct perfdata_task task = task_record(process, thread->tid, process->pid, thread->start_ns);
    perfdata_write_fork(table->file, &task);
}

/* NULL: the process has not joined, or the slot names another process. */
static struct process *process_of(const struct thread_table *table, const struct thread_slot *slot)
{
    uint32_t index = load_relaxed(&slot->process);
    if (index >= SESSION_PROCESSES)
        return NULL;
    struct process *process = &table->processes->processes[index];
    bool is_it = process->in_use && process->stated_pid == (pid_t)load_relaxed(&slot->pid);
    return is_it ? process : NULL;
}

/* Scans all slots only when the shared counter of started threads has changed. */
void thread_table_find_new(struct thread_table *table)
{
    const struct rings *rings = table->rings;
    uint32_t started = load_acquire(&rings->header.threads_started);
    if (started == table->threads_started)
        return;
    bool is_complete = true;
    uint32_t used = load_acquire(&rings->header.threads_used);
    for (uint32_t i = 0; i < used && i < SESSION_THREADS; i++) {
        const struct thread_slot *slot = &rings->threads[i];
        uint32_t state = load_acquire(&slot->state);
        if (table->threads[i].in_use || (state != THREAD_ACTIVE && state != THREAD_ENDED))
            continue;
        struct process *process = process_of(table, slot);
        if (process)
            adopt(table, i, process);
        else if (state == THREAD_ENDED)
            free_slot(table, i); /* of an unrecorded process */
        else
            is_complete = false; /* its process has no reply yet */
    }
    if (is_complete)
        table->threads_started = started;
}

void thread_table_release_claimed(struct thread_table *table, uint32_t process_slot, uint32_t pid)
{
    const struct rings *rings = table->rings;
    uint32_t used = load_acquire(&rings->header.threads_used);
    for (uint32_t i = 0; i < used && i < SESSION_THREADS; i++) {
        const struct thread_slot *slot = &rings->threads[i];
        if (!table->threads[i].in_use && load_relaxed(&slot->state) != THREAD_FREE &&
            load_relaxed(&slot->process) == process_slot && load_relaxed(&slot->pid) == pid)
            free_slot(table, i);
    }
}

bool thread_table_has(const struct thread_table *table, const struct process *process, pid_t tid)
{
    for (size_t i = 0; i < table->active_count; i++) {
        const struct thread *thread = &table->threads[table->active[i]];
        if (thread->process == process && thread->tid == tid)
            return true;
    }
    return false;
}
