/* SPDX-License-Identifier: MIT */
/*
 * Reads untrusted bytes: from a capture, and from a confined worker. Three rules hold for each
 * number:
 *
 *     count    at most the bytes left: every element takes a byte or more (read_count())
 *     index    below the count of a table read before
 *     sum      checked for overflow; addresses ascend
 *
 * Anything else is -EBADMSG, and nothing of the section is used. Memory is bounded by the size of
 * the section.
 */
#include "convert/store/symbol_store.h"

#include "base/containers/array.h"
#include "base/containers/cursor.h"
#include "elf/decompress.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

void symbol_store_free(struct symbol_store *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < store->lib_count; i++)
        module_segments_free(&store->libs[i].segments);
    free(store->text);
    free(store->strings);
    free(store->functions);
    free(store->libs);
    free(store->addresses);
    free(store->frames);
    free(store);
}

/* A count of elements of at least a byte each: at most the rest of the section. */
static size_t read_count(struct cursor *c)
{
    uint64_t count = cursor_uleb128(c);
    if (count <= cursor_left(c))
        return (size_t)count;
    c->failed = true;
    return 0;
}

static uint32_t read_u32(struct cursor *c)
{
    uint64_t value = cursor_uleb128(c);
    if (value <= UINT32_MAX)
        return (uint32_t)value;
    c->failed = true;
    return 0;
}

/* An array of count zeroed elements; sets *err when memory is out. */
static void *allocate(size_t count, size_t bytes, int *err)
{
    void *array = calloc(count + 1, bytes);
    if (!array)
        *err = -ENOMEM;
    return array;
}

static int read_strings(struct symbol_store *store, struct cursor *c)
{
    int err = 0;
    size_t count = read_count(c);
    store->strings = allocate(count, sizeof(*store->strings), &err);
    /* Room for each string's bytes and terminator: the size in front takes at least the
     * terminator's byte. */
    store->text = allocate(cursor_left(c), 1, &err);
    char *end = store->text;
    for (size_t i = 0; i < count && err == 0; i++) {
        uint64_t size = cursor_uleb128(c);
        const uint8_t *bytes = cursor_bytes(c, size);
        if (!bytes || memchr(bytes, 0, size))
            return -EBADMSG;
        store->strings[store->string_count++] = memcpy(end, bytes, size);
        end += size + 1;
    }
    return err;
}

static const char *read_string(const struct symbol_store *store, struct cursor *c)
{
    uint64_t index = cursor_uleb128(c);
    if (index < store->string_count)
        return store->strings[index];
    c->failed = true;
    return "";
}

/* An index plus one; 0: none. */
static const char *read_optional(const struct symbol_store *store, struct cursor *c)
{
    uint64_t index = cursor_uleb128(c);
    if (index <= store->string_count)
        return index ? store->strings[index - 1] : NULL;
    c->failed = true;
    return NULL;
}

static int read_functions(struct symbol_store *store, struct cursor *c)
{
    int err = 0;
    size_t count = read_count(c);
    store->functions = allocate(count, sizeof(*store->functions), &err);
    for (size_t i = 0; i < count && err == 0; i++) {
        struct symbol_frame *function = &store->functions[store->function_count++];
        function->name = read_string(store, c);
        function->system_name = read_string(store, c);
        function->definition_file = read_optional(store, c);
        function->definition_line = read_u32(c);
    }
    return err;
}

static int read_frames(struct symbol_store *store, struct stored_address *address, struct cursor *c)
{
    address->first_frame = store->frame_count;
    address->frame_count = read_count(c);
    for (size_t i = 0; i < address->frame_count; i++) {
        struct symbol_frame *frame =
            ARRAY_PUSH(store->frames, store->frame_count, store->frame_capacity);
        if (!frame)
            return -ENOMEM;
        uint64_t function = cursor_uleb128(c);
        if (c->failed || function >= store->function_count)
            return -EBADMSG;
        *frame = store->functions[function];
        frame->file = read_optional(store, c);
        frame->line = read_u32(c);
        frame->column = read_u32(c);
    }
    return 0;
}

/* Addresses ascend: steps, not absolute values; a step of 0 would be a second entry. */
static int read_addresses(struct symbol_store *store, struct stored_lib *lib, struct cursor *c)
{
    uint64_t svma = 0;
    int err = 0;
    lib->first_address = store->address_count;
    lib->address_count = read_count(c);
    for (size_t i = 0; i < lib->address_count && err == 0; i++) {
        struct stored_address *address =
            ARRAY_PUSH(store->addresses, store->address_count, store->address_capacity);
        if (!address)
            return -ENOMEM;
        uint64_t step = cursor_uleb128(c);
        if (c->failed || (i > 0 && step == 0) || __builtin_add_overflow(svma, step, &svma))
            return -EBADMSG;
        address->svma = svma;
        address->symbol_name = read_optional(store, c);
        address->symbol_svma = svma - cursor_uleb128(c);
        address->symbol_bytes = cursor_uleb128(c);
        err = read_frames(store, address, c);
    }
    return err;
}

static int read_image(struct module_segments *segments, struct cursor *c)
{
    segments->is_known = cursor_u8(c) != 0;
    segments->base_svma = cursor_uleb128(c);
    size_t count = read_count(c);
    for (size_t i = 0; i < count && !c->failed; i++) {
        struct elf_segment *segment =
            ARRAY_PUSH(segments->segments, segments->segment_count, segments->segment_capacity);
        if (!segment)
            return -ENOMEM;
        segment->type = PT_LOAD;
        segment->flags = PF_R | PF_X;
        segment->offset = cursor_uleb128(c);
        segment->svma = cursor_uleb128(c);
        segment->file_bytes = cursor_uleb128(c);
    }
    return 0;
}

