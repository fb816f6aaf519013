/* SPDX-License-Identifier: MIT */
#include "record/tables/thread_table.h"

#include "base/containers/array.h"
#include "record/procfs/proc.h"
#include "record/sample/task_records.h"
#include "wire/atomic.h"

#include <stdlib.h>
#include <string.h>

/* A thread's name is read from /proc soon after its start, then less and less often: a read takes
 * 6 us, and programs have thousands of threads. */
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
bool thread_name_is_due(const struct thread_table *table, const struct thread *thread)
{
    bool is_first = thread->name_wait_ns == NAME_FIRST_NS;
    return table->round->now_ns >= thread->name_due_ns ||
           (is_first && load_relaxed(&thread->shared->control.head) != thread->reader.tail);
}

/* A process that has not run since has no new names. A record that is not read yet may have a name
 * from before this look; records that are read may be newer than the round. */
void thread_refresh_name(struct thread_table *table, struct thread *thread)
{
    char name[16] = {0};
    uint64_t cpu_ns = thread->process->account.last_cpu_ns;
    uint64_t now_ns = table->round->now_ns;
    bool is_first = thread->name_wait_ns == NAME_FIRST_NS;
    bool may_be_new = is_first || cpu_ns != thread->name_cpu_ns;
    bool has_name = may_be_new && proc_name(thread->process->pid, thread->tid, name) == 0;
    if (has_name && load_acquire(&thread->shared->control.head) != thread->reader.tail)
        return;
    if (has_name)
        thread_set_name(table, thread, name, now_ns > thread->last_ns ? now_ns : thread->last_ns);
    thread->name_cpu_ns = cpu_ns;
    thread->name_due_ns = now_ns + thread->name_wait_ns;
    if (may_be_new)
        thread->name_wait_ns *= NAME_FACTOR;
}

/* The positions are reset before the state: the next thread of the slot starts with an empty
 * ring. */
static void free_slot(struct thread_memory *shared)
{
    store_relaxed(&shared->control.head, 0);
    store_relaxed(&shared->control.base, 0);
    store_relaxed(&shared->control.tail, 0);
    store_release(&shared->slot.state, THREAD_FREE);
}

struct thread *thread_of_slot(const struct process *process, uint64_t slot)
{
    return slot < process->thread_slot_count ? process->thread_slots[slot] : NULL;
}

static bool is_known(const struct process *process, uint32_t slot)
{
    const struct thread *thread = thread_of_slot(process, slot);
    return thread && thread->in_use;
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

void thread_table_forget(struct thread_table *table, size_t i)
{
    struct thread *thread = table->active[i];
    struct process *process = thread->process;
    struct perfdata_task task =
        task_record(process, thread->tid, process->parent_pid, end_ns(table, thread));
    /* The EXIT of the main thread is written with the process. */
    if (thread->tid != process->pid && !process->goes_on_outside)
        perfdata_write_exit(table->file, &task);
    process->threads--;
    thread->in_use = false;
    free_slot(thread->shared);
    table->active[i] = table->active[--table->active_count];
}

void thread_table_free(struct thread_table *table)
{
    free(table->active);
}

/* A thread is kept for its slot: a hostile process uses all slots of its memory. */
static struct thread *keep(struct thread_table *table, uint32_t slot)
{
    struct process_table *processes = table->processes;
    if (processes->threads_kept >= THREADS_KEPT_MAX && slot >= THREADS_KEPT_ALWAYS)
        return NULL;
    struct thread *thread = calloc(1, sizeof(*thread));
    processes->threads_kept += thread != NULL;
    return thread;
}

/* Room for the thread in both arrays; NULL: out of memory, or too many threads. */
static struct thread *make(struct thread_table *table, struct process *process, uint32_t slot)
{
    while (process->thread_slot_count <= slot)
        if (!ARRAY_PUSH(process->thread_slots, process->thread_slot_count,
                        process->thread_slot_capacity))
            return NULL;
    struct thread **thread = &process->thread_slots[slot];
    if (!*thread)
        *thread = keep(table, slot);
    struct thread **place =
        *thread ? ARRAY_PUSH(table->active, table->active_count, table->capacity) : NULL;
    return place ? *place = *thread : NULL;
}

enum adoption { ADOPTED, WITHOUT_ROOM, LATER, ADOPTIONS };

static enum adoption adopt(struct thread_table *table, struct process *process, uint32_t slot)
{
    struct thread_memory *shared = &process->memory->shared->threads[slot];
    pid_t tid = pid_namespace_tid(table->namespaces, process, &shared->slot);
    struct thread *thread = tid ? make(table, process, slot) : NULL;
    if (!thread)
        return tid ? WITHOUT_ROOM : LATER;
    *thread = (struct thread){
        .in_use = true,
        .process = process,
        .slot = slot,
        .shared = shared,
        .tid = tid,
        .start_ns = round_time_ns(table->round, load_relaxed(&shared->slot.start_ticks)),
        .name_wait_ns = NAME_FIRST_NS,
        .name_due_ns = table->round->now_ns + NAME_FIRST_NS,
    };
    process->threads++;
    if (tid != process->pid || !process->follows_exec)
        table->summary->threads++;
    memcpy(thread->name, process->name, sizeof(thread->name));
    if (tid == process->pid)
        return ADOPTED;
    struct perfdata_task task = task_record(process, tid, process->pid, thread->start_ns);
    perfdata_write_fork(table->file, &task);
    if (process->stated_pid != process->pid)
        namespace_ids_add(&table->summary->namespace_ids, tid,
                          (pid_t)load_relaxed(&shared->slot.tid), thread->start_ns);
    return ADOPTED;
}

/* Looks at all slots only when the shared counter of started threads has changed. */
void thread_table_find_new(struct thread_table *table, struct process *process)
{
    const struct process_slot *slot = process_slot(process);
    uint32_t started = load_acquire(&slot->threads_started), adoptions[ADOPTIONS] = {0};
    uint32_t new = started - process->threads_started;
    if (new == 0)
        return;
    uint32_t used = load_acquire(&slot->threads_used);
    for (uint32_t i = 0; i < used && i < SESSION_THREADS; i++) {
        uint32_t state = load_acquire(&process->memory->shared->threads[i].slot.state);
        if (!is_known(process, i) && (state == THREAD_ACTIVE || state == THREAD_ENDED))
            adoptions[adopt(table, process, i)]++;
    }
    /* LATER: the pid namespace has no translation yet. One less than started makes the next call
     * look again. */
    process->threads_started = adoptions[LATER] ? started - 1 : started;
    /* Threads refused before are looked at again. */
    uint32_t refused = adoptions[WITHOUT_ROOM] < new ? adoptions[WITHOUT_ROOM] : new;
    table->summary->threads_without_slot += refused;
    table->summary->threads += refused;
}

struct thread *thread_of_tid(const struct process *process, pid_t tid)
{
    for (size_t i = 0; i < process->thread_slot_count; i++) {
        struct thread *thread = process->thread_slots[i];
        if (thread && thread->in_use && thread->tid == tid && !thread->has_exited)
            return thread;
    }
    return NULL;
}

bool thread_table_has(const struct thread_table *table, const struct process *process, pid_t tid)
{
    for (size_t i = 0; i < table->active_count; i++) {
        const struct thread *thread = table->active[i];
        if (thread->process == process && thread->tid == tid)
            return true;
    }
    return false;
}
