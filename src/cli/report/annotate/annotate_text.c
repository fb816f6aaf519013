/* SPDX-License-Identifier: MIT */
#include "base/text/path_name.h"
#include "cli/report/annotate/annotate.h"

#include "annotate/listed_sources.h"
#include "base/text/log.h"
#include "cli/terminal/format.h"
#include "cli/terminal/pager.h"
#include "cli/terminal/weight.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINES_AROUND = 3, /* of a sampled line; others are left out */
    TAB_COLUMNS = 4,
    FILES_SHOWN = 8,
    SOURCE_INDENT = 26,
};

static void print_bold(const char *text)
{
    const char *no_color = getenv("NO_COLOR");
    bool is_bold = pager_is_terminal() && !(no_color && *no_color);
    char clean[4400];
    printf("\n%s%s%s\n", is_bold ? "\033[1m" : "", text_escape(clean, sizeof(clean), text),
           is_bold ? "\033[m" : "");
}

static void print_share(uint64_t part, uint64_t whole)
{
    printf("%7s  ", part ? format_percent(part, whole).text : "");
}

/* A source line with spaces for tabs, cut at the width. */
static void print_source(const char *text, size_t length, unsigned columns)
{
    char line[512], clean[512];
    size_t used = 0;
    for (size_t i = 0; i < length && used + TAB_COLUMNS < sizeof(line) && used < columns; i++) {
        if (text[i] == '\r')
            continue;
        if (text[i] != '\t') {
            line[used++] = text[i];
            continue;
        }
        do
            line[used++] = ' ';
        while (used % TAB_COLUMNS);
    }
    line[used] = '\0';
    printf("%s\n", text_escape(clean, sizeof(clean), line));
}

struct printing {
    const struct annotation *annotation;
    struct listed_sources sources;
    const struct annotated_file *file;
    unsigned columns;
};

static void print_line(const struct printing *printing, uint32_t number,
                       const struct tally_line *line)
{
    uint64_t whole = printing->annotation->tally.whole;
    size_t length;
    const char *text = source_line(&printing->file->source, number, &length);
    print_share(line ? line->self : 0, whole);
    print_share(line ? line->total : 0, whole);
    printf("%6u  ", number);
    print_source(text, length, printing->columns - SOURCE_INDENT);
}

/* Lines up to the next sampled line, and a mark where lines are left out. */
static void print_between(const struct printing *printing, uint32_t from, uint32_t to)
{
    if (!printing->file->source.text.size)
        return;
    bool is_cut = to > from && to - from > 2 * LINES_AROUND;
    for (uint32_t number = from; number < to; number++) {
        if (is_cut && number == from + LINES_AROUND) {
            printf("%25s\n", "…");
            number = to - LINES_AROUND;
        }
        print_line(printing, number, NULL);
    }
}

/* The function begins at its definition, where that is before its first sampled line. */
static uint32_t first_shown(const struct annotation *annotation, const struct annotated_file *file,
                            uint32_t first)
{
    const struct profile *profile = annotation->request->profile;
    uint32_t shown = first > LINES_AROUND ? first - LINES_AROUND : 1;
    for (size_t i = 0; i < profile->func_count; i++) {
        const struct profile_func *func = &profile->funcs[i];
        if (annotation->choice.is_chosen[i] && func->file == file->file && func->line &&
            func->line < shown)
            shown = func->line;
    }
    return shown;
}

static void print_lines(const struct printing *printing)
{
    const struct annotated_file *file = printing->file;
    const struct tally_line *lines = &printing->annotation->tally.lines[file->first];
    uint32_t next = 0, last = (uint32_t)file->source.count;
    for (size_t i = 0; i < file->count; i++) {
        if (lines[i].line == 0) {
            print_share(lines[i].self, printing->annotation->tally.whole);
            print_share(lines[i].total, printing->annotation->tally.whole);
            printf("%6s\n", "?");
            continue;
        }
        if (next == 0)
            next = first_shown(printing->annotation, file, lines[i].line);
        print_between(printing, next, lines[i].line);
        print_line(printing, lines[i].line, &lines[i]);
        next = lines[i].line + 1;
    }
    for (int i = 0; i < LINES_AROUND && next && next <= last; i++)
        print_line(printing, next++, NULL);
}

