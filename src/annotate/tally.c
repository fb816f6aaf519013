/* SPDX-License-Identifier: MIT */
#include "annotate/tally.h"

#include "base/containers/array.h"
#include "base/containers/intern.h"
#include "profile/walk.h"

#include <errno.h>
#include <stdlib.h>

struct line_key {
    uint32_t file, line;
};
struct address_key {
    uint64_t svma;
    uint32_t symbol, zero;
};

struct tallying {
    struct tally *tally;
    const struct tally_request *request;
    const struct profile *profile;
    bool *is_chosen_symbol;           /* by symbol: with code of a chosen function */
    struct intern *lines, *addresses; /* line_key, address_key -> index in the tally */
    /* By frame: index in tally->lines and tally->addresses; PROFILE_NONE: none. */
    uint32_t *line_of, *address_of;
    uint64_t *weights; /* by stack */
    /* The last stack, plus one, in which a line or an address was counted. */
    uint32_t *line_seen, *address_seen;
};

void tally_free(struct tally *tally)
{
    free(tally->lines);
    free(tally->addresses);
    *tally = (struct tally){0};
}

static uint32_t line_of(struct tallying *t, const struct profile_frame *frame)
{
    struct tally *tally = t->tally;
    struct line_key key = {frame->file, frame->file == PROFILE_NONE ? 0 : frame->line};
    uint32_t id = intern_add(t->lines, &key, sizeof(key));
    if (id != tally->line_count)
        return id;
    struct tally_line *line = ARRAY_PUSH(tally->lines, tally->line_count, tally->line_capacity);
    if (!line)
        return INTERN_NONE;
    *line = (struct tally_line){
        .file = key.file, .line = key.line, .lib = frame->lib, .func = frame->func};
    return id;
}

static uint32_t address_of(struct tallying *t, const struct profile_frame *frame)
{
    struct tally *tally = t->tally;
    const struct tally_request *request = t->request;
    struct address_key key = {frame->svma, frame->symbol, 0};
    if (request->instruction_at)
        key.svma = request->instruction_at(request->context, frame->symbol, frame->svma);
    uint32_t id = intern_add(t->addresses, &key, sizeof(key));
    if (id != tally->address_count)
        return id;
    struct tally_address *address =
        ARRAY_PUSH(tally->addresses, tally->address_count, tally->address_capacity);
    if (!address)
        return INTERN_NONE;
    *address = (struct tally_address){.symbol = frame->symbol, .svma = key.svma};
    return id;
}

static int index_frames(struct tallying *t)
{
    const struct profile *profile = t->profile;
    for (size_t i = 0; i < profile->frame_count; i++) {
        const struct profile_frame *frame = &profile->frames[i];
        if (t->request->chosen[frame->func] && frame->symbol != PROFILE_NONE)
            t->is_chosen_symbol[frame->symbol] = true;
    }
    for (size_t i = 0; i < profile->frame_count; i++) {
        const struct profile_frame *frame = &profile->frames[i];
        bool is_line = t->request->chosen[frame->func];
        bool is_address = frame->symbol != PROFILE_NONE && t->is_chosen_symbol[frame->symbol];
        t->line_of[i] = is_line ? line_of(t, frame) : PROFILE_NONE;
        t->address_of[i] = is_address ? address_of(t, frame) : PROFILE_NONE;
        if ((is_line && t->line_of[i] == INTERN_NONE) ||
            (is_address && t->address_of[i] == INTERN_NONE))
            return -ENOMEM;
    }
    return 0;
}

static void weigh_stacks(struct tallying *t)
{
    struct profile_walk walk = profile_walk_all(t->profile);
    for (const struct profile_sample *sample; (sample = profile_walk_next(&walk));) {
        if (!profile_is_main(t->profile, sample))
            continue;
        t->tally->whole += sample->weight;
        if (sample->stack != PROFILE_NONE)
            t->weights[sample->stack] += sample->weight;
    }
}

