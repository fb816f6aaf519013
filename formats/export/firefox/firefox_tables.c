/* SPDX-License-Identifier: MIT */
/* The tables shared by all threads; a function for the content of each column. */
#include "export/firefox/firefox.h"

#include "export/source.h"

enum { /* frameTable.flags */
       FRAME_INLINED = 1,
       FRAME_HAS_ADDRESS = 2,
       FRAME_HAS_CATEGORY = 4,
       FRAME_HAS_SYMBOL = 8,
       FRAME_HAS_LINE = 16,
       FRAME_HAS_COLUMN = 32,
};

enum { /* funcTable.flags */
       FUNC_HAS_RESOURCE = 4,
       FUNC_HAS_SOURCE = 8,
       FUNC_HAS_LINE = 16,
};

typedef int64_t column_value(struct firefox *firefox, size_t row);

static void write_column(struct firefox *firefox, const char *name, size_t length,
                         column_value *value)
{
    json_key(firefox->out, name);
    json_open(firefox->out, '[');
    for (size_t i = 0; i < length; i++)
        json_integer(firefox->out, value(firefox, i));
    json_close(firefox->out, ']');
}

static void open_table(struct firefox *firefox, const char *name, size_t length)
{
    json_key(firefox->out, name);
    json_open(firefox->out, '{');
    json_member_unsigned(firefox->out, "length", length);
}

static void close_table(struct firefox *firefox)
{
    json_close(firefox->out, '}');
}

static int64_t zero(struct firefox *firefox, size_t row)
{
    (void)firefox;
    (void)row;
    return 0;
}

static int64_t one(struct firefox *firefox, size_t row)
{
    (void)firefox;
    (void)row;
    return 1;
}

static int64_t stack_frame(struct firefox *firefox, size_t row)
{
    return firefox->profile->stacks[row].frame;
}

static int64_t stack_prefix_offset(struct firefox *firefox, size_t row)
{
    uint32_t parent = firefox->profile->stacks[row].parent;
    return parent == PROFILE_NONE ? 0 : (int64_t)row - parent;
}

static void write_stacks(struct firefox *firefox)
{
    size_t length = firefox->profile->stack_count;
    open_table(firefox, "stackTable", length);
    write_column(firefox, "frame", length, stack_frame);
    write_column(firefox, "prefixOffset", length, stack_prefix_offset);
    close_table(firefox);
}

static uint32_t frame_symbol_row(struct firefox *firefox, const struct profile_frame *frame)
{
    return frame->symbol == PROFILE_NONE ? PROFILE_NONE : firefox->symbol_rows[frame->symbol];
}

static int64_t frame_flags(struct firefox *firefox, size_t row)
{
    const struct profile_frame *frame = &firefox->profile->frames[row];
    uint32_t address;
    int64_t flags = FRAME_HAS_CATEGORY;
    if (frame->inline_depth > 0)
        flags |= FRAME_INLINED;
    if (firefox_address(firefox, frame->lib, frame->svma, &address))
        flags |= FRAME_HAS_ADDRESS;
    if (frame_symbol_row(firefox, frame) != PROFILE_NONE)
        flags |= FRAME_HAS_SYMBOL;
    if (frame->line)
        flags |= FRAME_HAS_LINE;
    if (frame->column)
        flags |= FRAME_HAS_COLUMN;
    return flags;
}

static int64_t frame_address(struct firefox *firefox, size_t row)
{
    const struct profile_frame *frame = &firefox->profile->frames[row];
    uint32_t address;
    firefox_address(firefox, frame->lib, frame->svma, &address);
    return address;
}

static int64_t frame_lib(struct firefox *firefox, size_t row)
{
    const struct profile_frame *frame = &firefox->profile->frames[row];
    uint32_t address;
    if (!firefox_address(firefox, frame->lib, frame->svma, &address))
        return 0;
    return firefox->lib_rows[frame->lib];
}

