/* SPDX-License-Identifier: MIT */
#include "convert/load/load_notes.h"

#include "base/budget.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Counters of 0 have no note. */
static void note_count(struct profile *profile, const char *key, uint64_t count)
{
    char text[24];
    if (count == 0)
        return;
    snprintf(text, sizeof(text), "%" PRIu64, count);
    profile_add_note(profile, key, text);
}

/* Since perf 6.1, losses are recorded at their time, for records of all kinds, and at the end
 * again, for samples of each event. Losses at the very end are in the second figure only. */
static uint64_t lost_in_all(const struct loader *loader)
{
    return loader->lost_records > loader->lost_samples ? loader->lost_records
                                                       : loader->lost_samples;
}

__attribute__((format(printf, 2, 3))) static void note_limit(struct profile *profile,
                                                             const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    profile_add_note(profile, "no_names", text);
}

static void add_limits(struct loader *loader)
{
    struct profile *profile = loader->profile;
    if (profile->overflow_count)
        note_limit(profile,
                   "the samples have more than %zu different addresses: the others are shown as "
                   "%s; raise the limit with %s=SIZE",
                   profile->address_limit, PROFILE_TOO_MANY, budget_option(BUDGET_ADDRESSES));
    if (loader->tasks.without_map)
        note_limit(profile,
                   "%" PRIu64 " forked processes inherit more than %" PRIu64
                   " mappings together: some have none; raise the limit with %s=SIZE",
                   loader->tasks.without_map, budget_amount(BUDGET_COPIED_MAPPINGS),
                   budget_option(BUDGET_COPIED_MAPPINGS));
}

static void add_step_limits(struct loader *loader)
{
    if (loader->samples.callchain.unwinder.without_steps)
        note_limit(loader->profile,
                   "the copied stacks have more than %" PRIu64 " frames together: %" PRIu64
                   " stacks are cut; raise the limit with %s=SIZE",
                   budget_amount(BUDGET_STEPS), loader->samples.callchain.unwinder.without_steps,
                   budget_option(BUDGET_STEPS));
    uint64_t refused = modules_refused_steps(&loader->modules);
    if (refused)
        note_limit(loader->profile,
                   "%" PRIu64 " frames of copied stacks are in functions with more unwind "
                   "instructions than the limit: callers may be missing",
                   refused);
}

static void add_jit_limit(struct loader *loader)
{
    if (loader->jits.sources.is_exceeded)
        note_limit(loader->profile,
                   "perf maps and jitdumps of more than %" PRIu64 " MiB or %" PRIu64
                   " pieces of code: some names are missing; raise the limit with %s=SIZE",
                   budget_amount(BUDGET_JIT_BYTES) >> 20, budget_amount(BUDGET_JIT_PIECES),
                   budget_option(BUDGET_JIT_BYTES));
}

void load_add_notes(struct loader *loader)
{
    struct profile *profile = loader->profile;
    const char *damage = perfdata_damage(loader->capture->reader);
    if (!damage && perfdata_is_unfinished(loader->capture->reader))
        damage = "the recording was not finished: records may be missing";
    if (damage)
        profile_add_note(profile, "damage", damage);
    if (loader->capture->has_unusable_store)
        profile_add_note(profile, "stored_names", "damaged or of another version: not used");
    add_limits(loader);
    add_step_limits(loader);
    add_jit_limit(loader);
    note_count(profile, "notes_left_out", profile->notes_left_out);
    note_count(profile, "lost_records", lost_in_all(loader));
    note_count(profile, "unknown_records", loader->unknown);
    note_count(profile, "processes_without_mappings", loader->tasks.without_map);
    const struct sample_unwinder *unwinder = &loader->samples.callchain.unwinder;
    note_count(profile, "unwound.complete", unwinder->complete);
    note_count(profile, "unwound.cut_at_the_copied_bytes", unwinder->truncated);
    note_count(profile, "unwound.lost", unwinder->lost);
}
