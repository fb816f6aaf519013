/* SPDX-License-Identifier: MIT */
#include "annotate/annotation.h"

#include "base/clock.h"
#include "base/containers/array.h"
#include "base/files/io.h"
#include "convert/files/symfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void annotation_free(struct annotation *annotation)
{
    for (size_t i = 0; i < annotation->file_count; i++)
        source_lines_free(&annotation->files[i].source);
    for (size_t i = 0; i < annotation->symbol_count; i++)
        code_free(&annotation->symbols[i].code);
    free(annotation->files);
    free(annotation->symbols);
    free(annotation->symbol_of);
    tally_free(&annotation->tally);
    function_choice_free(&annotation->choice);
    *annotation = (struct annotation){0};
}

static void read_source(const struct annotation *annotation, struct annotated_file *file)
{
    const struct annotation_request *request = annotation->request;
    const struct source_request source = {
        .profile = request->profile,
        .options = request->options,
        .dirs = request->dirs,
        .lib = annotation->tally.lines[file->first].lib,
        .file = profile_text(request->profile, file->file),
    };
    if (file->file == PROFILE_NONE)
        return;
    int err = source_text(&source, &file->source.text, &file->error);
    if (err == 0 && source_lines_find(&file->source) != 0)
        err = error_set(&file->error, -ENOMEM, "out of memory");
    if (err)
        source_lines_free(&file->source);
}

/* Most time first. qsort() is not stable: equal files stay in the order of the tally. */
static int by_time(const void *left, const void *right)
{
    const struct annotated_file *a = left, *b = right;
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    return (a->first > b->first) - (a->first < b->first);
}

/* Lines of a file are neighbours in the tally. */
static int add_files(struct annotation *annotation)
{
    const struct tally *tally = &annotation->tally;
    struct annotated_file *file = NULL;
    for (size_t i = 0; i < tally->line_count; i++) {
        const struct tally_line *line = &tally->lines[i];
        if (!file || file->file != line->file) {
            file = ARRAY_PUSH(annotation->files, annotation->file_count, annotation->file_capacity);
            if (!file)
                return -ENOMEM;
            file->file = line->file;
            file->first = i;
        }
        file->count++;
        file->self += line->self;
        file->total += line->total;
    }
    if (annotation->file_count)
        qsort(annotation->files, annotation->file_count, sizeof(*annotation->files), by_time);
    for (size_t i = 0; i < annotation->file_count; i++)
        read_source(annotation, &annotation->files[i]);
    return 0;
}

/* Each symbol takes the time of opening its file again, in hostile files a second. */
static bool is_in_time(const struct annotation *annotation, uint32_t lib, uint64_t used_ns)
{
    const uint64_t spare_ns = 1000000000, mib_ns = 60000000;
    const struct annotation_request *request = annotation->request;
    const struct profile_lib *of = &request->profile->libs[lib];
    const struct symfs_path here =
        symfs_path_of(request->options, profile_text(request->profile, of->path), of->build_id,
                      of->build_id_bytes);
    struct stat status;
    uint64_t bytes = stat(here.text, &status) == 0 ? io_stored_bytes(&status) : 0;
    return used_ns < spare_ns + (bytes >> 10) * (mib_ns >> 10);
}

static void read_code(const struct annotation *annotation, struct annotated_symbol *symbol)
{
    const struct annotation_request *request = annotation->request;
    const struct profile_symbol *of = &request->profile->symbols[symbol->symbol];
    const struct code_request code = {.profile = request->profile,
                                      .options = request->options,
                                      .owner = request->owner,
                                      .lib = of->lib,
                                      .svma = of->svma,
                                      .bytes = of->bytes,
                                      .symbol = symbol->symbol,
                                      .is_open_ended = of->bytes == 0,
                                      .is_att = request->is_att,
                                      .wants_lines = !request->options->symbols_only};
    (void)code_read(&symbol->code, &code, &symbol->error);
}

static int by_self(const void *left, const void *right)
{
    const struct annotated_symbol *a = left, *b = right;
    if (a->self != b->self)
        return a->self < b->self ? 1 : -1;
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    return (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

static void read_all_code(struct annotation *annotation)
{
    const uint64_t start_ns = children_cpu_ns();
    for (size_t i = 0; i < annotation->symbol_count; i++) {
        struct annotated_symbol *symbol = &annotation->symbols[i];
        uint32_t lib = annotation->request->profile->symbols[symbol->symbol].lib;
        annotation->symbol_of[symbol->symbol] = (uint32_t)i + 1;
        if (i >= annotation->request->symbols_with_code)
            continue;
        if (is_in_time(annotation, lib, children_cpu_ns() - start_ns))
            read_code(annotation, symbol);
        else
            error_set(&symbol->error, -ETIME, "the limit of time for machine code is reached");
    }
}

static int add_symbols(struct annotation *annotation)
{
    const struct tally *tally = &annotation->tally;
    struct annotated_symbol *symbol = NULL;
    for (size_t i = 0; i < tally->address_count; i++) {
        const struct tally_address *address = &tally->addresses[i];
        if (!symbol || symbol->symbol != address->symbol) {
            symbol = ARRAY_PUSH(annotation->symbols, annotation->symbol_count,
                                annotation->symbol_capacity);
            if (!symbol)
                return -ENOMEM;
            symbol->symbol = address->symbol;
        }
        symbol->self += address->self;
        symbol->total += address->total;
    }
    if (annotation->symbol_count)
        qsort(annotation->symbols, annotation->symbol_count, sizeof(*annotation->symbols), by_self);
    annotation->symbol_of =
        calloc(annotation->request->profile->symbol_count + 1, sizeof(*annotation->symbol_of));
    if (!annotation->symbol_of)
        return -ENOMEM;
    read_all_code(annotation);
    return 0;
}

static uint64_t instruction_at(const void *context, uint32_t symbol, uint64_t svma)
{
    const struct annotation *annotation = context;
    uint32_t index = annotation->symbol_of[symbol];
    const struct code *code = index ? &annotation->symbols[index - 1].code : NULL;
    size_t place = code ? ARRAY_COUNT_UP_TO(code->lines, code->count, svma, svma) : 0;
    const struct code_line *line = place ? &code->lines[place - 1] : NULL;
    return line && svma - line->svma < line->bytes ? line->svma : svma;
}

/* Addresses of callers lie inside of a call; the instruction of both is the call. */
static int count_instructions(struct annotation *annotation)
{
    const struct tally_request request = {.profile = annotation->request->profile,
                                          .chosen = annotation->choice.is_chosen,
                                          .instruction_at = instruction_at,
                                          .context = annotation};
    tally_free(&annotation->tally);
    return tally_build(&annotation->tally, &request);
}

int annotation_build(struct annotation *annotation, const struct annotation_request *request,
                     struct error *error)
{
    *annotation = (struct annotation){.request = request};
    int err = function_choose(&annotation->choice, request->profile, request->function, error);
    if (err)
        return err;
    const struct tally_request all = {.profile = request->profile,
                                      .chosen = annotation->choice.is_chosen};
    err = tally_build(&annotation->tally, &all);
    if (!err)
        err = add_files(annotation);
    if (!err && request->symbols_with_code)
        err = add_symbols(annotation);
    if (!err && request->symbols_with_code)
        err = count_instructions(annotation);
    if (err) {
        annotation_free(annotation);
        error_set(error, err, "out of memory");
    }
    return err;
}
