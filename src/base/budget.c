/* SPDX-License-Identifier: MIT */
#include "base/budget.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)
#define MEMORY_BYTES (480 * MIB)
#define SMALL_INPUT_BYTES (10 * MIB)
#define BYTES_PER_INPUT_BYTE 16
#define MEMORY_LIMIT "--memory-limit"

static struct limit {
    const char *option;
    uint64_t amount;
    uint64_t memory_bytes; /* not 0: the limit is the memory limit divided by this number */
} limits[BUDGETS] = {
    [BUDGET_MEMORY_BYTES] = {MEMORY_LIMIT, 0, 1},
    [BUDGET_ADDRESSES] = {MEMORY_LIMIT, 0, 1024},
    [BUDGET_COPIED_MAPPINGS] = {MEMORY_LIMIT, 0, 128},
    [BUDGET_JIT_BYTES] = {MEMORY_LIMIT, 0, 4},
    [BUDGET_JIT_PIECES] = {MEMORY_LIMIT, 0, 384},
    [BUDGET_SECTION_BYTES] = {MEMORY_LIMIT, 0, 20},
    [BUDGET_STEPS] = {MEMORY_LIMIT, 0, 32},
    [BUDGET_RECORD_BYTES] = {MEMORY_LIMIT, 0, 8},
    [BUDGET_MAPPINGS] = {"--max-mappings", 8192, 0},
    [BUDGET_FRAMES] = {"--max-frames", 1024, 0},
    [BUDGET_FREE_BYTES] = {"--keep-free", 256 * MIB, 0},
    [BUDGET_TABLE_BYTES] = {MEMORY_LIMIT, MEMORY_BYTES / 2, 0},
};

static uint64_t memory_bytes = MEMORY_BYTES;
static rlim_t lifted_bytes; /* RLIMIT_DATA before this module lowered the limit */
static bool is_begun;

uint64_t budget_amount(enum budget budget)
{
    const struct limit *limit = &limits[budget];
    return limit->memory_bytes ? memory_bytes / limit->memory_bytes : limit->amount;
}

void budget_set(enum budget budget, uint64_t amount)
{
    limits[budget].amount = amount;
}

const char *budget_option(enum budget budget)
{
    return limits[budget].option;
}

static uint64_t default_bytes(uint64_t input_bytes)
{
    uint64_t more = 0;
    if (input_bytes > SMALL_INPUT_BYTES &&
        __builtin_mul_overflow(input_bytes - SMALL_INPUT_BYTES, BYTES_PER_INPUT_BYTE, &more))
        return UINT64_MAX;
    return more < UINT64_MAX - MEMORY_BYTES ? MEMORY_BYTES + more : UINT64_MAX;
}

/* proc(5), /proc/PID/statm: bytes of the field, counted from 0. */
static uint64_t memory_now_bytes(unsigned field)
{
    unsigned long pages[6] = {0};
    FILE *statm = fopen("/proc/self/statm", "re");
    if (!statm)
        return 0;
    if (fscanf(statm, "%lu %lu %lu %lu %lu %lu", &pages[0], &pages[1], &pages[2], &pages[3],
               &pages[4], &pages[5]) != 6)
        pages[field] = 0;
    fclose(statm);
    return pages[field] * (uint64_t)sysconf(_SC_PAGESIZE);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum {
    RESIDENT = 1,              /* field of statm */
    SANITIZER_FACTOR = 4,      /* shadow memory, red zones and quarantine */
    LOOKED_AT_BYTES = 1 << 20, /* smaller allocations are not checked */
};
static uint64_t resident_most_bytes = UINT64_MAX;

void budget_begin_conversion(uint64_t input_bytes, uint64_t bytes)
{
    (void)lifted_bytes;
    memory_bytes = bytes ? bytes : default_bytes(input_bytes);
    is_begun = true;
    resident_most_bytes =
        memory_now_bytes(RESIDENT) +
        (memory_bytes < UINT64_MAX / 8 ? SANITIZER_FACTOR * memory_bytes : UINT64_MAX / 2);
}

void budget_lift_memory(void)
{
    is_begun = false;
}

bool budget_has_memory(size_t bytes)
{
    return !is_begun || bytes < LOOKED_AT_BYTES ||
           memory_now_bytes(RESIDENT) + bytes <= resident_most_bytes;
}
#else
enum { PRIVATE = 5 }; /* field of statm */

/* RLIMIT_DATA, not RLIMIT_AS: file mappings must not count. */
void budget_begin_conversion(uint64_t input_bytes, uint64_t bytes)
{
    struct rlimit limit;
    memory_bytes = bytes ? bytes : default_bytes(input_bytes);
    if (getrlimit(RLIMIT_DATA, &limit) != 0)
        return;
    rlim_t most =
        memory_bytes < RLIM_INFINITY / 2 ? memory_now_bytes(PRIVATE) + memory_bytes : RLIM_INFINITY;
    if (!is_begun)
        lifted_bytes = limit.rlim_cur;
    if (most > lifted_bytes)
        most = lifted_bytes;
    limit.rlim_cur = most;
    is_begun = setrlimit(RLIMIT_DATA, &limit) == 0;
}

void budget_lift_memory(void)
{
    struct rlimit limit;
    if (!is_begun || getrlimit(RLIMIT_DATA, &limit) != 0)
        return;
    limit.rlim_cur = lifted_bytes;
    is_begun = setrlimit(RLIMIT_DATA, &limit) != 0;
}

bool budget_has_memory(size_t bytes)
{
    (void)bytes;
    return true;
}
#endif
