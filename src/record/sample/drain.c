/* SPDX-License-Identifier: MIT */
/*
 * The rings of one round. Names have no time of their own in /proc, so the order within a thread
 * decides where they take effect in the file:
 *
 *     find new threads ─▶ FORK               their records are read in this round
 *     kernel samples                         their time must not be in the last record, too
 *     contents of all rings                  what this round reads at most
 *     each thread: name due? ─ ring ─ name
 *     each thread: counters ─ ended, nothing left in the ring: EXIT, slot free
 *
 * The state of a slot is read before the head of its ring: a slot ENDED by then gets no further
 * records, so the thread can be forgotten if its ring is empty.
 *
 * Samples of all processes wait for the end of a round, and starting processes, too, so a round has
 * ROUND_BYTES, in equal parts for the processes with records. The rings of a process with more
 * content give the same portion each, so none of its threads falls behind the others.
 */
#include "record/sample/drain.h"

#include "record/recorders/recorders.h"
#include "record/recorders/thread_lifecycle.h"
#include "record/tables/maps/map_request.h"
#include "wire/atomic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A record's weight may exceed the time since the start by so much: clocks of CPU time and of the
 * round are read at different moments. */
#define WEIGHT_SLACK_NS 1000000000
/* Eight full rings. Stacks to unwind take 10 ms for each MiB. */
#define ROUND_BYTES (UINT64_C(4) << 20)

/* The context of take_record(). */
struct source {
    struct drain *drain;
    struct thread *thread;
};

int drain_open(struct drain *drain)
{
    drain->scratch = malloc(SESSION_RING_BYTES);
    return drain->scratch ? 0 : -ENOMEM;
}

void drain_close(struct drain *drain)
{
    free(drain->scratch);
}

void drain_begin_round(struct drain *drain)
{
    drain->fullest_bytes = 0;
    drain->round_bytes = 0;
}

static void count_damaged(struct drain *drain, uint32_t count)
{
    drain->samples->summary->lost[RECORD_LOST_OTHER] += count;
}

/* The last record of a thread: its final name, and its CPU time without samples. */
static void take_exit(struct drain *drain, struct thread *thread,
                      const struct record_header *header, const uint8_t *record, uint64_t time_ns)
{
    struct record_exit last;
    if (header->bytes != sizeof(*header) + sizeof(last))
        return;
    memcpy(&last, record + sizeof(*header), sizeof(last));
    if (!record_are_user_frames(&last.start_avma, 1)) {
        count_damaged(drain, 1);
        return;
    }
    thread->has_exited = true;
    thread->process->ended_threads++;
    last.name[15] = '\0';
    char name[16] = {0};
    strcpy(name, last.name);
    thread_set_name(drain->threads, thread, name, time_ns);
    if (header->weight_ns <= thread->skipped_ns || drain->round->is_quiet)
        return;
    map_request_for_thread_end(drain->compiler, thread->process, time_ns);
    sample_write_thread_end(drain->samples, thread->process, thread->tid, last.start_avma,
                            header->weight_ns - thread->skipped_ns, time_ns);
}

/* Limits a record's time to the range between the first mapping and the end of its process. */
static uint64_t date_record(const struct drain *drain, const struct thread *thread, uint64_t ticks)
{
    const struct process *process = thread->process;
    uint64_t time_ns = round_time_ns(drain->round, ticks);
    if (process->gone_ns && time_ns > process->gone_ns)
        time_ns = process->gone_ns;
    return time_ns > process->mapped_ns ? time_ns : process->mapped_ns;
}

/* No thread can have used more CPU time than has passed. The weight is a number of the target, and
 * the sum of weights becomes the CPU time of the profile. */
static bool is_weight_possible(const struct drain *drain, const struct record_header *header)
{
    uint64_t passed_ns = drain->round->now_ns - round_first_ns(drain->round);
    return record_cpu_ns(header) <= passed_ns + WEIGHT_SLACK_NS;
}

/* Moves the object from the record's end to raw. False: the event has none, or lacks its own. */
static bool take_object(const struct record_header *header, struct raw_sample *raw)
{
    struct record_object object;
    bool has_object = header->flags & RECORD_OBJECT;
    if (has_object != recorders_event(header->event)->has_object)
        return false;
    if (!has_object)
        return true;
    if (raw->bytes < sizeof(*header) + sizeof(object))
        return false;
    raw->bytes -= sizeof(object);
    memcpy(&object, raw->record + raw->bytes, sizeof(object));
    raw->object = (struct sample_object){
        .avma = object.avma, .number = object.number, .code_avma = object.code_avma};
    return record_are_user_frames(&object.code_avma, 1);
}