/* A frame of the stack `at`, on the way from the stack `leaf`. */
static void count_frame(struct tallying *t, uint32_t leaf, uint32_t at, bool *has_chosen)
{
    struct tally *tally = t->tally;
    uint64_t weight = t->weights[leaf];
    bool is_leaf = at == leaf;
    uint32_t frame = t->profile->stacks[at].frame;
    uint32_t line = t->line_of[frame], address = t->address_of[frame];
    if (line != PROFILE_NONE && t->line_seen[line] != leaf + 1) {
        t->line_seen[line] = leaf + 1;
        tally->lines[line].total += weight;
    }
    if (address != PROFILE_NONE && t->address_seen[address] != leaf + 1) {
        t->address_seen[address] = leaf + 1;
        tally->addresses[address].total += weight;
    }
    if (line != PROFILE_NONE && is_leaf) {
        tally->lines[line].self += weight;
        tally->self += weight;
    }
    if (address != PROFILE_NONE && is_leaf)
        tally->addresses[address].self += weight;
    *has_chosen |= line != PROFILE_NONE;
}

static void count_stack(struct tallying *t, uint32_t leaf)
{
    const struct profile *profile = t->profile;
    bool has_chosen = false;
    for (uint32_t at = leaf; at != PROFILE_NONE; at = profile->stacks[at].parent)
        count_frame(t, leaf, at, &has_chosen);
    if (has_chosen)
        t->tally->total += t->weights[leaf];
}

static int by_line(const void *left, const void *right)
{
    const struct tally_line *a = left, *b = right;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static int by_address(const void *left, const void *right)
{
    const struct tally_address *a = left, *b = right;
    if (a->symbol != b->symbol)
        return a->symbol < b->symbol ? -1 : 1;
    return (a->svma > b->svma) - (a->svma < b->svma);
}

static int count_all(struct tallying *t)
{
    struct tally *tally = t->tally;
    t->line_seen = calloc(tally->line_count + 1, sizeof(*t->line_seen));
    t->address_seen = calloc(tally->address_count + 1, sizeof(*t->address_seen));
    if (!t->line_seen || !t->address_seen)
        return -ENOMEM;
    weigh_stacks(t);
    for (size_t i = 0; i < t->profile->stack_count; i++)
        if (t->weights[i])
            count_stack(t, (uint32_t)i);
    return 0;
}

/* Everything but the tally. */
static void free_tables(struct tallying *t)
{
    intern_free(t->lines);
    intern_free(t->addresses);
    free(t->is_chosen_symbol);
    free(t->line_of);
    free(t->address_of);
    free(t->weights);
    free(t->line_seen);
    free(t->address_seen);
}

int tally_build(struct tally *tally, const struct tally_request *request)
{
    const struct profile *profile = request->profile;
    *tally = (struct tally){0};
    struct tallying t = {
        .tally = tally,
        .request = request,
        .profile = profile,
        .is_chosen_symbol = calloc(profile->symbol_count + 1, sizeof(*t.is_chosen_symbol)),
        .lines = intern_new(),
        .addresses = intern_new(),
        .line_of = calloc(profile->frame_count + 1, sizeof(*t.line_of)),
        .address_of = calloc(profile->frame_count + 1, sizeof(*t.address_of)),
        .weights = calloc(profile->stack_count + 1, sizeof(*t.weights)),
    };
    int err = t.is_chosen_symbol && t.lines && t.addresses && t.line_of && t.address_of && t.weights
                  ? index_frames(&t)
                  : -ENOMEM;
    if (!err)
        err = count_all(&t);
    if (!err && tally->line_count)
        qsort(tally->lines, tally->line_count, sizeof(*tally->lines), by_line);
    if (!err && tally->address_count)
        qsort(tally->addresses, tally->address_count, sizeof(*tally->addresses), by_address);
    free_tables(&t);
    if (err)
        tally_free(tally);
    return err;
}

struct tally_address tally_of(const struct tally *tally, uint32_t symbol, uint64_t svma)
{
    const struct tally_address none = {.symbol = symbol, .svma = svma};
    if (tally->address_count == 0)
        return none;
    const struct tally_address *found = bsearch(&none, tally->addresses, tally->address_count,
                                                sizeof(*tally->addresses), by_address);
    return found ? *found : none;
}
