/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/off_summary.h"

#include <stdlib.h>

static void add_totals(const struct off_loop *loop, struct record_off_cpu *summary)
{
    const struct look_counts *looks = &loop->looks.counts;
    const struct off_sums *sums = &loop->waits.samples.sums;
    const struct left_out left_out = module_cache_left_out(loop->looks.modules.cache);
    summary->waiting_ns = sums->waiting_ns;
    summary->runnable_ns = sums->runnable_ns;
    summary->lost_ns = sums->lost_ns;
    summary->filled_ns = sums->filled_ns;
    summary->with_stack_ns = sums->with_stack_ns;
    summary->short_ns = sums->short_ns;
    summary->unseen_ns = sums->unseen_ns;
    summary->switches = loop->records.switches;
    summary->lost_records = loop->records.lost;
    summary->looks = looks->looks;
    summary->torn = looks->torn;
    summary->running = looks->running;
    summary->refused = looks->refused;
    summary->refused_programs = looks->refused_programs;
    summary->hanging = looks->hanging;
    summary->hanging_programs = looks->hanging_programs;
    summary->failed = looks->failed;
    summary->stackless = looks->stackless;
    summary->incomplete = looks->incomplete;
    summary->inferred = looks->inferred;
    summary->guessed = looks->guessed;
    summary->files_left_out = left_out.files;
    summary->tables_left_out = left_out.tables;
    summary->cpu_ns = loop->cpu_ns;
    summary->storm = loop->storm.switches;
    summary->start_storm = loop->storm.starts;
    summary->longest_interval_ns = loop->longest_ns;
}

/* Moves the texts into the summary. */
static void move_objects(struct off_objects *objects, struct record_off_cpu *summary)
{
    summary->objects = calloc(objects->count + 1, sizeof(*summary->objects));
    for (size_t i = 0; summary->objects && i < objects->count; i++) {
        struct off_object *object = &objects->objects[i];
        if (!object->text)
            break;
        summary->objects[i] = (struct record_wait_object){object->text, object->waited_ns};
        summary->object_count++;
        object->text = NULL;
    }
}

static void move_kernel_ranges(struct kernel_symbols *symbols, struct record_off_cpu *summary)
{
    summary->kernel = symbols->found;
    symbols->found = (struct kernel_ranges){0};
}

void off_summary_take(struct off_loop *loop, struct record_off_cpu *summary)
{
    add_totals(loop, summary);
    move_objects(&loop->waits.samples.objects, summary);
    move_kernel_ranges(&loop->looks.kernel.symbols, summary);
}
