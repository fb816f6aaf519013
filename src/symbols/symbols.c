/* SPDX-License-Identifier: MIT */
/*
 * A module, from files to frames. Each part outlives the parts below, because names and DIEs are
 * pointers into the files; symbols_close() frees from the last part to the first:
 *
 *     files        main, debug file, .gnu_debugdata     libelf
 *     compressed   the debug info, inflated             owned bytes, an ELF file for libdw
 *     supplement   dwz's common file                    alternate Dwarf
 *     splits       .dwo and .dwp                        a Dwarf for each unit
 *     fdes, go, symtab                                  where the debug info has no function
 *     lines                                             our own reader: line_header, line_rows
 *     functions, units, scopes                          libdw, and our own walk: die_walk
 */
#include "symbols/symbols.h"

#include "base/containers/array.h"
#include "symbols/dwarf/units.h"
#include "symbols/files/compressed_debug.h"
#include "symbols/files/debug_file.h"
#include "symbols/files/supplement.h"
#include "symbols/split/split.h"
#include "symbols/symtab/fde_symbols.h"
#include "symbols/symtab/go_symbols.h"
#include "symbols/symtab/musl_symbols.h"
#include "symbols/symtab/symtab_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_BYTES = 64 << 20 }; /* of a file read several times */

struct symbols {
    struct symtab_files files;
    struct compressed_debug compressed; /* of the file with debug info, if compressed */
    Dwarf *dwarf;                       /* NULL: no debug info */
    struct supplement supplement;
    struct splits splits;
    struct fde_symbols fdes;
    struct go_symbols go;
    bool is_damaged;
    char *debug_directory; /* owned; NULL: none */
    struct symtab symtab;
    struct source_paths paths;
    struct lines lines;
    struct functions functions;
    struct units units;
    struct reading_clock clock;  /* of the debug info */
    struct symbol_frame *frames; /* of the last result */
    size_t frame_count, frame_capacity;
};

void symbols_close(struct symbols *symbols)
{
    if (!symbols)
        return;
    units_free(&symbols->units);
    functions_free(&symbols->functions);
    lines_free(&symbols->lines);
    source_paths_free(&symbols->paths);
    symtab_free(&symbols->symtab);
    fde_symbols_free(&symbols->fdes);
    go_symbols_free(&symbols->go);
    splits_free(&symbols->splits);
    dwarf_end(symbols->dwarf);
    supplement_close(&symbols->supplement);
    compressed_debug_free(&symbols->compressed);
    symtab_files_close(&symbols->files);
    free(symbols->debug_directory);
    free(symbols->frames);
    free(symbols);
}

static bool has_debug_info(const struct elf_handle *handle)
{
    return handle->elf && elf_handle_debug_section(handle->elf, "info");
}

/* The line tables of all units: the offsets are available now. */
static int read_lines(struct symbols *symbols)
{
    size_t count;
    uint64_t *offsets = units_line_offsets(&symbols->units, &count);
    if (!offsets)
        return -ENOMEM;
    compressed_debug_read_lines(&symbols->compressed, offsets, count);
    free(offsets);
    return 0;
}

/* By the bytes before decompression: a hostile file is thirty times larger behind it. */
static void start_clock(struct symbols *symbols, const struct elf_handle *handle,
                        const struct symbols_config *config)
{
    const uint64_t taken_ns = config->reserve_taken_ns;
    symbols->clock =
        reading_clock_for(elf_handle_stored_bytes(handle),
                          taken_ns < SYMBOLS_RESERVE_NS ? SYMBOLS_RESERVE_NS - taken_ns : 0);
}

/* From the file itself, or else from the separate debug file; decompressed in advance if
 * necessary. */
static int load_dwarf(struct symbols *symbols, const struct symbols_config *config)
{
    const struct elf_handle *handle =
        has_debug_info(&symbols->files.main) ? &symbols->files.main : &symbols->files.debug;
    if (!has_debug_info(handle))
        return 0;
    start_clock(symbols, handle, config);
    if (compressed_debug_is_needed(handle) &&
        compressed_debug_open(&symbols->compressed, handle, config->needed, config->needed_count) ==
            0)
        handle = &symbols->compressed.handle;
    symbols->dwarf = dwarf_begin_elf(handle->elf, DWARF_C_READ, NULL);
    symbols->is_damaged = !symbols->dwarf;
    if (!symbols->dwarf)
        return 0;
    supplement_open(&symbols->supplement, symbols->dwarf,
                    symbols->files.debug.path ?: symbols->files.main.path, config);
    symbols->splits =
        (struct splits){.handle = handle,
                        .places = {.paths = {symbols->files.main.path, symbols->files.debug.path},
                                   .debug_directory = symbols->debug_directory}};
    symbols->lines.clock = &symbols->clock;
    int err = source_paths_init(&symbols->paths);
    if (err == 0)
        err = lines_init(&symbols->lines);
    if (err == 0)
        err =
            functions_init(&symbols->functions, &symbols->paths, &symbols->lines, &symbols->files);
    if (err == 0)
        err = units_init(&symbols->units, symbols->dwarf, &symbols->splits, &symbols->clock);
    if (err == 0 && symbols->compressed.lines.stream)
        err = read_lines(symbols);
    return err;
}

