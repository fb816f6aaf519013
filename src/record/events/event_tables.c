/* SPDX-License-Identifier: MIT */
#include "record/events/event_tables.h"

#include <string.h>

struct generic_event {
    const char *name, *other_name;
    uint32_t type;
    uint64_t config;
    bool is_clock, is_of_kernel;
};

#define HARDWARE(name_, other_, config_)                                                   \
    {                                                                                      \
        .name = name_, .other_name = other_, .type = PERF_TYPE_HARDWARE, .config = config_ \
    }
#define SOFTWARE(name_, other_, config_, ...)                                               \
    {                                                                                       \
        .name = name_, .other_name = other_, .type = PERF_TYPE_SOFTWARE, .config = config_, \
        __VA_ARGS__                                                                         \
    }

/* Names and synonyms of perf list. */
static const struct generic_event events[] = {
    HARDWARE("cycles", "cpu-cycles", PERF_COUNT_HW_CPU_CYCLES),
    HARDWARE("instructions", NULL, PERF_COUNT_HW_INSTRUCTIONS),
    HARDWARE("cache-references", NULL, PERF_COUNT_HW_CACHE_REFERENCES),
    HARDWARE("cache-misses", NULL, PERF_COUNT_HW_CACHE_MISSES),
    HARDWARE("branches", "branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
    HARDWARE("branch-misses", NULL, PERF_COUNT_HW_BRANCH_MISSES),
    HARDWARE("bus-cycles", NULL, PERF_COUNT_HW_BUS_CYCLES),
    HARDWARE("stalled-cycles-frontend", "idle-cycles-frontend",
             PERF_COUNT_HW_STALLED_CYCLES_FRONTEND),
    HARDWARE("stalled-cycles-backend", "idle-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND),
    HARDWARE("ref-cycles", NULL, PERF_COUNT_HW_REF_CPU_CYCLES),
    SOFTWARE("cpu-clock", NULL, PERF_COUNT_SW_CPU_CLOCK, .is_clock = true),
    SOFTWARE("task-clock", NULL, PERF_COUNT_SW_TASK_CLOCK, .is_clock = true),
    SOFTWARE("page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS),
    SOFTWARE("minor-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MIN),
    SOFTWARE("major-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MAJ),
    SOFTWARE("alignment-faults", NULL, PERF_COUNT_SW_ALIGNMENT_FAULTS),
    SOFTWARE("emulation-faults", NULL, PERF_COUNT_SW_EMULATION_FAULTS),
    SOFTWARE("context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, .is_of_kernel = true),
    SOFTWARE("cpu-migrations", "migrations", PERF_COUNT_SW_CPU_MIGRATIONS, .is_of_kernel = true),
};

struct word {
    const char *text;
    uint64_t value;
};

/* LLC-load-misses: cache, operation and result (struct perf_event_attr, PERF_TYPE_HW_CACHE). */
static const struct word caches[] = {
    {"L1-dcache-", PERF_COUNT_HW_CACHE_L1D}, {"L1-icache-", PERF_COUNT_HW_CACHE_L1I},
    {"LLC-", PERF_COUNT_HW_CACHE_LL},        {"dTLB-", PERF_COUNT_HW_CACHE_DTLB},
    {"iTLB-", PERF_COUNT_HW_CACHE_ITLB},     {"branch-", PERF_COUNT_HW_CACHE_BPU},
    {"node-", PERF_COUNT_HW_CACHE_NODE},
};

#define CACHE_EVENT(operation, result) \
    (PERF_COUNT_HW_CACHE_OP_##operation << 8 | PERF_COUNT_HW_CACHE_RESULT_##result << 16)
static const struct word accesses[] = {
    {"loads", CACHE_EVENT(READ, ACCESS)},          {"load-misses", CACHE_EVENT(READ, MISS)},
    {"stores", CACHE_EVENT(WRITE, ACCESS)},        {"store-misses", CACHE_EVENT(WRITE, MISS)},
    {"prefetches", CACHE_EVENT(PREFETCH, ACCESS)}, {"prefetch-misses", CACHE_EVENT(PREFETCH, MISS)},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_name(const char *expected, const char *name, size_t length)
{
    return expected && strlen(expected) == length && strncmp(expected, name, length) == 0;
}

static bool find_cache_event(struct event_request *request, const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT(caches); i++) {
        size_t start = strlen(caches[i].text);
        if (length <= start || strncmp(name, caches[i].text, start) != 0)
            continue;
        for (size_t j = 0; j < COUNT(accesses); j++)
            if (is_name(accesses[j].text, name + start, length - start)) {
                request->type = PERF_TYPE_HW_CACHE;
                request->config = caches[i].value | accesses[j].value;
                return true;
            }
    }
    return false;
}

bool event_tables_find(struct event_request *request, const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT(events); i++) {
        const struct generic_event *event = &events[i];
        if (!is_name(event->name, name, length) && !is_name(event->other_name, name, length))
            continue;
        request->type = event->type;
        request->config = event->config;
        request->is_clock = event->is_clock;
        request->is_of_kernel = event->is_of_kernel;
        return true;
    }
    return find_cache_event(request, name, length);
}
