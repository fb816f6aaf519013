/* SPDX-License-Identifier: MIT */
#include "convert/names.h"

#include "base/containers/array.h"
#include "base/containers/cursor.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

void names_free(struct names *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < names->lib_count; i++)
        image_free(&names->libs[i].image);
    free(names->text);
    free(names->strings);
    free(names->functions);
    free(names->libs);
    free(names->addresses);
    free(names->frames);
    free(names);
}

/* A count of elements, each of which takes at least a byte: more than are left cannot be. */
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

static int read_strings(struct names *names, struct cursor *c)
{
    int err = 0;
    size_t count = read_count(c);
    names->strings = allocate(count, sizeof(*names->strings), &err);
    /* Each string gives up its size, one byte or more, and gets a terminator. */
    names->text = allocate(cursor_left(c), 1, &err);
    char *end = names->text;
    for (size_t i = 0; i < count && err == 0; i++) {
        uint64_t size = cursor_uleb128(c);
        const uint8_t *bytes = cursor_bytes(c, size);
        if (!bytes || memchr(bytes, 0, size))
            return -EBADMSG;
        names->strings[names->string_count++] = memcpy(end, bytes, size);
        end += size + 1;
    }
    return err;
}

static const char *read_string(const struct names *names, struct cursor *c)
{
    uint64_t index = cursor_uleb128(c);
    if (index < names->string_count)
        return names->strings[index];
    c->failed = true;
    return "";
}

/* An index plus one; 0 is none. */
static const char *read_optional(const struct names *names, struct cursor *c)
{
    uint64_t index = cursor_uleb128(c);
    if (index <= names->string_count)
        return index ? names->strings[index - 1] : NULL;
    c->failed = true;
    return NULL;
}

static int read_functions(struct names *names, struct cursor *c)
{
    int err = 0;
    size_t count = read_count(c);
    names->functions = allocate(count, sizeof(*names->functions), &err);
    for (size_t i = 0; i < count && err == 0; i++) {
        struct symbol_frame *function = &names->functions[names->function_count++];
        function->name = read_string(names, c);
        function->system_name = read_string(names, c);
        function->definition_file = read_optional(names, c);
        function->definition_line = read_u32(c);
    }
    return err;
}

static int read_frames(struct names *names, struct names_address *address, struct cursor *c)
{
    address->first_frame = names->frame_count;
    address->frame_count = read_count(c);
    for (size_t i = 0; i < address->frame_count; i++) {
        struct symbol_frame *frame =
            ARRAY_PUSH(names->frames, names->frame_count, names->frame_capacity);
        if (!frame)
            return -ENOMEM;
        uint64_t function = cursor_uleb128(c);
        if (c->failed || function >= names->function_count)
            return -EBADMSG;
        *frame = names->functions[function];
        frame->file = read_optional(names, c);
        frame->line = read_u32(c);
        frame->column = read_u32(c);
    }
    return 0;
}

static int read_addresses(struct names *names, struct names_lib *lib, struct cursor *c)
{
    uint64_t svma = 0;
    int err = 0;
    lib->first_address = names->address_count;
    lib->address_count = read_count(c);
    for (size_t i = 0; i < lib->address_count && err == 0; i++) {
        struct names_address *address =
            ARRAY_PUSH(names->addresses, names->address_count, names->address_capacity);
        if (!address)
            return -ENOMEM;
        uint64_t step = cursor_uleb128(c);
        if (c->failed || (i > 0 && step == 0) || __builtin_add_overflow(svma, step, &svma))
            return -EBADMSG;
        address->svma = svma;
        address->symbol_name = read_optional(names, c);
        address->symbol_svma = svma - cursor_uleb128(c);
        address->symbol_bytes = cursor_uleb128(c);
        err = read_frames(names, address, c);
    }
    return err;
}

