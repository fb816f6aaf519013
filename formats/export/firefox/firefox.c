/* SPDX-License-Identifier: MIT */
#include "export/firefox/firefox.h"

#include "export/notes.h"

#include <errno.h>
#include <stdlib.h>

enum { PROCESSED_PROFILE_VERSION = 75, GECKO_PROFILE_VERSION = 36 };

static void write_categories(struct buffer *out)
{
    static const struct {
        const char *name, *color;
    } categories[] = {
        [FIREFOX_OTHER] = {"Other", "grey"},      [FIREFOX_USER] = {"User", "yellow"},
        [FIREFOX_KERNEL] = {"Kernel", "orange"},  [FIREFOX_LIBRARY] = {"Library", "blue"},
        [FIREFOX_JIT] = {"JIT", "purple"},        [FIREFOX_WAITING] = {"Waiting", "lightblue"},
        [FIREFOX_RUNNABLE] = {"Runnable", "red"},
    };
    json_key(out, "categories");
    json_open(out, '[');
    for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++) {
        json_open(out, '{');
        json_member_string(out, "name", categories[i].name);
        json_member_string(out, "color", categories[i].color);
        json_key(out, "subcategories");
        json_open(out, '[');
        json_string(out, "Other");
        json_close(out, ']');
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void write_units(struct buffer *out)
{
    json_key(out, "sampleUnits");
    json_open(out, '{');
    json_member_string(out, "time", "ms");
    json_member_string(out, "eventDelay", "ms");
    json_member_string(out, "threadCPUDelta", "ns");
    json_close(out, '}');
}

/* Machine and program, for the info panel. */
static void write_machine(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    struct buffer *out = firefox->out;
    const char *product = profile_text(profile, profile->product);
    json_member_string(out, "product", product[0] ? product : "unknown program");
    json_member_string(out, "importedFrom", "rec");
    if (profile->os != PROFILE_NONE)
        json_member_string(out, "oscpu", profile_text(profile, profile->os));
    if (profile->cpu != PROFILE_NONE)
        json_member_string(out, "CPUName", profile_text(profile, profile->cpu));
    if (profile->cpus_online)
        json_member_unsigned(out, "logicalCPUs", profile->cpus_online);
    if (profile->command_line != PROFILE_NONE)
        json_member_string(out, "arguments", profile_text(profile, profile->command_line));
}

/* Time between samples: the front-end scales graphs by this interval. For events other than CPU
 * time, the mean distance of the samples. */
static uint64_t interval_ns(const struct profile *profile)
{
    if (firefox_is_cpu_time(profile, profile->main_event))
        return export_period(profile, profile->main_event);
    uint64_t span_ns =
        profile->end_ns > profile->start_ns ? profile->end_ns - profile->start_ns : 0;
    uint64_t share_ns = profile->sample_count ? span_ns / profile->sample_count : 0;
    return share_ns ? share_ns : 1000000;
}

static void write_times(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    struct buffer *out = firefox->out;
    json_member_millionths(out, "interval", interval_ns(profile));
    json_member_millionths(out, "startTime", profile->start_wall_ns);
    json_member_unsigned(out, "startTimeAsClockMonotonicNanosecondsSinceBoot", profile->start_ns);
    json_member_unsigned(out, "profilingStartTime", 0);
    /* The front-end shows times before this end only: the end must be behind the last sample. */
    firefox_member_time(firefox, "profilingEndTime", profile->end_ns + interval_ns(profile));
}

static void write_thinning(struct firefox *firefox)
{
    json_open(firefox->out, '{');
    json_member_string(firefox->out, "label", "Samples per row, for the size limit of browsers");
    json_member_string(firefox->out, "format", "integer");
    json_member_unsigned(firefox->out, "value", firefox->thinning);
    json_close(firefox->out, '}');
}

/* The section "Recording" of the info panel. */
static void write_recording(struct firefox *firefox)
{
    struct buffer *out = firefox->out;
    json_key(out, "extra");
    json_open(out, '[');
    json_open(out, '{');
    json_member_string(out, "label", "Recording");
    json_key(out, "entries");
    json_open(out, '[');
    export_write_notes(firefox->profile, out);
    if (firefox->thinning > 1)
        write_thinning(firefox);
    json_close(out, ']');
    json_close(out, '}');
    json_close(out, ']');
}

static void write_meta(struct firefox *firefox)
{
    struct buffer *out = firefox->out;
    json_key(out, "meta");
    json_open(out, '{');
    write_times(firefox);
    json_member_unsigned(out, "processType", 0);
    json_member_unsigned(out, "stackwalk", 1);
    json_member_unsigned(out, "version", GECKO_PROFILE_VERSION);
    json_member_unsigned(out, "preprocessedProfileVersion", PROCESSED_PROFILE_VERSION);
    /* All names are in the file: the front-end does not contact a symbol server. */
    json_member_bool(out, "symbolicated", true);
    json_member_bool(out, "usesOnlyOneStackType", true);
    json_member_bool(out, "sourceCodeIsNotOnSearchfox", true);
    json_member_bool(out, "keepProfileThreadOrder", true);
    firefox_write_first_view(firefox);
    write_categories(out);
    write_units(out);
    firefox_write_marker_schema(firefox);
    write_machine(firefox);
    write_recording(firefox);
    json_close(out, '}');
}

static void write_all(struct firefox *firefox)
{
    firefox_choose_libs(firefox);
    firefox_build_rows(firefox);
    firefox_add_marker_names(firefox);
    if (firefox->texts.failed)
        return;
    json_open(firefox->out, '{');
    write_meta(firefox);
    firefox_write_libs(firefox);
    firefox_write_tables(firefox);
    firefox_write_threads(firefox);
    json_key(firefox->out, "counters");
    json_open(firefox->out, '[');
    json_close(firefox->out, ']');
    json_close(firefox->out, '}');
}

static int firefox_open(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    firefox->lib_rows = calloc(profile->lib_count + 1, sizeof(*firefox->lib_rows));
    firefox->func_rows = calloc(profile->frame_count + 1, sizeof(*firefox->func_rows));
    firefox->symbol_rows = calloc(profile->symbol_count + 1, sizeof(*firefox->symbol_rows));
    firefox->symbols = calloc(profile->symbol_count + 1, sizeof(*firefox->symbols));
    firefox->resources = intern_new();
    firefox->sources = intern_new();
    firefox->funcs = intern_new();
    if (!firefox->lib_rows || !firefox->func_rows || !firefox->symbol_rows || !firefox->symbols ||
        !firefox->resources || !firefox->sources || !firefox->funcs ||
        text_table_open(&firefox->texts) != 0)
        return -ENOMEM;
    int err = firefox_collect_lives(firefox);
    if (err == 0)
        err = firefox_classify_waits(firefox);
    return err ? err : firefox_choose_tracks(firefox);
}

static void firefox_close(struct firefox *firefox)
{
    free(firefox->lib_rows);
    free(firefox->func_rows);
    free(firefox->symbol_rows);
    free(firefox->symbols);
    intern_free(firefox->resources);
    intern_free(firefox->sources);
    free(firefox->source_libs);
    intern_free(firefox->funcs);
    free(firefox->func_lines);
    free(firefox->tracks);
    free(firefox->lives);
    free(firefox->wait_kinds);
    text_table_close(&firefox->texts);
}

static int firefox_write(const struct profile *profile, const struct export_options *options,
                         struct buffer *out, struct error *error)
{
    struct firefox firefox = {.profile = profile,
                              .options = options,
                              .out = out,
                              .thinning = export_firefox_thinning(profile)};
    int err = firefox_open(&firefox);
    if (err == 0)
        write_all(&firefox);
    if (firefox.texts.failed || out->failed)
        err = -ENOMEM;
    if (err != 0)
        error_set(error, err, "not enough memory to write the Firefox profile");
    firefox_close(&firefox);
    return err;
}

static const char *const suffixes[] = {".json.gz", ".json", NULL};

const struct exporter export_firefox = {
    .name = "firefox",
    .description = "Firefox Profiler file, for https://profiler.firefox.com",
    .suffixes = suffixes,
    .compressed_suffix = ".gz",
    .gzip_level = 1,
    .has_diff = true,
    .has_times = true,
    .write = firefox_write,
};
