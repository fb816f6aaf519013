/* SPDX-License-Identifier: MIT */
#include "export/pprof/pprof_locations.h"

#include "export/pprof/pprof_fields.h"
#include "export/pprof/protobuf.h"

#include <errno.h>
#include <string.h>

int pprof_locations_open(struct pprof_locations *locations, const struct profile *profile,
                         struct text_table *texts, struct buffer *out, bool no_files)
{
    *locations = (struct pprof_locations){.profile = profile,
                                          .texts = texts,
                                          .out = out,
                                          .functions = intern_new(),
                                          .no_files = no_files};
    return locations->functions ? 0 : -ENOMEM;
}

void pprof_locations_close(struct pprof_locations *locations)
{
    intern_free(locations->functions);
    buffer_free(&locations->function);
    buffer_free(&locations->line);
    buffer_free(&locations->location);
}

static uint32_t model_text(struct pprof_locations *locations, uint32_t string)
{
    return text_table_add(locations->texts, profile_text(locations->profile, string));
}

static void write_function(struct pprof_locations *locations, uint64_t id, const uint32_t key[4])
{
    buffer_clear(&locations->function);
    pb_integer(&locations->function, FUNCTION_ID, id);
    pb_integer(&locations->function, FUNCTION_NAME, key[0]);
    pb_integer(&locations->function, FUNCTION_SYSTEM_NAME, key[1]);
    pb_integer(&locations->function, FUNCTION_FILENAME, key[2]);
    pb_integer(&locations->function, FUNCTION_START_LINE, key[3]);
    pb_message(locations->out, PROFILE_FUNCTION, &locations->function);
}

/*
 * pprof demangles a system name equal to the name, and removes parentheses and angle brackets:
 * "main()::<lambda()>::operator()" becomes "main::::operator".
 */
static uint32_t system_name_text(struct pprof_locations *locations, const struct profile_func *func)
{
    const char *name = profile_text(locations->profile, func->name);
    bool would_be_cut = func->system_name == func->name && strpbrk(name, "(<");
    return would_be_cut ? 0 : model_text(locations, func->system_name);
}

/* The id of the frame's function; writes the function at first use. */
static uint64_t function_id(struct pprof_locations *locations, const struct profile_frame *frame)
{
    const struct profile *profile = locations->profile;
    uint32_t file = locations->no_files ? PROFILE_NONE : export_frame_file(profile, frame);
    uint32_t name = text_table_add_func(locations->texts, profile, frame->func);
    bool is_unknown = export_func_is_unknown(profile, frame->func);
    const uint32_t key[4] = {
        name,
        is_unknown ? name : system_name_text(locations, &profile->funcs[frame->func]),
        model_text(locations, file),
        export_func_line(profile, frame->func, file),
    };
    uint32_t known = intern_count(locations->functions);
    uint32_t index = intern_add(locations->functions, key, sizeof(key));
    if (index == INTERN_NONE) {
        locations->out->failed = true;
        return 0;
    }
    if (index == known)
        write_function(locations, index + UINT64_C(1), key);
    return index + UINT64_C(1);
}

static void add_line(struct pprof_locations *locations, const struct profile_frame *frame)
{
    buffer_clear(&locations->line);
    pb_integer(&locations->line, LINE_FUNCTION_ID, function_id(locations, frame));
    pb_integer(&locations->line, LINE_LINE, frame->line);
    pb_integer(&locations->line, LINE_COLUMN, frame->column);
    pb_message(&locations->location, LOCATION_LINE, &locations->line);
}

void pprof_locations_write(struct pprof_locations *locations, const struct pprof_mappings *mappings)
{
    const struct profile *profile = locations->profile;
    for (size_t i = 0; i < profile->address_count; i++) {
        const struct profile_address *address = &profile->addresses[i];
        uint64_t bias = address->lib == PROFILE_NONE ? 0 : profile->libs[address->lib].map_bias;
        buffer_clear(&locations->location);
        pb_integer(&locations->location, LOCATION_ID, i + 1);
        pb_integer(&locations->location, LOCATION_MAPPING_ID, pprof_mapping_id(mappings, address));
        pb_integer(&locations->location, LOCATION_ADDRESS, address->svma + bias);
        for (uint32_t inner = address->frame_count; inner-- > 0;)
            add_line(locations, &profile->frames[address->first_frame + inner]);
        pb_message(locations->out, PROFILE_LOCATION, &locations->location);
    }
}
