/* SPDX-License-Identifier: MIT */
#include "cli/diff/sides.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int sides_open(struct sides *sides, bool adds_samples_up)
{
    *sides = (struct sides){.merge = profile_merge_new(adds_samples_up)};
    return sides->merge ? 0 : -ENOMEM;
}

void sides_close(struct sides *sides)
{
    profile_merge_free(sides->merge);
    profile_free(sides->profile);
    free(sides->changes);
    free(sides->removed);
    *sides = (struct sides){0};
}

int sides_add(struct sides *sides, enum compare_side side, const struct profile *profile,
              uint32_t runs)
{
    const struct profile *sum = profile_merge_sum(sides->merge);
    uint32_t threads = (uint32_t)sum->thread_count, processes = (uint32_t)sum->process_count;
    bool is_first = side == COMPARE_BASE ? sides->diff.base_runs == 0 : sides->diff.new_runs == 0;
    int err = profile_merge_add(sides->merge, profile, runs);
    if (err)
        return err;
    if (side == COMPARE_BASE) {
        sides->diff.base_runs = runs;
        sides->base_product = is_first ? sum->product : sides->base_product;
    } else {
        sides->diff.new_runs = runs;
    }
    if (side == COMPARE_NEW && is_first) {
        sides->diff.first_new_thread = threads;
        sides->new_product =
            sum->process_count > processes ? sum->processes[processes].name : sides->base_product;
    }
    return 0;
}

/* app.old of the base becomes app.new: formats merge processes by name. */
static void rename_program(struct sides *sides)
{
    struct profile *profile = sides->profile;
    for (size_t i = 0; i < sides->diff.first_new_thread; i++) {
        struct profile_thread *thread = &profile->threads[i];
        struct profile_process *process = &profile->processes[thread->process];
        if (thread->name == sides->base_product)
            thread->name = sides->new_product;
        if (process->name == sides->base_product)
            process->name = sides->new_product;
    }
}

/* One run each: a difference beyond the sampling error counts as a change of colour. */
static bool is_shown(const struct comparison *comparison, const struct compare_row *row)
{
    bool is_beyond =
        (row->low > 0 || row->high < 0) && fabs(row->difference) >= comparison->threshold;
    return compare_is_change(row) || (row->verdict == COMPARE_SINGLE && is_beyond);
}

static uint8_t change_of(const struct comparison *comparison, const struct compare_row *row)
{
    if (!row || !is_shown(comparison, row))
        return EXPORT_SAME;
    return row->mean[COMPARE_BASE] > 0 ? EXPORT_CHANGED : EXPORT_ADDED;
}

static int list_removed(struct sides *sides, const struct comparison *comparison)
{
    sides->removed = calloc(comparison->row_count + 1, sizeof(*sides->removed));
    for (size_t i = 0; sides->removed && i < comparison->row_count; i++) {
        const struct compare_row *row = &comparison->rows[i];
        if (row->mean[COMPARE_NEW] > 0 || !is_shown(comparison, row))
            continue;
        sides->removed[sides->diff.removed_count++] =
            (struct export_removed){.name = comparison_text(comparison, row->name),
                                    .module = comparison_text(comparison, row->module),
                                    .weight = row->mean[COMPARE_BASE]};
    }
    sides->diff.removed = sides->removed;
    return sides->removed ? 0 : -ENOMEM;
}

static int mark_functions(struct sides *sides, const struct comparison *comparison)
{
    struct profile *profile = sides->profile;
    const struct compare_row **rows = calloc(profile->func_count + 1, sizeof(*rows));
    sides->changes = calloc(profile->func_count + 1, sizeof(*sides->changes));
    int err = rows && sides->changes ? comparison_unify(comparison, profile, rows) : -ENOMEM;
    for (size_t i = 0; i < profile->func_count && err == 0; i++)
        sides->changes[i] = change_of(comparison, rows[i]);
    free(rows);
    sides->diff.changes = sides->changes;
    sides->diff.of_total = comparison->settings.what == COMPARE_TOTAL;
    return err;
}

int sides_finish(struct sides *sides, const struct comparison *comparison)
{
    sides->profile = profile_merge_finish(sides->merge);
    int err = sides->profile ? mark_functions(sides, comparison) : -ENOMEM;
    if (err == 0)
        rename_program(sides);
    return err ? err : list_removed(sides, comparison);
}
