/* SPDX-License-Identifier: MIT */
/* Profiles with CPU time and off-CPU time, for tests: event 0 is "cpu-clock", event 1 "off-cpu". */
#pragma once

#include "../export/build.h"
#include "profile/waits.h"

static inline void build_time_events(struct profile *profile)
{
    const struct profile_event cpu = {.name = profile_string(profile, "cpu-clock"),
                                      .period = 1000000};
    const struct profile_event off_cpu = {.name = profile_string(profile, "off-cpu"),
                                          .is_off_cpu = true};
    profile_add_event(profile, &cpu);
    profile_add_event(profile, &off_cpu);
}

/* A call "root;…;leaf"; the last name may be a synthetic leaf in brackets. */
static inline uint32_t build_call(struct profile *profile, const char *stack)
{
    uint32_t call = PROFILE_NONE;
    while (*stack) {
        char name[128];
        size_t length = strcspn(stack, ";");
        snprintf(name, sizeof(name), "%.*s", (int)length, stack);
        uint32_t address;
        if (name[0] == '[') {
            address = profile_address_id(profile, profile_lib_id(profile, name, NULL, 0), 8);
            if (profile->addresses[address].frame_count == 0)
                profile_name_synthetic(profile, address, name);
        } else {
            address = build_address(profile, name);
        }
        call = profile_call_id(profile, call, address);
        stack += length + (stack[length] == ';');
    }
    return call;
}

static inline void build_time(struct profile *profile, uint32_t thread, uint16_t event,
                              const char *stack, uint64_t time_ns, uint64_t length_ns)
{
    const struct profile_sample sample = {.time_ns = time_ns,
                                          .weight = length_ns,
                                          .thread = thread,
                                          .call = build_call(profile, stack),
                                          .event = event,
                                          .cpu = PROFILE_NO_CPU};
    profile_add_sample(profile, &sample);
}

static inline void build_cpu(struct profile *profile, uint32_t thread, const char *stack,
                             uint64_t time_ns, uint64_t length_ns)
{
    build_time(profile, thread, 0, stack, time_ns, length_ns);
}

static inline void build_wait(struct profile *profile, uint32_t thread, const char *stack,
                              uint64_t start_ns, uint64_t length_ns)
{
    build_time(profile, thread, 1, stack, start_ns, length_ns);
}