int symbols_need(struct symbols *symbols, const uint64_t *needed, size_t count)
{
    symtab_free(&symbols->symtab);
    int err = symtab_init(&symbols->symtab, needed, count);
    return err ? err : symtab_load(&symbols->symtab, &symbols->files);
}

/* Symbols first: code without a function in the debug info falls back on symbols. */
static int load(struct symbols *symbols, const struct symbols_config *config, struct error *error)
{
    int err =
        config->is_needed_later ? 0 : symbols_need(symbols, config->needed, config->needed_count);
    if (err == 0 && !config->symbols_only)
        err = load_dwarf(symbols, config);
    return err ? error_set(error, err, "out of memory while reading symbols") : 0;
}

static struct symbols *allocate(void)
{
    struct symbols *symbols = calloc(1, sizeof(*symbols));
    if (!symbols)
        return NULL;
    symtab_files_init(&symbols->files);
    symbols->supplement.handle.fd = -1;
    symbols->fdes.handle = &symbols->files.main;
    compressed_debug_init(&symbols->compressed);
    compressed_debug_init(&symbols->supplement.compressed);
    return symbols;
}

static int check_build_id(const struct symbols *symbols, const char *path, const uint8_t *build_id,
                          size_t build_id_bytes, struct error *error)
{
    const uint8_t *found;
    size_t found_bytes = elf_handle_build_id(&symbols->files.main, &found);
    if (build_id_bytes == 0 ||
        (found_bytes >= build_id_bytes && memcmp(found, build_id, build_id_bytes) == 0))
        return 0;
    return error_set(error, -ESTALE,
                     "%s is not the file that was recorded (its build-id differs): names are left "
                     "out; put the old file back to get them",
                     path);
}

/* Opens the separate debug file if it may have more than the file itself. */
static void open_debug_file(struct symbols *symbols, const char *path,
                            const struct symbols_config *config)
{
    const uint8_t *id;
    if (config->symbols_only ? symtab_is_in(symbols->files.main.elf, SHT_SYMTAB)
                             : has_debug_info(&symbols->files.main))
        return;
    size_t id_bytes = elf_handle_build_id(&symbols->files.main, &id);
    if (debug_file_open(&symbols->files.debug, &symbols->files.main, path,
                        config->debug_directory) != 0)
        (void)debug_file_open_fetched(&symbols->files.debug, config, id, id_bytes);
}

/* Mapping the pages of a symbol table takes most of the time of a second pass. */
static void keep_pages(struct symbols *symbols, const struct symbols_config *config)
{
    struct elf_handle *handles[] = {&symbols->files.main, &symbols->files.debug};
    for (size_t i = 0; config->is_needed_later && i < sizeof(handles) / sizeof(handles[0]); i++)
        handles[i]->keeps_pages =
            handles[i]->elf && elf_handle_stored_bytes(handles[i]) <= KEPT_BYTES;
}

int symbols_open(struct symbols **out, const char *path, const uint8_t *build_id,
                 size_t build_id_bytes, const struct symbols_config *config, struct error *error)
{
    *out = NULL;
    struct symbols *symbols = allocate();
    if (!symbols)
        return error_set(error, -ENOMEM, "out of memory");
    symbols->debug_directory = strdup(config->debug_directory);
    int err = elf_handle_open_at(&symbols->files.main, config->path_now ?: path, path, error);
    if (err == 0 && !symbols->debug_directory)
        err = error_set(error, -ENOMEM, "out of memory");
    if (err == 0)
        err = check_build_id(symbols, path, build_id, build_id_bytes, error);
    if (err == 0)
        open_debug_file(symbols, path, config);
    if (err == 0)
        keep_pages(symbols, config);
    if (err == 0)
        err = load(symbols, config, error);
    if (err != 0) {
        symbols_close(symbols);
        return err;
    }
    *out = symbols;
    return 0;
}

int symbols_open_memory(struct symbols **out, const void *bytes, size_t size, struct error *error)
{
    *out = NULL;
    struct symbols *symbols = allocate();
    if (!symbols)
        return error_set(error, -ENOMEM, "out of memory");
    int err = elf_handle_open_memory(&symbols->files.main, bytes, size, error);
    if (err == 0)
        err = load(symbols, &(struct symbols_config){0}, error);
    if (err != 0) {
        symbols_close(symbols);
        return err;
    }
    *out = symbols;
    return 0;
}

const char *symbols_source(const struct symbols *symbols)
{
    return symbols->dwarf ? "dwarf" : symbols->files.source;
}

bool symbols_is_damaged(const struct symbols *symbols)
{
    return symbols->is_damaged || symbols->compressed.is_damaged || symbols->units.is_damaged ||
           lines_are_damaged(&symbols->lines) || elf_handle_is_truncated(&symbols->files.main);
}

bool symbols_is_cut(const struct symbols *symbols)
{
    return symbols->clock.is_over;
}

uint64_t symbols_taken_ns(const struct symbols *symbols)
{
    return reading_clock_taken_ns(&symbols->clock);
}