static int read_image(struct image *image, struct cursor *c)
{
    image->is_known = cursor_u8(c) != 0;
    image->base_svma = cursor_uleb128(c);
    size_t count = read_count(c);
    for (size_t i = 0; i < count && !c->failed; i++) {
        struct elf_segment *segment =
            ARRAY_PUSH(image->segments, image->segment_count, image->segment_capacity);
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

static int read_lib(struct names *names, struct names_lib *lib, struct cursor *c)
{
    lib->path = read_string(names, c);
    lib->build_id_bytes = cursor_u8(c);
    const uint8_t *build_id = cursor_bytes(c, lib->build_id_bytes);
    if (!build_id || lib->build_id_bytes > sizeof(lib->build_id))
        return -EBADMSG;
    memcpy(lib->build_id, build_id, lib->build_id_bytes);
    int err = read_image(&lib->image, c);
    return err ? err : read_addresses(names, lib, c);
}

static int read_libs(struct names *names, struct cursor *c)
{
    int err = 0;
    size_t count = read_count(c);
    names->libs = allocate(count, sizeof(*names->libs), &err);
    for (size_t i = 0; i < count && err == 0; i++)
        err = read_lib(names, &names->libs[names->lib_count++], c);
    return err;
}

static int read_all(struct names *names, struct cursor *c)
{
    const uint8_t *magic = cursor_bytes(c, sizeof(NAMES_MAGIC) - 1);
    uint32_t version = cursor_u32(c);
    uint32_t checksum = cursor_u32(c);
    if (c->failed || memcmp(magic, NAMES_MAGIC, sizeof(NAMES_MAGIC) - 1) != 0 ||
        version != NAMES_VERSION ||
        crc32_z(crc32_z(0, NULL, 0), c->bytes + c->at, cursor_left(c)) != checksum)
        return -EBADMSG;
    int err = read_strings(names, c);
    if (err == 0)
        err = read_functions(names, c);
    if (err == 0)
        err = read_libs(names, c);
    return err ? err : c->failed ? -EBADMSG : 0;
}

int names_parse(struct names **out, const void *bytes, size_t size)
{
    *out = NULL;
    struct names *names = calloc(1, sizeof(*names));
    if (!names)
        return -ENOMEM;
    struct cursor c = cursor_of(bytes, size);
    int err = read_all(names, &c);
    if (err != 0) {
        names_free(names);
        return err;
    }
    *out = names;
    return 0;
}

const struct names_lib *names_find_lib(const struct names *names, const char *path,
                                       const uint8_t *build_id, size_t build_id_bytes)
{
    for (size_t i = 0; i < names->lib_count; i++) {
        const struct names_lib *lib = &names->libs[i];
        if (lib->build_id_bytes == build_id_bytes && strcmp(lib->path, path) == 0 &&
            memcmp(lib->build_id, build_id, build_id_bytes) == 0)
            return lib;
    }
    return NULL;
}

bool names_have_lines(const struct names *names, const struct names_lib *lib)
{
    for (size_t i = 0; i < lib->address_count; i++) {
        const struct names_address *address = &names->addresses[lib->first_address + i];
        for (size_t j = 0; j < address->frame_count; j++)
            if (names->frames[address->first_frame + j].line)
                return true;
    }
    return false;
}

static int compare_address(const void *key, const void *element)
{
    const uint64_t *svma = key;
    const struct names_address *address = element;
    return (*svma > address->svma) - (*svma < address->svma);
}

static const struct names_address *find_address(const struct names *names,
                                                const struct names_lib *lib, uint64_t svma)
{
    return lib->address_count == 0
               ? NULL
               : bsearch(&svma, names->addresses + lib->first_address, lib->address_count,
                         sizeof(struct names_address), compare_address);
}

static bool give(const struct names *names, const struct names_address *address,
                 struct symbol_result *result)
{
    if (!address)
        return false;
    *result = (struct symbol_result){.frames = names->frames + address->first_frame,
                                     .frame_count = address->frame_count,
                                     .symbol_name = address->symbol_name,
                                     .symbol_svma = address->symbol_svma,
                                     .symbol_bytes = address->symbol_bytes};
    return true;
}

bool names_find(const struct names *names, const struct names_lib *lib, uint64_t svma,
                struct symbol_result *result)
{
    return give(names, find_address(names, lib, svma), result);
}

bool names_find_at(const struct names *names, const struct names_lib *lib, size_t number,
                   uint64_t svma, struct symbol_result *result)
{
    const struct names_address *guess =
        number < lib->address_count ? names->addresses + lib->first_address + number : NULL;
    return give(names, guess && guess->svma == svma ? guess : find_address(names, lib, svma),
                result);
}