static void print_file(const struct printing *printing)
{
    const struct profile *profile = printing->annotation->request->profile;
    char heading[4200];
    bool has_lines = printing->file->file != PROFILE_NONE;
    snprintf(heading, sizeof(heading), "   self    total    line  %s",
             has_lines ? profile_text(profile, printing->file->file) : "no line known");
    print_bold(heading);
    print_lines(printing);
    if (printing->file->error.text[0])
        text_print(stdout, "No source text: %s; see --source-dir and --debuginfod\n",
                   printing->file->error.text);
}

/* The source line of the next instructions, if another one than before. */
static void print_position(struct printing *printing, const struct code_line *line, uint32_t lib)
{
    size_t length;
    const struct source_lines *file = listed_sources_text(&printing->sources, line->file, lib);
    const char *text = source_line(file, line->line, &length);
    char place[64];
    snprintf(place, sizeof(place), "%.40s:%u", path_name(line->file), line->line);
    text_print(stdout, "%18s%s  ", "", place);
    print_source(text, length, printing->columns - SOURCE_INDENT);
}

static void print_code(struct printing *printing, const struct annotated_symbol *symbol)
{
    const struct annotation *annotation = printing->annotation;
    const struct code *code = &symbol->code;
    uint32_t lib = annotation->request->profile->symbols[symbol->symbol].lib;
    for (size_t i = 0; i < code->count; i++) {
        const struct code_line *line = &code->lines[i];
        const struct code_line *before = i ? &code->lines[i - 1] : NULL;
        struct tally_address sums = tally_of(&annotation->tally, symbol->symbol, line->svma);
        if (line->line &&
            (!before || before->line != line->line || strcmp(before->file, line->file) != 0))
            print_position(printing, line, lib);
        print_share(sums.self, annotation->tally.whole);
        print_share(sums.total, annotation->tally.whole);
        text_print(stdout, "%8" PRIx64 "  %s\n", line->svma, line->text);
    }
}

static void print_symbol(struct printing *printing, const struct annotated_symbol *symbol)
{
    const struct profile *profile = printing->annotation->request->profile;
    const struct profile_symbol *of = &profile->symbols[symbol->symbol];
    char heading[4200];
    snprintf(heading, sizeof(heading), "   self    total   address  %s in %s",
             profile_text(profile, of->name), profile_text(profile, profile->libs[of->lib].path));
    print_bold(heading);
    print_code(printing, symbol);
    if (symbol->error.text[0])
        text_print(stdout, "No instructions: %s\n", symbol->error.text);
}

static void print_summary(const struct annotation *annotation)
{
    const struct profile *profile = annotation->request->profile;
    const struct tally *tally = &annotation->tally;
    const struct profile_func *func = &profile->funcs[annotation->choice.first];
    text_print(stdout, "%s", profile_text(profile, func->name));
    if (func->lib != PROFILE_NONE)
        text_print(stdout, " in %s", profile_text(profile, profile->libs[func->lib].name));
    text_print(
        stdout, ": self %s (%s), total %s (%s) of %s %s\n",
        weight_format(profile, tally->self).text, format_percent(tally->self, tally->whole).text,
        weight_format(profile, tally->total).text, format_percent(tally->total, tally->whole).text,
        weight_format(profile, tally->whole).text, weight_noun(profile));
}

static bool has_code(const struct annotation *annotation)
{
    for (size_t i = 0; i < annotation->symbol_count; i++)
        if (annotation->symbols[i].code.count)
            return true;
    return false;
}

void annotate_print(const struct annotation *annotation, unsigned columns)
{
    struct printing printing = {
        .annotation = annotation, .sources.annotation = annotation, .columns = columns};
    print_summary(annotation);
    for (size_t i = 0; i < annotation->symbol_count && i < ANNOTATE_SYMBOLS_PRINTED; i++)
        print_symbol(&printing, &annotation->symbols[i]);
    listed_sources_free(&printing.sources);
    if (annotation->symbol_count > ANNOTATE_SYMBOLS_PRINTED)
        printf("%zu more places with code of the function: --json has all\n",
               annotation->symbol_count - ANNOTATE_SYMBOLS_PRINTED);
    if (has_code(annotation))
        return;
    if (annotation->request->symbols_with_code && annotation->symbol_count == 0)
        printf("No instructions: no symbol holds the code.\n");
    for (size_t i = 0; i < annotation->file_count && i < FILES_SHOWN; i++) {
        printing.file = &annotation->files[i];
        print_file(&printing);
    }
    if (annotation->file_count > FILES_SHOWN)
        printf("%zu more files with lines of the function: --json has all\n",
               annotation->file_count - FILES_SHOWN);
}
