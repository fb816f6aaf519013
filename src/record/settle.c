/* SPDX-License-Identifier: MIT */
/*
 * Closing the accounts. What the kernel bills a process is the truth; samples cover it but for what no
 * signal can see:
 *
 *     0 ──────── constructor ──────────────────────────── last sample ──────── end
 *     │ exec, dynamic linking │ samples (their weights add up) │ teardown, the rest │
 *     └──── [exec and …] ─────┘                                └────── [exit] ──────┘
 *
 * A program that execs again without forking keeps its pid and its bill: the gap between what its last
 * image had and the new one's start is the new one's [exec and dynamic linking].
 */
#include "record/collector.h"

#include "record/proc.h"

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
    stack_write_synthetic(collector, image, image->pid, SYNTHETIC_EXEC, gap_ns, image->start_ns);
    image->seen_ns -= gap_ns; /* it lies before start_cpu_ns */
}

void settle_end(struct collector *collector, struct image *image, uint64_t end_ns)
{
    uint64_t cpu_ns = proc_cpu_ns(image->pid);
    /* Reaped already: what the event counted since. Not all of it: the event holds time that a hypervisor
     * or interrupts took (1 to 3 % more than the bill on a busy machine). */
    if (cpu_ns == 0 && image->armed.count)
        cpu_ns = image->counted_cpu_ns + arm_count_ns(&image->armed) - image->last_count_ns;
    if (cpu_ns > image->last_cpu_ns)
        image->last_cpu_ns = cpu_ns;
    uint64_t settled_ns = image->start_cpu_ns + image->seen_ns + image->waiting_ns;
    if (image->last_cpu_ns <= settled_ns)
        return;
    enum synthetic kind = image->engine == ENGINE_NONE ? SYNTHETIC_NOT_FOLLOWED : SYNTHETIC_EXIT;
    uint64_t rest_ns = image->last_cpu_ns - settled_ns;
    if (blind_settle(collector, image, rest_ns, end_ns))
        return;
    stack_write_synthetic(collector, image, image->pid, kind, rest_ns, end_ns);
    if (image->engine == ENGINE_NONE)
        images_add_cpu_not_followed(collector, image->pid, rest_ns);
}