static int read_lib(struct symbol_store *store, struct stored_lib *lib, struct cursor *c)
{
    lib->path = read_string(store, c);
    lib->build_id_bytes = cursor_u8(c);
    const uint8_t *build_id = cursor_bytes(c, lib->build_id_bytes);
    if (!build_id || lib->build_id_bytes > sizeof(lib->build_id))
        return -EBADMSG;
    memcpy(lib->build_id, build_id, lib->build_id_bytes);
    int err = read_image(&lib->segments, c);
    return err ? err : read_addresses(store, lib, c);
}

static int read_libs(struct symbol_store *store, struct cursor *c)
{
    int err = 0;
    enum { LIBS_MAX = 1 << 16 }; /* each lib of a profile is compared with them */
    size_t count = read_count(c);
    if (count > LIBS_MAX)
        return -EBADMSG;
    store->libs = allocate(count, sizeof(*store->libs), &err);
    for (size_t i = 0; i < count && err == 0; i++)
        err = read_lib(store, &store->libs[store->lib_count++], c);
    return err;
}

/* Strings, functions, libs with their addresses. */
static int read_tables(struct symbol_store *store, struct cursor *c)
{
    int err = read_strings(store, c);
    if (err == 0)
        err = read_functions(store, c);
    if (err == 0)
        err = read_libs(store, c);
    return err ? err : c->failed ? -EBADMSG : 0;
}

static int read_compressed(struct symbol_store *store, struct cursor *c)
{
    uint64_t size = cursor_uleb128(c);
    if (c->failed || size > SIZE_MAX)
        return -EBADMSG;
    struct buffer tables = {0};
    int err = decompress_zlib(c->bytes + c->at, cursor_left(c), (size_t)size, &tables);
    struct cursor inside = cursor_of(tables.bytes, tables.size);
    if (err == 0)
        err = read_tables(store, &inside);
    buffer_free(&tables);
    return err == -EFBIG ? -EBADMSG : err;
}

/* Magic, version, checksum of the rest; the tables. */
static int read_all(struct symbol_store *store, struct cursor *c)
{
    const uint8_t *magic = cursor_bytes(c, sizeof(SYMBOL_STORE_MAGIC) - 1);
    uint32_t version = cursor_u32(c);
    uint32_t checksum = cursor_u32(c);
    if (c->failed || memcmp(magic, SYMBOL_STORE_MAGIC, sizeof(SYMBOL_STORE_MAGIC) - 1) != 0 ||
        (version != SYMBOL_STORE_VERSION && version != SYMBOL_STORE_PLAIN) ||
        crc32_z(crc32_z(0, NULL, 0), c->bytes + c->at, cursor_left(c)) != checksum)
        return -EBADMSG;
    return version == SYMBOL_STORE_PLAIN ? read_tables(store, c) : read_compressed(store, c);
}

int symbol_store_parse(struct symbol_store **out, const void *bytes, size_t size)
{
    *out = NULL;
    struct symbol_store *store = calloc(1, sizeof(*store));
    if (!store)
        return -ENOMEM;
    struct cursor c = cursor_of(bytes, size);
    int err = read_all(store, &c);
    if (err != 0) {
        symbol_store_free(store);
        return err;
    }
    *out = store;
    return 0;
}

const struct stored_lib *symbol_store_find_lib(const struct symbol_store *store, const char *path,
                                               const uint8_t *build_id, size_t build_id_bytes)
{
    for (size_t i = 0; i < store->lib_count; i++) {
        const struct stored_lib *lib = &store->libs[i];
        if (lib->build_id_bytes == build_id_bytes && strcmp(lib->path, path) == 0 &&
            memcmp(lib->build_id, build_id, build_id_bytes) == 0)
            return lib;
    }
    return NULL;
}

bool symbol_store_has_lines(const struct symbol_store *store, const struct stored_lib *lib)
{
    for (size_t i = 0; i < lib->address_count; i++) {
        const struct stored_address *address = &store->addresses[lib->first_address + i];
        for (size_t j = 0; j < address->frame_count; j++)
            if (store->frames[address->first_frame + j].line)
                return true;
    }
    return false;
}

static int compare_address(const void *key, const void *element)
{
    const uint64_t *svma = key;
    const struct stored_address *address = element;
    return (*svma > address->svma) - (*svma < address->svma);
}

static const struct stored_address *find_address(const struct symbol_store *store,
                                                 const struct stored_lib *lib, uint64_t svma)
{
    return lib->address_count == 0
               ? NULL
               : bsearch(&svma, store->addresses + lib->first_address, lib->address_count,
                         sizeof(struct stored_address), compare_address);
}

static bool give(const struct symbol_store *store, const struct stored_address *address,
                 struct symbol_result *result)
{
    if (!address)
        return false;
    *result = (struct symbol_result){.frames = store->frames + address->first_frame,
                                     .frame_count = address->frame_count,
                                     .symbol_name = address->symbol_name,
                                     .symbol_svma = address->symbol_svma,
                                     .symbol_bytes = address->symbol_bytes};
    return true;
}

bool symbol_store_find(const struct symbol_store *store, const struct stored_lib *lib,
                       uint64_t svma, struct symbol_result *result)
{
    return give(store, find_address(store, lib, svma), result);
}

/* number: the address' place in the request of the worker, mostly its place in the answer, too. */
bool symbol_store_find_at(const struct symbol_store *store, const struct stored_lib *lib,
                          size_t number, uint64_t svma, struct symbol_result *result)
{
    const struct stored_address *guess =
        number < lib->address_count ? store->addresses + lib->first_address + number : NULL;
    return give(store, guess && guess->svma == svma ? guess : find_address(store, lib, svma),
                result);
}
