/* SPDX-License-Identifier: MIT */
#include "cli/report/report_parts.h"

#include "base/containers/array.h"
#include "profile/walk.h"

#include <errno.h>
#include <stdlib.h>

struct around {
    struct report *report;
    const bool *chosen;
    bool is_upwards;
    struct intern *paths;
    uint32_t *same;    /* report_merge_nameless() */
    uint64_t *weights; /* by stack */
    uint32_t *funcs;   /* of a stack, innermost first, direct recursion once */
    size_t count, capacity;
};

static int read_stack(struct around *around, uint32_t stack)
{
    const struct profile *profile = around->report->profile;
    around->count = 0;
    for (uint32_t at = stack; at != PROFILE_NONE; at = profile->stacks[at].parent) {
        uint32_t func = around->same[profile->frames[profile->stacks[at].frame].func];
        if (around->count && around->funcs[around->count - 1] == func)
            continue;
        uint32_t *added = ARRAY_PUSH(around->funcs, around->count, around->capacity);
        if (!added)
            return -ENOMEM;
        *added = func;
    }
    return 0;
}

/* The path from the outermost chosen function to one end of the stack gets the weight. */
static int add_stack(struct around *around, uint64_t weight)
{
    size_t outermost = around->count;
    while (outermost > 0 && !around->chosen[around->funcs[outermost - 1]])
        outermost--;
    if (outermost == 0)
        return 0;
    uint32_t node = 0;
    size_t length = around->is_upwards ? around->count - outermost + 1 : outermost;
    for (size_t i = 0; i < length; i++) {
        size_t at = around->is_upwards ? outermost - 1 + i : outermost - 1 - i;
        node = report_child(around->report, around->paths, node, around->funcs[at]);
        if (node == PROFILE_NONE)
            return -ENOMEM;
    }
    around->report->nodes[node].self += weight;
    return 0;
}

static int add_stacks(struct around *around)
{
    struct report *report = around->report;
    const struct profile *profile = report->profile;
    struct profile_walk walk = profile_walk_all(profile);
    for (const struct profile_sample *sample; (sample = profile_walk_next(&walk));) {
        if (!profile_is_main(profile, sample))
            continue;
        report->total += sample->weight;
        if (sample->stack != PROFILE_NONE)
            around->weights[sample->stack] += sample->weight;
    }
    if (report_child(report, around->paths, PROFILE_NONE, PROFILE_NONE) != 0)
        return -ENOMEM;
    int err = 0;
    for (uint32_t i = 0; i < profile->stack_count && err == 0; i++) {
        if (around->weights[i])
            err = read_stack(around, i);
        if (around->weights[i] && err == 0)
            err = add_stack(around, around->weights[i]);
    }
    return err;
}

int report_build_around(struct report *report, const struct profile *profile, const bool *chosen,
                        bool is_upwards)
{
    *report = (struct report){.profile = profile};
    struct around around = {.report = report,
                            .chosen = chosen,
                            .is_upwards = is_upwards,
                            .paths = intern_new(),
                            .same = report_merge_nameless(profile),
                            .weights = calloc(profile->stack_count + 1, sizeof(*around.weights))};
    int err = around.paths && around.same && around.weights ? add_stacks(&around) : -ENOMEM;
    if (!err) {
        report_add_totals(report);
        err = report_finish(report);
    }
    intern_free(around.paths);
    free(around.same);
    free(around.weights);
    free(around.funcs);
    if (err)
        report_free(report);
    return err;
}
