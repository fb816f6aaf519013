/* SPDX-License-Identifier: MIT */
/*
 * Keys (function_key.h) connect the functions of all runs; each run has values by row:
 *
 *     profile's func ─▶ rows[func] ─▶ key, row ─▶ run->values[row]     missing values are 0
 *
 * Runs may have different functions, and a profile can be freed before the next run.
 */
#include "compare/compare.h"

#include "base/containers/array.h"
#include "base/text/path_name.h"
#include "compare/function_key.h"
#include "compare/math_library.h"
#include "export/common.h"
#include "profile/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct adding { /* a run on its way into the rows */
    struct comparison *comparison;
    const struct profile *profile;
    struct compare_run *run;
    uint32_t *rows;     /* by function, or by frame (COMPARE_LINES), plus one; 0: not yet */
    uint64_t *weights;  /* by stack */
    struct buffer text; /* scratch */
};

int comparison_open(struct comparison *comparison, const struct compare_settings *settings)
{
    *comparison = (struct comparison){.settings = *settings,
                                      .strings = intern_new(),
                                      .keys = intern_new(),
                                      .programs = intern_new(),
                                      .program = INTERN_NONE};
    if (!math_library_load())
        return -ELIBACC;
    return comparison->strings && comparison->keys && comparison->programs ? 0 : -ENOMEM;
}

void comparison_close(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->run_count; i++)
        free(comparison->runs[i].values);
    free(comparison->runs);
    free(comparison->rows);
    intern_free(comparison->strings);
    intern_free(comparison->keys);
    intern_free(comparison->programs);
    *comparison = (struct comparison){0};
}

const char *comparison_text(const struct comparison *comparison, uint32_t string)
{
    return intern_string(comparison->strings, string);
}

/* The text in `text` as a string of the comparison. */
static uint32_t take_string(struct adding *adding)
{
    buffer_u8(&adding->text, 0);
    return adding->text.failed
               ? INTERN_NONE
               : intern_text(adding->comparison->strings, (char *)adding->text.bytes);
}

static const char *file_of(const struct profile *profile, const struct profile_frame *frame)
{
    return path_name(profile_text(profile, frame->file));
}

/* The names of the last run stay: names of the new side. */
static int name_row(struct adding *adding, struct compare_row *row,
                    const struct profile_frame *frame)
{
    const struct profile *profile = adding->profile;
    buffer_clear(&adding->text);
    function_key_append_name(&adding->text, profile, frame->func);
    row->name = take_string(adding);
    buffer_clear(&adding->text);
    function_key_append_module(&adding->text, profile, frame->func);
    row->module = take_string(adding);
    bool has_line = adding->comparison->settings.what == COMPARE_LINES;
    row->file = intern_text(adding->comparison->strings, has_line ? file_of(profile, frame) : "");
    row->line = has_line ? frame->line : 0;
    bool is_complete =
        row->name != INTERN_NONE && row->module != INTERN_NONE && row->file != INTERN_NONE;
    return is_complete ? 0 : -ENOMEM;
}

static int append_key(const struct comparison *comparison, const struct profile *profile,
                      uint32_t func, struct buffer *out)
{
    uint32_t lib = profile->funcs[func].lib;
    const char *path = lib == PROFILE_NONE ? "" : profile_text(profile, profile->libs[lib].path);
    bool is_program = comparison->program != INTERN_NONE &&
                      intern_find(comparison->programs, path, strlen(path)) != INTERN_NONE;
    buffer_clear(out);
    function_key_append(out, profile, func,
                        is_program ? comparison_text(comparison, comparison->program) : NULL);
    return out->failed ? -ENOMEM : 0;
}

static int add_row(struct adding *adding, const struct profile_frame *frame, uint32_t *id)
{
    struct comparison *comparison = adding->comparison;
    if (append_key(comparison, adding->profile, frame->func, &adding->text) != 0)
        return -ENOMEM;
    if (comparison->settings.what == COMPARE_LINES) {
        buffer_u8(&adding->text, 0);
        buffer_printf(&adding->text, "%s:%u", file_of(adding->profile, frame), frame->line);
    }
    *id = adding->text.failed ? INTERN_NONE
                              : intern_add(comparison->keys, adding->text.bytes, adding->text.size);
    if (*id == INTERN_NONE ||
        (*id == comparison->row_count &&
         !ARRAY_PUSH(comparison->rows, comparison->row_count, comparison->row_capacity)))
        return -ENOMEM;
    comparison->rows[*id].key = *id;
    return name_row(adding, &comparison->rows[*id], frame);
}

/* The value of the row of a frame in this run; NULL: out of memory. */
static double *value_of(struct adding *adding, uint32_t frame_id)
{
    struct compare_run *run = adding->run;
    const struct profile_frame *frame = &adding->profile->frames[frame_id];
    bool has_line = adding->comparison->settings.what == COMPARE_LINES;
    uint32_t *row = &adding->rows[has_line ? frame_id : frame->func], id;
    if (*row == 0) {
        if (add_row(adding, frame, &id) != 0)
            return NULL;
        *row = id + 1;
    }
    while (run->value_count < *row)
        if (!ARRAY_PUSH(run->values, run->value_count, run->value_capacity))
            return NULL;
    return &run->values[*row - 1];
}

