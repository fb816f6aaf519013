/* SPDX-License-Identifier: MIT */
#include "cli/pages/man.h"

#include "cli/tables/command_table.h"
#include "cli/options/help_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char ellipsis[] = "\xe2\x80\xa6";

/* Plain text as roff: `words` become bold, an empty line a new paragraph. */
static void append_text(struct buffer *out, const char *text)
{
    bool is_bold = false;
    bool begins_line = true;
    for (; *text; text++) {
        if (begins_line && (*text == '.' || *text == '\''))
            buffer_text(out, "\\&");
        begins_line = false;
        if (*text == '\\') {
            buffer_text(out, "\\e");
        } else if (*text == '-') {
            buffer_text(out, "\\-");
        } else if (*text == '`') {
            is_bold = !is_bold;
            buffer_text(out, is_bold ? "\\fB" : "\\fR");
        } else if (strncmp(text, ellipsis, strlen(ellipsis)) == 0) {
            buffer_text(out, "...");
            text += strlen(ellipsis) - 1;
        } else if (strncmp(text, "\n\n", 2) == 0) {
            buffer_text(out, "\n.PP\n");
            begins_line = true;
            text++;
        } else {
            buffer_append(out, text, 1);
        }
    }
    buffer_text(out, "\n");
}

static void append_heading(struct buffer *out, const char *macro, const char *text)
{
    buffer_printf(out, ".%s \"", macro);
    for (; *text; text++)
        buffer_printf(out, "%c", strcmp(macro, "SH") == 0 ? toupper(*text) : *text);
    buffer_text(out, "\"\n");
}

/* The description of a tagged paragraph: paragraphs inside it keep the indentation. */
static void append_option(struct buffer *out, const struct option_spec *row)
{
    struct buffer part = {0};
    buffer_text(out, ".TP\n\\fB");
    help_text_syntax(&part, row);
    buffer_append(&part, "", 1);
    if (!part.failed)
        append_text(out, (const char *)part.bytes);
    out->size -= out->size > 0; /* the tag goes on */
    buffer_text(out, "\\fR\n");
    buffer_clear(&part);
    help_text_expand(&part, row);
    buffer_append(&part, "", 1);
    if (part.failed)
        out->failed = true;
    else
        append_text(out, (const char *)part.bytes);
    buffer_free(&part);
}

static void append_options(struct buffer *out, const struct command_spec *command)
{
    for (const struct option_spec *row = command->options; help_text_is_listed(row); row++) {
        if (row->id == OPTIONS_HEADING)
            append_heading(out, "SS", row->help);
        else if (row->help)
            append_option(out, row);
    }
}

static void append_title(struct buffer *out, const char *page, const char *summary)
{
    buffer_printf(out, ".\\\" Generated from the option tables of rec.\n.TH %s 1 \"\" \"rec %s\"\n",
                  page, REC_VERSION);
    append_heading(out, "SH", "name");
    buffer_printf(out, "%s \\- %s\n", page, summary);
    append_heading(out, "SH", "synopsis");
}

static void append_synopsis(struct buffer *out, const struct command_spec *command)
{
    buffer_text(out, "\\fBrec\\fR ");
    append_text(out, command->synopsis);
}

static void append_see_also(struct buffer *out, const struct command_spec *except)
{
    append_heading(out, "SH", "see also");
    if (except)
        buffer_text(out, ".BR rec (1),\n");
    for (size_t i = 0; command_table[i]; i++)
        if (command_table[i] != except && command_table[i] != &help_command)
            buffer_printf(out, ".BR rec\\-%s (1),\n", command_table[i]->name);
    buffer_text(out, ".BR perf (1)\n");
}

void man_command(struct buffer *out, const struct command_spec *command)
{
    char page[32];
    snprintf(page, sizeof(page), "rec\\-%s", command->name);
    append_title(out, page, command->summary);
    append_synopsis(out, command);
    append_heading(out, "SH", "description");
    append_text(out, command->description);
    append_heading(out, "SH", "options");
    append_options(out, command);
    append_heading(out, "SH", "exit status");
    append_text(out, command->exit_status ? command->exit_status
                                          : "0, or 125 with a message on standard error.");
    append_see_also(out, command);
}

static void append_examples(struct buffer *out)
{
    append_heading(out, "SH", "examples");
    for (const struct command_example *example = command_examples; example->words; example++) {
        buffer_text(out, ".TP\n");
        append_text(out, example->words);
        append_text(out, example->meaning);
    }
}

void man_overview(struct buffer *out)
{
    append_title(out, "rec", "profiler for native code");
    for (size_t i = 0; command_table[i]; i++) {
        buffer_text(out, i ? ".br\n" : "");
        append_synopsis(out, command_table[i]);
    }
    append_heading(out, "SH", "description");
    append_text(out, command_overview);
    append_heading(out, "SH", "commands");
    for (size_t i = 0; command_table[i]; i++) {
        buffer_printf(out, ".TP\n\\fB%s\\fR\n", command_table[i]->name);
        append_text(out, command_table[i]->summary);
    }
    append_examples(out);
    append_heading(out, "SH", "exit status");
    append_text(out, command_table[0]->exit_status);
    append_see_also(out, NULL);
}
