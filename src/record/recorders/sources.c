/* SPDX-License-Identifier: MIT */
/*
 * In order of preference: the injected sampler by perf events, by timers, then from outside.
 */
#include "record/recorders/sources.h"

static const char *refuse_perf_trap(const struct record_probe *probe)
{
    return probe->perf_trap ? NULL : probe->perf_trap_reason;
}

static const char *refuse_timer(const struct record_probe *probe)
{
    return probe->timer ? NULL : probe->timer_reason;
}

static const char *refuse_perf_ring(const struct record_probe *probe)
{
    return probe->perf_ring ? NULL : probe->perf_ring_reason;
}

const struct record_source record_sources[RECORD_SOURCES] = {
    {
        .engine = RECORD_ENGINE_PERF_TRAP,
        .name = "perf-trap",
        .description = "injected rings; a perf event per process raises SIGTRAP",
        .is_injected = true,
        .needs = "Linux 5.18; perf_event_paranoid <= 2 or CAP_PERFMON",
        .refusal = refuse_perf_trap,
    },
    {
        .engine = RECORD_ENGINE_TIMER,
        .name = "timer",
        .description = "injected rings; POSIX CPU timers, at most the tick rate",
        .is_injected = true,
        .needs = "nothing",
        .refusal = refuse_timer,
    },
    {
        .engine = RECORD_ENGINE_PERF_RING,
        .name = "perf-ring",
        .description = "kernel rings, from outside: static, Go, musl, running programs",
        .needs = "perf_event_paranoid <= 2 or CAP_PERFMON",
        .refusal = refuse_perf_ring,
    },
};

static const char *refuse_never(const struct record_probe *probe)
{
    (void)probe;
    return NULL;
}

const struct record_source record_off_cpu_sources[RECORD_OFF_CPU_SOURCES] = {
    {
        .engine = RECORD_ENGINE_AUTO,
        .name = "switch-records",
        .description = "kernel rings of context switches; stacks from /proc and process memory",
        .needs = "perf_event_paranoid <= 2 or CAP_PERFMON",
        .refusal = refuse_perf_ring,
    },
    {
        .engine = RECORD_ENGINE_AUTO,
        .name = "schedstat",
        .description = "counters of threads in /proc, read at each look: exact sums",
        .needs = "nothing; for commands",
        .refusal = refuse_never,
    },
};

const struct record_source record_hooks = {
    .engine = RECORD_ENGINE_AUTO,
    .name = "hooks",
    .description = "injected hooks in front of functions of the C library",
    .needs = "a program with a dynamic linker",
    .refusal = refuse_never,
};

const char *record_engine_name(enum record_engine engine)
{
    for (size_t i = 0; i < RECORD_SOURCES; i++)
        if (record_sources[i].engine == engine)
            return record_sources[i].name;
    return "auto";
}

bool record_engine_is_injected(enum record_engine engine)
{
    for (size_t i = 0; i < RECORD_SOURCES; i++)
        if (record_sources[i].engine == engine)
            return record_sources[i].is_injected;
    return false;
}
