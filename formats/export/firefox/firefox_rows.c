/* SPDX-License-Identifier: MIT */
/*
 * From the model to rows. stackTable and frameTable have the rows of the model's stacks and frames.
 * The call tree merges by function, so functions are made unique by their visible part: name, lib
 * and file.
 */
#include "export/firefox/firefox.h"

#include "base/containers/array.h"

static uint32_t add_key(struct firefox *firefox, struct intern *keys, const void *key, size_t size)
{
    uint32_t row = intern_add(keys, key, size);
    if (row == INTERN_NONE)
        firefox->texts.failed = true;
    return row;
}

/*
 * The lib shown next to the function. Synthetic frames have their own name. Code outside of all
 * libs gets "[unknown]": the front-end hides a function "0x…" without a resource.
 */
static uint32_t resource_row(struct firefox *firefox, uint32_t func)
{
    const struct profile *profile = firefox->profile;
    uint32_t lib = profile->funcs[func].lib;
    const char *name;
    if (lib != PROFILE_NONE && !profile->libs[lib].is_synthetic)
        name = profile_text(profile, profile->libs[lib].name);
    else if (lib == PROFILE_NONE && export_func_is_unknown(profile, func))
        name = "[unknown]";
    else
        return PROFILE_NONE;
    uint32_t text = text_table_add(&firefox->texts, name);
    return add_key(firefox, firefox->resources, &text, sizeof(text));
}

static uint32_t source_row(struct firefox *firefox, uint32_t file, uint32_t lib)
{
    if (file == PROFILE_NONE)
        return PROFILE_NONE;
    uint32_t text = text_table_add(&firefox->texts, profile_text(firefox->profile, file));
    uint32_t row = add_key(firefox, firefox->sources, &text, sizeof(text));
    if (row != firefox->source_lib_count)
        return row;
    uint32_t *place =
        ARRAY_PUSH(firefox->source_libs, firefox->source_lib_count, firefox->source_lib_capacity);
    if (place)
        *place = lib;
    firefox->texts.failed |= !place;
    return row;
}

/* Unknown functions keep their address for a name; see common.h. */
static uint32_t func_text(struct firefox *firefox, uint32_t func)
{
    const char *name = profile_text(firefox->profile, firefox->profile->funcs[func].name);
    return text_table_add(&firefox->texts, name[0] ? name : "[unknown]");
}

static uint32_t func_row(struct firefox *firefox, const struct profile_frame *frame)
{
    uint32_t file = export_frame_file(firefox->profile, frame);
    uint32_t line = export_func_line(firefox->profile, frame->func, file);
    const struct firefox_func key = {func_text(firefox, frame->func),
                                     resource_row(firefox, frame->func),
                                     source_row(firefox, file, frame->lib)};
    uint32_t row = add_key(firefox, firefox->funcs, &key, sizeof(key));
    if (row == firefox->func_line_count)
        ARRAY_PUSH(firefox->func_lines, firefox->func_line_count, firefox->func_line_capacity);
    if (row >= firefox->func_line_count) {
        firefox->texts.failed = true;
        return PROFILE_NONE;
    }
    if (firefox->func_lines[row] == 0)
        firefox->func_lines[row] = line;
    return row;
}

static void choose_symbols(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    for (uint32_t i = 0; i < profile->symbol_count; i++) {
        const struct profile_symbol *symbol = &profile->symbols[i];
        uint32_t address;
        firefox->symbol_rows[i] = PROFILE_NONE;
        if (!firefox_address(firefox, symbol->lib, symbol->svma, &address))
            continue;
        firefox->symbol_rows[i] = (uint32_t)firefox->symbol_count;
        firefox->symbols[firefox->symbol_count++] = (struct firefox_symbol){
            .lib = firefox->lib_rows[symbol->lib],
            .address = address,
            .name = text_table_add(&firefox->texts, profile_text(profile, symbol->name)),
            .bytes = symbol->bytes,
        };
    }
}

void firefox_build_rows(struct firefox *firefox)
{
    choose_symbols(firefox);
    for (size_t i = 0; i < firefox->profile->frame_count && !firefox->texts.failed; i++)
        firefox->func_rows[i] = func_row(firefox, &firefox->profile->frames[i]);
}
