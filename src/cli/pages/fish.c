/* SPDX-License-Identifier: MIT */
#include "cli/pages/fish.h"

#include "cli/tables/command_table.h"
#include "cli/options/help_text.h"

#include <string.h>

static const char condition[] = "complete -c rec -n 'test (__rec_command) = %s'";

static void append_quoted(struct buffer *out, const char *text)
{
    buffer_text(out, "'");
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            buffer_text(out, "\\");
        buffer_append(out, text, 1);
    }
    buffer_text(out, "'");
}

/* -x: a value and no file; -r -F: a value, by default a file. */
static void append_value(struct buffer *out, const char *placeholder)
{
    struct buffer choices = {0};
    help_text_choices(&choices, placeholder);
    if (choices.size > 0)
        buffer_printf(out, " -x -a '%.*s'", (int)choices.size, (const char *)choices.bytes);
    else if (strcmp(placeholder, "DIR") == 0)
        buffer_text(out, " -x -a '(__fish_complete_directories)'");
    else if (strcmp(placeholder, "FILE") == 0 || strcmp(placeholder, "OUTPUT") == 0)
        buffer_text(out, " -r -F");
    else
        buffer_text(out, " -x");
    buffer_free(&choices);
}

static void append_option(struct buffer *out, const struct command_spec *command,
                          const struct option_spec *row)
{
    struct buffer help = {0};
    help_text_expand(&help, row);
    buffer_append(&help, "", 1);
    buffer_printf(out, condition, command->name);
    if (row->letter)
        buffer_printf(out, " -s %c", row->letter);
    if (row->name)
        buffer_printf(out, " -l %s", row->name);
    if (row->takes == OPTION_VALUE)
        append_value(out, row->argument);
    buffer_text(out, " -d ");
    append_quoted(out, help.failed ? "" : (const char *)help.bytes);
    buffer_text(out, "\n");
    buffer_free(&help);
}

static void append_operand(struct buffer *out, const struct command_spec *command)
{
    struct buffer choices = {0};
    if (command->operand)
        help_text_choices(&choices, command->operand);
    buffer_printf(out, condition, command->name);
    if (choices.size > 0)
        buffer_printf(out, " -f -a '%.*s'\n", (int)choices.size, (const char *)choices.bytes);
    else if (command->operand && strcmp(command->operand, "COMMAND") == 0)
        buffer_text(out, " -x -a '(__fish_complete_subcommand)'\n");
    else
        buffer_text(out, command->operand ? " -F\n" : " -f\n");
    buffer_free(&choices);
}

void fish_completion(struct buffer *out)
{
    buffer_text(out, "# fish completion of rec, generated from the option tables of rec\n"
                     "function __rec_command\n"
                     "    set -l words (commandline -opc)\n"
                     "    if set -q words[2]; and contains -- $words[2] ");
    help_text_choices(out, "SUBCOMMAND");
    buffer_text(out, "\n"
                     "        echo $words[2]\n"
                     "    else\n"
                     "        echo record\n"
                     "    end\n"
                     "end\n");
    for (size_t i = 0; command_table[i]; i++) {
        const struct command_spec *command = command_table[i];
        buffer_printf(out, "complete -c rec -n 'test (count (commandline -opc)) -eq 1' -a %s -d ",
                      command->name);
        append_quoted(out, command->summary);
        buffer_text(out, "\n");
        append_operand(out, command);
        for (const struct option_spec *row = command->options; help_text_is_listed(row); row++)
            if (row->id != OPTIONS_HEADING && row->help)
                append_option(out, command, row);
    }
}
