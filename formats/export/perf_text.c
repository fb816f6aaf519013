/* SPDX-License-Identifier: MIT */
/*
 * The text of `perf script`, for whatever eats that: stackcollapse-perf.pl, flame graph viewers, scripts.
 *
 *     worker-1   100/101      12.345678:    1000000 cpu-clock:u:
 *     ↹            401136 inner (inlined)
 *     ↹            401136 outer+0x16 (/usr/bin/program)
 *     ↹            401200 main+0x20 (/usr/bin/program)
 *     (empty line)
 *
 * Innermost first. Addresses are those of the file; of callers, the address that the call
 * returns to.
 */
#include "export/export.h"

#include "base/utf8.h"
#include "export/common.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct perf_text {
    const struct profile *profile;
    struct buffer *out;
    struct buffer scratch;
    struct intern *texts; /* clean ones */
    uint32_t *frames; /* by frame: what comes behind its address; 0: not made yet, else id + 1 */
    bool failed;
};

/* Nothing that ends a line or acts on a terminal. */
static void append_clean(struct buffer *out, const char *text)
{
    size_t start = out->size;
    utf8_append(out, text);
    for (size_t i = start; i < out->size; i++)
        if (out->bytes[i] < 0x20 || out->bytes[i] == 0x7f)
            out->bytes[i] = ' ';
}

static const char *module_name(const struct profile *profile, const struct profile_frame *frame)
{
    return frame->lib == PROFILE_NONE ? "[unknown]"
                                      : profile_text(profile, profile->libs[frame->lib].path);
}

/* "name+0x16 (/usr/bin/program)" without the offset of a caller, which is one more than the looked-up
 * address has. */
static void describe(struct perf_text *text, const struct profile_frame *frame)
{
    const struct profile *profile = text->profile;
    struct buffer *scratch = &text->scratch;
    buffer_clear(scratch);
    bool is_unknown = export_func_is_unknown(profile, frame->func);
    const char *name = profile_text(profile, profile->funcs[frame->func].name);
    append_clean(scratch, is_unknown ? "[unknown]" : name);
    buffer_u8(scratch, 0);
    if (frame->inline_depth) {
        buffer_text(scratch, " (inlined)\n");
    } else {
        buffer_text(scratch, " (");
        append_clean(scratch, module_name(profile, frame));
        buffer_text(scratch, ")\n");
    }
    buffer_u8(scratch, 0);
}

/* Made once a frame: the name, a NUL, the rest. */
static const char *description(struct perf_text *text, uint32_t frame)
{
    if (text->frames[frame] == 0) {
        describe(text, &text->profile->frames[frame]);
        uint32_t id = text->scratch.failed
                          ? INTERN_NONE
                          : intern_add(text->texts, text->scratch.bytes, text->scratch.size);
        text->failed |= id == INTERN_NONE;
        text->frames[frame] = id + 1;
    }
    return text->failed ? "" : intern_string(text->texts, text->frames[frame] - 1);
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

static void write_frame(struct perf_text *text, uint32_t index, bool is_caller)
{
    const struct profile *profile = text->profile;
    const struct profile_frame *frame = &profile->frames[index];
    const char *name = description(text, index);
    if (text->failed)
        return;
    uint64_t svma = frame->svma + is_caller;
    buffer_append(text->out, "\t", 1);
    append_hex(text->out, svma, 16);
    buffer_append(text->out, " ", 1);
    buffer_text(text->out, name);
    if (frame->symbol != PROFILE_NONE && frame->inline_depth == 0 &&
        svma >= profile->symbols[frame->symbol].svma) {
        buffer_text(text->out, "+0x");
        append_hex(text->out, svma - profile->symbols[frame->symbol].svma, 0);
    }
    buffer_text(text->out, name + strlen(name) + 1);
}

/* The frames of the innermost address belong to an instruction, all others to return addresses. */
static void write_stack(struct perf_text *text, const struct profile_sample *sample)
{
    const struct profile *profile = text->profile;
    for (uint32_t call = sample->call; call != PROFILE_NONE && !text->failed;
         call = profile->calls[call].parent) {
        const struct profile_address *address = &profile->addresses[profile->calls[call].address];
        bool is_synthetic =
            address->lib != PROFILE_NONE && profile->libs[address->lib].is_synthetic;
        for (uint32_t i = address->frame_count; i-- > 0;)
            write_frame(text, address->first_frame + i, call != sample->call && !is_synthetic);
    }
}

static void write_sample(struct perf_text *text, const struct profile_sample *sample)
{
    const struct profile *profile = text->profile;
    const struct profile_thread *thread = &profile->threads[sample->thread];
    const char *comm = profile_text(profile, thread->name);
    const char *event = sample->event < profile->event_count
                            ? profile_text(profile, profile->events[sample->event].name)
                            : "";
    struct buffer *out = text->out;
    append_clean(out, comm[0] ? comm : ":0");
    buffer_printf(out, " %7u/%-7u ", profile->processes[thread->process].pid, thread->tid);
    if (sample->cpu != PROFILE_NO_CPU)
        buffer_printf(out, "[%03u] ", sample->cpu);
    buffer_printf(out, "%5" PRIu64 ".%06" PRIu64 ": %10" PRIu64 " ", sample->time_ns / 1000000000,
                  sample->time_ns % 1000000000 / 1000, sample->weight);
    append_clean(out, event[0] ? event : "unknown");
    buffer_text(out, ": \n");
    write_stack(text, sample);
    buffer_append(out, "\n", 1);
}

static int perf_text_write(const struct profile *profile, const struct export_options *options,
                           struct buffer *out, struct error *error)
{
    (void)options;
    struct perf_text text = {.profile = profile, .out = out, .texts = intern_new()};
    text.frames = calloc(profile->frame_count + 1, sizeof(*text.frames));
    text.failed = !text.texts || !text.frames;
    for (size_t i = 0; i < profile->sample_count && !text.failed && !out->failed; i++)
        write_sample(&text, &profile->samples[i]);
    int err = text.failed || out->failed ? -ENOMEM : 0;
    if (err != 0)
        error_set(error, err, "not enough memory to write the text");
    intern_free(text.texts);
    free(text.frames);
    buffer_free(&text.scratch);
    return err;
}

static const char *const suffixes[] = {".perf.txt", ".perf.txt.gz", NULL};

const struct exporter export_perf_text = {
    .name = "perf-text",
    .description = "the text of perf script, for stackcollapse-perf.pl and others",
    .suffixes = suffixes,
    .compressed_suffix = ".gz",
    .gzip_level = 1,
    .write = perf_text_write,
};
