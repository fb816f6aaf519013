/* SPDX-License-Identifier: MIT */
#include "convert/jit/jit_base.h"

#include "convert/jit/jits.h"

static const uint64_t PAGE_MASK = ~UINT64_C(0xfff);

static void lower(struct profile *profile, uint32_t lib, uint64_t svma)
{
    struct profile_lib *of = lib == PROFILE_NONE ? NULL : &profile->libs[lib];
    if (of && (svma & PAGE_MASK) < of->base_svma && jits_is_lib(profile_text(profile, of->path)))
        of->base_svma = svma & PAGE_MASK;
}

void jit_bases_set(struct profile *profile)
{
    for (size_t i = 0; i < profile->lib_count; i++)
        if (jits_is_lib(profile_text(profile, profile->libs[i].path)))
            profile->libs[i].base_svma = UINT64_MAX;
    for (size_t i = 0; i < profile->symbol_count; i++)
        lower(profile, profile->symbols[i].lib, profile->symbols[i].svma);
    for (size_t i = 0; i < profile->address_count; i++)
        lower(profile, profile->addresses[i].lib, profile->addresses[i].svma);
}
