/* SPDX-License-Identifier: MIT */
/*
 * The samples of a thread, as columns. Weights and rows:
 *
 *     CPU time          ms with six decimals, so sums are exact; a row for each period
 *                       (period_rows.h)
 *     off-CPU and wall  ms; rows where stacks change (interval_rows.h)
 *     the rest          counts as they are; a row for each sample
 *
 * Browsers fail to open files far above LARGEST_BYTES. In a larger recording, `thinning`
 * neighbouring rows of a thread become a single row: the sum of their weights, the time of the
 * last, and the stack of a row chosen with a probability proportional to its weight.
 */
#include "export/firefox/firefox.h"

#include "base/containers/hash.h"
#include "export/firefox/interval_rows.h"
#include "export/firefox/period_rows.h"
#include "profile/walk.h"

enum {
    LARGEST_BYTES = 200000000,
    SOON = 8, /* while so many rows are written, memory answers */
};

struct row { /* of the samples table */
    uint64_t time_ns;
    uint64_t weight;
    uint32_t call;
    bool has_stack;
    bool has_cpu_delta;
    uint64_t cpu_delta_ns; /* of rows of intervals */
};

struct row_reader {
    struct sample_reader samples;
    struct period_rows rows;
    struct row_run run; /* of the sample read last */
    uint64_t taken;     /* rows of the run */
    uint64_t thinning;
    bool is_shown;   /* the stacks are needed */
    bool is_uniform; /* all rows weigh a period */
    uint64_t choices;
    const struct firefox *intervals_of; /* NULL: rows of periods or samples */
    struct interval_rows intervals;
    bool is_finished; /* no interval follows */
    uint64_t end_ns;  /* of the last interval */
};

/* Rows do not precede the thread's start, unless samples do. */
static struct row_reader read_periods(const struct profile *profile,
                                      const struct profile_list *list, uint64_t period,
                                      uint64_t thinning)
{
    uint64_t start_ns = profile->start_ns;
    if (list) {
        uint64_t thread_ns = profile->threads[list->thread].start_ns;
        if (thread_ns > start_ns && thread_ns <= list->samples.first_ns)
            start_ns = thread_ns;
    }
    bool is_uniform = list && thinning == 1 && list->samples.least_weight == period &&
                      list->samples.most_weight == period;
    return (struct row_reader){.samples = profile_read_list(list),
                               .rows = period_rows_start(period, start_ns),
                               .thinning = thinning,
                               .is_uniform = is_uniform};
}

/* The next sample's rows; false: no sample is left. */
static bool next_run(struct row_reader *reader)
{
    if (!sample_reader_next(&reader->samples))
        return false;
    const struct profile_sample *sample = &reader->samples.sample;
    reader->run = period_rows_add(&reader->rows, sample->time_ns, sample->weight);
    reader->taken = 0;
    return true;
}

/* Replaces the stack with probability part / whole: reservoir sampling by weight. */
static void choose(struct row_reader *reader, struct row *row, uint64_t part)
{
    if (row->weight == part ||
        (reader->is_shown && hash_word(++reader->choices) % row->weight < part))
        row->call = reader->samples.sample.call;
}

static bool has_run(struct row_reader *reader)
{
    return reader->taken < reader->run.count || next_run(reader);
}

static bool next_period(struct row_reader *reader, struct row *row)
{
    if (!has_run(reader))
        return false;
    *row = (struct row){.time_ns = row_run_time(&reader->run, reader->taken),
                        .weight = row_run_weight(&reader->run, reader->taken, reader->taken + 1),
                        .call = reader->samples.sample.call,
                        .has_stack = true};
    reader->taken++;
    return true;
}

static bool next_thinned(struct row_reader *reader, struct row *row)
{
    *row = (struct row){.call = PROFILE_NONE, .has_stack = true};
    uint64_t missing = reader->thinning;
    while (missing > 0 && has_run(reader)) {
        uint64_t left = reader->run.count - reader->taken;
        uint64_t end = reader->taken + (left < missing ? left : missing);
        uint64_t part = row_run_weight(&reader->run, reader->taken, end);
        missing -= end - reader->taken;
        reader->taken = end;
        row->weight += part;
        row->time_ns = row_run_time(&reader->run, end - 1);
        choose(reader, row, part);
    }
    return missing < reader->thinning;
}

