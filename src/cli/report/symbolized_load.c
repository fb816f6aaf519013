/* SPDX-License-Identifier: MIT */
#include "cli/report/symbolized_load.h"

#include "base/text/log.h"
#include "base/text/placeholder.h"
#include "base/text/short_name.h"
#include "cli/files/memory_limit.h"
#include "cli/terminal/progress.h"
#include "convert/convert.h"
#include "convert/store/capture.h"
#include "convert/symbolize/early/early_names.h"
#include "profile/merge.h"
#include "profile/walk.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_about_names(const char *key)
{
    return strcmp(key, "no_names") == 0 || strcmp(key, "sandbox") == 0;
}

/* Files without names: unreadable, or changed since the recording. */
static void print_unread(const struct profile *profile)
{
    for (size_t i = 0; i < profile->note_count; i++)
        if (is_about_names(profile_text(profile, profile->notes[i].key)))
            log_info("%s", profile_text(profile, profile->notes[i].value));
}

static int load_and_resolve(struct profile **out, const char *path,
                            const struct convert_options *options, struct error *error)
{
    struct capture capture;
    struct profile *profile = NULL;
    const char *name = options->input_name ? options->input_name : path;
    int err = capture_open(&capture, path, name, error);
    if (!err)
        err = convert_load_from(&profile, &capture, options, error);
    progress_set("finding names", 0, 0);
    if (!err)
        err = convert_resolve(profile, &capture, options, error);
    capture_close(&capture);
    if (err)
        profile_free(profile);
    else
        *out = profile;
    return err;
}

int symbolized_load_silent(struct profile **out, const char *path,
                           const struct convert_options *options, struct error *error)
{
    struct convert_options watched = options ? *options : (struct convert_options){0};
    struct early_names early = {0};
    watched.early = &early;
    watched.progress = progress_report;
    progress_set("reading samples", 0, 0);
    progress_start();
    memory_limit_begin(path, watched.memory_bytes);
    int err = load_and_resolve(out, path, &watched, error);
    early_names_free(&early);
    progress_end();
    return err;
}

int symbolized_load(struct profile **out, const char *path, const struct convert_options *options,
                    struct error *error)
{
    int err = symbolized_load_silent(out, path, options, error);
    if (!err)
        print_unread(*out);
    return err;
}

/* Views of a single event show the first input's. */
static void print_other_event(const struct profile *sum, const struct profile *profile,
                              const char *path)
{
    struct profile_event shown = profile_main_event(sum), other = profile_main_event(profile);
    bool is_same = profile_is_cpu_time(&other) ? profile_is_cpu_time(&shown)
                                               : strcmp(profile_text(sum, shown.name),
                                                        profile_text(profile, other.name)) == 0;
    if (!is_same && profile->sample_count)
        log_info("%s: event %s cannot be added to %s; select one with --event", path,
                 profile_text(profile, other.name), profile_text(sum, shown.name));
}

static int add_input(struct profile_merge *merge, const char *path,
                     const struct convert_options *options, struct error *error)
{
    struct profile *profile = NULL;
    int err = symbolized_load_silent(&profile, path, options, error);
    if (err)
        return err;
    err = profile_merge_add(merge, profile, 1);
    if (err)
        error_set(error, err, "out of memory while adding %s", path);
    else
        print_other_event(profile_merge_sum(merge), profile, path);
    profile_free(profile);
    return err;
}

int symbolized_load_all(struct profile **out, const struct inputs *inputs,
                        const struct convert_options *options, struct error *error)
{
    if (inputs->count == 1)
        return symbolized_load(out, inputs->paths[0], options, error);
    struct profile_merge *merge = profile_merge_new(options && options->adds_samples_up);
    int err = merge ? 0 : error_set(error, -ENOMEM, "out of memory");
    for (size_t i = 0; i < inputs->count && !err; i++)
        err = add_input(merge, inputs->paths[i], options, error);
    if (!err) {
        *out = profile_merge_finish(merge);
        err = *out ? 0 : error_set(error, -ENOMEM, "out of memory");
    }
    if (!err)
        print_unread(*out);
    profile_merge_free(merge);
    return err;
}

void symbolized_print_unread(const struct profile *profile, struct intern *printed)
{
    for (size_t i = 0; i < profile->note_count; i++) {
        const char *text = profile_text(profile, profile->notes[i].value);
        uint32_t count = intern_count(printed);
        if (is_about_names(profile_text(profile, profile->notes[i].key)) &&
            intern_text(printed, text) == count)
            log_info("%s", text);
    }
}

void symbolized_shorten(struct profile *profile)
{
    struct buffer name = {0};
    for (size_t i = 0; i < profile->func_count; i++) {
        struct profile_func *func = &profile->funcs[i];
        buffer_clear(&name);
        short_name_append(&name, profile_text(profile, func->name),
                          profile_text(profile, func->system_name));
        buffer_u8(&name, 0);
        if (!name.failed)
            func->name = profile_string(profile, (char *)name.bytes);
    }
    buffer_free(&name);
}