static int64_t frame_category(struct firefox *firefox, size_t row)
{
    static const enum firefox_category categories[PROFILE_CATEGORIES] = {
        [PROFILE_USER] = FIREFOX_USER,       [PROFILE_KERNEL] = FIREFOX_KERNEL,
        [PROFILE_LIBRARY] = FIREFOX_LIBRARY, [PROFILE_JIT] = FIREFOX_JIT,
        [PROFILE_SYNTHETIC] = FIREFOX_OTHER,
    };
    const struct profile_frame *frame = &firefox->profile->frames[row];
    return firefox_wait_category(firefox, frame->lib, categories[frame->category]);
}

static int64_t frame_func(struct firefox *firefox, size_t row)
{
    return firefox->func_rows[row];
}

static int64_t frame_symbol(struct firefox *firefox, size_t row)
{
    uint32_t symbol = frame_symbol_row(firefox, &firefox->profile->frames[row]);
    return symbol == PROFILE_NONE ? 0 : symbol;
}

static int64_t frame_line(struct firefox *firefox, size_t row)
{
    return firefox->profile->frames[row].line;
}

static int64_t frame_column(struct firefox *firefox, size_t row)
{
    return firefox->profile->frames[row].column;
}

static void write_frames(struct firefox *firefox)
{
    size_t length = firefox->profile->frame_count;
    open_table(firefox, "frameTable", length);
    write_column(firefox, "flags", length, frame_flags);
    write_column(firefox, "address", length, frame_address);
    write_column(firefox, "lib", length, frame_lib);
    write_column(firefox, "category", length, frame_category);
    write_column(firefox, "subcategory", length, zero);
    write_column(firefox, "func", length, frame_func);
    write_column(firefox, "nativeSymbol", length, frame_symbol);
    write_column(firefox, "innerWindowID", length, zero);
    write_column(firefox, "line", length, frame_line);
    write_column(firefox, "column", length, frame_column);
    write_column(firefox, "originalLocation", length, zero);
    close_table(firefox);
}

static const struct firefox_func *func_at(const struct firefox *firefox, size_t row)
{
    return intern_bytes(firefox->funcs, (uint32_t)row, NULL);
}

static int64_t func_flags(struct firefox *firefox, size_t row)
{
    const struct firefox_func *key = func_at(firefox, row);
    return (key->resource == PROFILE_NONE ? 0 : FUNC_HAS_RESOURCE) |
           (key->source == PROFILE_NONE ? 0 : FUNC_HAS_SOURCE) |
           (firefox->func_lines[row] == 0 ? 0 : FUNC_HAS_LINE);
}

static int64_t func_name(struct firefox *firefox, size_t row)
{
    return func_at(firefox, row)->name;
}

static int64_t func_resource(struct firefox *firefox, size_t row)
{
    uint32_t resource = func_at(firefox, row)->resource;
    return resource == PROFILE_NONE ? 0 : resource;
}

static int64_t func_source(struct firefox *firefox, size_t row)
{
    uint32_t source = func_at(firefox, row)->source;
    return source == PROFILE_NONE ? 0 : source;
}

static int64_t func_line(struct firefox *firefox, size_t row)
{
    return firefox->func_lines[row];
}

static void write_funcs(struct firefox *firefox)
{
    size_t length = intern_count(firefox->funcs);
    open_table(firefox, "funcTable", length);
    write_column(firefox, "flags", length, func_flags);
    write_column(firefox, "name", length, func_name);
    write_column(firefox, "resource", length, func_resource);
    write_column(firefox, "source", length, func_source);
    write_column(firefox, "lineNumber", length, func_line);
    write_column(firefox, "columnNumber", length, zero);
    write_column(firefox, "originalLocation", length, zero);
    close_table(firefox);
}

static int64_t symbol_lib(struct firefox *firefox, size_t row)
{
    return firefox->symbols[row].lib;
}

static int64_t symbol_address(struct firefox *firefox, size_t row)
{
    return firefox->symbols[row].address;
}

static int64_t symbol_name(struct firefox *firefox, size_t row)
{
    return firefox->symbols[row].name;
}

