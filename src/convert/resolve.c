/* SPDX-License-Identifier: MIT */
#include "convert/resolve.h"

#include "convert/capture.h"
#include "convert/load.h"
#include "convert/names.h"
#include "convert/vdso.h"
#include "symbols/symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct resolver {
    struct profile *profile;
    const struct names *names; /* stored ones; NULL: none */
    const char *debug_directory;
    /* Of the lib being resolved: */
    const struct names_lib *stored;
    struct symbols *symbols; /* NULL: not opened yet, or no names to be had */
    bool was_opened;
};

static int compare_addresses(const void *left, const void *right, void *context)
{
    const struct profile *profile = context;
    const struct profile_address *a = &profile->addresses[*(const uint32_t *)left];
    const struct profile_address *b = &profile->addresses[*(const uint32_t *)right];
    if (a->lib != b->lib)
        return a->lib < b->lib ? -1 : 1;
    return (a->svma > b->svma) - (a->svma < b->svma);
}

uint32_t *resolve_order(const struct profile *profile)
{
    uint32_t *order = malloc((profile->address_count + 1) * sizeof(*order));
    if (!order)
        return NULL;
    for (size_t i = 0; i < profile->address_count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, profile->address_count, sizeof(*order), compare_addresses, (void *)profile);
    return order;
}

bool resolve_is_file(const struct profile *profile, uint32_t lib)
{
    if (lib == PROFILE_NONE || profile->libs[lib].is_synthetic)
        return false;
    enum profile_category category = profile->libs[lib].category;
    return category == PROFILE_USER || category == PROFILE_LIBRARY;
}

struct number {
    char text[20];
};

static struct number number_of(uint64_t svma)
{
    struct number number;
    snprintf(number.text, sizeof(number.text), "0x%" PRIx64, svma);
    return number;
}

bool resolve_is_named(const struct profile *profile, const struct profile_address *address)
{
    if (address->frame_count == 0)
        return false;
    const struct profile_frame *frame = &profile->frames[address->first_frame];
    return strcmp(profile_text(profile, profile->funcs[frame->func].name),
                  number_of(address->svma).text) != 0;
}

static uint32_t optional_string(struct profile *profile, const char *text)
{
    return text ? profile_string(profile, text) : PROFILE_NONE;
}

static uint32_t add_symbol(struct profile *profile, uint32_t lib,
                           const struct symbol_result *result)
{
    if (!result->symbol_name)
        return PROFILE_NONE;
    struct profile_symbol symbol = {.lib = lib,
                                    .name = profile_string(profile, result->symbol_name),
                                    .svma = result->symbol_svma,
                                    .bytes = result->symbol_bytes};
    return profile_symbol_id(profile, &symbol);
}

static uint32_t add_func(struct profile *profile, uint32_t lib, const struct symbol_frame *frame)
{
    struct profile_func func = {.name = profile_string(profile, frame->name),
                                .system_name = profile_string(profile, frame->system_name),
                                .lib = lib,
                                .file = optional_string(profile, frame->definition_file),
                                .line = frame->definition_line};
    return profile_func_id(profile, &func);
}

static void note_what_was_found(struct profile_lib *lib, const struct symbol_result *result)
{
    const struct symbol_frame *innermost = &result->frames[result->frame_count - 1];
    lib->has_functions = true;
    lib->has_files |= innermost->file != NULL;
    lib->has_lines |= innermost->line != 0;
    lib->has_inlines |= result->frame_count > 1;
}

static void add_frames(struct profile *profile, struct profile_address *address,
                       const struct symbol_result *result)
{
    uint32_t lib = address->lib;
    uint32_t symbol = add_symbol(profile, lib, result);
    address->first_frame = (uint32_t)profile->frame_count;
    address->frame_count = (uint32_t)result->frame_count;
    for (size_t i = 0; i < result->frame_count; i++) {
        const struct symbol_frame *from = &result->frames[i];
        struct profile_frame frame = {
            .func = add_func(profile, lib, from),
            .lib = lib,
            .svma = address->svma,
            .file = optional_string(profile, from->file),
            .line = from->line,
            .column = from->column,
            .symbol = symbol,
            .inline_depth = (uint32_t)i,
            .category = lib == PROFILE_NONE ? PROFILE_JIT : profile->libs[lib].category,
        };
        profile_add_frame(profile, &frame);
    }
}

/* One frame with this name and nothing else known. */
static void add_bare_frame(struct profile *profile, struct profile_address *address,
                           const char *name)
{
    struct symbol_frame frame = {.name = name, .system_name = name};
    struct symbol_result result = {.frames = &frame, .frame_count = 1};
    add_frames(profile, address, &result);
}

