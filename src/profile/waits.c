/* SPDX-License-Identifier: MIT */
/*
 * Waits are joined in one pass, with a second reader ahead of the first:
 *
 *     samples     a1   s1   a2   s2   a3   b       a1…a3: one wait, end to end; s: of sums
 *     find_end()  ├──────────────────▶┤            at a1: to the end of a3, past s1 and s2
 *     waits       a1+a2+a3, s1, s2, b              a2 and a3 are skipped where they lie
 *
 * No sample inside the latest wait starts a look ahead: sums are not joined, and the others belong
 * to the wait. So the samples of a long wait are read twice, not once for each of them.
 */
#include "profile/waits.h"

#include "base/containers/array.h"
#include "profile/metric.h"
#include "profile/walk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char prefix[] = "[waiting: ";

struct profile_wait_reason wait_reason_of_name(const char *name)
{
    struct profile_wait_reason reason = {PROFILE_WAIT_UNKNOWN, "unknown"};
    size_t length = strlen(name);
    if (strcmp(name, WAITS_RUNNABLE) == 0) {
        reason = (struct profile_wait_reason){PROFILE_RUNNABLE, "runnable"};
    } else if (strcmp(name, WAITS_SHORT) == 0) {
        reason = (struct profile_wait_reason){PROFILE_SHORT_WAITS, "short waits"};
    } else if (strncmp(name, prefix, sizeof(prefix) - 1) == 0 && length > sizeof(prefix) &&
               name[length - 1] == ']') {
        reason.kind = PROFILE_WAITING;
        snprintf(reason.text, sizeof(reason.text), "%.*s", (int)(length - sizeof(prefix)),
                 name + sizeof(prefix) - 1);
    }
    return reason;
}

/* NULL: the leaf is code, or there is none. */
static const char *leaf_name(const struct profile *profile, uint32_t call)
{
    if (call == PROFILE_NONE)
        return NULL;
    uint32_t lib = profile->addresses[profile->calls[call].address].lib;
    bool is_synthetic = lib != PROFILE_NONE && profile->libs[lib].is_synthetic;
    return is_synthetic ? profile_text(profile, profile->libs[lib].name) : NULL;
}

struct profile_wait_reason wait_reason_of_call(const struct profile *profile, uint32_t call)
{
    const char *name = leaf_name(profile, call);
    return wait_reason_of_name(name ? name : "");
}

bool wait_reason_is_lib(const struct profile *profile, uint32_t lib)
{
    if (lib == PROFILE_NONE || !profile->libs[lib].is_synthetic)
        return false;
    const char *name = profile_text(profile, profile->libs[lib].name);
    return strcmp(name, WAITS_UNKNOWN) == 0 ||
           wait_reason_of_name(name).kind != PROFILE_WAIT_UNKNOWN;
}

struct profile_waits profile_waits_of(const struct profile *profile, uint32_t thread)
{
    uint32_t event = profile_metric_event(profile, PROFILE_OFF_CPU);
    struct profile_waits waits = {.samples =
                                      profile_read_list(profile_list_of(profile, thread, event))};
    waits.has_sample = sample_reader_next(&waits.samples);
    return waits;
}

static bool advance(struct profile_waits *waits)
{
    return waits->has_sample = sample_reader_next(&waits->samples);
}

/* Steps over the samples that belong to the latest wait. */
static void skip_joined(struct profile_waits *waits)
{
    const struct profile_sample *sample = &waits->samples.sample;
    while (waits->has_sample && sample->time_ns < waits->end_ns &&
           sample->time_ns == waits->next_ns && sample->call == waits->call) {
        waits->next_ns += sample->weight;
        advance(waits);
    }
}

/* The end of the wait that begins with this sample. */
static uint64_t find_end(struct sample_reader ahead)
{
    const struct profile_sample first = ahead.sample;
    uint64_t end_ns = first.time_ns + first.weight;
    while (sample_reader_next(&ahead) && ahead.sample.time_ns <= end_ns)
        if (ahead.sample.call == first.call && ahead.sample.time_ns == end_ns)
            end_ns += ahead.sample.weight;
    return end_ns;
}

bool profile_waits_next(struct profile_waits *waits, struct profile_wait *wait)
{
    const struct profile_sample *sample = &waits->samples.sample;
    skip_joined(waits);
    if (!waits->has_sample)
        return false;
    *wait = (struct profile_wait){sample->time_ns, sample->weight, sample->thread, sample->call};
    uint64_t sample_end_ns = profile_wait_end(wait);
    uint64_t end_ns = sample->time_ns >= waits->end_ns ? find_end(waits->samples) : 0;
    if (end_ns > sample_end_ns) {
        wait->length_ns = end_ns - wait->start_ns;
        waits->call = sample->call;
        waits->next_ns = sample_end_ns;
        waits->end_ns = end_ns;
    }
    advance(waits);
    return true;
}
