/* SPDX-License-Identifier: MIT */
#include "convert/jit/jit_sources.h"

#include "base/budget.h"
#include "base/containers/array.h"

#include <errno.h>
#include <stdlib.h>

static void source_free(struct jit_source *source)
{
    jit_codes_free(&source->codes);
    free(source);
}

void jit_sources_free(struct jit_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++)
        source_free(sources->items[i]);
    free(sources->items);
    *sources = (struct jit_sources){0};
}

struct jit_source *jit_sources_add(struct jit_sources *sources)
{
    struct jit_source *source = calloc(1, sizeof(*source));
    struct jit_source **place =
        source ? ARRAY_PUSH(sources->items, sources->count, sources->capacity) : NULL;
    if (!place) {
        free(source);
        return NULL;
    }
    uint64_t most = budget_amount(BUDGET_JIT_PIECES);
    source->codes.room = most > sources->pieces ? (size_t)(most - sources->pieces) : 0;
    *place = source;
    return source;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

int jit_sources_admit(struct jit_sources *sources, const struct stat *file, bool is_dump,
                      struct jit_source **known)
{
    for (size_t i = 0; i + 1 < sources->count; i++) {
        struct jit_source *source = sources->items[i];
        if (source->is_dump != is_dump || !is_same_file(&source->file, file))
            continue;
        *known = source;
        return 1;
    }
    uint64_t left = budget_amount(BUDGET_JIT_BYTES);
    left = left > sources->read_bytes ? left - sources->read_bytes : 0;
    if ((uint64_t)file->st_size > left) {
        sources->is_exceeded = true;
        return -EFBIG;
    }
    sources->read_bytes += (uint64_t)file->st_size;
    struct jit_source *newest = sources->items[sources->count - 1];
    newest->file = *file;
    newest->is_dump = is_dump;
    return 0;
}

void jit_sources_finish(struct jit_sources *sources, int err)
{
    struct jit_codes *codes = &sources->items[sources->count - 1]->codes;
    if (err == 0)
        err = jit_codes_sort(codes);
    sources->is_exceeded |= codes->is_full || err == -ENOMEM;
    if (err == -ENOMEM)
        jit_codes_free(codes);
    sources->pieces += codes->count;
}

void jit_sources_drop(struct jit_sources *sources)
{
    source_free(sources->items[--sources->count]);
}
