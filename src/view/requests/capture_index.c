/* SPDX-License-Identifier: MIT */
#include "view/requests/capture_index.h"

#include "base/containers/buffer.h"
#include "convert/addresses.h"
#include "profile/debug_id.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static void make_key(struct buffer *key, const char *name, const char *debug_id)
{
    buffer_clear(key);
    buffer_printf(key, "%s/", debug_id);
    buffer_text(key, name);
}

static int link_libs(struct capture_index *index)
{
    const struct profile *profile = index->profile;
    struct buffer key = {0};
    int err = 0;
    for (size_t i = profile->lib_count; i-- > 0 && !err;) {
        index->next[i] = PROFILE_NONE;
        index->key[i] = INTERN_NONE;
        if (profile->libs[i].is_synthetic)
            continue;
        make_key(&key, profile_text(profile, debug_name(&profile->libs[i])), index->debug_ids[i]);
        uint32_t known = intern_count(index->keys);
        uint32_t id = key.failed ? INTERN_NONE : intern_add(index->keys, key.bytes, key.size);
        err = id == INTERN_NONE ? -ENOMEM : 0;
        if (!err && id < known)
            index->next[i] = index->first[id];
        if (!err)
            index->first[id] = (uint32_t)i;
        index->key[i] = id;
    }
    buffer_free(&key);
    return err;
}

int capture_index_open(struct capture_index *index, const struct profile *profile)
{
    *index = (struct capture_index){
        .profile = profile,
        .order = addresses_order(profile),
        .debug_ids = calloc(profile->lib_count + 1, sizeof(*index->debug_ids)),
        .keys = intern_new(),
        .first = calloc(profile->lib_count + 1, sizeof(*index->first)),
        .next = calloc(profile->lib_count + 1, sizeof(*index->next)),
        .key = calloc(profile->lib_count + 1, sizeof(*index->key)),
    };
    bool has_memory = index->order && index->debug_ids && index->keys && index->first &&
                      index->next && index->key;
    for (size_t i = 0; i < profile->lib_count && has_memory; i++)
        debug_id_write(&profile->libs[i], index->debug_ids[i]);
    if (has_memory && link_libs(index) == 0)
        return 0;
    capture_index_close(index);
    return -ENOMEM;
}

void capture_index_close(struct capture_index *index)
{
    free(index->order);
    free(index->debug_ids);
    intern_free(index->keys);
    free(index->first);
    free(index->next);
    free(index->key);
    *index = (struct capture_index){0};
}

uint32_t capture_index_lib(const struct capture_index *index, const char *name,
                           const char *debug_id)
{
    struct buffer key = {0};
    make_key(&key, name, debug_id);
    uint32_t id = key.failed ? INTERN_NONE : intern_find(index->keys, key.bytes, key.size);
    buffer_free(&key);
    return id == INTERN_NONE ? PROFILE_NONE : index->first[id];
}

const struct profile_address *capture_index_address(const struct capture_index *index, uint32_t lib,
                                                    uint64_t svma)
{
    const struct profile *profile = index->profile;
    size_t low = 0, high = profile->address_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct profile_address *at = &profile->addresses[index->order[middle]];
        if (at->lib < lib || (at->lib == lib && at->svma < svma))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == profile->address_count)
        return NULL;
    const struct profile_address *found = &profile->addresses[index->order[low]];
    return found->lib == lib && found->svma == svma ? found : NULL;
}

/* One pass, however many libs share the key. */
uint32_t capture_index_symbol(const struct capture_index *index, uint32_t lib, uint64_t start)
{
    const struct profile *profile = index->profile;
    for (size_t i = 0; i < profile->symbol_count; i++) {
        const struct profile_symbol *symbol = &profile->symbols[i];
        if (index->key[symbol->lib] == index->key[lib] &&
            symbol->svma - profile->libs[symbol->lib].base_svma == start)
            return (uint32_t)i;
    }
    return PROFILE_NONE;
}
