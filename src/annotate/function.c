/* SPDX-License-Identifier: MIT */
#include "annotate/function.h"

#include "base/containers/buffer.h"
#include "base/text/short_name.h"
#include "profile/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES_SHOWN = 5 };

/* By func: the weight of leaves, plus one for each stack node with samples below. NULL: out of
 * memory. */
static uint64_t *weights_of_funcs(const struct profile *profile)
{
    uint64_t *weights = calloc(profile->func_count + 1, sizeof(*weights));
    bool *is_on_stack = calloc(profile->stack_count + 1, sizeof(*is_on_stack));
    struct profile_walk walk = profile_walk_all(profile);
    for (const struct profile_sample *sample;
         weights && is_on_stack && (sample = profile_walk_next(&walk));) {
        if (!profile_is_main(profile, sample) || sample->stack == PROFILE_NONE)
            continue;
        is_on_stack[sample->stack] = true;
        weights[profile->frames[profile->stacks[sample->stack].frame].func] += sample->weight;
    }
    for (size_t i = profile->stack_count; weights && is_on_stack && i-- > 0;) {
        const struct profile_stack *stack = &profile->stacks[i];
        if (!is_on_stack[i])
            continue;
        weights[profile->frames[stack->frame].func]++;
        if (stack->parent != PROFILE_NONE)
            is_on_stack[stack->parent] = true;
    }
    if (!is_on_stack) {
        free(weights);
        weights = NULL;
    }
    free(is_on_stack);
    return weights;
}

struct search {
    const struct profile *profile;
    const char *wanted;
    const uint64_t *weights;
    struct buffer text; /* scratch */
};

static bool is_name(struct search *search, const struct profile_func *func)
{
    return strcmp(profile_text(search->profile, func->name), search->wanted) == 0 ||
           strcmp(profile_text(search->profile, func->system_name), search->wanted) == 0;
}

static bool is_short_name(struct search *search, const struct profile_func *func)
{
    buffer_clear(&search->text);
    short_name_append(&search->text, profile_text(search->profile, func->name),
                      profile_text(search->profile, func->system_name));
    buffer_u8(&search->text, 0);
    return !search->text.failed && strcmp((char *)search->text.bytes, search->wanted) == 0;
}

static bool is_part(struct search *search, const struct profile_func *func)
{
    return strstr(profile_text(search->profile, func->name), search->wanted) != NULL;
}

/* Returns the number of chosen functions. */
static size_t choose_by(struct function_choice *choice, struct search *search,
                        bool matches(struct search *search, const struct profile_func *func))
{
    size_t count = 0;
    for (size_t i = 0; i < search->profile->func_count; i++) {
        choice->is_chosen[i] = search->weights[i] && matches(search, &search->profile->funcs[i]);
        if (choice->is_chosen[i] &&
            (count++ == 0 || search->weights[i] > search->weights[choice->first]))
            choice->first = (uint32_t)i;
    }
    return count;
}

static bool are_one_name(const struct function_choice *choice, const struct profile *profile)
{
    for (size_t i = 0; i < profile->func_count; i++)
        if (choice->is_chosen[i] && profile->funcs[i].name != profile->funcs[choice->first].name)
            return false;
    return true;
}

/* The chosen function with the most time among names not yet listed; PROFILE_NONE: none. */
static uint32_t heaviest(const struct function_choice *choice, const struct search *search)
{
    uint32_t best = PROFILE_NONE;
    for (size_t i = 0; i < search->profile->func_count; i++)
        if (choice->is_chosen[i] &&
            (best == PROFILE_NONE || search->weights[i] > search->weights[best]))
            best = (uint32_t)i;
    return best;
}

static int refuse_part(struct function_choice *choice, const struct search *search,
                       struct error *error)
{
    const struct profile *profile = search->profile;
    struct buffer names = {0};
    for (int shown = 0; shown <= CANDIDATES_SHOWN; shown++) {
        uint32_t best = heaviest(choice, search);
        if (best == PROFILE_NONE)
            break;
        buffer_text(&names, shown ? ", " : "");
        if (shown == CANDIDATES_SHOWN)
            buffer_text(&names, "…");
        else
            short_name_append(&names, profile_text(profile, profile->funcs[best].name),
                              profile_text(profile, profile->funcs[best].system_name));
        for (size_t i = 0; i < profile->func_count; i++)
            choice->is_chosen[i] &= profile->funcs[i].name != profile->funcs[best].name;
    }
    buffer_u8(&names, 0);
    int err = error_set(error, -EINVAL, "'%s' is a part of several names: %s", search->wanted,
                        names.failed ? "" : (char *)names.bytes);
    buffer_free(&names);
    return err;
}

static int choose(struct function_choice *choice, struct search *search, struct error *error)
{
    if (choose_by(choice, search, is_name) || choose_by(choice, search, is_short_name))
        return 0;
    if (choose_by(choice, search, is_part) == 0)
        return error_set(error, -ENOENT,
                         "no function '%s' in the samples: `rec report` lists the names",
                         search->wanted);
    return are_one_name(choice, search->profile) ? 0 : refuse_part(choice, search, error);
}

int function_choose(struct function_choice *choice, const struct profile *profile,
                    const char *wanted, struct error *error)
{
    uint64_t *weights = weights_of_funcs(profile);
    struct search search = {.profile = profile, .wanted = wanted, .weights = weights};
    *choice = (struct function_choice){
        .is_chosen = calloc(profile->func_count + 1, sizeof(*choice->is_chosen))};
    int err = weights && choice->is_chosen ? choose(choice, &search, error)
                                           : error_set(error, -ENOMEM, "out of memory");
    buffer_free(&search.text);
    free(weights);
    if (err)
        function_choice_free(choice);
    return err;
}

void function_choice_free(struct function_choice *choice)
{
    free(choice->is_chosen);
    *choice = (struct function_choice){0};
}