static void open_symbols(struct resolver *resolver, uint32_t lib_id)
{
    struct profile *profile = resolver->profile;
    const struct profile_lib *lib = &profile->libs[lib_id];
    const char *path = profile_text(profile, lib->path);
    struct symbols_config config = {.debug_directory = resolver->debug_directory};
    struct error error;
    resolver->was_opened = true;
    if (strcmp(path, "[vdso]") == 0) {
        size_t size;
        const void *bytes = vdso_of_build_id(lib->build_id, lib->build_id_bytes, &size);
        if (bytes)
            (void)symbols_open_memory(&resolver->symbols, bytes, size, &error);
        return;
    }
    int err =
        symbols_open(&resolver->symbols, path, lib->build_id, lib->build_id_bytes, &config, &error);
    if (err == -ESTALE && !resolver->stored)
        profile_add_note(profile, "no_names", error.text);
    if (err == -ENOMEM)
        profile->failed = true;
}

/* Names are stored, so what lies at the path now may be another file, unless its build-id tells. */
static bool may_open(const struct resolver *resolver, uint32_t lib)
{
    return !resolver->stored || resolver->profile->libs[lib].build_id_bytes > 0;
}

static bool look_up(struct resolver *resolver, const struct profile_address *address,
                    struct symbol_result *result)
{
    if (resolver->stored && names_find(resolver->names, resolver->stored, address->svma, result))
        return result->frame_count > 0;
    if (!resolver->was_opened && may_open(resolver, address->lib))
        open_symbols(resolver, address->lib);
    if (!resolver->symbols)
        return false;
    if (symbols_resolve(resolver->symbols, address->svma, result) != 0)
        resolver->profile->failed = true;
    return result->frame_count > 0;
}

static void resolve_address(struct resolver *resolver, struct profile_address *address)
{
    struct profile *profile = resolver->profile;
    struct symbol_result result = {0};
    if (address->lib != PROFILE_NONE && profile->libs[address->lib].is_synthetic)
        add_bare_frame(profile, address, profile_text(profile, profile->libs[address->lib].name));
    else if (resolve_is_file(profile, address->lib) && look_up(resolver, address, &result)) {
        note_what_was_found(&profile->libs[address->lib], &result);
        add_frames(profile, address, &result);
    } else
        add_bare_frame(profile, address, number_of(address->svma).text);
}

static void start_lib(struct resolver *resolver, uint32_t lib_id)
{
    symbols_close(resolver->symbols);
    resolver->symbols = NULL;
    resolver->was_opened = false;
    resolver->stored = NULL;
    if (!resolver->names || lib_id == PROFILE_NONE)
        return;
    const struct profile_lib *lib = &resolver->profile->libs[lib_id];
    resolver->stored = names_find_lib(resolver->names, profile_text(resolver->profile, lib->path),
                                      lib->build_id, lib->build_id_bytes);
    /* Debug info that was installed since the names were stored is worth a second look. */
    if (!resolver->stored || names_have_lines(resolver->names, resolver->stored) ||
        !may_open(resolver, lib_id))
        return;
    open_symbols(resolver, lib_id);
    if (resolver->symbols && strcmp(symbols_source(resolver->symbols), "dwarf") == 0)
        resolver->stored = NULL;
}

static int resolve_all(struct resolver *resolver)
{
    struct profile *profile = resolver->profile;
    uint32_t *order = resolve_order(profile);
    if (!order)
        return -ENOMEM;
    for (size_t i = 0; i < profile->address_count && !profile->failed; i++) {
        struct profile_address *address = &profile->addresses[order[i]];
        if (i == 0 || profile->addresses[order[i - 1]].lib != address->lib)
            start_lib(resolver, address->lib);
        resolve_address(resolver, address);
    }
    start_lib(resolver, PROFILE_NONE);
    free(order);
    profile_link_stacks(profile);
    return profile->failed ? -ENOMEM : 0;
}

int convert_resolve(struct profile *profile, const char *path,
                    const struct convert_options *options, struct error *error)
{
    struct capture capture;
    int err = capture_open(&capture, path, error);
    if (err != 0)
        return err;
    struct resolver resolver = {
        .profile = profile,
        .names = capture.names,
        .debug_directory = options && options->debug_directory ? options->debug_directory
                                                               : CONVERT_DEBUG_DIRECTORY,
    };
    err = resolve_all(&resolver);
    capture_close(&capture);
    return err ? error_set(error, err, "out of memory while finding names for %s", path) : 0;
}
