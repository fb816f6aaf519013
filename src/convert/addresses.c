/* SPDX-License-Identifier: MIT */
#include "convert/addresses.h"

#include "base/containers/sort.h"
#include "convert/jit/jits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct placed_address {
    uint64_t svma;
    uint32_t lib;
    uint32_t index;
};

uint32_t *addresses_order(const struct profile *profile)
{
    size_t count = profile->address_count;
    uint32_t *order = malloc((count + 1) * sizeof(*order));
    struct placed_address *places = malloc((count + 1) * sizeof(*places));
    bool is_done = order && places;
    for (size_t i = 0; i < count && is_done; i++)
        places[i] = (struct placed_address){profile->addresses[i].svma, profile->addresses[i].lib,
                                            (uint32_t)i};
    /* A stable sort: the second key last. */
    is_done = is_done && SORT_BY(places, count, svma) == 0 && SORT_BY(places, count, lib) == 0;
    for (size_t i = 0; i < count && is_done; i++)
        order[i] = places[i].index;
    free(places);
    if (is_done)
        return order;
    free(order);
    return NULL;
}

bool addresses_are_of_file(const struct profile *profile, uint32_t lib)
{
    if (lib == PROFILE_NONE || profile->libs[lib].is_synthetic)
        return false;
    enum profile_category category = profile->libs[lib].category;
    return category == PROFILE_USER || category == PROFILE_LIBRARY;
}

bool addresses_are_of_kernel(const struct profile *profile, uint32_t lib)
{
    return lib != PROFILE_NONE && profile->libs[lib].category == PROFILE_KERNEL &&
           !profile->libs[lib].is_synthetic;
}

bool addresses_are_stored(const struct profile *profile, uint32_t lib)
{
    return addresses_are_of_file(profile, lib) || addresses_are_of_kernel(profile, lib) ||
           (lib != PROFILE_NONE && jits_is_lib(profile_text(profile, profile->libs[lib].path)));
}

struct address_number address_number(uint64_t svma)
{
    struct address_number number;
    snprintf(number.text, sizeof(number.text), "0x%" PRIx64, svma);
    return number;
}

bool address_is_named(const struct profile *profile, const struct profile_address *address)
{
    if (address->frame_count == 0)
        return false;
    const struct profile_frame *frame = &profile->frames[address->first_frame];
    const char *name = profile_text(profile, profile->funcs[frame->func].name);
    return strncmp(name, "0x", 2) != 0 || strcmp(name, address_number(address->svma).text) != 0;
}
