/* SPDX-License-Identifier: MIT */
#include "record/tables/modules/module_set.h"

#include "base/clock.h"
#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "wire/atomic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHAINS = 4096 };

int module_set_open(struct module_set *set)
{
    set->seed = monotonic_ns(); /* else a process could choose paths of one chain */
    set->chains = calloc(CHAINS, sizeof(struct known_module *));
    return set->chains ? 0 : -ENOMEM;
}

void module_set_close(struct module_set *set)
{
    free(set->chains);
    free(set->modules);
    *set = (struct module_set){0};
}

static struct known_module **chain_of(const struct module_set *set, const char *path)
{
    return &set->chains[hash_word(hash_bytes(path, strlen(path)) ^ set->seed) % CHAINS];
}

/* New modules are linked in front, so the newest version of a rewritten file is found. */
struct known_module *module_set_find(const struct module_set *set, const struct mapped_file *file)
{
    struct known_module *module = *chain_of(set, file->path);
    while (module && !known_module_is_of(module, file))
        module = module->next;
    return module;
}

int module_set_add(struct module_set *set, struct known_module *module)
{
    struct known_module **place = ARRAY_PUSH(set->modules, set->count, set->capacity);
    if (!place)
        return -ENOMEM;
    struct known_module **chain = chain_of(set, module->path);
    *place = module;
    module->next = *chain;
    *chain = module;
    return 0;
}

struct known_module *module_set_use(struct module_set *set, struct known_module *module)
{
    known_module_use(module);
    module->last_use = ++set->uses;
    return module;
}

static struct known_module *take(struct module_set *set, size_t index)
{
    struct known_module *module = set->modules[index];
    struct known_module **link = chain_of(set, module->path);
    while (*link != module)
        link = &(*link)->next;
    *link = module->next;
    set->modules[index] = set->modules[--set->count];
    return module;
}

struct known_module *module_set_take_oldest(struct module_set *set, size_t fewest_cells,
                                            size_t most_cells)
{
    size_t oldest = set->count;
    for (size_t i = 0; i < set->count; i++) {
        const struct known_module *module = set->modules[i];
        if (load_acquire(&module->users) || module->blocks.cells < fewest_cells ||
            module->blocks.cells > most_cells)
            continue;
        if (oldest == set->count || module->last_use < set->modules[oldest]->last_use)
            oldest = i;
    }
    return oldest < set->count ? take(set, oldest) : NULL;
}
