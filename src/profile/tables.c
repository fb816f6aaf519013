/* SPDX-License-Identifier: MIT */
/*
 * Tables of unique elements. Keys are arrays of words: they have no padding, so equal keys are
 * equal bytes.
 */
#include "profile/profile.h"

#include "base/containers/array.h"
#include "base/containers/buffer.h"
#include "base/text/path_name.h"
#include "profile/index.h"

#include <string.h>

/* The id of a key in a table of `count` elements; `count` for a new key. keys NULL: the key is
 * new. */
static uint32_t key_id(struct profile *profile, struct intern *keys, size_t count, const void *key,
                       size_t size)
{
    /* After a failure a table may be one element behind its keys. */
    if (profile->failed)
        return PROFILE_NONE;
    uint32_t id = keys ? intern_add(keys, key, size) : (uint32_t)count;
    if (id == INTERN_NONE)
        profile->failed = true;
    return id;
}

static uint32_t out_of_memory(struct profile *profile)
{
    profile->failed = true;
    return PROFILE_NONE;
}

static bool is_bracketed(const char *name)
{
    size_t length = strlen(name);
    return length >= 2 && name[0] == '[' && name[length - 1] == ']';
}

static void fill_lib(struct profile *profile, struct profile_lib *lib, const char *path,
                     const uint8_t *build_id, size_t build_id_bytes)
{
    const char *name = path_name(path);
    lib->path = profile_string(profile, path);
    lib->name = profile_string(profile, name);
    /* The vDSO has a bracketed name but is an ELF image with functions. */
    lib->is_synthetic = is_bracketed(name) && strcmp(name, "[vdso]") != 0;
    lib->build_id_bytes = (uint8_t)build_id_bytes;
    if (build_id_bytes)
        memcpy(lib->build_id, build_id, build_id_bytes);
}

uint32_t profile_lib_id(struct profile *profile, const char *path, const uint8_t *build_id,
                        size_t build_id_bytes)
{
    if (build_id_bytes > sizeof(profile->libs->build_id))
        build_id_bytes = sizeof(profile->libs->build_id);
    /* The path is added first: the interned copy outlives a caller's pointer into
     * profile->strings. */
    struct buffer key = {0};
    buffer_append(&key, path, strlen(path) + 1);
    buffer_append(&key, build_id, build_id_bytes);
    uint32_t id =
        key.failed ? out_of_memory(profile)
                   : key_id(profile, profile->index->libs, profile->lib_count, key.bytes, key.size);
    if (id == profile->lib_count) {
        struct profile_lib *lib =
            ARRAY_PUSH(profile->libs, profile->lib_count, profile->lib_capacity);
        if (lib)
            fill_lib(profile, lib, (const char *)key.bytes, build_id, build_id_bytes);
        else
            id = out_of_memory(profile);
    }
    buffer_free(&key);
    return id;
}

uint32_t profile_add_address(struct profile *profile, uint32_t lib, uint64_t svma)
{
    size_t id = profile->address_count;
    struct profile_address *address =
        ARRAY_PUSH(profile->addresses, profile->address_count, profile->address_capacity);
    if (!address || id >= PROFILE_NONE)
        return out_of_memory(profile);
    *address = (struct profile_address){.lib = lib, .svma = svma};
    return (uint32_t)id;
}

/* Stands for all addresses beyond the limit. */
static uint32_t overflow_address(struct profile *profile)
{
    profile->overflow_count++;
    if (profile->overflow_count == 1) {
        uint32_t lib = profile_lib_id(profile, PROFILE_TOO_MANY, NULL, 0);
        uint32_t address = profile_add_address(profile, lib, 0);
        profile_name_synthetic(profile, address, PROFILE_TOO_MANY);
        if (profile->failed)
            return PROFILE_NONE;
        profile->libs[lib].category = PROFILE_SYNTHETIC;
        profile->overflow_address = address;
    }
    return profile->overflow_address;
}

static bool is_full(const struct profile *profile)
{
    return profile->address_limit && profile->address_count >= profile->address_limit;
}

uint32_t profile_address_id(struct profile *profile, uint32_t lib, uint64_t svma)
{
    const uint64_t key[] = {lib, svma};
    if (is_full(profile) && !profile->failed) {
        uint32_t known = intern_find(profile->index->addresses, key, sizeof(key));
        return known == INTERN_NONE ? overflow_address(profile) : known;
    }
    uint32_t id =
        key_id(profile, profile->index->addresses, profile->address_count, key, sizeof(key));
    if (id == PROFILE_NONE || id < profile->address_count)
        return id;
    return profile_add_address(profile, lib, svma);
}

