/* SPDX-License-Identifier: MIT */
/*
 * The text of `perf script`, the input of stackcollapse-perf.pl, flame graph viewers and scripts.
 *
 *     worker-1   100/101      12.345678:    1000000 cpu-clock:u:
 *     ↹            401136 inner (inlined)
 *     ↹            401136 outer+0x16 (/usr/bin/program)
 *     ↹            401200 main+0x20 (/usr/bin/program)
 *     (empty line)
 *
 * Innermost frame first. Addresses are svma; in callers, return addresses.
 */
#include "export/export.h"

#include "base/text/decimal.h"
#include "base/text/utf8.h"
#include "export/common.h"
#include "profile/walk.h"

#include <errno.h>
#include <stdlib.h>

struct piece { /* repeated text: a range of a buffer */
    size_t at;
    uint32_t bytes; /* 0: not made yet */
};

struct perf_text {
    const struct profile *profile;
    struct buffer *out;
    struct buffer made;    /* all pieces */
    struct piece *lines;   /* by frame, twice: innermost, and as a caller */
    struct piece *threads; /* by thread: name and ids */
    struct piece *events;  /* by event */
};

static const char *module_name(const struct profile *profile, const struct profile_frame *frame)
{
    return frame->lib == PROFILE_NONE ? "[unknown]"
                                      : profile_text(profile, profile->libs[frame->lib].path);
}

static void append_hex(struct buffer *out, uint64_t value, size_t width)
{
    char digits[17];
    char *end = digits + sizeof(digits), *at = end;
    do
        *--at = "0123456789abcdef"[value & 15];
    while (value >>= 4);
    for (size_t size = (size_t)(end - at); size < width; size++)
        buffer_append(out, " ", 1);
    buffer_append(out, at, (size_t)(end - at));
}

/* "name+0x16 (/usr/bin/program)"; in a caller, the offset of the return address, one above the
 * looked-up address. */
static void make_line(struct perf_text *text, const struct profile_frame *frame, bool is_caller)
{
    const struct profile *profile = text->profile;
    struct buffer *out = &text->made;
    uint64_t svma = frame->svma + is_caller;
    const struct profile_symbol *symbol =
        frame->symbol == PROFILE_NONE ? NULL : &profile->symbols[frame->symbol];
    bool is_unknown = export_func_is_unknown(profile, frame->func);
    buffer_append(out, "\t", 1);
    append_hex(out, svma, 16);
    buffer_append(out, " ", 1);
    utf8_append_line(out, is_unknown ? "[unknown]"
                                     : profile_text(profile, profile->funcs[frame->func].name));
    if (frame->inline_depth) {
        buffer_text(out, " (inlined)\n");
        return;
    }
    if (symbol && svma >= symbol->svma) {
        buffer_text(out, "+0x");
        append_hex(out, svma - symbol->svma, 0);
    }
    buffer_text(out, " (");
    utf8_append_line(out, module_name(profile, frame));
    buffer_text(out, ")\n");
}

static void make_thread(struct perf_text *text, const struct profile_thread *thread)
{
    const struct profile *profile = text->profile;
    const char *comm = profile_text(profile, thread->name);
    utf8_append_line(&text->made, comm[0] ? comm : ":0");
    buffer_printf(&text->made, " %7d/%-7d ", profile->processes[thread->process].pid, thread->tid);
}

static void make_event(struct perf_text *text, uint32_t event)
{
    const struct profile *profile = text->profile;
    const char *name =
        event < profile->event_count ? profile_text(profile, profile->events[event].name) : "";
    utf8_append_line(&text->made, name[0] ? name : "unknown");
    buffer_text(&text->made, ": \n");
}

/* True: the piece is complete; false: the caller appends the piece, up to end_piece(). */
static bool has_piece(const struct perf_text *text, struct piece *piece)
{
    if (piece->bytes)
        return true;
    piece->at = text->made.size;
    return false;
}

static void end_piece(const struct perf_text *text, struct piece *piece)
{
    piece->bytes = (uint32_t)(text->made.size - piece->at);
}

static void write_piece(struct perf_text *text, const struct piece *piece)
{
    if (text->made.failed)
        text->out->failed = true;
    else
        buffer_append(text->out, text->made.bytes + piece->at, piece->bytes);
}

