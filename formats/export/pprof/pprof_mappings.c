/* SPDX-License-Identifier: MIT */
#include "export/pprof/pprof_mappings.h"

#include "base/text/path_name.h"
#include "base/text/placeholder.h"
#include "export/pprof/pprof_fields.h"
#include "export/pprof/protobuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Named by more than its address ("0x1234", "libfoo.so.1+0x1234"). */
static bool is_named(const struct profile *profile, const struct profile_address *address)
{
    if (address->frame_count != 1)
        return address->frame_count > 1;
    uint32_t func = profile->frames[address->first_frame].func;
    return !name_is_placeholder(profile_text(profile, profile->funcs[func].name)) &&
           !export_func_is_unknown(profile, func);
}

static bool may_be_found(const struct profile *profile, const struct profile_address *address)
{
    return address->lib != PROFILE_NONE && !is_named(profile, address) &&
           profile->libs[address->lib].has_functions;
}

/*
 * The has_ flags stop pprof's own symbolization. Unset for files without symbols: pprof may find
 * debug information on its machine.
 */
int pprof_mappings_open(struct pprof_mappings *mappings, const struct profile *profile,
                        bool no_files)
{
    *mappings = (struct pprof_mappings){
        .profile = profile,
        .main_lib = no_files ? PROFILE_NONE : export_main_lib(profile),
        .no_files = no_files,
        .is_split = calloc(profile->lib_count + 1, sizeof(*mappings->is_split)),
    };
    if (!mappings->is_split)
        return -ENOMEM;
    for (size_t i = 0; i < profile->address_count; i++)
        if (may_be_found(profile, &profile->addresses[i]))
            mappings->is_split[profile->addresses[i].lib] = true;
    return 0;
}

void pprof_mappings_close(struct pprof_mappings *mappings)
{
    free(mappings->is_split);
    *mappings = (struct pprof_mappings){0};
}

/* The main lib, or the program's name without a lib, gets 1; the others follow in their order, and
 * then the mappings of addresses without names. */
static uint64_t id_of_lib(const struct pprof_mappings *mappings, uint32_t lib, bool has_names)
{
    uint64_t id = lib == mappings->main_lib ? 1 : lib < mappings->main_lib ? lib + 2u : lib + 1u;
    return has_names ? id : id + mappings->profile->lib_count;
}

uint64_t pprof_mapping_id(const struct pprof_mappings *mappings,
                          const struct profile_address *address)
{
    if (address->lib == PROFILE_NONE)
        return 0;
    return id_of_lib(mappings, address->lib, !may_be_found(mappings->profile, address));
}

static uint32_t build_id_text(struct text_table *texts, const struct profile_lib *lib)
{
    static const char digits[] = "0123456789abcdef";
    char hex[2 * sizeof(lib->build_id) + 1];
    size_t used = 0;
    for (size_t i = 0; i < lib->build_id_bytes; i++) {
        hex[used++] = digits[lib->build_id[i] >> 4];
        hex[used++] = digits[lib->build_id[i] & 15];
    }
    hex[used] = '\0';
    return text_table_add(texts, hex);
}

/* A link opens the same file and names the profile. */
static uint32_t filename_text(struct text_table *texts, const struct profile *profile,
                              const struct profile_lib *lib)
{
    buffer_clear(&texts->name);
    export_lib_path(profile, lib, &texts->name);
    buffer_u8(&texts->name, 0);
    return text_table_add(texts, texts->name.failed ? "" : (const char *)texts->name.bytes);
}

struct output {
    struct text_table *texts;
    struct buffer message; /* scratch */
    struct buffer *out;
};

static void write_mapping(struct output *output, const struct pprof_mappings *mappings,
                          uint32_t index, bool has_names)
{
    const struct profile_lib *lib = &mappings->profile->libs[index];
    struct buffer *message = &output->message;
    buffer_clear(message);
    pb_integer(message, MAPPING_ID, id_of_lib(mappings, index, has_names));
    pb_integer(message, MAPPING_MEMORY_START, lib->map_start_avma);
    pb_integer(message, MAPPING_MEMORY_LIMIT, lib->map_end_avma);
    pb_integer(message, MAPPING_FILE_OFFSET, lib->map_file_offset);
    if (!mappings->no_files)
        pb_integer(message, MAPPING_FILENAME, filename_text(output->texts, mappings->profile, lib));
    pb_integer(message, MAPPING_BUILD_ID, build_id_text(output->texts, lib));
    pb_integer(message, MAPPING_HAS_FUNCTIONS,
               has_names && (lib->has_functions || lib->is_synthetic));
    pb_integer(message, MAPPING_HAS_FILENAMES, has_names && lib->has_files);
    pb_integer(message, MAPPING_HAS_LINE_NUMBERS, has_names && lib->has_lines);
    pb_integer(message, MAPPING_HAS_INLINE_FRAMES, has_names && lib->has_inlines);
    pb_message(output->out, PROFILE_MAPPING, message);
}

/* Viewers read the program's name from the first mapping. No location refers to this mapping. A
 * path could leave the folder in which pprof searches for binaries. */
static void write_name_of_program(struct output *output, const struct profile *profile)
{
    const char *name = path_name(profile_text(profile, profile->product));
    buffer_clear(&output->message);
    pb_integer(&output->message, MAPPING_ID, 1);
    pb_integer(&output->message, MAPPING_FILENAME, text_table_add(output->texts, name));
    pb_integer(&output->message, MAPPING_HAS_FUNCTIONS, true);
    pb_message(output->out, PROFILE_MAPPING, &output->message);
}

void pprof_mappings_write(const struct pprof_mappings *mappings, struct text_table *texts,
                          struct buffer *out)
{
    struct output output = {.texts = texts, .out = out};
    size_t lib_count = mappings->profile->lib_count;
    if (mappings->main_lib < lib_count)
        write_mapping(&output, mappings, mappings->main_lib, true);
    else
        write_name_of_program(&output, mappings->profile);
    for (uint32_t i = 0; i < lib_count; i++)
        if (i != mappings->main_lib)
            write_mapping(&output, mappings, i, true);
    for (uint32_t i = 0; i < lib_count; i++)
        if (mappings->is_split[i])
            write_mapping(&output, mappings, i, false);
    buffer_free(&output.message);
}
