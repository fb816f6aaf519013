/* SPDX-License-Identifier: MIT */
/*
 * Indices and links of the table, in memory that is all zero at the start:
 *
 *     bucket_first[pid % PID_BUCKETS] ─▶ 1 + slot ─▶ next_in_bucket[slot] ─▶ 1 + slot ─▶ … ─▶ 0
 *
 *     processes[]    one entry a slot; the verdict has the slot, for copy_of of forked children
 *     live[]         slots in use; a removal moves the last one to the gap: remove from the end on
 *     free_slots[]   a stack
 *
 * Several entries may have the same pid: the programs before an exec. New entries are linked in
 * front, and process_find() skips ended entries, so the running program is found.
 */
#include "record/process/process_table.h"

#include "record/tables/maps/process_map.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint16_t *bucket_of(const struct process_table *table, pid_t pid)
{
    return (uint16_t *)&table->bucket_first[(uint32_t)pid % PID_BUCKETS];
}

struct process *process_find(const struct process_table *table, pid_t pid)
{
    for (uint32_t next = *bucket_of(table, pid); next; next = table->next_in_bucket[next - 1]) {
        const struct process *process = &table->processes[next - 1];
        if (process->pid == pid && !process->has_ended)
            return (struct process *)process;
    }
    return NULL;
}

struct process *process_table_add(struct process_table *table, const struct process *from)
{
    if (table->live_count == SESSION_PROCESSES)
        return NULL;
    /* A recently used slot: its memory is there. */
    uint32_t slot =
        table->free_count ? table->free_slots[--table->free_count] : table->used_count++;
    struct process *process = &table->processes[slot];
    uint16_t *bucket = bucket_of(table, from->pid);
    *process = *from;
    process->slot = slot;
    process->in_use = true;
    table->live[table->live_count++] = slot;
    table->next_in_bucket[slot] = *bucket;
    *bucket = (uint16_t)(slot + 1);
    return process;
}

/* The entry is in its bucket: the pid of an entry never changes. */
static void unlink_bucket(struct process_table *table, const struct process *process)
{
    uint16_t *place = bucket_of(table, process->pid);
    while (*place != process->slot + 1)
        place = &table->next_in_bucket[*place - 1];
    *place = table->next_in_bucket[process->slot];
}

struct process_map *process_map_at(const struct process *process, uint64_t time_ns)
{
    bool is_older = process->map_before && time_ns < process->map->read_ns;
    return is_older ? process->map_before : process->map;
}

void process_drop_map_before(struct process *process)
{
    process_map_release(process->map_before);
    process->map_before = NULL;
}

/* The memory is given up with delay: unmapping costs page table work that starting processes would
 * wait for. */
static void release(struct process_table *table, struct process *process, uint64_t now_ns)
{
    process_drop_map_before(process);
    process_map_release(process->map);
    proc_maps_free(&process->first_mappings);
    perf_event_close(&process->event);
    target_memory_release_later(process->memory, &table->ended_memories, now_ns);
    for (size_t i = 0; i < process->thread_slot_count; i++) {
        table->threads_kept -= process->thread_slots[i] != NULL;
        free(process->thread_slots[i]);
    }
    free(process->thread_slots);
    if (process->pid_fd >= 0)
        close(process->pid_fd);
}

void process_table_remove(struct process_table *table, size_t i, uint64_t now_ns)
{
    struct process *process = process_table_at(table, i);
    table->live[i] = table->live[--table->live_count];
    table->free_slots[table->free_count++] = (uint16_t)process->slot;
    unlink_bucket(table, process);
    release(table, process, now_ns);
    *process = (struct process){.pid_fd = -1};
}

void process_table_free(struct process_table *table)
{
    for (size_t i = 0; i < table->live_count; i++)
        release(table, process_table_at(table, i), 0);
    ended_memories_unmap(&table->ended_memories);
    table->live_count = 0;
}

void process_table_note_end(struct process_table *table, pid_t pid, uint64_t end_ns)
{
    size_t next = table->end_count++ % LAST_ENDS;
    table->last_ends[next].pid = pid;
    table->last_ends[next].end_ns = end_ns;
}

/* perf.data identifies a process by pid and time: samples between the end of one process and the
 * start of the next with its pid must belong to the former. */
uint64_t process_table_after_end_ns(const struct process_table *table, pid_t pid, uint64_t start_ns)
{
    for (size_t i = 0; i < LAST_ENDS && i < table->end_count; i++)
        if (table->last_ends[i].pid == pid && table->last_ends[i].end_ns >= start_ns)
            start_ns = table->last_ends[i].end_ns + 1;
    return start_ns;
}

uint64_t process_end_ns(const struct process *process, uint64_t now_ns)
{
    uint64_t end_ns = process->gone_ns ? process->gone_ns : now_ns;
    return end_ns > process->start_ns ? end_ns : process->start_ns;
}

uint64_t process_periods_ns(const struct process *process, uint64_t period_ns)
{
    return cpu_account_periods_ns(period_ns, process->engine == ENGINE_PERF_TRAP, process->threads);
}
