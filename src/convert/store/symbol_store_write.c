/* SPDX-License-Identifier: MIT */
/*
 * The order in memory is not the order in the section: a file's names use strings and functions
 * that are numbered at their first use, so these tables are complete only after the last file.
 *
 *     written first   lib_bytes ◀─ names of each file     function_bytes ◀─ each function once
 *     in the section  strings, functions (function_bytes), files (lib_bytes)
 */
#include "convert/store/symbol_store.h"

#include "base/containers/array.h"
#include "convert/addresses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { LEB128_BYTES_MOST = 10 };

/* The written elements of a table of the profile, numbered by first use. */
struct numbering {
    uint32_t *numbers; /* by element, plus one; 0: unused so far */
    uint32_t *elements;
    uint32_t count;
};

/* Strings and functions get their numbers while the files are written, and go before them. */
struct writer {
    const struct profile *profile;
    const struct symbol_store *before;
    bool is_plain;
    struct numbering strings, functions;
    struct buffer function_bytes;
    struct buffer lib_bytes;
    size_t lib_count;
    uint32_t *order; /* addresses by lib, then svma */
    size_t order_count;
};

static void put(struct buffer *out, uint64_t value)
{
    uint8_t *room = buffer_room(out, LEB128_BYTES_MOST), *at = room;
    if (!room)
        return;
    for (; value > 0x7f; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    out->size += (size_t)(at - room);
}

static int numbering_open(struct numbering *numbering, size_t element_count)
{
    numbering->numbers = calloc(element_count + 1, sizeof(*numbering->numbers));
    numbering->elements = calloc(element_count + 1, sizeof(*numbering->elements));
    return numbering->numbers && numbering->elements ? 0 : -ENOMEM;
}

static void numbering_close(struct numbering *numbering)
{
    free(numbering->numbers);
    free(numbering->elements);
}

/* Numbers from 0, by first use: unused strings of the profile are not written. */
static uint64_t number_of(struct numbering *numbering, uint32_t element)
{
    if (numbering->numbers[element] == 0) {
        numbering->elements[numbering->count++] = element;
        numbering->numbers[element] = numbering->count;
    }
    return numbering->numbers[element] - UINT64_C(1);
}

static void put_string(struct writer *writer, struct buffer *out, uint32_t string)
{
    put(out, number_of(&writer->strings, string));
}

static void put_optional(struct writer *writer, struct buffer *out, uint32_t string)
{
    put(out, string == PROFILE_NONE ? 0 : number_of(&writer->strings, string) + 1);
}

static void put_function(struct writer *writer, uint32_t func)
{
    uint32_t known = writer->functions.count;
    uint64_t number = number_of(&writer->functions, func);
    put(&writer->lib_bytes, number);
    if (number != known)
        return;
    const struct profile_func *function = &writer->profile->funcs[func];
    put_string(writer, &writer->function_bytes, function->name);
    put_string(writer, &writer->function_bytes, function->system_name);
    put_optional(writer, &writer->function_bytes, function->file);
    put(&writer->function_bytes, function->line);
}

/* Marks an address as unnamed: no further search. */
static void put_nameless(struct buffer *out)
{
    put(out, 0); /* symbol name, */
    put(out, 0); /* symbol svma, */
    put(out, 0); /* bytes, */
    put(out, 0); /* frames */
}

static void put_named(struct writer *writer, const struct profile_address *address)
{
    const struct profile *profile = writer->profile;
    const struct profile_frame *frames = profile->frames + address->first_frame;
    const struct profile_symbol *symbol =
        frames[0].symbol == PROFILE_NONE ? NULL : &profile->symbols[frames[0].symbol];
    struct buffer *out = &writer->lib_bytes;
    put_optional(writer, out, symbol ? symbol->name : PROFILE_NONE);
    put(out, symbol ? address->svma - symbol->svma : 0);
    put(out, symbol ? symbol->bytes : 0);
    put(out, address->frame_count);
    for (uint32_t i = 0; i < address->frame_count; i++) {
        put_function(writer, frames[i].func);
        put_optional(writer, out, frames[i].file);
        put(out, frames[i].line);
        put(out, frames[i].column);
    }
}

static const struct stored_lib *stored_lib(const struct writer *writer,
                                           const struct profile_lib *lib)
{
    const char *path = profile_text(writer->profile, lib->path);
    return writer->before
               ? symbol_store_find_lib(writer->before, path, lib->build_id, lib->build_id_bytes)
               : NULL;
}

static void put_segments(struct buffer *out, const struct module_segments *segments)
{
    buffer_u8(out, segments->is_known);
    put(out, segments->base_svma);
    put(out, segments->segment_count);
    for (size_t i = 0; i < segments->segment_count; i++) {
        put(out, segments->segments[i].offset);
        put(out, segments->segments[i].svma);
        put(out, segments->segments[i].file_bytes);
    }
}

/* Segments of generated code: pieces, with times in place of offsets. */
static int put_code(struct writer *writer, uint32_t lib)
{
    const struct profile *profile = writer->profile;
    const struct stored_lib *stored = stored_lib(writer, &profile->libs[lib]);
    struct module_segments pieces = {0};
    for (size_t i = 0; i < profile->symbol_count && !stored; i++) {
        const struct profile_symbol *symbol = &profile->symbols[i];
        if (symbol->lib != lib)
            continue;
        struct elf_segment *piece =
            ARRAY_PUSH(pieces.segments, pieces.segment_count, pieces.segment_capacity);
        if (!piece)
            return -ENOMEM;
        piece->offset = symbol->since_ns;
        piece->svma = symbol->svma;
        piece->file_bytes = symbol->bytes;
    }
    put_segments(&writer->lib_bytes, stored ? &stored->segments : &pieces);
    module_segments_free(&pieces);
    return 0;
}

/* The file's segments: stored earlier, else read now. */
static int put_image(struct writer *writer, const struct profile_lib *lib)
{
    if (writer->is_plain) {
        put_segments(&writer->lib_bytes, &(struct module_segments){0});
        return 0;
    }
    const char *path = profile_text(writer->profile, lib->path);
    const struct stored_lib *stored = stored_lib(writer, lib);
    struct module_segments segments;
    int err = stored && stored->segments.is_known
                  ? module_segments_copy(&segments, &stored->segments)
                  : module_segments_read(&segments, path, lib->build_id, lib->build_id_bytes);
    put_segments(&writer->lib_bytes, &segments);
    module_segments_free(&segments);
    return err;
}

static bool is_known(const struct profile *profile, const struct profile_address *address)
{
    return address->is_nameless || address_is_named(profile, address);
}

/* Moves addresses with any name to the front. Returns their number. */
static size_t keep_known(const struct profile *profile, uint32_t *addresses, size_t count)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (is_known(profile, &profile->addresses[addresses[i]]))
            addresses[known++] = addresses[i];
    return known;
}

