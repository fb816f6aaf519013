/* SPDX-License-Identifier: MIT */
/* Made runs for tests: a thread of a module; each function is called by main. */
#pragma once

#include "base/containers/array.h"
#include "compare/compare.h"

#include <assert.h>
#include <string.h>

struct made_function { /* ends with a name of NULL */
    const char *name;
    uint64_t weight;
};

static inline uint32_t made_lib(struct profile *profile, const char *path, uint8_t build_id)
{
    return profile_lib_id(profile, path, &build_id, build_id ? 1 : 0);
}

static inline uint32_t made_address(struct profile *profile, uint32_t lib, uint64_t svma,
                                    const char *name)
{
    uint32_t address = profile_address_id(profile, lib, svma);
    uint32_t text = profile_string(profile, name);
    const struct profile_func func = {
        .name = text, .system_name = text, .lib = lib, .file = PROFILE_NONE};
    const struct profile_frame frame = {.func = profile_func_id(profile, &func),
                                        .lib = lib,
                                        .svma = svma,
                                        .file = profile_string(profile, "/src/a.c"),
                                        .line = (uint32_t)svma,
                                        .symbol = PROFILE_NONE};
    profile->addresses[address].first_frame = profile_add_frame(profile, &frame);
    profile->addresses[address].frame_count = 1;
    return address;
}

static inline struct profile *made_run_of(const char *path, uint8_t build_id,
                                          const struct made_function *functions)
{
    struct profile *profile = profile_new();
    ARRAY_PUSH(profile->threads, profile->thread_count, profile->thread_capacity);
    const struct profile_event event = {.name = profile_string(profile, "cpu-clock"),
                                        .unit = PROFILE_NANOSECONDS};
    profile_add_event(profile, &event);
    uint32_t lib = made_lib(profile, path, build_id);
    uint32_t outer = profile_call_id(profile, PROFILE_NONE, made_address(profile, lib, 1, "main"));
    for (size_t i = 0; functions[i].name; i++) {
        uint32_t call = profile_call_id(
            profile, outer, made_address(profile, lib, 10 * (i + 1), functions[i].name));
        for (uint64_t left = functions[i].weight, one; left; left -= one) {
            one = left < 10 ? left : 10;
            int err =
                profile_add_sample(profile, &(struct profile_sample){.weight = one, .call = call});
            assert(err == 0);
            (void)err;
        }
    }
    profile_link_stacks(profile);
    return profile;
}

static inline struct profile *made_run(const struct made_function *functions)
{
    return made_run_of("/bin/app", 1, functions);
}

static inline void add_run(struct comparison *comparison, enum compare_side side,
                           struct profile *profile)
{
    int err = comparison_add(comparison, side, profile);
    assert(err == 0);
    (void)err;
    profile_free(profile);
}

static inline const struct compare_row *row_of(const struct comparison *comparison,
                                               const char *name)
{
    for (size_t i = 0; i < comparison->row_count; i++)
        if (strcmp(comparison_text(comparison, comparison->rows[i].name), name) == 0)
            return &comparison->rows[i];
    return NULL;
}
