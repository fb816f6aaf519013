/* SPDX-License-Identifier: MIT */
/*
 * Reads the rings. A ring is written by the target: each record is copied out before it is looked at, and
 * a ring that makes no sense is skipped to its head and counted.
 */
#include "record/collector_parts.h"

#include "record/identity.h"
#include "record/proc.h"
#include "wire/atomic.h"
#include "wire/ring.h"

#include <string.h>

/* A thread's name is looked up when it is new, then less and less often. */
#define NAME_FIRST_NS 5000000
#define NAME_FACTOR 8

static void set_name(struct collector *collector, struct thread_view *thread, const char name[16],
                     uint64_t time_ns)
{
    if (memcmp(thread->name, name, 16) == 0)
        return;
    memcpy(thread->name, name, 16);
    /* A round that began before the thread did reads its name, too: still a name needs its thread. */
    struct perfdata_task task = {.pid = (uint32_t)thread->image->pid,
                                 .tid = (uint32_t)thread->tid,
                                 .time_ns =
                                     time_ns > thread->start_ns ? time_ns : thread->start_ns};
    perfdata_write_comm(collector->writer, &task, name, false);
}

/* It is told at once, and its first map then says that it was there by now. */
static void want_map_of_exit(struct collector *collector, struct image *image, uint64_t time_ns)
{
    if (image->map)
        return;
    image_want_first_map(collector, image);
    bool is_first = image->unmapped_ns == 0 || time_ns < image->unmapped_ns;
    if (image->map_requests > 0 && is_first)
        image->unmapped_ns = time_ns;
}

static void take_exit(struct collector *collector, struct thread_view *thread,
                      const struct record_header *header, uint64_t time_ns)
{
    struct record_exit last;
    if (header->bytes != sizeof(*header) + sizeof(last))
        return;
    memcpy(&last, collector->scratch + sizeof(*header), sizeof(last));
    thread->has_exited = true;
    thread->image->ended_threads++;
    last.name[15] = '\0';
    char name[16] = {0};
    strcpy(name, last.name);
    set_name(collector, thread, name, time_ns);
    uint64_t skipped_ns = thread->skipped_ns;
    uint64_t weight_ns = header->weight_ns > skipped_ns ? header->weight_ns - skipped_ns : 0;
    if (weight_ns == 0 || collector->is_quiet)
        return;
    const uint64_t *root_avmas = thread->image->thread_root_avmas;
    uint64_t frames[1 + THREAD_ROOT_FRAMES] = {last.start_avma};
    memcpy(frames + 1, root_avmas, sizeof(frames) - sizeof(frames[0]));
    struct perfdata_sample sample = {
        .pid = (uint32_t)thread->image->pid,
        .tid = (uint32_t)thread->tid,
        .time_ns = time_ns,
        .weight_ns = weight_ns,
        .frames = frames,
        .frame_count = root_avmas[0] ? 1 + THREAD_ROOT_FRAMES : 1,
    };
    want_map_of_exit(collector, thread->image, time_ns);
    perfdata_write_sample(collector->writer, &sample);
    thread->image->seen_ns += weight_ns;
    collector->summary->cpu_seen_ns += weight_ns;
    stack_count_end(collector, weight_ns, collector->period_ns);
}

/* A first map is on its way, or the target could not walk: later. */
static void take_sample(struct collector *collector, const struct thread_view *thread,
                        const struct record_header *header, uint64_t time_ns)
{
    struct image *image = thread->image;
    if (!image->map)
        image_want_first_map(collector, image);
    bool needs_first_map = !image->map && image->map_requests > 0;
    if (header->kind == RECORD_COPY || needs_first_map)
        miss_add(collector, image, thread->tid, time_ns, collector->scratch, header->bytes);
    else
        stack_take(collector, image, image->map, thread->tid, time_ns, collector->scratch,
                   header->bytes);
}

/* One second more than the wall clock: nothing a thread does can weigh more. */
static bool is_sane(const struct collector *collector, const struct record_header *header)
{
    uint64_t most_ns = collector->round_ns - collector->clock.first.ns + 1000000000;
    return header->weight_ns <= most_ns;
}

static void take_record(struct collector *collector, struct thread_view *thread,
                        const struct record_header *header)
{
    uint64_t time_ns = collector_time_ns(collector, header->ticks);
    const struct image *image = thread->image;
    if (image->gone_ns && time_ns > image->gone_ns)
        time_ns = image->gone_ns; /* what its end is dated */
    if (time_ns < image->mapped_ns)
        time_ns = image->mapped_ns;
    if (!is_sane(collector, header)) {
        collector->summary->lost[RECORD_LOST_OTHER]++;
        return;
    }
    if (time_ns > thread->last_ns)
        thread->last_ns = time_ns;
    switch (header->kind) {
    case RECORD_STACK:
    case RECORD_CHECK:
    case RECORD_COPY:
        take_sample(collector, thread, header, time_ns);
        break;
    case RECORD_EXIT:
        take_exit(collector, thread, header, time_ns);
        break;
    default:
        collector->summary->lost[RECORD_LOST_OTHER]++;
    }
}