static void write_frame(struct perf_text *text, uint32_t index, bool is_caller)
{
    struct piece *line = &text->lines[2 * (size_t)index + is_caller];
    if (!has_piece(text, line)) {
        make_line(text, &text->profile->frames[index], is_caller);
        end_piece(text, line);
    }
    write_piece(text, line);
}

/* The frames of the innermost address belong to an instruction, all others to return addresses. */
static void write_stack(struct perf_text *text, const struct profile_sample *sample)
{
    const struct profile *profile = text->profile;
    for (uint32_t call = sample->call; call != PROFILE_NONE; call = profile->calls[call].parent) {
        const struct profile_address *address = &profile->addresses[profile->calls[call].address];
        bool is_synthetic =
            address->lib != PROFILE_NONE && profile->libs[address->lib].is_synthetic;
        for (uint32_t i = address->frame_count; i-- > 0;)
            write_frame(text, address->first_frame + i, call != sample->call && !is_synthetic);
    }
}

static void write_thread(struct perf_text *text, uint32_t index)
{
    struct piece *thread = &text->threads[index];
    if (!has_piece(text, thread)) {
        make_thread(text, &text->profile->threads[index]);
        end_piece(text, thread);
    }
    write_piece(text, thread);
}

static void write_event(struct perf_text *text, uint32_t index)
{
    struct piece *event = &text->events[index];
    if (!has_piece(text, event)) {
        make_event(text, index);
        end_piece(text, event);
    }
    write_piece(text, event);
}

/* Right-aligned; printf takes a quarter of the time of a sample. */
static void append_number(struct buffer *out, uint64_t value, char fill, size_t width)
{
    char digits[20];
    char *end = digits + sizeof(digits), *at = decimal_before(end, value);
    while ((size_t)(end - at) < width)
        *--at = fill;
    buffer_append(out, at, (size_t)(end - at));
}

static void write_sample(struct perf_text *text, const struct profile_sample *sample)
{
    struct buffer *out = text->out;
    write_thread(text, sample->thread);
    if (sample->cpu != PROFILE_NO_CPU) {
        buffer_append(out, "[", 1);
        append_number(out, sample->cpu, '0', 3);
        buffer_append(out, "] ", 2);
    }
    append_number(out, sample->time_ns / 1000000000, ' ', 5);
    buffer_append(out, ".", 1);
    append_number(out, sample->time_ns % 1000000000 / 1000, '0', 6);
    buffer_append(out, ": ", 2);
    append_number(out, sample->weight, ' ', 10);
    buffer_append(out, " ", 1);
    write_event(text, sample->event);
    write_stack(text, sample);
    buffer_append(out, "\n", 1);
}

static int write_samples(struct perf_text *text)
{
    struct profile_by_time by_time;
    if (profile_by_time_open(&by_time, text->profile) != 0)
        return -ENOMEM;
    const struct profile_sample *sample;
    while (!text->out->failed && (sample = profile_by_time_next(&by_time)))
        write_sample(text, sample);
    profile_by_time_close(&by_time);
    return text->out->failed ? -ENOMEM : 0;
}

static int perf_text_write(const struct profile *profile, const struct export_options *options,
                           struct buffer *out, struct error *error)
{
    (void)options;
    struct perf_text text = {.profile = profile, .out = out};
    text.lines = calloc(2 * profile->frame_count + 1, sizeof(*text.lines));
    text.threads = calloc(profile->thread_count + 1, sizeof(*text.threads));
    text.events = calloc(profile->event_count + 1, sizeof(*text.events));
    int err = text.lines && text.threads && text.events ? write_samples(&text) : -ENOMEM;
    if (err != 0)
        error_set(error, err, "not enough memory to write the text");
    free(text.lines);
    free(text.threads);
    free(text.events);
    buffer_free(&text.made);
    return err;
}

static const char *const suffixes[] = {".perf.txt", ".perf.txt.gz", NULL};

const struct exporter export_perf_text = {
    .name = "perf-text",
    .description = "the text of perf script, for stackcollapse-perf.pl and others",
    .suffixes = suffixes,
    .compressed_suffix = ".gz",
    .gzip_level = 1,
    .has_times = true,
    .write = perf_text_write,
};
