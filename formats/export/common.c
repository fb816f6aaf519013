/* SPDX-License-Identifier: MIT */
#include "export/common.h"

#include "base/text/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t export_period(const struct profile *profile, uint32_t event)
{
    if (event < profile->event_count && profile->events[event].period)
        return profile->events[event].period;
    uint64_t total = 0, count = 0;
    for (size_t i = 0; i < profile->list_count; i++) {
        const struct profile_list *list = &profile->lists[i];
        total += list->event == event ? list->samples.weight : 0;
        count += list->event == event ? list->samples.count : 0;
    }
    return total > count ? total / count : 1;
}

bool export_func_is_unknown(const struct profile *profile, uint32_t func)
{
    const char *name = profile_text(profile, profile->funcs[func].name);
    if (name[0] == '\0')
        return true;
    if (strncmp(name, "0x", 2) != 0 || name[2] == '\0')
        return false;
    const char *end = name + 2;
    while (isxdigit((unsigned char)*end))
        end++;
    return *end == '\0';
}

void export_func_name(const struct profile *profile, uint32_t func, struct buffer *out)
{
    if (!export_func_is_unknown(profile, func)) {
        buffer_text(out, profile_text(profile, profile->funcs[func].name));
        return;
    }
    uint32_t lib = profile->funcs[func].lib;
    const char *module = lib == PROFILE_NONE ? "" : profile_text(profile, profile->libs[lib].name);
    bool is_in_brackets = module[0] == '[';
    buffer_text(out, is_in_brackets ? "" : "[");
    buffer_text(out, module[0] ? module : "unknown");
    buffer_text(out, is_in_brackets ? "" : "]");
}

void export_lib_path(const struct profile *profile, const struct profile_lib *lib,
                     struct buffer *out)
{
    const char *path = profile_text(profile, lib->path);
    const char *slash = lib->category == PROFILE_USER ? strrchr(path, '/') : NULL;
    size_t directory_bytes = slash ? (size_t)(slash + 1 - path) : 0;
    buffer_append(out, path, directory_bytes);
    buffer_text(out, slash ? profile_text(profile, lib->name) : path);
}

struct export_namespace_id export_namespace_id(const char *kind, int32_t id)
{
    struct export_namespace_id out = {""};
    if (id)
        snprintf(out.text, sizeof(out.text), ", namespace %s %" PRId32, kind, id);
    return out;
}

uint32_t export_frame_file(const struct profile *profile, const struct profile_frame *frame)
{
    return frame->file == PROFILE_NONE ? profile->funcs[frame->func].file : frame->file;
}

uint32_t export_func_line(const struct profile *profile, uint32_t func, uint32_t file)
{
    return file != PROFILE_NONE && profile->funcs[func].file == file ? profile->funcs[func].line
                                                                     : 0;
}

/* The kernel cuts the names of executed files off behind 15 bytes. */
static bool is_named(const char *name, const char *product)
{
    enum { NAME_BYTES_MAX = 15 };
    return strlen(product) < NAME_BYTES_MAX ? strcmp(name, product) == 0
                                            : strncmp(name, product, NAME_BYTES_MAX) == 0;
}

uint32_t export_main_lib(const struct profile *profile)
{
    const char *product = profile_text(profile, profile->product);
    for (uint32_t i = 0; i < profile->lib_count && product[0]; i++) {
        if (strcmp(profile_text(profile, profile->libs[i].path), product) == 0 ||
            is_named(profile_text(profile, profile->libs[i].name), product))
            return i;
    }
    if (profile->is_product_executed)
        return PROFILE_NONE;
    /* By the thread's name first, then the file taken for the program by the loader. */
    for (size_t i = 0; i < profile->frame_count; i++) {
        const struct profile_frame *frame = &profile->frames[i];
        if (frame->category == PROFILE_USER && frame->lib != PROFILE_NONE)
            return frame->lib;
    }
    for (uint32_t i = 0; i < profile->lib_count; i++)
        if (profile->libs[i].category == PROFILE_LIBRARY)
            return i; /* rather than the kernel */
    return 0;
}

int text_table_open(struct text_table *table)
{
    *table = (struct text_table){.texts = intern_new()};
    return table->texts ? 0 : -ENOMEM;
}

void text_table_close(struct text_table *table)
{
    intern_free(table->texts);
    buffer_free(&table->name);
    buffer_free(&table->clean);
}

uint32_t text_table_add(struct text_table *table, const char *text)
{
    buffer_clear(&table->clean);
    utf8_append(&table->clean, text);
    uint32_t id = table->clean.failed
                      ? INTERN_NONE
                      : intern_add(table->texts, table->clean.bytes, table->clean.size);
    if (id == INTERN_NONE)
        table->failed = true;
    return id;
}

uint32_t text_table_add_func(struct text_table *table, const struct profile *profile, uint32_t func)
{
    buffer_clear(&table->name);
    export_func_name(profile, func, &table->name);
    buffer_u8(&table->name, 0);
    return text_table_add(table, table->name.failed ? "" : (const char *)table->name.bytes);
}