static void take_record(void *context, const struct record_header *header, const uint8_t *record)
{
    struct drain *drain = ((struct source *)context)->drain;
    struct thread *thread = ((struct source *)context)->thread;
    uint64_t time_ns = date_record(drain, thread, header->ticks);
    /* Events of -e have a single row in a recording by signals: the main row. */
    bool is_known = header->event < RECORD_EVENTS ? recorders_event_is_of_target(header->event)
                                                  : header->event == drain->samples->main_row;
    if (!is_known || !is_weight_possible(drain, header)) {
        count_damaged(drain, 1);
        return;
    }
    if (time_ns > thread->last_ns)
        thread->last_ns = time_ns;
    struct raw_sample raw = {.process = thread->process,
                             .tid = thread->tid,
                             .time_ns = time_ns,
                             .record = record,
                             .bytes = header->bytes};
    if (!take_object(header, &raw)) {
        count_damaged(drain, 1);
        return;
    }
    if (thread_lifecycle_has(header->event))
        thread_lifecycle_translate(thread, header->event, &raw);
    switch (header->kind) {
    case RECORD_STACK:
    case RECORD_CHECK:
    case RECORD_COPY:
        pending_take(drain->pending, &raw);
        break;
    case RECORD_EXIT:
        take_exit(drain, thread, header, record, time_ns);
        break;
    case RECORD_NAME:
        count_damaged(drain, !thread_lifecycle_name(drain->threads, thread, &raw));
        break;
    default:
        count_damaged(drain, 1);
    }
}

static bool is_empty(const struct thread *thread)
{
    return load_acquire(&thread->shared->control.head) == thread->reader.tail;
}

/* Maps no ring without records: most short processes have none. Returns the bytes of records. */
static uint64_t drain_ring(struct drain *drain, struct thread *thread, uint64_t bytes_max)
{
    struct ring ring = {.control = &thread->shared->control};
    struct source source = {drain, thread};
    const struct ring_target target = {drain->scratch, take_record, &source};
    if (bytes_max == 0 || is_empty(thread))
        return 0;
    ring.data = target_memory_ring(thread->process->memory, thread->slot);
    if (!ring.data) { /* for good: the ring stays full, and the sampler counts the loss */
        thread->reader.tail = load_relaxed(&ring.control->head);
        return 0;
    }
    struct ring_read read = ring_read(&thread->reader, &ring, bytes_max, &target);
    count_damaged(drain, read.damaged);
    if (read.bytes > drain->fullest_bytes)
        drain->fullest_bytes = read.bytes;
    return read.taken;
}

static const enum record_loss loss_of_event[EVENT_LOSSES] = {
    [EVENT_LOST_RING_FULL] = RECORD_LOST_RING_FULL,
    [EVENT_LOST_BUSY] = RECORD_LOST_BUSY,
    [EVENT_LOST_AWAY] = RECORD_LOST_AWAY,
};

/* Adds the growth of the thread's counters to the summary. The slot is memory of the target: only
 * differences are used, and lost time is at most the time of the recording. */
static void take_counters(struct drain *drain, struct thread *thread)
{
    struct record_summary *summary = drain->samples->summary;
    struct thread_slot now;
    load_words(&now, &thread->shared->slot, sizeof(now));
    struct thread_slot *before = &thread->counted;
    if (memcmp(&now, before, sizeof(now)) == 0)
        return;
    summary->produced += now.produced - before->produced;
    summary->lost[RECORD_LOST_RING_FULL] += now.lost_ring_full - before->lost_ring_full;
    summary->lost[RECORD_LOST_BUSY] += now.lost_busy - before->lost_busy;
    summary->lost[RECORD_LOST_OTHER] += now.lost_crashing - before->lost_crashing;
    summary->lost[RECORD_LOST_AWAY] += now.lost_away - before->lost_away;
    summary->merged += now.merged - before->merged;
    for (enum event_loss cause = 0; cause < EVENT_LOSSES; cause++)
        summary->lost_events[loss_of_event[cause]] +=
            now.lost_events[cause] - before->lost_events[cause];
    for (uint32_t i = 0; i < HANDLER_BUCKETS; i++)
        drain->handler_ticks[i] += now.handler_ticks[i] - before->handler_ticks[i];
    if (now.handler_max_ticks > drain->handler_max_ticks)
        drain->handler_max_ticks = now.handler_max_ticks;
    uint64_t lost_ns = now.lost_weight_ns - before->lost_weight_ns;
    *before = now;
    if (lost_ns && lost_ns < drain->round->now_ns - round_first_ns(drain->round))
        sample_write_synthetic(drain->samples, thread->process, thread->tid, SYNTHETIC_LOST,
                               lost_ns, drain->round->now_ns);
}

