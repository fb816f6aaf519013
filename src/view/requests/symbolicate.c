/* SPDX-License-Identifier: MIT */
/* Names as in the capture: the addresses of a viewer's file are those of the capture. */
#include "view/requests/requests_parts.h"

#include "export/common.h"
#include "export/encoding/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Steps: libs compared. A capture may have any number of libs of one name and id. */
enum { REPLY_BYTES_MAX = 40 << 20, LIBS_MAX = 4096, STEPS_MAX = 1 << 20 };

struct module {            /* of a job's memory map */
    const char *name, *id; /* NULL: malformed */
    uint32_t first_lib;    /* PROFILE_NONE: not in the capture */
};

struct job {
    const struct request_context *context;
    struct module *modules;
    size_t module_count;
    size_t *steps; /* of the request */
};

static int read_modules(struct job *job, const struct json_object *map)
{
    job->module_count = element_count(map);
    job->modules = calloc(job->module_count + 1, sizeof(*job->modules));
    for (size_t i = 0; job->modules && i < job->module_count; i++) {
        const struct json_object *pair = element(map, i);
        bool is_pair = element_count(pair) == 2;
        struct module *module = &job->modules[i];
        module->name = is_pair ? element_string(pair, 0) : NULL;
        module->id = is_pair ? element_string(pair, 1) : NULL;
        module->first_lib = module->name && module->id
                                ? capture_index_lib(job->context->index, module->name, module->id)
                                : PROFILE_NONE;
    }
    return job->modules ? 0 : -ENOMEM;
}

static void member_hex(struct buffer *out, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof(text), "0x%" PRIx64, value);
    json_member_string(out, key, text);
}

/* The sampled address of a module, in any lib of its name and id. */
static const struct profile_address *find(const struct job *job, const struct module *module,
                                          uint64_t offset)
{
    const struct capture_index *index = job->context->index;
    const struct profile_address *found = NULL;
    for (uint32_t lib = module->first_lib; lib != PROFILE_NONE && !found && *job->steps < STEPS_MAX;
         lib = index->next[lib], ++*job->steps)
        found = capture_index_address(index, lib, index->profile->libs[lib].base_svma + offset);
    return found;
}

static void append_function(const struct profile *profile, const struct profile_frame *frame,
                            struct buffer *out)
{
    struct buffer name = {0};
    export_func_name(profile, frame->func, &name);
    buffer_u8(&name, 0);
    if (!name.failed)
        json_member_string(out, "function", (const char *)name.bytes);
    out->failed |= name.failed;
    buffer_free(&name);
    if (frame->file != PROFILE_NONE)
        json_member_string(out, "file", profile_text(profile, frame->file));
    if (frame->line)
        json_member_unsigned(out, "line", frame->line);
}

static void append_names(const struct profile *profile, const struct profile_address *address,
                         struct buffer *out)
{
    const struct profile_frame *outermost = &profile->frames[address->first_frame];
    const struct profile_symbol *symbol =
        outermost->symbol == PROFILE_NONE ? NULL : &profile->symbols[outermost->symbol];
    append_function(profile, outermost, out);
    member_hex(out, "function_offset", symbol ? address->svma - symbol->svma : 0);
    if (symbol && symbol->bytes)
        member_hex(out, "function_size", symbol->bytes);
    if (address->frame_count < 2)
        return;
    json_key(out, "inlines");
    json_open(out, '[');
    for (uint32_t i = address->frame_count; i-- > 1;) { /* innermost first */
        json_open(out, '{');
        append_function(profile, &outermost[i], out);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void append_frame(const struct job *job, const struct json_object *place, size_t number,
                         struct buffer *out)
{
    const struct profile *profile = job->context->index->profile;
    uint64_t module_index = 0, offset = 0;
    bool is_place = element_unsigned(place, 0, &module_index) &&
                    element_unsigned(place, 1, &offset) && module_index < job->module_count;
    const struct module *module = is_place ? &job->modules[module_index] : NULL;
    const struct profile_address *address = module ? find(job, module, offset) : NULL;
    json_open(out, '{');
    json_member_unsigned(out, "frame", number);
    json_member_string(out, "module", module && module->name ? module->name : "");
    member_hex(out, "module_offset", offset);
    if (address && address->frame_count &&
        !export_func_is_unknown(profile, profile->frames[address->first_frame].func))
        append_names(profile, address, out);
    json_close(out, '}');
}

static void append_stacks(const struct job *job, const struct json_object *stacks,
                          struct buffer *out)
{
    json_key(out, "stacks");
    json_open(out, '[');
    for (size_t i = 0; i < element_count(stacks); i++) {
        const struct json_object *stack = element(stacks, i);
        json_open(out, '[');
        for (size_t j = 0; j < element_count(stack) && out->size < REPLY_BYTES_MAX; j++)
            append_frame(job, element(stack, j), j, out);
        json_close(out, ']');
    }
    json_close(out, ']');
}

static void append_found(const struct job *job, struct buffer *out)
{
    json_key(out, "found_modules");
    json_open(out, '{');
    for (size_t i = 0; i < job->module_count; i++) {
        const struct module *module = &job->modules[i];
        struct buffer key = {0};
        if (!module->name || !module->id)
            continue;
        buffer_printf(&key, "%s/%s", module->name, module->id);
        buffer_u8(&key, 0);
        if (!key.failed)
            json_member_bool(out, (const char *)key.bytes, module->first_lib != PROFILE_NONE);
        buffer_free(&key);
    }
    json_close(out, '}');
}

static int append_job(const struct request_context *context, const struct json_object *request,
                      size_t *steps, struct buffer *out, struct error *error)
{
    const struct json_object *map = field_array(request, "memoryMap");
    const struct json_object *stacks = field_array(request, "stacks");
    struct job job = {.context = context, .steps = steps};
    if (!map || !stacks || element_count(map) > LIBS_MAX)
        return error_set(error, -EINVAL, "a job has no memory map or no stacks");
    if (read_modules(&job, map) != 0)
        return error_set(error, -ENOMEM, "out of memory");
    json_open(out, '{');
    append_found(&job, out);
    append_stacks(&job, stacks, out);
    json_close(out, '}');
    free(job.modules);
    return 0;
}

int symbolicate_answer(const struct request_context *context, const struct json_object *request,
                       struct buffer *out, struct error *error)
{
    const struct json_object *jobs = field_array(request, "jobs");
    size_t steps = 0;
    int err = 0;
    if (!jobs)
        return error_set(error, -EINVAL, "the request has no jobs");
    json_open(out, '{');
    json_key(out, "results");
    json_open(out, '[');
    for (size_t i = 0; i < element_count(jobs) && err == 0; i++)
        err = append_job(context, element(jobs, i), &steps, out, error);
    json_close(out, ']');
    json_close(out, '}');
    if (err == 0 && out->size >= REPLY_BYTES_MAX)
        err = error_set(error, -EFBIG, "the reply would be larger than 40 MiB");
    if (err == 0 && steps >= STEPS_MAX)
        err = error_set(error, -EFBIG, "too many modules have the same name and id");
    return err;
}
