/* SPDX-License-Identifier: MIT */
/*
 * Closing the accounts. What the kernel bills a process is the truth; samples cover it but for what no
 * signal can see:
 *
 *     0 ──────── constructor ─────────────────────────────────────────────────── exit() ──── end
 *     │ exec, dynamic linking │ samples (their weights add up), less what none stands for │ teardown │
 *     └──── [exec and …] ─────┘                         └───── [between samples] ─────┘   └─ [exit] ─┘
 *
 * A program that execs again without forking keeps its pid and its bill: the gap between what its last
 * image had and the new one's start is the new one's [exec and dynamic linking].
 *
 * Of a process that somebody has waited for, the kernel says nothing any more. Who waited passes on the bill that
 * it got. Failing that (a parent without a sampler), there is what the event counted: since Linux 6.17 without
 * the taking down of the address space.
 */
#include "record/collector_parts.h"

#include "record/proc.h"
#include "wire/atomic.h"

/* Writes what the program used itself of a rest that no sample stands for; returns it. All of the rest when it did
 * not say where its own time ends. */
static uint64_t write_between(struct collector *collector, struct image *image, uint64_t rest_ns,
                              uint64_t settled_ns, uint64_t time_ns)
{
    const struct process_slot *slot = image_slot(collector, image);
    uint64_t end_cpu_ns = load_relaxed(&slot->end_cpu_ns);
    uint64_t own_ns = end_cpu_ns > settled_ns ? end_cpu_ns - settled_ns : 0;
    uint64_t between_ns = end_cpu_ns == 0 || own_ns > rest_ns ? rest_ns : own_ns;
    stack_write_synthetic(collector, image, image->pid, SYNTHETIC_BETWEEN, between_ns, time_ns);
    return between_ns;
}

void settle_start(struct collector *collector, struct image *image, struct image *before,
                  uint64_t earlier_ns)
{
    uint64_t settled_ns = earlier_ns;
    if (before)
        settled_ns += before->start_cpu_ns + before->seen_ns + before->waiting_ns;
    if (image->start_cpu_ns <= settled_ns)
        return;
    uint64_t gap_ns = image->start_cpu_ns - settled_ns;
    if (before && before->engine == ENGINE_NONE) {
        stack_write_synthetic(collector, before, image->pid, SYNTHETIC_NOT_FOLLOWED, gap_ns,
                              image->start_ns - 1);
        images_add_cpu_not_followed(collector, image->pid, before->seen_ns);
        return;
    }
    if (before && blind_settle(collector, before, gap_ns, image->start_ns - 1))
        return;
    if (before)
        gap_ns -= write_between(collector, before, gap_ns, settled_ns, image->start_ns - 1);
    stack_write_synthetic(collector, image, image->pid, SYNTHETIC_EXEC, gap_ns, image->start_ns);
    image->seen_ns -= gap_ns; /* it lies before start_cpu_ns */
}

/* What was passed on, without the children that the process had waited for itself. 0: nothing that can be
 * true, as both numbers are what targets say. */
static uint64_t passed_on_ns(const struct collector *collector, const struct image *image)
{
    const struct process_slot *slot = image_slot(collector, image);
    uint64_t bill_ns = load_acquire(&slot->bill_ns);
    uint64_t children_ns = load_relaxed(&slot->children_ns);
    uint64_t own_ns = bill_ns > children_ns ? bill_ns - children_ns : 0;
    uint64_t since_look_ns = monotonic_ns() - image->looked_ns;
    uint64_t most_ns = image->last_cpu_ns + since_look_ns * collector->processors;
    return own_ns < most_ns ? own_ns : 0;
}

/* What the event holds is not the bill: it has time that a hypervisor or interrupts took, too (1 to 3 % more on
 * a busy machine). So it only stands for what came after the last look at it. */
static uint64_t counted_ns(const struct image *image)
{
    if (image->armed.count == 0)
        return 0;
    return image->counted_cpu_ns + arm_count_ns(&image->armed) - image->last_count_ns;
}

/* The bill that was passed on first: the pid may be another process' by now. */
static uint64_t bill_ns(const struct collector *collector, const struct image *image)
{
    uint64_t passed_ns = passed_on_ns(collector, image);
    return passed_ns ? passed_ns : proc_cpu_ns(image->pid);
}

bool settle_has_bill(const struct collector *collector, const struct image *image)
{
    return bill_ns(collector, image) != 0;
}

/* It executed something that did not ask to be recorded, and was gone before anybody saw it. */
static bool became_stranger(const struct collector *collector, const struct image *image)
{
    const struct process_slot *slot = image_slot(collector, image);
    return load_relaxed(&slot->end_cpu_ns) != 0 && load_relaxed(&slot->end_is_exec) != 0;
}

void settle_end(struct collector *collector, struct image *image, uint64_t end_ns)
{
    uint64_t cpu_ns = bill_ns(collector, image);
    if (cpu_ns == 0)
        cpu_ns = counted_ns(image);
    if (cpu_ns > image->last_cpu_ns)
        image->last_cpu_ns = cpu_ns;
    uint64_t settled_ns = image->start_cpu_ns + image->seen_ns + image->waiting_ns;
    if (image->last_cpu_ns <= settled_ns)
        return;
    uint64_t rest_ns = image->last_cpu_ns - settled_ns;
    if (blind_settle(collector, image, rest_ns, end_ns))
        return;
    if (image->engine == ENGINE_NONE) {
        stack_write_synthetic(collector, image, image->pid, SYNTHETIC_NOT_FOLLOWED, rest_ns,
                              end_ns);
        images_add_cpu_not_followed(collector, image->pid, rest_ns);
        return;
    }
    rest_ns -= write_between(collector, image, rest_ns, settled_ns, end_ns);
    enum synthetic after =
        became_stranger(collector, image) ? SYNTHETIC_NOT_FOLLOWED : SYNTHETIC_EXIT;
    stack_write_synthetic(collector, image, image->pid, after, rest_ns, end_ns);
}
