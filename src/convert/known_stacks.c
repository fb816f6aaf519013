/* SPDX-License-Identifier: MIT */
#include "convert/known_stacks.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

/* Of keys; about as many stacks as a profile that a viewer can still show. */
enum { LIMIT_BYTES = 64 << 20 };

int known_stacks_init(struct known_stacks *known)
{
    *known = (struct known_stacks){.keys = intern_new()};
    return known->keys ? 0 : -ENOMEM;
}

void known_stacks_free(struct known_stacks *known)
{
    intern_free(known->keys);
    free(known->calls);
    buffer_free(&known->key);
    *known = (struct known_stacks){0};
}

bool known_stacks_find(struct known_stacks *known, const struct perfdata_event *sample,
                       const struct known_place *place, uint32_t *call)
{
    buffer_clear(&known->key);
    if (sample->callchain_count == 0 || sample->user_registers_mask || sample->branch_count)
        return false;
    const uint64_t head[] = {(uint64_t)place->process << 32 | sample->misc, sample->attr_index,
                             place->map->generation, place->kernel->generation};
    buffer_append(&known->key, head, sizeof(head));
    buffer_append(&known->key, sample->callchain,
                  sample->callchain_count * sizeof(*sample->callchain));
    if (known->key.failed)
        return false;
    uint32_t id = intern_find(known->keys, known->key.bytes, known->key.size);
    if (id == INTERN_NONE)
        return false;
    *call = known->calls[id];
    return true;
}

void known_stacks_add(struct known_stacks *known, uint32_t call)
{
    if (known->key.size == 0 || known->key.failed || intern_size(known->keys) > LIMIT_BYTES)
        return;
    uint32_t *slot = ARRAY_PUSH(known->calls, known->count, known->capacity);
    if (!slot)
        return;
    *slot = call;
    if (intern_add(known->keys, known->key.bytes, known->key.size) == INTERN_NONE)
        known->count--;
}