/* A lib with its addresses, a range of the order. */
static int put_lib(struct writer *writer, uint32_t *addresses, size_t count)
{
    const struct profile *profile = writer->profile;
    const struct profile_lib *lib = &profile->libs[profile->addresses[addresses[0]].lib];
    struct buffer *out = &writer->lib_bytes;
    put_string(writer, out, lib->path);
    buffer_u8(out, lib->build_id_bytes);
    buffer_append(out, lib->build_id, lib->build_id_bytes);
    int err = lib->category == PROFILE_JIT ? put_code(writer, profile->addresses[addresses[0]].lib)
                                           : put_image(writer, lib);
    size_t known = keep_known(profile, addresses, count);
    put(out, known);
    uint64_t before_svma = 0;
    for (size_t i = 0; i < known; i++) {
        const struct profile_address *address = &profile->addresses[addresses[i]];
        put(out, address->svma - before_svma);
        if (address->is_nameless)
            put_nameless(out);
        else
            put_named(writer, address);
        before_svma = address->svma;
    }
    writer->lib_count++;
    return err;
}

static int put_libs(struct writer *writer)
{
    const struct profile *profile = writer->profile;
    int err = 0;
    for (size_t first = 0, end; first < writer->order_count && err == 0; first = end) {
        uint32_t lib = profile->addresses[writer->order[first]].lib;
        for (end = first + 1; end < writer->order_count; end++)
            if (profile->addresses[writer->order[end]].lib != lib)
                break;
        if (addresses_are_stored(profile, lib))
            err = put_lib(writer, writer->order + first, end - first);
    }
    return err;
}