/* A sample of CPU time is at the end of its time, a wait at the start. */
static void add_interval(struct row_reader *reader)
{
    const struct profile_sample *sample = &reader->samples.sample;
    struct interval interval = {.start_ns = sample->time_ns,
                                .end_ns = sample->time_ns + sample->weight,
                                .weight = sample->weight,
                                .call = sample->call};
    if (!firefox_is_wait(reader->intervals_of, sample->call)) {
        uint64_t gap_ns = sample->time_ns > reader->end_ns ? sample->time_ns - reader->end_ns : 0;
        interval.start_ns -= sample->weight < gap_ns ? sample->weight : gap_ns;
        interval.end_ns = sample->time_ns;
        interval.is_cpu = true;
    } else {
        const struct profile_wait wait = {sample->time_ns, sample->weight, sample->thread,
                                          sample->call};
        interval.is_sum = firefox_is_sum(reader->intervals_of, &wait);
    }
    reader->end_ns = interval.end_ns;
    interval_rows_add(&reader->intervals, &interval);
}

static bool next_interval(struct row_reader *reader, struct row *row)
{
    struct interval_row made;
    while (!interval_rows_next(&reader->intervals, &made)) {
        if (reader->is_finished)
            return false;
        reader->is_finished = !sample_reader_next(&reader->samples);
        if (reader->is_finished)
            interval_rows_finish(&reader->intervals);
        else
            add_interval(reader);
    }
    *row = (struct row){.time_ns = made.time_ns,
                        .weight = made.weight,
                        .call = made.call,
                        .has_stack = made.has_stack,
                        .has_cpu_delta = made.has_cpu_delta,
                        .cpu_delta_ns = made.cpu_delta_ns};
    return true;
}

static bool next_row(struct row_reader *reader, struct row *row)
{
    if (reader->intervals_of)
        return next_interval(reader, row);
    return reader->thinning == 1 ? next_period(reader, row) : next_thinned(reader, row);
}

/* Thinned rows are too far apart to show single waits. */
static struct row_reader read_rows(const struct firefox *firefox, const struct firefox_event *rows,
                                   uint32_t thread)
{
    const struct profile *profile = firefox->profile;
    const struct profile_list *list = profile_list_of(profile, thread, rows->index);
    struct row_reader reader = read_periods(profile, list, rows->period, firefox->thinning);
    bool has_intervals = rows->event.is_off_cpu || rows->event.is_wall;
    if (has_intervals && firefox->thinning == 1) {
        reader.intervals_of = firefox;
        reader.end_ns = profile->start_ns;
        reader.is_uniform = false;
    }
    return reader;
}

/* Saturates. At most a row for each sample and a row for each period; of an interval three. */
static uint64_t most_rows(const struct profile *profile, const struct profile_list *list,
                          uint64_t period)
{
    const struct profile_event event = firefox_event_of(profile, list->event);
    uint64_t rows = period ? list->samples.weight / period : 0;
    uint64_t of_samples = list->samples.count * (event.is_off_cpu || event.is_wall ? 3 : 1);
    return __builtin_add_overflow(rows, of_samples, &rows) ? UINT64_MAX : rows;
}

static uint64_t count_rows(const struct profile *profile, const struct profile_list *list,
                           uint64_t period)
{
    uint64_t rows = 0;
    struct row_reader reader = read_periods(profile, list, period, 1);
    while (next_run(&reader))
        if (__builtin_add_overflow(rows, reader.run.count, &rows))
            return UINT64_MAX;
    return rows;
}

/* Of all events. Saturates; counting exactly reads all samples. */
static uint64_t rows_of_all(const struct profile *profile, bool is_exact)
{
    uint64_t rows = 0;
    for (uint32_t event = 0; event == 0 || event < profile->event_count; event++) {
        uint64_t period = firefox_row_period(profile, event);
        for (size_t i = 0; i < profile->list_count; i++) {
            const struct profile_list *list = &profile->lists[i];
            if (list->event == event &&
                __builtin_add_overflow(rows,
                                       is_exact ? count_rows(profile, list, period)
                                                : most_rows(profile, list, period),
                                       &rows))
                return UINT64_MAX;
        }
    }
    return rows;
}

uint64_t export_firefox_thinning(const struct profile *profile)
{
    enum { ROW_BYTES = 32, STACK_BYTES = 10, FRAME_BYTES = 60, SMALLEST_SHARE = LARGEST_BYTES / 4 };
    uint64_t tables =
        profile->stack_count * (uint64_t)STACK_BYTES + profile->frame_count * (uint64_t)FRAME_BYTES;
    uint64_t share =
        tables < LARGEST_BYTES - SMALLEST_SHARE ? LARGEST_BYTES - tables : SMALLEST_SHARE;
    uint64_t fitting = share / ROW_BYTES;
    return rows_of_all(profile, false) < fitting ? 1 : 1 + rows_of_all(profile, true) / fitting;
}