/* Copies the record at the thread's tail into scratch; false: the ring makes no sense. */
static bool copy_record(struct collector *collector, const struct thread_view *thread,
                        const struct ring *ring, uint64_t head, struct record_header *header)
{
    const uint8_t *data = ring->data;
    uint64_t at = ring_place(ring->control, thread->tail);
    uint64_t available = head - thread->tail;
    uint64_t to_end = SESSION_RING_BYTES - at;
    uint64_t most = available < to_end ? available : to_end;
    memset(header, 0, sizeof(*header));
    memcpy(header, data + at, most < sizeof(*header) ? (size_t)most : sizeof(*header));
    if (header->bytes == 0 || header->bytes % 8 != 0 || header->bytes > most)
        return false;
    if (header->kind == RECORD_PADDING)
        return true;
    if (header->bytes < sizeof(*header))
        return false;
    uint32_t bytes = header->bytes;
    memcpy(collector->scratch, data + at, bytes);
    memcpy(header, collector->scratch, sizeof(*header));
    return header->bytes == bytes; /* else it was changed meanwhile */
}

static void drain_ring(struct collector *collector, uint32_t index)
{
    struct thread_view *thread = &collector->threads[index];
    struct ring_control *control = &collector->session->rings->controls[index];
    const struct ring ring = {control, collector->session->rings->data[index]};
    uint64_t head = load_acquire(&control->head); /* everything before it is committed */
    if (head - thread->tail > SESSION_RING_BYTES || head % 8 != 0) {
        thread->tail = head;
        collector->summary->lost[RECORD_LOST_OTHER]++;
    }
    if (head - thread->tail > collector->fullest_bytes)
        collector->fullest_bytes = head - thread->tail;
    while (thread->tail != head) {
        struct record_header header;
        if (!copy_record(collector, thread, &ring, head, &header)) {
            collector->summary->lost[RECORD_LOST_OTHER]++;
            thread->tail = head;
            break;
        }
        thread->tail += header.bytes;
        if (header.kind != RECORD_PADDING)
            take_record(collector, thread, &header);
    }
    store_release(&control->tail, thread->tail); /* gives the space back */
}

static void count_thread(struct collector *collector, struct thread_view *thread, uint32_t index)
{
    struct record_summary *summary = collector->summary;
    struct thread_slot now;
    load_words(&now, &collector->session->rings->threads[index], sizeof(now));
    struct thread_slot *before = &thread->counted;
    summary->produced += now.produced - before->produced;
    summary->lost[RECORD_LOST_RING_FULL] += now.lost_ring_full - before->lost_ring_full;
    summary->lost[RECORD_LOST_BUSY] += now.lost_busy - before->lost_busy;
    summary->lost[RECORD_LOST_OTHER] += now.lost_crashing - before->lost_crashing;
    summary->lost[RECORD_LOST_AWAY] += now.lost_away - before->lost_away;
    summary->merged += now.merged - before->merged;
    for (int i = 0; i < HANDLER_BUCKETS; i++)
        collector->handler_ticks[i] += now.handler_ticks[i] - before->handler_ticks[i];
    if (now.handler_max_ticks > collector->handler_max_ticks)
        collector->handler_max_ticks = now.handler_max_ticks;
    uint64_t lost_ns = now.lost_weight_ns - before->lost_weight_ns;
    *before = now;
    if (lost_ns && lost_ns < collector->round_ns - collector->clock.first.ns)
        stack_write_synthetic(collector, thread->image, thread->tid, SYNTHETIC_LOST, lost_ns,
                              collector->round_ns);
}

/* One that is new has its parent's name, and its last record tells it. So it is looked up for who lives for a
 * while, and for the first samples. */
static bool wants_name(const struct collector *collector, const struct thread_view *thread,
                       uint32_t index)
{
    const struct ring_control *control = &collector->session->rings->controls[index];
    bool is_first = thread->name_wait_ns == NAME_FIRST_NS;
    return collector->round_ns >= thread->name_due_ns ||
           (is_first && load_relaxed(&control->head) != thread->tail);
}

static void look_up_name(struct collector *collector, struct thread_view *thread)
{
    char name[16] = {0};
    if (proc_name(thread->image->pid, thread->tid, name) == 0)
        set_name(collector, thread, name, collector->round_ns);
    thread->name_due_ns = collector->round_ns + thread->name_wait_ns;
    thread->name_wait_ns *= NAME_FACTOR;
}

static void free_slot(struct collector *collector, uint32_t index)
{
    struct ring_control *control = &collector->session->rings->controls[index];
    store_relaxed(&control->head, 0);
    store_relaxed(&control->base, 0);
    store_relaxed(&control->tail, 0);
    store_release(&collector->session->rings->threads[index].state, THREAD_FREE);
}