static void put_strings(const struct writer *writer, struct buffer *out)
{
    put(out, writer->strings.count);
    for (uint32_t i = 0; i < writer->strings.count; i++) {
        const char *text = profile_text(writer->profile, writer->strings.elements[i]);
        size_t size = strlen(text);
        put(out, size);
        buffer_append(out, text, size);
    }
}

static void put_tables(const struct writer *writer, struct buffer *out)
{
    put_strings(writer, out);
    put(out, writer->functions.count);
    buffer_append(out, writer->function_bytes.bytes, writer->function_bytes.size);
    put(out, writer->lib_count);
    buffer_append(out, writer->lib_bytes.bytes, writer->lib_bytes.size);
}

static void put_compressed(struct buffer *out, const struct buffer *tables)
{
    put(out, tables->size);
    uLongf size = compressBound(tables->size);
    uint8_t *room = buffer_room(out, size);
    if (room && compress2(room, &size, tables->bytes, tables->size, Z_BEST_SPEED) == Z_OK)
        out->size += size;
    else
        out->failed = true;
}

static void put_all(const struct writer *writer, uint32_t version, struct buffer *out)
{
    struct buffer tables = {0};
    put_tables(writer, &tables);
    buffer_text(out, SYMBOL_STORE_MAGIC);
    buffer_u32(out, version);
    buffer_u32(out, 0); /* the checksum's place */
    size_t start = out->size;
    if (version == SYMBOL_STORE_PLAIN)
        buffer_append(out, tables.bytes, tables.size);
    else
        put_compressed(out, &tables);
    out->failed |= tables.failed;
    buffer_free(&tables);
    if (!out->failed)
        buffer_set_u32(
            out, start - sizeof(uint32_t),
            (uint32_t)crc32_z(crc32_z(0, NULL, 0), out->bytes + start, out->size - start));
}

/* before: the names stored in the capture so far; their segments stay, since files may be gone. */
static int write_version(const struct profile *profile, const struct symbol_store *before,
                         uint32_t version, struct buffer *out)
{
    struct writer writer = {.profile = profile,
                            .before = before,
                            .is_plain = version == SYMBOL_STORE_PLAIN,
                            .order = addresses_order(profile),
                            .order_count = profile->address_count};
    int err = numbering_open(&writer.strings, intern_count(profile->strings));
    if (err == 0)
        err = numbering_open(&writer.functions, profile->func_count);
    if (err == 0)
        err = writer.order ? put_libs(&writer) : -ENOMEM;
    if (err == 0)
        put_all(&writer, version, out);
    if (out->failed || writer.function_bytes.failed || writer.lib_bytes.failed)
        err = -ENOMEM;
    numbering_close(&writer.strings);
    numbering_close(&writer.functions);
    buffer_free(&writer.function_bytes);
    buffer_free(&writer.lib_bytes);
    free(writer.order);
    return err;
}

int symbol_store_write(const struct profile *profile, const struct symbol_store *before,
                       struct buffer *out)
{
    return write_version(profile, before, SYMBOL_STORE_VERSION, out);
}

int symbol_store_write_plain(const struct profile *profile, struct buffer *out)
{
    return write_version(profile, NULL, SYMBOL_STORE_PLAIN, out);
}
