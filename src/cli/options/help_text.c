/* SPDX-License-Identifier: MIT */
#include "cli/options/help_text.h"

#include "cli/tables/command_table.h"
#include "export/export.h"
#include "record/recorders/recorders.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

void help_text_syntax(struct buffer *out, const struct option_spec *row)
{
    if (row->letter)
        buffer_printf(out, "-%c%s", row->letter, row->name ? ", " : "");
    if (row->name)
        buffer_printf(out, "--%s", row->name);
    if (row->takes == OPTION_MAYBE)
        buffer_printf(out, "[=%s]", row->argument);
    else if (row->argument)
        buffer_printf(out, " %s", row->argument);
}

/* ".pb.gz .pb .pprof pprof, .json.gz .json firefox" */
static void append_suffixes(struct buffer *out)
{
    for (size_t i = 0; exporters[i]; i++) {
        buffer_text(out, i ? ", " : "");
        for (const char *const *suffix = exporters[i]->suffixes; *suffix; suffix++)
            buffer_printf(out, "%s ", *suffix);
        buffer_text(out, exporters[i]->name);
    }
}

static void append_formats(struct buffer *out, const char *between)
{
    for (size_t i = 0; exporters[i]; i++)
        buffer_printf(out, "%s%s", i ? between : "", exporters[i]->name);
}

static void append_sources(struct buffer *out, const char *between)
{
    for (size_t i = 0; i < RECORD_SOURCES; i++)
        buffer_printf(out, "%s%s", i ? between : "", record_sources[i].name);
}

static void append_recorders(struct buffer *out, const char *between)
{
    for (size_t i = 0; i < RECORDERS; i++)
        buffer_printf(out, "%s%s", i ? between : "", recorders[i].id);
}

static void append_parameter(struct buffer *out, const char *name)
{
    const struct record_parameter *row = recorders_parameter(name);
    if (!row)
        return;
    buffer_printf(out, "%c%s", toupper(row->help[0]), row->help + 1);
    if (row->type == RECORD_PARAMETER_SOURCE) {
        buffer_text(out, ": ");
        append_sources(out, ", ");
    }
    if (row->type == RECORD_PARAMETER_INTEGER)
        buffer_printf(out, ", %" PRIu64 " to %" PRIu64 " %s (default %" PRIu64 ")", row->least,
                      row->most, row->unit, row->value_default);
    else if (row->default_text)
        buffer_printf(out, " (default: %s)", row->default_text);
}

static void append_token(struct buffer *out, const char *token, const char *option)
{
    if (strncmp(token, "{parameter}", strlen("{parameter}")) == 0)
        append_parameter(out, option);
    else if (strncmp(token, "{suffixes}", strlen("{suffixes}")) == 0)
        append_suffixes(out);
    else if (strncmp(token, "{recorders}", strlen("{recorders}")) == 0)
        append_recorders(out, ", ");
    else if (strncmp(token, "{formats}", strlen("{formats}")) == 0)
        append_formats(out, ", ");
}

void help_text_expand(struct buffer *out, const struct option_spec *row)
{
    for (const char *at = row->help; *at;) {
        size_t plain = strcspn(at, "{");
        buffer_append(out, at, plain);
        at += plain;
        if (!*at)
            break;
        append_token(out, at, row->name);
        at += strcspn(at, "}") + 1;
    }
}

void help_text_choices(struct buffer *out, const char *placeholder)
{
    if (strcmp(placeholder, "FORMAT") == 0)
        append_formats(out, " ");
    else if (strcmp(placeholder, "ENGINE") == 0)
        append_sources(out, " ");
    else if (strcmp(placeholder, "EVENT") == 0)
        buffer_text(out, "cpu-clock task-clock");
    else if (strncmp(placeholder, "RECORDER", strlen("RECORDER")) == 0)
        append_recorders(out, " ");
    else if (strcmp(placeholder, "SUBCOMMAND") == 0)
        for (size_t i = 0; command_table[i]; i++)
            buffer_printf(out, "%s%s", i ? " " : "", command_table[i]->name);
    else if (islower((unsigned char)placeholder[0])) /* a literal, such as incomplete[:PERCENT] */
        buffer_append(out, placeholder, strcspn(placeholder, "["));
}

bool help_text_is_listed(const struct option_spec *row)
{
    return row->id && !(row->id == OPTIONS_HEADING && !row->help);
}
