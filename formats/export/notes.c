/* SPDX-License-Identifier: MIT */
#include "export/notes.h"

#include "export/encoding/json.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A key with a dot at the end is a prefix. */
static const struct label {
    const char *key, *text;
} labels[] = {
    {"engine", "Sampling engine"},
    {"engine_reason", "Reason for this engine"},
    {"frequency_asked", "Samples per CPU second, requested"},
    {"frequency_limit", "Samples per CPU second, limit of the system"},
    {"wall_ns", "Run time"},
    {"cpu_billed_ns", "CPU time, by the kernel"},
    {"cpu_seen_ns", "CPU time in this profile"},
    {"cpu_complete_ns", "CPU time of complete stacks"},
    {"cpu_ends_ns", "CPU time before, between and after samples"},
    {"cpu_kernel_ns", "CPU time in the kernel, without functions"},
    {"cpu_unsampled_kernel_ns", "Kernel CPU time of unsampled threads"},
    {"produced", "Samples taken, with lost samples"},
    {"samples", "Samples"},
    {"complete", "Samples with a complete stack"},
    {"merged", "Signals merged into the next sample"},
    {"misses", "Stacks finished by rec"},
    {"checked", "Stacks compared by the self-check"},
    {"check_differed", "Stacks with a difference in the self-check"},
    {"processes", "Processes"},
    {"threads", "Threads"},
    {"threads_without_slot", "Threads not sampled, too many at a time"},
    {"handler_p50_ns", "Time of a sample, median"},
    {"handler_p99_ns", "Time of a sample, 99th percentile"},
    {"handler_max_ns", "Time of a sample, longest"},
    {"tables_ready_ns", "Time until the first unwind table"},
    {"compile_ns", "CPU time for unwind tables"},
    {"rows", "Unwind rows"},
    {"launcher_cpu_ns", "CPU time of rec"},
    {"delay_ns", "Sampling began after"},
    {"cpu_before_ns", "CPU time before sampling began"},
    {"cut.", "Incomplete stacks"},
    {"lost.", "Lost samples"},
    {"blind_ns.", "CPU time without samples"},
    {"worst_module", "Module with most stacks finished by rec"},
    {"worst_module_misses", "Stacks finished by rec in this module"},
    {"end", "Recording ended by"},
    {"not_followed.", "Not recorded, process"},
    {"not_followed_cpu_ns.", "Not recorded, CPU time of process"},
    {"left_running.", "Left running, process"},
    {"left_running_cpu_ns.", "Left running, CPU time of process"},
    {"damage", "Damage"},
    {"notes_left_out", "Lines of the summary left out"},
    {"stored_names", "Names stored in the recording"},
    {"no_names", "Without names"},
    {"perf_map", "Names of generated code"},
    {"lost_records", "Lost records"},
    {"unknown_records", "Records of unknown types"},
    {"processes_without_mappings", "Processes without mappings"},
    {"unwound.", "Stacks unwound from copied bytes"},
};

/* The label of the key or of the start of the key; NULL: none. */
static const struct label *find_label(const char *key)
{
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        size_t length = strlen(labels[i].key);
        bool is_start = labels[i].key[length - 1] == '.';
        if (is_start ? strncmp(labels[i].key, key, length) == 0 : strcmp(labels[i].key, key) == 0)
            return &labels[i];
    }
    return NULL;
}

/* "Lost samples: ring full" for lost.ring-full; the key itself if unlabelled. */
static void write_label(struct buffer *out, const char *key)
{
    const struct label *label = find_label(key);
    char text[256];
    if (!label)
        snprintf(text, sizeof(text), "%s", key);
    else if (strcmp(label->key, key) == 0)
        snprintf(text, sizeof(text), "%s", label->text);
    else
        snprintf(text, sizeof(text), "%s: %s", label->text, key + strlen(label->key));
    for (char *at = label ? text + strlen(label->text) : text; *at; at++)
        if (*at == '-' || *at == '_')
            *at = ' ';
    json_member_string(out, "label", text);
}

/* Decimal digits only, below 2^63. */
static bool parse_number(const char *text, uint64_t *number)
{
    if (text[0] == '\0' || strspn(text, "0123456789") != strlen(text))
        return false;
    errno = 0;
    *number = strtoull(text, NULL, 10);
    return errno == 0 && *number <= INT64_MAX;
}

static bool is_duration(const char *key)
{
    const char *unit = strstr(key, "_ns");
    return unit && (unit[3] == '\0' || unit[3] == '.');
}

/* The front-end formats a duration in ms with a suitable unit. */
static void write_value(struct buffer *out, const char *key, const char *value)
{
    uint64_t number;
    if (!parse_number(value, &number)) {
        json_member_string(out, "format", "string");
        json_member_string(out, "value", value);
    } else if (is_duration(key)) {
        json_member_string(out, "format", "duration");
        json_member_millionths(out, "value", number);
    } else {
        json_member_string(out, "format", "integer");
        json_member_unsigned(out, "value", number);
    }
}

static void write_note(struct buffer *out, const char *key, const char *value)
{
    if (strcmp(value, "0") == 0)
        return;
    json_open(out, '{');
    write_label(out, key);
    write_value(out, key, value);
    json_close(out, '}');
}

void export_write_notes(const struct profile *profile, struct buffer *out)
{
    for (size_t i = 0; i < profile->note_count; i++)
        write_note(out, profile_text(profile, profile->notes[i].key),
                   profile_text(profile, profile->notes[i].value));
}