static int64_t symbol_size(struct firefox *firefox, size_t row)
{
    uint64_t bytes = firefox->symbols[row].bytes;
    return bytes == 0 || bytes > INT32_MAX ? -1 : (int64_t)bytes;
}

static void write_symbols(struct firefox *firefox)
{
    size_t length = firefox->symbol_count;
    open_table(firefox, "nativeSymbols", length);
    write_column(firefox, "libIndex", length, symbol_lib);
    write_column(firefox, "address", length, symbol_address);
    write_column(firefox, "name", length, symbol_name);
    write_column(firefox, "functionSize", length, symbol_size);
    close_table(firefox);
}

static void write_nulls(struct firefox *firefox, const char *name, size_t length)
{
    json_key(firefox->out, name);
    json_open(firefox->out, '[');
    for (size_t i = 0; i < length; i++)
        json_null(firefox->out);
    json_close(firefox->out, ']');
}

static int64_t resource_name(struct firefox *firefox, size_t row)
{
    return *(const uint32_t *)intern_bytes(firefox->resources, (uint32_t)row, NULL);
}

static void write_resources(struct firefox *firefox)
{
    size_t length = intern_count(firefox->resources);
    open_table(firefox, "resourceTable", length);
    write_column(firefox, "name", length, resource_name);
    write_nulls(firefox, "host", length);
    write_column(firefox, "type", length, one); /* 1: a library */
    close_table(firefox);
}

static int64_t source_path(struct firefox *firefox, size_t row)
{
    return *(const uint32_t *)intern_bytes(firefox->sources, (uint32_t)row, NULL);
}

static void embed(struct firefox *firefox, const char *path, uint32_t lib)
{
    const struct export_options *options = firefox->options;
    struct buffer text = {0};
    int err = source_read(path, source_build_time(firefox->profile, lib), &text);
    if (err == 0)
        json_string(firefox->out, (const char *)text.bytes);
    else
        json_null(firefox->out);
    if (options->note_source)
        options->note_source(options->note_source_context, path, err);
    buffer_free(&text);
}

static void write_sources(struct firefox *firefox)
{
    size_t length = intern_count(firefox->sources);
    open_table(firefox, "sources", length);
    write_nulls(firefox, "id", length);
    write_column(firefox, "filename", length, source_path);
    write_column(firefox, "startLine", length, one);
    write_column(firefox, "startColumn", length, one);
    write_nulls(firefox, "sourceMapURL", length);
    json_key(firefox->out, "content");
    json_open(firefox->out, '[');
    for (size_t i = 0; i < length; i++) {
        uint32_t path = (uint32_t)source_path(firefox, i);
        if (firefox->options && firefox->options->embed_source)
            embed(firefox, intern_string(firefox->texts.texts, path), firefox->source_libs[i]);
        else
            json_null(firefox->out);
    }
    json_close(firefox->out, ']');
    close_table(firefox);
}

/* Where generated code comes from: nothing of native code. */
static void write_source_locations(struct firefox *firefox)
{
    open_table(firefox, "sourceLocationTable", 0);
    write_column(firefox, "source", 0, zero);
    write_column(firefox, "line", 0, zero);
    write_column(firefox, "column", 0, zero);
    close_table(firefox);
}

static void write_texts(struct firefox *firefox)
{
    json_key(firefox->out, "stringArray");
    json_open(firefox->out, '[');
    for (uint32_t i = 0; i < intern_count(firefox->texts.texts); i++)
        json_string(firefox->out, intern_string(firefox->texts.texts, i));
    json_close(firefox->out, ']');
}

void firefox_write_tables(struct firefox *firefox)
{
    json_key(firefox->out, "shared");
    json_open(firefox->out, '{');
    write_stacks(firefox);
    write_frames(firefox);
    write_funcs(firefox);
    write_resources(firefox);
    write_symbols(firefox);
    write_sources(firefox);
    write_source_locations(firefox);
    write_texts(firefox);
    json_close(firefox->out, '}');
}
