/* SPDX-License-Identifier: MIT */
#include "cli/report/annotate/annotate.h"

#include "cli/report/json_report.h"
#include "cli/terminal/weight.h"
#include "export/encoding/json.h"

#include <inttypes.h>
#include <stdio.h>

static void append_weights(const struct profile *profile, uint64_t self, uint64_t total,
                           struct buffer *out)
{
    json_member_unsigned(out, weight_key(profile, "self_ns", "self"), self);
    json_member_unsigned(out, weight_key(profile, "total_ns", "total"), total);
}

static void append_text(const char *key, const char *text, size_t length, struct buffer *out)
{
    struct buffer copy = {0};
    buffer_append(&copy, text, length);
    buffer_u8(&copy, 0);
    if (!copy.failed)
        json_member_string(out, key, (char *)copy.bytes);
    out->failed |= copy.failed;
    buffer_free(&copy);
}

static void append_lines(const struct annotation *annotation, const struct annotated_file *file,
                         struct buffer *out)
{
    json_key(out, "lines");
    json_open(out, '[');
    for (size_t i = 0; i < file->count; i++) {
        const struct tally_line *line = &annotation->tally.lines[file->first + i];
        size_t length;
        const char *text = source_line(&file->source, line->line, &length);
        json_open(out, '{');
        json_member_unsigned(out, "line", line->line);
        append_weights(annotation->request->profile, line->self, line->total, out);
        if (file->source.text.size)
            append_text("text", text, length, out);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void append_file(const struct annotation *annotation, const struct annotated_file *file,
                        struct buffer *out)
{
    json_open(out, '{');
    if (file->file != PROFILE_NONE)
        json_member_string(out, "file", profile_text(annotation->request->profile, file->file));
    if (file->error.text[0])
        json_member_string(out, "missing", file->error.text);
    append_lines(annotation, file, out);
    json_close(out, '}');
}

static void append_address(struct buffer *out, uint64_t svma)
{
    char text[24];
    snprintf(text, sizeof(text), "0x%" PRIx64, svma);
    json_member_string(out, "address", text);
}

static void append_instruction(const struct annotation *annotation, uint32_t symbol,
                               const struct code_line *line, struct buffer *out)
{
    struct tally_address sums = tally_of(&annotation->tally, symbol, line->svma);
    json_open(out, '{');
    append_address(out, line->svma);
    json_member_unsigned(out, "bytes", line->bytes);
    json_member_string(out, "text", line->text);
    if (line->file[0])
        json_member_string(out, "file", line->file);
    if (line->line)
        json_member_unsigned(out, "line", line->line);
    append_weights(annotation->request->profile, sums.self, sums.total, out);
    json_close(out, '}');
}

static void append_symbol(const struct annotation *annotation,
                          const struct annotated_symbol *symbol, struct buffer *out)
{
    const struct profile *profile = annotation->request->profile;
    const struct profile_symbol *of = &profile->symbols[symbol->symbol];
    json_open(out, '{');
    json_member_string(out, "name", profile_text(profile, of->name));
    json_member_string(out, "module", profile_text(profile, profile->libs[of->lib].path));
    append_address(out, of->svma);
    json_member_unsigned(out, "bytes", of->bytes);
    if (symbol->error.text[0])
        json_member_string(out, "missing", symbol->error.text);
    else
        json_member_string(out, "machine", symbol->code.machine);
    json_key(out, "instructions");
    json_open(out, '[');
    for (size_t i = 0; i < symbol->code.count; i++)
        append_instruction(annotation, symbol->symbol, &symbol->code.lines[i], out);
    json_close(out, ']');
    json_close(out, '}');
}

void annotate_json(const struct annotation *annotation, struct buffer *out)
{
    const struct profile *profile = annotation->request->profile;
    const struct profile_func *func = &profile->funcs[annotation->choice.first];
    json_report_open(out, NULL);
    json_member_string(out, "function", profile_text(profile, func->name));
    if (func->lib != PROFILE_NONE)
        json_member_string(out, "module", profile_text(profile, profile->libs[func->lib].path));
    append_weights(profile, annotation->tally.self, annotation->tally.total, out);
    json_member_unsigned(out, weight_key(profile, "all_ns", "all"), annotation->tally.whole);
    json_key(out, "files");
    json_open(out, '[');
    for (size_t i = 0; i < annotation->file_count; i++)
        append_file(annotation, &annotation->files[i], out);
    json_close(out, ']');
    if (annotation->request->symbols_with_code) {
        json_key(out, "symbols");
        json_open(out, '[');
        for (size_t i = 0; i < annotation->symbol_count; i++)
            append_symbol(annotation, &annotation->symbols[i], out);
        json_close(out, ']');
    }
    json_report_close(out);
}