/* Returns the bytes of records. */
static uint64_t drain_thread(struct drain *drain, struct thread *thread, uint64_t bytes_max)
{
    /* After an exec, the name is the next program's. */
    bool is_name_due = load_acquire(&thread->shared->slot.state) == THREAD_ACTIVE &&
                       !thread->process->has_ended && thread_name_is_due(drain->threads, thread);
    uint64_t taken = drain_ring(drain, thread, bytes_max);
    if (is_name_due) /* after names with an exact time */
        thread_refresh_name(drain->threads, thread);
    return taken;
}

/* May forget the thread. */
static void settle_thread(struct drain *drain, size_t i)
{
    struct thread *thread = thread_table_at(drain->threads, i);
    uint32_t state = load_acquire(&thread->shared->slot.state);
    take_counters(drain, thread);
    if ((state == THREAD_ENDED && is_empty(thread)) || thread->process->has_ended)
        thread_table_forget(drain->threads, i);
}

/* New threads first, so that their records of this round are read in this round. */
static void find_all(struct drain *drain)
{
    for (size_t i = 0; i < drain->processes->live_count; i++) {
        struct process *process = process_table_at(drain->processes, i);
        if (!process->has_left)
            process_drop_map_before(process);
        process->has_left = false;
        process->ring_bytes = process->taken_bytes = 0;
        thread_table_find_new(drain->threads, process);
    }
    kernel_samples_take(drain->kernel); /* before the last records of threads */
}

/* The contents as of now: records committed during the round are of the next one. A stated content
 * beyond a ring is none, see ring_read(). */
static void share_out(struct drain *drain)
{
    size_t count = 0;
    for (size_t i = 0; i < drain->threads->active_count; i++) {
        struct thread *thread = thread_table_at(drain->threads, i);
        uint64_t bytes = load_relaxed(&thread->shared->control.head) - thread->reader.tail;
        thread->due_bytes = bytes < SESSION_RING_BYTES ? bytes : SESSION_RING_BYTES;
        count += thread->process->ring_bytes == 0 && bytes > 0;
        thread->process->ring_bytes += thread->due_bytes;
    }
    uint64_t left = ROUND_BYTES > drain->round_bytes ? ROUND_BYTES - drain->round_bytes : 0;
    drain->part_bytes = drain->is_last ? UINT64_MAX : left / (count ? count : 1);
    drain->has_left = false;
}

/* Equal portions of the rings of a process with too much content. */
static void drain_share(struct drain *drain, struct thread *thread)
{
    struct process *process = thread->process;
    uint64_t taken = process->taken_bytes, part = drain->part_bytes;
    uint64_t bytes = thread->due_bytes, left = taken < part ? part - taken : 0;
    if (process->ring_bytes > part) {
        uint64_t portion = bytes * part / process->ring_bytes;
        bytes = portion > 0 || bytes == 0 ? portion : 1; /* a record */
        drain->has_left = process->has_left = true;
    }
    taken = drain_thread(drain, thread, bytes < left ? bytes : left);
    process->taken_bytes += taken;
    drain->round_bytes += taken;
}

/* From another thread in each round: a part ends with a whole record, so the last threads of a
 * process can have less. */
void drain_all(struct drain *drain)
{
    find_all(drain);
    share_out(drain);
    size_t count = drain->threads->active_count;
    for (size_t i = 0; i < count; i++)
        drain_share(drain, thread_table_at(drain->threads, (drain->first_thread + i) % count));
    drain->first_thread++;
    for (size_t i = count; i-- > 0;)
        settle_thread(drain, i);
}

/* Whole: the process ends, or its recording. */
void drain_process(struct drain *drain, struct process *process)
{
    thread_table_find_new(drain->threads, process);
    kernel_samples_take(drain->kernel);
    for (size_t i = drain->threads->active_count; i-- > 0;) {
        struct thread *thread = thread_table_at(drain->threads, i);
        if (thread->process != process)
            continue;
        drain_thread(drain, thread, UINT64_MAX);
        settle_thread(drain, i);
    }
}

/* The end of the bucket with the percentile: buckets are ranges of ticks (handler_bucket_end()). */
uint64_t drain_handler_percentile_ns(const struct drain *drain, unsigned per_cent)
{
    uint64_t total = 0, seen = 0;
    for (uint32_t i = 0; i < HANDLER_BUCKETS; i++)
        total += drain->handler_ticks[i];
    for (uint32_t i = 0; i < HANDLER_BUCKETS; i++) {
        seen += drain->handler_ticks[i];
        if (total && seen * 100 >= total * per_cent) {
            uint64_t bound = handler_bucket_end(i), longest = drain->handler_max_ticks;
            return tsc_span_ns(&drain->round->clock, bound < longest ? bound : longest);
        }
    }
    return 0;
}

uint64_t drain_handler_max_ns(const struct drain *drain)
{
    return tsc_span_ns(&drain->round->clock, drain->handler_max_ticks);
}
