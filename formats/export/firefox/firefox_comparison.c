/* SPDX-License-Identifier: MIT */
/*
 * The track "comparison" of a difference, as in the front-end's own comparison of two profiles: a
 * row for each stack of a side, with a negative weight for the base. The front-end adds the rows up
 * in the call tree. Rows have no time of their own: all are at the start.
 */
#include "export/firefox/firefox.h"

#include "profile/walk.h"

#include <stdlib.h>

struct stack_weights { /* by stack of the model */
    uint64_t *sides[2];
    size_t rows;
};

/* 0 on success. */
static int add_up(const struct firefox *firefox, struct stack_weights *weights)
{
    const struct profile *profile = firefox->profile;
    struct profile_walk walk = profile_walk_all(profile);
    for (int side = 0; side < 2; side++)
        weights->sides[side] = calloc(profile->stack_count + 1, sizeof(uint64_t));
    if (!weights->sides[0] || !weights->sides[1])
        return -1;
    for (const struct profile_sample *sample; (sample = profile_walk_next(&walk));)
        if (profile_is_main(profile, sample) && sample->stack != PROFILE_NONE) {
            bool is_base = export_is_base(firefox->options->diff, sample->thread);
            weights->sides[is_base ? 0 : 1][sample->stack] += sample->weight;
        }
    for (size_t i = 0; i < profile->stack_count; i++)
        weights->rows += (size_t)(weights->sides[0][i] != 0) + (weights->sides[1][i] != 0);
    return 0;
}

static void write_stacks(struct firefox *firefox, const struct stack_weights *weights)
{
    json_key(firefox->out, "stack");
    json_open(firefox->out, '[');
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < firefox->profile->stack_count; i++)
            if (weights->sides[side][i])
                json_unsigned(firefox->out, i);
    json_close(firefox->out, ']');
}

static void write_zeros(struct firefox *firefox, const char *key, size_t count)
{
    json_key(firefox->out, key);
    json_open(firefox->out, '[');
    for (size_t i = 0; i < count; i++)
        json_unsigned(firefox->out, 0);
    json_close(firefox->out, ']');
}

static void write_signed(struct buffer *out, bool is_negative, bool is_ms, uint64_t weight)
{
    struct buffer text = {0};
    if (is_negative)
        buffer_text(&text, "-");
    if (is_ms)
        buffer_printf(&text, "%llu.%06llu", (unsigned long long)(weight / 1000000),
                      (unsigned long long)(weight % 1000000));
    else
        buffer_printf(&text, "%llu", (unsigned long long)weight);
    json_spelled(out, text.bytes, text.size);
    out->failed |= text.failed;
    buffer_free(&text);
}

static void write_weights(struct firefox *firefox, const struct stack_weights *weights)
{
    bool is_ms = profile_main_event(firefox->profile).unit == PROFILE_NANOSECONDS;
    json_member_string(firefox->out, "weightType", is_ms ? "tracing-ms" : "samples");
    json_key(firefox->out, "weight");
    json_open(firefox->out, '[');
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < firefox->profile->stack_count; i++)
            if (weights->sides[side][i])
                write_signed(firefox->out, side == 0, is_ms, weights->sides[side][i]);
    json_close(firefox->out, ']');
}

static void write_samples(struct firefox *firefox)
{
    struct stack_weights weights = {0};
    if (add_up(firefox, &weights) != 0) {
        firefox->texts.failed = true;
    } else {
        json_key(firefox->out, "samples");
        json_open(firefox->out, '{');
        write_stacks(firefox, &weights);
        write_zeros(firefox, "timeDeltas", weights.rows);
        write_weights(firefox, &weights);
        write_zeros(firefox, "threadCPUDelta", weights.rows);
        json_member_unsigned(firefox->out, "length", weights.rows);
        json_close(firefox->out, '}');
    }
    free(weights.sides[0]);
    free(weights.sides[1]);
}

void firefox_write_comparison(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    struct buffer *out = firefox->out;
    json_open(out, '{');
    json_member_string(out, "processType", "comparison");
    json_member_string(out, "processName", "comparison");
    json_member_string(out, "name", "after - before, for each run");
    json_member_bool(out, "isMainThread", true);
    json_member_string(out, "pid", "comparison");
    json_member_unsigned(out, "tid", 0);
    firefox_member_time(firefox, "processStartupTime", profile->start_ns);
    json_member_null(out, "processShutdownTime");
    firefox_member_time(firefox, "registerTime", profile->start_ns);
    json_member_null(out, "unregisterTime");
    json_key(out, "pausedRanges");
    json_open(out, '[');
    json_close(out, ']');
    write_samples(firefox);
    firefox_write_markers(firefox, PROFILE_NONE);
    json_close(out, '}');
}