static void write_stack(struct firefox *firefox, const struct row *row)
{
    uint32_t stack = row->has_stack ? profile_stack_of(firefox->profile, row->call) : PROFILE_NONE;
    if (stack == PROFILE_NONE)
        json_null(firefox->out);
    else
        json_unsigned(firefox->out, stack);
}

/* The stack of a row is prefetched when the row is read, SOON rows ahead. Returns the number of
 * rows. */
static uint64_t write_stack_column(struct firefox *firefox, struct row_reader reader)
{
    struct row rows[SOON];
    uint64_t read = 0, written = 0;
    reader.is_shown = true;
    json_key(firefox->out, "stack");
    json_open(firefox->out, '[');
    for (bool has_more = true; has_more || written < read;) {
        if (!has_more || read - written == SOON) {
            write_stack(firefox, &rows[written++ % SOON]);
            continue;
        }
        struct row *row = &rows[read % SOON];
        has_more = next_row(&reader, row);
        read += has_more;
        if (has_more && row->has_stack)
            profile_expect_stack(firefox->profile, row->call);
    }
    json_close(firefox->out, ']');
    return read;
}

/* The first delta counts from the start of the recording. Whole microseconds: the digits below
 * would be a fifth of the compressed file, and no view shows them. */
static void write_time_column(struct firefox *firefox, struct row_reader reader)
{
    uint64_t start_ns = firefox->profile->start_ns, before_us = 0;
    json_key(firefox->out, "timeDeltas");
    json_open(firefox->out, '[');
    for (struct row row; next_row(&reader, &row);) {
        uint64_t time_us = (row.time_ns - start_ns) / 1000;
        json_millionths(firefox->out, (time_us - before_us) * 1000);
        before_us = time_us;
    }
    json_close(firefox->out, ']');
}

/* A weight in ns as ms, or as a number. */
static void spell_weight(struct buffer *text, bool is_ms, uint64_t weight)
{
    buffer_clear(text);
    if (is_ms)
        json_millionths(text, weight);
    else
        json_unsigned(text, weight);
}

/* Most rows weigh as much as the previous row: a number is spelled when the weight changes. */
static void write_weights(struct firefox *firefox, const char *key, struct row_reader reader,
                          uint64_t count, bool is_ms)
{
    struct buffer text = {0};
    struct row row = {.weight = 0};
    uint64_t spelled = 0;
    json_key(firefox->out, key);
    json_open(firefox->out, '[');
    spell_weight(&text, is_ms, spelled);
    for (uint64_t i = 0; i < count && !text.failed; i++) {
        if (i == 0 || !reader.is_uniform)
            next_row(&reader, &row);
        if (row.weight != spelled)
            spell_weight(&text, is_ms, row.weight);
        spelled = row.weight;
        json_spelled(firefox->out, text.bytes, text.size);
    }
    json_close(firefox->out, ']');
    firefox->out->failed |= text.failed;
    buffer_free(&text);
}

static void write_weight_column(struct firefox *firefox, const struct firefox_event *rows,
                                struct row_reader reader, uint64_t count)
{
    bool is_time = rows->event.unit == PROFILE_NANOSECONDS;
    json_member_string(firefox->out, "weightType", is_time ? "tracing-ms" : "samples");
    write_weights(firefox, "weight", reader, count, is_time);
}

/* CPU time since the previous row: the weight of a row of CPU time. */
static void write_cpu_column(struct firefox *firefox, const struct firefox_event *rows,
                             struct row_reader reader, uint64_t count)
{
    struct row row;
    if (rows->is_cpu_time) {
        write_weights(firefox, "threadCPUDelta", reader, count, false);
        return;
    }
    json_key(firefox->out, "threadCPUDelta");
    json_open(firefox->out, '[');
    for (uint64_t i = 0; i < count; i++) {
        if (reader.intervals_of && next_row(&reader, &row) && row.has_cpu_delta)
            json_unsigned(firefox->out, row.cpu_delta_ns);
        else
            json_null(firefox->out);
    }
    json_close(firefox->out, ']');
}

void firefox_write_samples(struct firefox *firefox, const struct firefox_event *rows,
                           uint32_t thread)
{
    const struct row_reader reader = read_rows(firefox, rows, thread);
    json_key(firefox->out, "samples");
    json_open(firefox->out, '{');
    uint64_t count = write_stack_column(firefox, reader);
    write_time_column(firefox, reader);
    write_weight_column(firefox, rows, reader, count);
    write_cpu_column(firefox, rows, reader, count);
    json_member_unsigned(firefox->out, "length", count);
    json_close(firefox->out, '}');
}