/* Most say when. One that was killed ended before this round looked; its records may be younger than the round. */
static uint64_t end_of_thread_ns(const struct collector *collector,
                                 const struct thread_view *thread)
{
    uint64_t end_ns = image_end_ns(collector, thread->image);
    if (thread->has_exited || thread->last_ns > end_ns)
        end_ns = thread->last_ns;
    return end_ns > thread->start_ns ? end_ns : thread->start_ns;
}

static void forget_thread(struct collector *collector, uint32_t index)
{
    struct thread_view *thread = &collector->threads[index];
    struct perfdata_task task = image_task(thread->image, thread->tid, thread->image->parent_pid,
                                           end_of_thread_ns(collector, thread));
    /* The main thread's end is that of its process, which writes it. */
    if (thread->tid != thread->image->pid)
        perfdata_write_exit(collector->writer, &task);
    thread->in_use = false;
    for (size_t i = 0; i < collector->active_count; i++)
        if (collector->active[i] == index)
            collector->active[i--] = collector->active[--collector->active_count];
    free_slot(collector, index);
}

static void drain_thread(struct collector *collector, uint32_t index)
{
    struct thread_view *thread = &collector->threads[index];
    uint32_t state = load_acquire(&collector->session->rings->threads[index].state);
    if (state == THREAD_ACTIVE && wants_name(collector, thread, index))
        look_up_name(collector, thread);
    drain_ring(collector, index);
    count_thread(collector, thread, index);
    if (state == THREAD_ENDED || thread->image->has_ended)
        forget_thread(collector, index);
}

static void adopt_thread(struct collector *collector, uint32_t index, struct image *image)
{
    const struct thread_slot *slot = &collector->session->rings->threads[index];
    struct thread_view *thread = &collector->threads[index];
    *thread = (struct thread_view){
        .in_use = true,
        .image = image,
        .tid = identity_of_thread(collector, image, slot),
        .start_ns = collector_time_ns(collector, load_relaxed(&slot->start_ticks)),
        .name_wait_ns = NAME_FIRST_NS,
        .name_due_ns = collector->round_ns + NAME_FIRST_NS,
    };
    collector->active[collector->active_count++] = index;
    if (thread->tid != image->pid || !image->follows_exec)
        collector->summary->threads++;
    memcpy(thread->name, image->name, sizeof(thread->name));
    if (thread->tid == image->pid)
        return;
    struct perfdata_task task = image_task(image, thread->tid, image->pid, thread->start_ns);
    perfdata_write_fork(collector->writer, &task);
}

/* Whose thread it is, as far as that is known. */
static struct image *image_of_thread(struct collector *collector, const struct thread_slot *slot)
{
    uint32_t process = load_relaxed(&slot->process);
    if (process >= SESSION_PROCESSES)
        return NULL;
    struct image *image = &collector->images[process];
    return image->in_use && image->stated_pid == (pid_t)load_relaxed(&slot->pid) ? image : NULL;
}

/* Threads announce themselves by a counter; then all slots are looked at. */
static void find_threads(struct collector *collector)
{
    const struct rings *rings = collector->session->rings;
    uint32_t started = load_acquire(&rings->header.threads_started);
    if (started == collector->threads_started)
        return;
    bool is_complete = true;
    uint32_t used = load_acquire(&rings->header.threads_used);
    for (uint32_t i = 0; i < used && i < SESSION_THREADS; i++) {
        const struct thread_slot *slot = &rings->threads[i];
        uint32_t state = load_acquire(&slot->state);
        if (collector->threads[i].in_use || (state != THREAD_ACTIVE && state != THREAD_ENDED))
            continue;
        struct image *image = image_of_thread(collector, slot);
        if (image)
            adopt_thread(collector, i, image);
        else if (state == THREAD_ENDED)
            free_slot(collector, i); /* of a process that is not followed */
        else
            is_complete = false; /* its process has not been answered yet */
    }
    if (is_complete)
        collector->threads_started = started;
}

void drain_all(struct collector *collector)
{
    find_threads(collector);
    for (size_t i = collector->active_count; i-- > 0;)
        drain_thread(collector, collector->active[i]);
}

void drain_image(struct collector *collector, const struct image *image)
{
    find_threads(collector);
    for (size_t i = collector->active_count; i-- > 0;) {
        uint32_t index = collector->active[i];
        if (collector->threads[index].image == image)
            drain_thread(collector, index);
    }
}

void drain_release_threads(struct collector *collector, uint32_t process, uint32_t pid)
{
    const struct rings *rings = collector->session->rings;
    uint32_t used = load_acquire(&rings->header.threads_used);
    for (uint32_t i = 0; i < used && i < SESSION_THREADS; i++) {
        const struct thread_slot *slot = &rings->threads[i];
        if (!collector->threads[i].in_use && load_relaxed(&slot->state) != THREAD_FREE &&
            load_relaxed(&slot->process) == process && load_relaxed(&slot->pid) == pid)
            free_slot(collector, i);
    }
}