bool symbols_has_unnamed(const struct symbols *symbols)
{
    return symbols->functions.has_unnamed;
}

const char *symbols_missing_file(const struct symbols *symbols)
{
    return symbols->supplement.missing;
}

static struct symbol_frame *push_frame(struct symbols *symbols, struct position position)
{
    struct symbol_frame *frame =
        ARRAY_PUSH(symbols->frames, symbols->frame_count, symbols->frame_capacity);
    if (frame) {
        frame->file = position.file;
        frame->line = position.line;
        frame->column = position.column;
    }
    return frame;
}

/* The code has a symbol but no function in the debug info: assembly, stubs, files without any. */
static int frame_of_symbol(struct symbols *symbols, const struct symbol *symbol,
                           struct position position)
{
    struct symbol_frame *frame = push_frame(symbols, position);
    if (!frame)
        return -ENOMEM;
    frame->name = symtab_name(&symbols->symtab, symbol);
    frame->system_name = symbol->is_plt ? frame->name : symbol->name;
    return 0;
}

/* A function of a Go program. */
static int frame_of_go(struct symbols *symbols, const struct go_function *function,
                       struct position position)
{
    struct symbol_frame *frame = push_frame(symbols, position);
    if (!frame)
        return -ENOMEM;
    struct go_position start =
        go_table_position(&symbols->go.table, function, function->start_svma);
    frame->name = frame->system_name = function->name;
    frame->definition_file = start.file;
    frame->definition_line = start.line;
    return 0;
}

static int frame_without_symbol(struct symbols *symbols, uint64_t svma, struct position position)
{
    const char *name =
        fde_symbols_find(&symbols->fdes, svma) ?: musl_symbols_find(&symbols->files.main, svma, 0);
    if (!name)
        return 0;
    struct symbol_frame *frame = push_frame(symbols, position);
    if (!frame)
        return -ENOMEM;
    frame->name = frame->system_name = name;
    return 0;
}

/* Innermost first: the call site of a frame is the position of the frame around it. */
static int frames_of_scope(struct symbols *symbols, struct unit *unit, uint32_t scope,
                           struct position position)
{
    while (scope != SPAN_NONE) {
        struct symbol_frame *frame = push_frame(symbols, position);
        const struct function *function =
            functions_get(&symbols->functions, &unit->scopes[scope].die);
        if (!frame || !function)
            return -ENOMEM;
        frame->name = function->name;
        frame->system_name = function->system_name;
        frame->definition_file = function->definition_file;
        frame->definition_line = function->definition_line;
        position = unit_call_site(unit, scope, &symbols->paths);
        scope = unit->scopes[scope].parent;
    }
    return 0;
}

static void reverse_frames(struct symbols *symbols)
{
    size_t count = symbols->frame_count;
    for (size_t i = 0; i < count / 2; i++) {
        struct symbol_frame frame = symbols->frames[i];
        symbols->frames[i] = symbols->frames[count - 1 - i];
        symbols->frames[count - 1 - i] = frame;
    }
}

/* A symbol without size may end before a hidden function. */
static const struct symbol *find_symbol(struct symbols *symbols, uint64_t svma)
{
    const struct symbol *symbol = symtab_find(&symbols->symtab, svma);
    bool is_behind =
        symbol && !symbol->is_sized && musl_symbols_find(&symbols->files.main, svma, symbol->svma);
    return is_behind ? NULL : symbol;
}

/* Best source first: a function of the debug info with its inlined calls, Go's table of functions,
 * a symbol, the FDE. The line comes from the same unit, or from Go's table. The symbol is part of
 * the result in any case. */
int symbols_resolve(struct symbols *symbols, uint64_t svma, struct symbol_result *result)
{
    *result = (struct symbol_result){0};
    symbols->frame_count = 0;
    const struct symbol *symbol = find_symbol(symbols, svma);
    struct unit *unit =
        symbols->dwarf ? units_find(&symbols->units, svma, &symbols->functions) : NULL;
    struct go_function function;
    bool is_go = !unit && go_symbols_find(&symbols->go, &symbols->files.main, svma, &function);
    struct position position = unit ? unit_line(unit, svma, &symbols->paths) : (struct position){0};
    if (is_go) {
        struct go_position at = go_table_position(&symbols->go.table, &function, svma);
        position = (struct position){.file = at.file, .line = at.line};
    }
    uint32_t scope = unit ? spans_find(&unit->spans, svma) : SPAN_NONE;
    int err = 0;
    if (scope != SPAN_NONE)
        err = frames_of_scope(symbols, unit, scope, position);
    else if (is_go)
        err = frame_of_go(symbols, &function, position);
    else if (symbol)
        err = frame_of_symbol(symbols, symbol, position);
    else
        err = frame_without_symbol(symbols, svma, position);
    if (err != 0)
        return err;
    reverse_frames(symbols);
    result->frames = symbols->frames;
    result->frame_count = symbols->frame_count;
    if (symbol) {
        result->symbol_name = symtab_name(&symbols->symtab, symbol);
        result->symbol_svma = symbol->svma;
        result->symbol_bytes = symbol_bytes(symbol);
    }
    return 0;
}
