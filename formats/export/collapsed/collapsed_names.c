/* SPDX-License-Identifier: MIT */
/* The names of collapsed stacks: escaped once each, not once a node. */
#include "export/collapsed/collapsed.h"

#include "base/text/short_name.h"
#include "base/text/utf8.h"
#include "export/common.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Makes the name a single frame for readers: ';' separates frames, control characters end lines,
 * and flamegraph.pl reads a number behind the last space as a second count.
 */
static void escape_name(struct buffer *name)
{
    char *text = (char *)name->bytes;
    size_t length = name->size;
    for (size_t i = 0; i < length; i++)
        if (text[i] == ';')
            text[i] = ':';
    while (length && text[length - 1] == ' ')
        length--;
    size_t digits = length;
    while (digits && strchr("0123456789.", text[digits - 1]))
        digits--;
    if (digits && digits < length && text[digits - 1] == ' ')
        text[digits - 1] = '_';
    name->size = length;
}

/* The id of the raw name's escaped form. */
static uint32_t name_id(struct collapsed_names *names)
{
    struct buffer *clean = &names->clean;
    buffer_u8(&names->raw, 0);
    buffer_clear(clean);
    if (!names->raw.failed) {
        const char *text = (const char *)names->raw.bytes;
        utf8_append_line(clean, text + strspn(text, " "));
    }
    if (clean->size && !clean->failed)
        escape_name(clean);
    if (clean->size == 0)
        buffer_text(clean, "[unknown]");
    uint32_t id = clean->failed ? INTERN_NONE : intern_add(names->texts, clean->bytes, clean->size);
    if (id == INTERN_NONE)
        names->failed = true;
    return id;
}

/* "NAME-ID", and ".N" for the Nth later use of an id. */
static uint32_t task_name_id(struct collapsed_names *names, struct intern *uses, uint32_t name,
                             uint32_t process, int32_t id)
{
    uint32_t key[] = {process, (uint32_t)id, 0};
    size_t before = intern_count(uses);
    while (intern_add(uses, key, sizeof(key)) < before)
        key[2]++;
    buffer_clear(&names->raw);
    buffer_printf(&names->raw, "%s-%d", profile_text(names->profile, name), id);
    if (key[2])
        buffer_printf(&names->raw, ".%u", key[2]);
    return name_id(names);
}

static void choose_task_names(struct collapsed_names *names)
{
    const struct profile *profile = names->profile;
    struct intern *uses = intern_new();
    names->failed |= !uses;
    for (uint32_t i = 0; i < profile->process_count && !names->failed; i++)
        names->processes[i] = task_name_id(names, uses, profile->processes[i].name, PROFILE_NONE,
                                           profile->processes[i].pid);
    for (uint32_t i = 0; i < profile->thread_count && !names->failed; i++)
        names->threads[i] = task_name_id(names, uses, profile->threads[i].name,
                                         profile->threads[i].process, profile->threads[i].tid);
    if (uses)
        intern_free(uses);
}

/* "[libfoo.so.1+0x123]" */
static void append_address(struct collapsed_names *names, uint32_t func)
{
    const struct profile *profile = names->profile;
    uint32_t lib = profile->funcs[func].lib;
    const char *name = lib == PROFILE_NONE ? "" : profile_text(profile, profile->libs[lib].name);
    buffer_printf(&names->raw, "[%s%s%s]", name, lib == PROFILE_NONE ? "" : "+",
                  profile_text(profile, profile->funcs[func].name));
}

static uint32_t func_name_id(struct collapsed_names *names, uint32_t func)
{
    const struct profile *profile = names->profile;
    bool is_unknown = export_func_is_unknown(profile, func);
    buffer_clear(&names->raw);
    if (is_unknown && names->options.addresses)
        append_address(names, func);
    else if (names->options.short_names && !is_unknown)
        short_name_append(&names->raw, profile_text(profile, profile->funcs[func].name),
                          profile_text(profile, profile->funcs[func].system_name));
    else
        export_func_name(profile, func, &names->raw);
    return name_id(names);
}

/* As stackcollapse-perf.pl marks them, for flamegraph.pl to colour. */
static const char *annotation(const struct profile_frame *frame)
{
    if (frame->inline_depth)
        return "_[i]";
    return frame->category == PROFILE_KERNEL ? "_[k]"
           : frame->category == PROFILE_JIT  ? "_[j]"
                                             : "";
}

static uint32_t frame_name_id(struct collapsed_names *names, const struct profile_frame *frame)
{
    uint32_t name = names->funcs[frame->func];
    const char *mark = names->options.annotate ? annotation(frame) : "";
    if (mark[0] == '\0' || names->failed)
        return name;
    buffer_clear(&names->raw);
    buffer_text(&names->raw, intern_string(names->texts, name));
    buffer_text(&names->raw, mark);
    return name_id(names);
}

static void choose_names(struct collapsed_names *names)
{
    const struct profile *profile = names->profile;
    for (uint32_t i = 0; i < profile->func_count; i++)
        names->funcs[i] = func_name_id(names, i);
    for (size_t i = 0; i < profile->frame_count; i++)
        names->frames[i] = frame_name_id(names, &profile->frames[i]);
    if (names->threads) {
        choose_task_names(names);
        return;
    }
    for (size_t i = 0; i < profile->process_count; i++) {
        buffer_clear(&names->raw);
        buffer_text(&names->raw, profile_text(profile, profile->processes[i].name));
        names->processes[i] = name_id(names);
    }
}

int collapsed_names_open(struct collapsed_names *names, const struct profile *profile,
                         const struct export_options *options)
{
    *names = (struct collapsed_names){.profile = profile, .texts = intern_new()};
    if (options)
        names->options = *options;
    names->funcs = calloc(profile->func_count + 1, sizeof(*names->funcs));
    names->frames = calloc(profile->frame_count + 1, sizeof(*names->frames));
    names->processes = calloc(profile->process_count + 1, sizeof(*names->processes));
    if (names->options.threads_apart)
        names->threads = calloc(profile->thread_count + 1, sizeof(*names->threads));
    if (!names->texts || !names->funcs || !names->frames || !names->processes ||
        (names->options.threads_apart && !names->threads))
        return -ENOMEM;
    choose_names(names);
    return names->failed ? -ENOMEM : 0;
}

void collapsed_names_close(struct collapsed_names *names)
{
    intern_free(names->texts);
    free(names->funcs);
    free(names->frames);
    free(names->processes);
    free(names->threads);
    buffer_free(&names->raw);
    buffer_free(&names->clean);
}
