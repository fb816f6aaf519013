/* SPDX-License-Identifier: MIT */
/* Small profiles for the tests of exporters: stacks are written as "root;…;leaf". */
#pragma once

#include "base/containers/array.h"
#include "profile/profile.h"

#include <stdio.h>
#include <string.h>

static inline void build_process(struct profile *profile, int32_t pid, const char *name)
{
    struct profile_process *process =
        ARRAY_PUSH(profile->processes, profile->process_count, profile->process_capacity);
    *process = (struct profile_process){.pid = pid, .name = profile_string(profile, name)};
}

static inline void build_thread(struct profile *profile, uint32_t process, int32_t tid,
                                bool is_main, uint64_t start_ns)
{
    struct profile_thread *thread =
        ARRAY_PUSH(profile->threads, profile->thread_count, profile->thread_capacity);
    *thread = (struct profile_thread){.process = process,
                                      .tid = tid,
                                      .name = profile_string(profile, "thread"),
                                      .cgroup = PROFILE_NONE,
                                      .is_main = is_main,
                                      .start_ns = start_ns};
}

/* The address of a function without file, line or lib; equal names have equal addresses. */
static inline uint32_t build_address(struct profile *profile, const char *name)
{
    uint32_t string = profile_string(profile, name);
    uint32_t address = profile_address_id(profile, PROFILE_NONE, string);
    if (profile->addresses[address].frame_count == 0) {
        struct profile_func func = {
            .name = string, .system_name = string, .lib = PROFILE_NONE, .file = PROFILE_NONE};
        struct profile_frame frame = {.func = profile_func_id(profile, &func),
                                      .lib = PROFILE_NONE,
                                      .file = PROFILE_NONE,
                                      .symbol = PROFILE_NONE};
        uint32_t id = profile_add_frame(profile, &frame);
        profile->addresses[address].first_frame = id;
        profile->addresses[address].frame_count = 1;
    }
    return address;
}

static inline void build_sample(struct profile *profile, uint32_t thread, const char *stack,
                                uint64_t weight)
{
    uint32_t call = PROFILE_NONE;
    while (*stack) {
        char name[128];
        size_t length = strcspn(stack, ";");
        snprintf(name, sizeof(name), "%.*s", (int)length, stack);
        call = profile_call_id(profile, call, build_address(profile, name));
        stack += length + (stack[length] == ';');
    }
    const struct profile_sample sample = {
        .weight = weight, .thread = thread, .call = call, .cpu = PROFILE_NO_CPU};
    profile_add_sample(profile, &sample);
}