void profile_name_synthetic(struct profile *profile, uint32_t address, const char *text)
{
    if (profile->failed)
        return;
    uint32_t lib = profile->addresses[address].lib;
    uint32_t name = profile_string(profile, text);
    uint32_t func = profile_func_id(
        profile, &(struct profile_func){
                     .name = name, .system_name = name, .lib = lib, .file = PROFILE_NONE});
    uint32_t frame = profile_add_frame(profile, &(struct profile_frame){
                                                    .func = func,
                                                    .lib = lib,
                                                    .file = PROFILE_NONE,
                                                    .symbol = PROFILE_NONE,
                                                    .category = PROFILE_SYNTHETIC,
                                                });
    profile->addresses[address].first_frame = frame;
    profile->addresses[address].frame_count = 1;
}

static uint32_t path_hash(const struct profile *profile, uint32_t call)
{
    return call == PROFILE_NONE ? 0 : profile->calls[call].path_hash;
}

/* The hash is of the path, so profile_expect_path() can prefetch all its calls before the first
 * lookup. */
uint32_t profile_call_id(struct profile *profile, uint32_t parent, uint32_t address)
{
    if (profile->failed)
        return PROFILE_NONE;
    const struct prefix_key key = {parent, address,
                                   prefix_path_hash(path_hash(profile, parent), address)};
    uint32_t id = prefix_table_find_or_add(&profile->index->calls, profile->calls,
                                           sizeof(*profile->calls), profile->call_count, key);
    if (id == PREFIX_TABLE_NONE)
        return out_of_memory(profile);
    if (id < profile->call_count)
        return id;
    struct profile_call *call =
        ARRAY_PUSH(profile->calls, profile->call_count, profile->call_capacity);
    if (!call)
        return out_of_memory(profile);
    *call = (struct profile_call){
        .parent = parent, .address = address, .path_hash = key.hash, .stack = PROFILE_NONE};
    return id;
}

void profile_end_calls(struct profile *profile)
{
    prefix_table_free(&profile->index->calls);
    intern_free(profile->index->addresses);
    profile->index->addresses = NULL;
}

void profile_end_names(struct profile *profile)
{
    intern_free(profile->index->funcs);
    intern_free(profile->index->symbols);
    profile->index->funcs = profile->index->symbols = NULL;
}

void profile_expect_path(const struct profile *profile, uint32_t parent, const uint32_t *addresses,
                         size_t count)
{
    prefix_table_prefetch_path(&profile->index->calls, profile->calls, sizeof(*profile->calls),
                               path_hash(profile, parent), addresses, count);
}

uint32_t profile_func_id(struct profile *profile, const struct profile_func *func)
{
    const uint32_t key[] = {func->name, func->system_name, func->lib, func->file, func->line};
    uint32_t id = key_id(profile, profile->index->funcs, profile->func_count, key, sizeof(key));
    if (id == PROFILE_NONE || id < profile->func_count)
        return id;
    struct profile_func *added =
        ARRAY_PUSH(profile->funcs, profile->func_count, profile->func_capacity);
    if (!added)
        return out_of_memory(profile);
    *added = *func;
    return id;
}

uint32_t profile_symbol_id(struct profile *profile, const struct profile_symbol *symbol)
{
    const uint64_t key[] = {symbol->lib, symbol->name, symbol->svma, symbol->bytes};
    uint32_t id = key_id(profile, profile->index->symbols, profile->symbol_count, key, sizeof(key));
    if (id == PROFILE_NONE || id < profile->symbol_count)
        return id;
    struct profile_symbol *added =
        ARRAY_PUSH(profile->symbols, profile->symbol_count, profile->symbol_capacity);
    if (!added)
        return out_of_memory(profile);
    *added = *symbol;
    return id;
}

/* PROFILE_NONE is no index: the table ends before. */
uint32_t profile_add_frame(struct profile *profile, const struct profile_frame *frame)
{
    if (profile->frame_count >= PROFILE_NONE)
        return out_of_memory(profile);
    struct profile_frame *added =
        ARRAY_PUSH(profile->frames, profile->frame_count, profile->frame_capacity);
    if (!added)
        return out_of_memory(profile);
    *added = *frame;
    return (uint32_t)profile->frame_count - 1;
}