bool symbolized_is_unnamed(const struct profile *profile, uint32_t func)
{
    const struct profile_func *f = &profile->funcs[func];
    return f->file == PROFILE_NONE && strncmp(profile_text(profile, f->name), "0x", 2) == 0;
}

/* Also true for a name from module and offset ("libfoo.so.1+0x1234"). */
static bool is_unnamed(const struct profile *profile, uint32_t func)
{
    return symbolized_is_unnamed(profile, func) ||
           name_is_placeholder(profile_text(profile, profile->funcs[func].name));
}

/* JIT code with the name of the mapping only. */
static bool is_unnamed_jit(const struct profile *profile, const struct profile_func *func)
{
    return func->lib != PROFILE_NONE && profile->libs[func->lib].category == PROFILE_JIT &&
           profile_text(profile, func->name)[0] == '[';
}

/* The module of a leaf frame without a name; PROFILE_NONE: named, or no file and no JIT code. */
static uint32_t lib_without_name(const struct profile *profile, const struct profile_frame *frame)
{
    const struct profile_func *func = &profile->funcs[frame->func];
    if (is_unnamed_jit(profile, func))
        return func->lib;
    bool is_file = frame->lib != PROFILE_NONE && !profile->libs[frame->lib].is_synthetic &&
                   profile_text(profile, profile->libs[frame->lib].path)[0] == '/';
    return is_file && is_unnamed(profile, frame->func) ? frame->lib : PROFILE_NONE;
}

static int by_weight(const void *a, const void *b)
{
    const struct unnamed_lib *left = a, *right = b;
    return (left->weight < right->weight) - (left->weight > right->weight);
}

/* The main event's weight of stacks that end at this stack; NULL: out of memory. */
static uint64_t *weights_of_stacks(const struct profile *profile)
{
    uint64_t *weights = calloc(profile->stack_count + 1, sizeof(*weights));
    struct profile_walk walk = profile_walk_all(profile);
    for (const struct profile_sample *sample; weights && (sample = profile_walk_next(&walk));)
        if (sample->stack != PROFILE_NONE && profile_is_main(profile, sample))
            weights[sample->stack] += sample->weight;
    return weights;
}

/* No frame outwards is unnamed code of the same lib. */
static bool is_outermost(const struct profile *profile, const uint32_t *libs, uint32_t stack)
{
    uint32_t lib = libs[profile->stacks[stack].frame];
    uint32_t at = profile->stacks[stack].parent;
    while (at != PROFILE_NONE && libs[profile->stacks[at].frame] != lib)
        at = profile->stacks[at].parent;
    return at == PROFILE_NONE;
}

/* libs: by frame, as of lib_without_name(). The weights become sums with all stacks further in:
 * parents have earlier indices. */
static void add_weights(const struct profile *profile, const uint32_t *libs, uint64_t *weights,
                        struct unnamed_lib *all)
{
    for (size_t i = 0; i < profile->stack_count; i++) {
        uint32_t lib = libs[profile->stacks[i].frame];
        if (lib != PROFILE_NONE)
            all[lib].weight += weights[i];
    }
    for (size_t i = profile->stack_count; i-- > 0;) {
        const struct profile_stack *stack = &profile->stacks[i];
        uint32_t lib = libs[stack->frame];
        if (lib != PROFILE_NONE && weights[i] && is_outermost(profile, libs, (uint32_t)i))
            all[lib].through += weights[i];
        if (stack->parent != PROFILE_NONE)
            weights[stack->parent] += weights[i];
    }
}

static void sum_up(const struct profile *profile, struct unnamed_lib *all)
{
    uint32_t *libs = malloc((profile->frame_count + 1) * sizeof(*libs));
    uint64_t *weights = weights_of_stacks(profile);
    for (size_t i = 0; i < profile->lib_count; i++)
        all[i].lib = (uint32_t)i;
    for (size_t i = 0; libs && i < profile->frame_count; i++)
        libs[i] = lib_without_name(profile, &profile->frames[i]);
    if (libs && weights)
        add_weights(profile, libs, weights, all);
    free(libs);
    free(weights);
}

size_t unnamed_libs(const struct profile *profile, struct unnamed_lib *libs, size_t most)
{
    struct unnamed_lib *all = calloc(profile->lib_count + 1, sizeof(*all));
    if (!all)
        return 0;
    sum_up(profile, all);
    qsort(all, profile->lib_count, sizeof(*all), by_weight);
    size_t count = 0;
    while (count < most && count < profile->lib_count && all[count].weight > 0) {
        libs[count] = all[count];
        count++;
    }
    free(all);
    return count;
}
