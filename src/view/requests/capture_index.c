/* SPDX-License-Identifier: MIT */
#include "view/requests/capture_index.h"

#include "convert/addresses.h"
#include "profile/debug_id.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int capture_index_open(struct capture_index *index, const struct profile *profile)
{
    *index = (struct capture_index){
        .profile = profile,
        .order = addresses_order(profile),
        .debug_ids = calloc(profile->lib_count + 1, sizeof(*index->debug_ids)),
    };
    if (!index->order || !index->debug_ids) {
        capture_index_close(index);
        return -ENOMEM;
    }
    for (size_t i = 0; i < profile->lib_count; i++)
        debug_id_write(&profile->libs[i], index->debug_ids[i]);
    return 0;
}

void capture_index_close(struct capture_index *index)
{
    free(index->order);
    free(index->debug_ids);
    *index = (struct capture_index){0};
}

uint32_t capture_index_lib(const struct capture_index *index, uint32_t from, const char *name,
                           const char *debug_id)
{
    const struct profile *profile = index->profile;
    for (uint32_t i = from; i < profile->lib_count; i++)
        if (!profile->libs[i].is_synthetic && strcmp(index->debug_ids[i], debug_id) == 0 &&
            strcmp(profile_text(profile, debug_name(&profile->libs[i])), name) == 0)
            return i;
    return PROFILE_NONE;
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

uint32_t capture_index_symbol(const struct capture_index *index, uint32_t lib, uint64_t svma)
{
    const struct profile *profile = index->profile;
    for (size_t i = 0; i < profile->symbol_count; i++)
        if (profile->symbols[i].lib == lib && profile->symbols[i].svma == svma)
            return (uint32_t)i;
    return PROFILE_NONE;
}
