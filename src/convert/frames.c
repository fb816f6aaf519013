/* SPDX-License-Identifier: MIT */
#include "convert/frames.h"

#include "base/text/placeholder.h"

#include <stdio.h>
#include <string.h>

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

/* To users, all generations of code generated at run time are a single module. */
static uint32_t module_of(struct profile *profile, uint32_t lib)
{
    if (lib == PROFILE_NONE || profile->libs[lib].category != PROFILE_JIT)
        return lib;
    uint32_t name = profile->libs[lib].name;
    uint32_t first = profile_lib_id(profile, profile_text(profile, name), NULL, 0);
    if (first != PROFILE_NONE) {
        profile->libs[first].category = PROFILE_JIT;
        profile->libs[first].is_synthetic = false;
        profile->libs[first].name = name;
    }
    return first;
}

/* "dash+0x1234", of code without a symbol, is "sh+0x1234" where the lib is shown as "sh". */
static uint32_t shown_name(struct profile *profile, uint32_t lib, const char *name)
{
    const char *plus = name_is_placeholder(name) ? strrchr(name, '+') : NULL;
    const char *module = lib == PROFILE_NONE ? "" : profile_text(profile, profile->libs[lib].name);
    size_t length = strlen(module);
    char text[512];
    if (!plus || length == 0 || profile->libs[lib].category == PROFILE_JIT ||
        (strncmp(name, module, length) == 0 && name + length == plus) ||
        (size_t)snprintf(text, sizeof(text), "%s%s", module, plus) >= sizeof(text))
        return profile_string(profile, name);
    return profile_string(profile, text);
}

/* Go's compiler declares inlined functions with a line, but without a file: the code of a Go
 * function is in one file. */
static const char *definition_file(const struct symbol_frame *frame)
{
    if (frame->definition_file || frame->definition_line == 0)
        return frame->definition_file;
    return frame->file;
}

static uint32_t add_func(struct profile *profile, uint32_t lib, const struct symbol_frame *frame)
{
    bool is_mangled = frame->system_name != frame->name;
    uint32_t name = shown_name(profile, lib, frame->name);
    struct profile_func func = {.name = name,
                                .system_name =
                                    is_mangled ? profile_string(profile, frame->system_name) : name,
                                .lib = module_of(profile, lib),
                                .file = optional_string(profile, definition_file(frame)),
                                .line = frame->definition_line};
    return profile_func_id(profile, &func);
}

static void note_what_was_found(struct profile_lib *lib, const struct symbol_result *result)
{
    const struct symbol_frame *innermost = &result->frames[result->frame_count - 1];
    lib->has_functions |= !name_is_placeholder(innermost->name);
    lib->has_files |= innermost->file != NULL;
    lib->has_lines |= innermost->line != 0;
    lib->has_inlines |= result->frame_count > 1;
}

static void add_all(struct profile *profile, struct profile_address *address,
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

void frames_add(struct profile *profile, struct profile_address *address,
                const struct symbol_result *result)
{
    add_all(profile, address, result);
    note_what_was_found(&profile->libs[address->lib], result);
}

/* Without a symbol, the function around all inlined functions takes its place. */
void frames_keep_symbol(struct symbol_result *result, struct symbol_frame *frame)
{
    const struct symbol_frame *outermost = &result->frames[0];
    const char *name = result->symbol_name;
    bool is_other = name && strcmp(name, outermost->name) != 0;
    *frame = (struct symbol_frame){.name = is_other ? name : outermost->name,
                                   .system_name = is_other ? name : outermost->system_name};
    result->frames = frame;
    result->frame_count = 1;
}

void frames_add_bare(struct profile *profile, struct profile_address *address, const char *name)
{
    struct symbol_frame frame = {.name = name, .system_name = name};
    struct symbol_result result = {.frames = &frame, .frame_count = 1};
    add_all(profile, address, &result);
}
