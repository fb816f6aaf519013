/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/waits/wait_samples.h"

/* stack NULL: only the frame, with a number. */
static void put(struct wait_samples *samples, const struct off_thread *thread,
                const struct wait_piece *piece, const struct look_stack *stack,
                enum wait_frame frame, uint64_t number)
{
    const uint64_t avma = wait_frame_avma(frame);
    size_t count = stack ? stack->frame_count : 1;
    struct off_entry entry = {
        .kind = OFF_ENTRY_SAMPLE,
        .pid = thread->process->pid,
        .tid = thread->tid,
        .time_ns = piece->start_ns,
        .since_ns = thread->file_ns,
        .program_ns = thread->process->program_ns,
        .sample = {.weight_ns = piece->end_ns - piece->start_ns,
                   .frame_count = (uint32_t)count,
                   .object_number = number},
    };
    if (stack) {
        entry.sample.kernel_count = stack->kernel_count;
        entry.sample.object_avma = stack->object_avma;
        entry.sample.object_number = stack->object_number;
    }
    if (piece->end_ns > piece->start_ns)
        off_queue_put(samples->queue, &entry, stack ? stack->frames : &avma, 8 * count);
}

static void put_frame(struct wait_samples *samples, const struct off_thread *thread,
                      const struct wait_piece *piece, enum wait_frame frame)
{
    put(samples, thread, piece, NULL, frame, 0);
}

/* stack NULL: not seen. */
static void put_wait(struct wait_samples *samples, const struct off_thread *thread,
                     const struct wait_piece *piece, const struct look_stack *stack)
{
    uint64_t length_ns = piece->end_ns - piece->start_ns;
    if (stack) {
        samples->sums.with_stack_ns += length_ns;
        off_objects_add(&samples->objects, stack->descriptor_object, length_ns);
        put(samples, thread, piece, stack, WAIT_FRAME_UNSEEN, 0);
    } else {
        samples->sums.unseen_ns += length_ns;
        put_frame(samples, thread, piece, WAIT_FRAME_UNSEEN);
    }
}

void wait_samples_cut(struct wait_samples *samples, struct off_thread *thread, uint64_t until_ns,
                      bool is_over, const struct look_stack *stack)
{
    struct wait_piece piece;
    while (wait_cut_next(&thread->cut, &samples->ticks, until_ns, is_over, &piece))
        put_wait(samples, thread, &piece, stack);
}

void wait_samples_share(struct wait_samples *samples, struct off_thread *thread)
{
    struct short_waits *shorts = &thread->shorts;
    for (size_t i = 0; i < shorts->count; i++) {
        struct wait_piece piece = {.start_ns = shorts->met[i].start_ns};
        piece.end_ns = piece.start_ns + short_waits_part_ns(shorts, i);
        put_wait(samples, thread, &piece, shorts->met[i].stack);
    }
    short_waits_clear(shorts);
}

void wait_samples_put_sum(struct wait_samples *samples, const struct off_thread *thread,
                          struct short_waits *shorts, enum wait_frame frame)
{
    const struct wait_piece piece = {shorts->since_ns, shorts->since_ns + shorts->sum_ns};
    put(samples, thread, &piece, NULL, frame, shorts->intervals);
    short_waits_clear(shorts);
}

void wait_samples_add_short_runnable(struct wait_samples *samples, struct off_thread *thread,
                                     uint64_t start_ns, uint64_t end_ns)
{
    samples->sums.runnable_ns += end_ns - start_ns;
    short_waits_add(&thread->runnable, start_ns, end_ns);
}

void wait_samples_add_runnable(struct wait_samples *samples, struct off_thread *thread,
                               uint64_t start_ns, uint64_t end_ns)
{
    const struct wait_piece piece = {start_ns, end_ns};
    if (end_ns - start_ns < 2 * samples->ticks.interval_ns) {
        wait_samples_add_short_runnable(samples, thread, start_ns, end_ns);
        return;
    }
    samples->sums.runnable_ns += end_ns - start_ns;
    put_frame(samples, thread, &piece, WAIT_FRAME_RUNNABLE);
}

/* thread->ready_ns: up to where earlier windows have written the interval. */
void wait_samples_put_runnable(struct wait_samples *samples, struct off_thread *thread,
                               uint64_t start_ns, uint64_t end_ns)
{
    struct wait_piece piece = {start_ns, end_ns};
    if (thread->ready_ns > start_ns)
        piece.start_ns = thread->ready_ns;
    if (piece.end_ns <= piece.start_ns)
        return;
    samples->sums.runnable_ns += piece.end_ns - piece.start_ns;
    put_frame(samples, thread, &piece, WAIT_FRAME_RUNNABLE);
    thread->ready_ns = end_ns;
}
