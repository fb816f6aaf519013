/* SPDX-License-Identifier: MIT */
/*
 * The samples of a thread, as columns.
 *
 * The format has one weight a sample. Weights:
 *
 *     CPU time   in periods, with six decimals, so that all sums stay true to the recording's CPU
 *                time. The column is null when every sample is exactly one period (then the
 *                front-end also computes traced time).
 *     off CPU    in ms
 *     the rest   counts, as they are
 *
 * Browsers fail to open much more than LARGEST_BYTES. Of a recording that would be larger, every `thinning`
 * neighbouring samples of a thread become one row: the stack and time of one of them, each with a chance
 * by its weight, and the weight of all.
 */
#include "export/firefox/firefox.h"

#include "base/hash.h"
#include "profile/walk.h"

enum {
    LARGEST_BYTES = 200000000,
    SOON = 8, /* while so many rows are written, memory answers */
};

uint32_t export_firefox_thinning(const struct profile *profile)
{
    enum {
        SAMPLE_BYTES = 28,
        STACK_BYTES = 10,
        FRAME_BYTES = 60,
        SMALLEST_SHARE = LARGEST_BYTES / 4
    };
    uint64_t tables =
        profile->stack_count * (uint64_t)STACK_BYTES + profile->frame_count * (uint64_t)FRAME_BYTES;
    uint64_t share =
        tables < LARGEST_BYTES - SMALLEST_SHARE ? LARGEST_BYTES - tables : SMALLEST_SHARE;
    return (uint32_t)(1 + profile->sample_count * (uint64_t)SAMPLE_BYTES / share);
}

struct row { /* of the samples table */
    struct profile_sample shown;
    uint64_t weight;
};

struct row_reader {
    struct sample_reader samples;
    uint32_t thinning;
    bool is_shown;  /* else the rows' weights are all that matters */
    uint64_t count; /* rows read */
};

static struct row_reader read_rows(const struct firefox *firefox, const struct firefox_event *rows,
                                   const struct thread_view *view)
{
    const struct profile_list *list = profile_list_of(firefox->profile, view->thread, rows->index);
    return (struct row_reader){.samples = profile_read_list(list), .thinning = firefox->thinning};
}

static size_t row_count(const struct firefox *firefox, const struct thread_view *view)
{
    return view->sample_count / firefox->thinning + (view->sample_count % firefox->thinning != 0);
}

/* Of the samples that weigh row->weight together, from row->shown on, the one that is shown. */
static void choose(struct sample_reader samples, uint64_t number, struct row *row)
{
    uint64_t chance = hash_word(number) % row->weight;
    while (chance >= row->shown.weight && sample_reader_next(&samples)) {
        chance -= row->shown.weight;
        row->shown = samples.sample;
    }
}

static void add_neighbours(struct row_reader *reader, struct row *row)
{
    const struct sample_reader second = reader->samples;
    for (uint32_t i = 1; i < reader->thinning && sample_reader_next(&reader->samples); i++)
        row->weight += reader->samples.sample.weight;
    if (reader->is_shown && row->weight)
        choose(second, reader->count, row);
}

static bool next_row(struct row_reader *reader, struct row *row)
{
    if (!sample_reader_next(&reader->samples))
        return false;
    *row = (struct row){reader->samples.sample, reader->samples.sample.weight};
    reader->count++;
    if (reader->thinning > 1)
        add_neighbours(reader, row);
    return true;
}

/* a / b in millionths, rounded; no overflow below a period of five hours. */
static uint64_t ratio_millionths(uint64_t a, uint64_t b)
{
    return a / b * 1000000 + (a % b * 1000000 + b / 2) / b;
}

/* Tells memory of the stack of the row that comes SOON. */
static void expect_stack(const struct firefox *firefox, struct row_reader *ahead)
{
    struct row row;
    if (next_row(ahead, &row))
        profile_expect_stack(firefox->profile, row.shown.call);
}

static void write_stack_column(struct firefox *firefox, struct row_reader reader)
{
    reader.is_shown = true;
    struct row_reader ahead = reader;
    for (int i = 0; i < SOON; i++)
        expect_stack(firefox, &ahead);
    json_key(firefox->out, "stack");
    json_open(firefox->out, '[');
    for (struct row row; next_row(&reader, &row);) {
        expect_stack(firefox, &ahead);
        uint32_t stack = profile_stack_of(firefox->profile, row.shown.call);
        if (stack == PROFILE_NONE)
            json_null(firefox->out);
        else
            json_unsigned(firefox->out, stack);
    }
    json_close(firefox->out, ']');
}

/* The first delta counts from the start of the recording. Never negative, also if clocks disagreed.
 */
static void write_time_column(struct firefox *firefox, struct row_reader reader)
{
    uint64_t before_ns = firefox->profile->start_ns;
    reader.is_shown = true;
    json_key(firefox->out, "timeDeltas");
    json_open(firefox->out, '[');
    for (struct row row; next_row(&reader, &row);) {
        uint64_t time_ns = row.shown.time_ns < before_ns ? before_ns : row.shown.time_ns;
        json_millionths(firefox->out, time_ns - before_ns);
        before_ns = time_ns;
    }
    json_close(firefox->out, ']');
}

static void write_weight(struct firefox *firefox, const struct firefox_event *rows, uint64_t weight)
{
    if (rows->is_cpu_time)
        json_millionths(firefox->out, ratio_millionths(weight, rows->period));
    else if (rows->event.unit == PROFILE_NANOSECONDS)
        json_millionths(firefox->out, weight);
    else
        json_unsigned(firefox->out, weight);
}

static void write_weight_column(struct firefox *firefox, const struct firefox_event *rows,
                                struct row_reader reader)
{
    json_member_string(firefox->out, "weightType",
                       rows->event.is_off_cpu ? "tracing-ms" : "samples");
    if (rows->is_cpu_time && rows->is_uniform && firefox->thinning == 1) {
        json_member_null(firefox->out, "weight");
        return;
    }
    json_key(firefox->out, "weight");
    json_open(firefox->out, '[');
    for (struct row row; next_row(&reader, &row);)
        write_weight(firefox, rows, row.weight);
    json_close(firefox->out, ']');
}

/* CPU time since the thread's sample before: that is what a sample's weight is, of a clock. */
static void write_cpu_column(struct firefox *firefox, const struct firefox_event *rows,
                             struct row_reader reader)
{
    json_key(firefox->out, "threadCPUDelta");
    json_open(firefox->out, '[');
    for (struct row row; next_row(&reader, &row);) {
        if (rows->is_cpu_time)
            json_unsigned(firefox->out, row.weight);
        else if (rows->event.is_off_cpu)
            json_unsigned(firefox->out, 0);
        else
            json_null(firefox->out);
    }
    json_close(firefox->out, ']');
}

void firefox_write_samples(struct firefox *firefox, const struct firefox_event *rows,
                           const struct thread_view *view)
{
    const struct row_reader reader = read_rows(firefox, rows, view);
    json_key(firefox->out, "samples");
    json_open(firefox->out, '{');
    json_member_unsigned(firefox->out, "length", row_count(firefox, view));
    write_stack_column(firefox, reader);
    write_time_column(firefox, reader);
    write_weight_column(firefox, rows, reader);
    write_cpu_column(firefox, rows, reader);
    json_close(firefox->out, '}');
}
