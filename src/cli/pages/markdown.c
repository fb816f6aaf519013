/* SPDX-License-Identifier: MIT */
#include "cli/pages/markdown.h"

#include "cli/tables/command_table.h"
#include "cli/options/help_text.h"

#include <string.h>

enum { COLUMNS = 100, INDENT = 2 };

/* Fills lines with the words behind `column`. */
static void append_wrapped(struct buffer *out, const char *text, size_t column)
{
    while (*text) {
        size_t bytes = strcspn(text, " ");
        if (column + 1 + bytes > COLUMNS) {
            buffer_printf(out, "\n%*s", INDENT, "");
            column = INDENT;
        } else {
            buffer_text(out, " ");
            column++;
        }
        buffer_append(out, text, bytes);
        column += bytes;
        text += bytes + (text[bytes] == ' ');
    }
    buffer_text(out, "\n");
}

static void append_option(struct buffer *out, const struct option_spec *row)
{
    struct buffer text = {0};
    size_t before = out->size;
    buffer_text(out, "* `");
    help_text_syntax(out, row);
    buffer_text(out, "`:");
    help_text_expand(&text, row);
    buffer_append(&text, "", 1);
    if (text.failed)
        out->failed = true;
    else
        append_wrapped(out, (const char *)text.bytes, out->size - before);
    buffer_free(&text);
}

static void append_command(struct buffer *out, const struct command_spec *command)
{
    buffer_printf(out, "\n### rec %s\n\n`rec %s`\n", command->name, command->synopsis);
    for (const struct option_spec *row = command->options; help_text_is_listed(row); row++) {
        if (row->id == OPTIONS_HEADING)
            buffer_printf(out, "\n%s:\n\n", row->help);
        else if (row->help)
            append_option(out, row);
    }
}

void markdown_reference(struct buffer *out)
{
    for (size_t i = 0; command_table[i] != &help_command; i++)
        append_command(out, command_table[i]);
}