static uint64_t sum_stacks(struct adding *adding)
{
    uint64_t samples = 0;
    struct profile_walk walk = profile_walk_all(adding->profile);
    for (const struct profile_sample *sample; (sample = profile_walk_next(&walk));) {
        if (!profile_is_main(adding->profile, sample) || sample->stack == PROFILE_NONE)
            continue;
        adding->weights[sample->stack] += sample->weight;
        adding->run->total += (double)sample->weight;
        samples += sample->count;
    }
    return samples;
}

static int add_leaf(struct adding *adding, uint32_t stack)
{
    double *value = value_of(adding, adding->profile->stacks[stack].frame);
    if (value)
        *value += (double)adding->weights[stack];
    return value ? 0 : -ENOMEM;
}

/* Each function of the stack once: seen[row] is the last stack added, plus one. */
static int add_path(struct adding *adding, uint32_t stack, uint32_t *seen)
{
    const struct profile *profile = adding->profile;
    for (uint32_t at = stack; at != PROFILE_NONE; at = profile->stacks[at].parent) {
        double *value = value_of(adding, profile->stacks[at].frame);
        if (!value)
            return -ENOMEM;
        uint32_t row = (uint32_t)(value - adding->run->values);
        if (seen[row] != stack + 1)
            *value += (double)adding->weights[stack];
        seen[row] = stack + 1;
    }
    return 0;
}

static int add_values(struct adding *adding)
{
    const struct profile *profile = adding->profile;
    /* Rows of earlier runs, and at most one for each function of the profile. */
    size_t most = adding->comparison->row_count + profile->func_count;
    bool is_total = adding->comparison->settings.what == COMPARE_TOTAL;
    uint32_t *seen = is_total ? calloc(most + 1, sizeof(*seen)) : NULL;
    int err = is_total && !seen ? -ENOMEM : 0;
    for (uint32_t i = 0; i < profile->stack_count && err == 0; i++)
        if (adding->weights[i])
            err = is_total ? add_path(adding, i, seen) : add_leaf(adding, i);
    free(seen);
    return err;
}

/* Sets the program of the base by its first run. */
static int note_program(struct comparison *comparison, enum compare_side side,
                        const struct profile *profile)
{
    uint32_t lib = profile->is_product_executed ? export_main_lib(profile) : PROFILE_NONE;
    if (lib == PROFILE_NONE)
        return 0;
    if (comparison->program == INTERN_NONE && side == COMPARE_BASE) {
        comparison->program =
            intern_text(comparison->strings, profile_text(profile, profile->libs[lib].name));
        if (comparison->program == INTERN_NONE)
            return -ENOMEM;
    }
    const char *path = profile_text(profile, profile->libs[lib].path);
    return intern_text(comparison->programs, path) == INTERN_NONE ? -ENOMEM : 0;
}

int comparison_add(struct comparison *comparison, enum compare_side side,
                   const struct profile *profile)
{
    struct adding adding = {.comparison = comparison, .profile = profile};
    bool has_line = comparison->settings.what == COMPARE_LINES;
    size_t row_keys = has_line ? profile->frame_count : profile->func_count;
    adding.run = ARRAY_PUSH(comparison->runs, comparison->run_count, comparison->run_capacity);
    adding.rows = calloc(row_keys + 1, sizeof(*adding.rows));
    adding.weights = calloc(profile->stack_count + 1, sizeof(*adding.weights));
    int err = adding.run && adding.rows && adding.weights ? 0 : -ENOMEM;
    if (err == 0)
        err = note_program(comparison, side, profile);
    if (err == 0) {
        adding.run->side = side;
        uint64_t samples = sum_stacks(&adding);
        adding.run->mean_weight = samples ? adding.run->total / (double)samples : 0;
        err = add_values(&adding);
    }
    free(adding.rows);
    free(adding.weights);
    buffer_free(&adding.text);
    return err;
}

/* Rows in the order of their keys; NULL: out of memory. */
static const struct compare_row **rows_by_key(const struct comparison *comparison)
{
    const struct compare_row **rows = calloc(comparison->row_count + 1, sizeof(*rows));
    for (size_t i = 0; rows && i < comparison->row_count; i++)
        rows[comparison->rows[i].key] = &comparison->rows[i];
    return rows;
}

/* The last function of a row is from the new side, if the new side has the function. */
static int find_rows(const struct comparison *comparison, const struct profile *profile,
                     const struct compare_row **rows, uint32_t *last)
{
    struct buffer text = {0};
    const struct compare_row **by_key = rows_by_key(comparison);
    int err = by_key ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < profile->func_count && err == 0; i++) {
        err = append_key(comparison, profile, i, &text);
        uint32_t key = err ? INTERN_NONE : intern_find(comparison->keys, text.bytes, text.size);
        rows[i] = key == INTERN_NONE ? NULL : by_key[key];
        if (rows[i])
            last[key] = i;
    }
    free(by_key);
    buffer_free(&text);
    return err;
}

int comparison_unify(const struct comparison *comparison, struct profile *profile,
                     const struct compare_row **rows)
{
    uint32_t *last = calloc(comparison->row_count + 1, sizeof(*last));
    int err = last ? find_rows(comparison, profile, rows, last) : -ENOMEM;
    for (size_t i = 0; i < profile->frame_count && err == 0; i++) {
        uint32_t *func = &profile->frames[i].func;
        *func = rows[*func] ? last[rows[*func]->key] : *func;
    }
    free(last);
    return err;
}
