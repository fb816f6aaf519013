/* SPDX-License-Identifier: MIT */
#include "cli/options/help.h"

#include "annotate/disassembler.h"
#include "cli/tables/command_table.h"
#include "cli/options/help_text.h"
#include "cli/tables/record_table.h"
#include "elf/decompress.h"

#include <string.h>
#include <zlib.h>

enum { COLUMNS = 96, OPTION_COLUMN = 26, COMMAND_COLUMN = 36 };

/* Columns on a terminal: bytes except continuation bytes of UTF-8. */
static int width_of(const char *text, size_t bytes)
{
    int width = 0;
    for (size_t i = 0; i < bytes; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

/* Prints the words with line breaks; the text starts in `column`, further lines are indented by
 * `indent`. An empty line stays. */
static void print_wrapped(FILE *stream, const char *text, int column, int indent)
{
    while (*text) {
        size_t bytes = strcspn(text, " \n");
        int width = width_of(text, bytes);
        if (column > indent && column + 1 + width > COLUMNS) {
            fprintf(stream, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', stream);
            column++;
        }
        fprintf(stream, "%.*s", (int)bytes, text);
        column += width;
        text += bytes;
        if (strncmp(text, "\n\n", 2) == 0) {
            fprintf(stream, "\n\n%*s", indent, "");
            column = indent;
            text++;
        }
        text += *text != '\0';
    }
    fputc('\n', stream);
}

/* Two columns. A long left side has a line of its own. */
static void print_pair(FILE *stream, const char *left, const char *right, int column)
{
    int width = 2 + width_of(left, strlen(left));
    if (width + 2 > column)
        fprintf(stream, "  %s\n%*s", left, column, "");
    else
        fprintf(stream, "  %s%*s", left, column - width, "");
    print_wrapped(stream, right, column, column);
}

static void print_option(FILE *stream, const struct option_spec *row)
{
    struct buffer syntax = {0};
    struct buffer text = {0};
    if (!row->letter)
        buffer_text(&syntax, "    ");
    help_text_syntax(&syntax, row);
    buffer_append(&syntax, "", 1);
    help_text_expand(&text, row);
    buffer_append(&text, "", 1);
    if (!syntax.failed && !text.failed)
        print_pair(stream, (const char *)syntax.bytes, (const char *)text.bytes, OPTION_COLUMN);
    buffer_free(&syntax);
    buffer_free(&text);
}

/* The rows up to the next heading; the row behind them. */
static const struct option_spec *print_group(FILE *stream, const struct option_spec *row)
{
    fprintf(stream, "\n%s:\n", row->help);
    for (row++; row->id && row->id != OPTIONS_HEADING; row++)
        if (row->help)
            print_option(stream, row);
    return row;
}

static void print_exit_status(FILE *stream, const struct command_spec *command)
{
    fputs("\nExit status:\n  ", stream);
    print_wrapped(stream, command->exit_status, 2, 2);
}

void help_print(FILE *stream)
{
    print_wrapped(stream, command_overview, 0, 0);
    fputc('\n', stream);
    for (size_t i = 0; command_table[i]; i++) {
        char usage[128];
        snprintf(usage, sizeof(usage), "rec %s", command_table[i]->synopsis);
        print_pair(stream, usage, command_table[i]->summary, COMMAND_COLUMN);
    }
    fputs("\nExamples:\n", stream);
    for (const struct command_example *example = command_examples; example->words; example++)
        print_pair(stream, example->words, example->meaning, COMMAND_COLUMN);
    print_group(stream, record_command.options);
}

void help_print_command(FILE *stream, const struct command_spec *command)
{
    fprintf(stream, "rec %s\n\n", command->synopsis);
    print_wrapped(stream, command->description, 0, 0);
    for (const struct option_spec *row = command->options; help_text_is_listed(row);)
        row = print_group(stream, row);
    if (command->exit_status)
        print_exit_status(stream, command);
}

void help_print_version(FILE *stream)
{
    const char *codecs = decompress_missing(), *disassemblers = disassemblers_missing();
    bool is_whole = !codecs[0] && !disassemblers[0];
    fprintf(stream,
            "rec %s, MIT licence\n"
            "built with elfutils %s and zlib %s; %s%s%s%s\n",
            REC_VERSION, REC_ELFUTILS_VERSION, ZLIB_VERSION,
            is_whole ? "nothing optional is missing" : "missing: ", codecs,
            codecs[0] && disassemblers[0] ? ", " : "", disassemblers);
}
