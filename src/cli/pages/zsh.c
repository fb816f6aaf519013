/* SPDX-License-Identifier: MIT */
#include "cli/pages/zsh.h"

#include "cli/tables/command_table.h"
#include "cli/options/help_text.h"

#include <stdio.h>
#include <string.h>

/* Inside single quotes of an _arguments specification. */
static void append_quoted(struct buffer *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            buffer_text(out, "'\\''");
        else if (strchr("[]:\\", *text))
            buffer_printf(out, "\\%c", *text);
        else
            buffer_append(out, text, 1);
    }
}

static void append_action(struct buffer *out, const char *placeholder)
{
    struct buffer choices = {0};
    help_text_choices(&choices, placeholder);
    buffer_text(out, ":");
    append_quoted(out, placeholder);
    if (choices.size > 0)
        buffer_printf(out, ":(%.*s)", (int)choices.size, (const char *)choices.bytes);
    else if (strcmp(placeholder, "DIR") == 0)
        buffer_text(out, ":_files -/");
    else if (strcmp(placeholder, "FILE") == 0 || strcmp(placeholder, "OUTPUT") == 0)
        buffer_text(out, ":_files");
    else
        buffer_text(out, ": ");
    buffer_free(&choices);
}

static void append_spelling(struct buffer *out, const struct option_spec *row, const char *option)
{
    struct buffer help = {0};
    help_text_expand(&help, row);
    buffer_append(&help, "", 1);
    buffer_printf(out, "        '*%s", option);
    if (row->takes == OPTION_MAYBE)
        buffer_text(out, "=-");
    else if (row->takes == OPTION_VALUE)
        buffer_text(out, option[1] == '-' ? "=" : "+");
    buffer_text(out, "[");
    append_quoted(out, help.failed ? "" : (const char *)help.bytes);
    buffer_text(out, "]");
    if (row->takes == OPTION_MAYBE)
        buffer_text(out, ":");
    if (row->argument)
        append_action(out, row->argument);
    buffer_text(out, "' \\\n");
    buffer_free(&help);
}

static void append_option(struct buffer *out, const struct option_spec *row)
{
    char option[64];
    if (row->letter && row->takes != OPTION_MAYBE) {
        snprintf(option, sizeof(option), "-%c", row->letter);
        append_spelling(out, row, option);
    }
    if (row->name) {
        snprintf(option, sizeof(option), "--%s", row->name);
        append_spelling(out, row, option);
    }
}

static void append_operand(struct buffer *out, const char *operand)
{
    if (!operand) {
        buffer_text(out, "        ':'\n");
    } else if (strcmp(operand, "COMMAND") == 0) {
        buffer_text(out, "        '(-)1: :_command_names -e' '*:: :_normal'\n");
    } else {
        buffer_text(out, "        '*");
        append_action(out, operand);
        buffer_text(out, "'\n");
    }
}

static void append_command(struct buffer *out, const struct command_spec *command)
{
    buffer_printf(out, "_rec_%s() {\n    _arguments -s -S \\\n", command->name);
    for (const struct option_spec *row = command->options; help_text_is_listed(row); row++)
        if (row->id != OPTIONS_HEADING && row->help)
            append_option(out, row);
    append_operand(out, command->operand);
    buffer_text(out, "}\n\n");
}

void zsh_completion(struct buffer *out)
{
    buffer_text(
        out, "#compdef rec\n# zsh completion of rec, generated from the option tables of rec\n\n");
    for (size_t i = 0; command_table[i]; i++)
        append_command(out, command_table[i]);
    buffer_text(out, "_rec() {\n    local -a commands=(\n");
    for (size_t i = 0; command_table[i]; i++)
        buffer_printf(out, "        '%s:%s'\n", command_table[i]->name, command_table[i]->summary);
    buffer_text(out, "    )\n"
                     "    if (( CURRENT > 2 && ${+functions[_rec_${words[2]}]} )); then\n"
                     "        local command=${words[2]}\n"
                     "        shift words\n"
                     "        (( CURRENT-- ))\n"
                     "        _rec_$command\n"
                     "        return\n"
                     "    fi\n"
                     "    (( CURRENT == 2 )) && _describe -t commands 'command of rec' commands\n"
                     "    _rec_record\n"
                     "}\n"
                     "_rec \"$@\"\n");
}
