/* SPDX-License-Identifier: MIT */
/* A set of thread ids: a bit for each possible id; only touched pages of it exist. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

/* PID_MAX_LIMIT of 64-bit kernels (include/linux/threads.h). */
#define TIDS_END (UINT32_C(4) << 20)

struct tid_set {
    uint8_t *bits; /* owned; NULL: closed, contains nothing */
};

/* False: out of memory. */
static inline bool tid_set_open(struct tid_set *set)
{
    set->bits = calloc(TIDS_END / 8, 1);
    return set->bits != NULL;
}

static inline void tid_set_close(struct tid_set *set)
{
    free(set->bits);
    set->bits = NULL;
}

static inline bool tid_set_has(const struct tid_set *set, pid_t tid)
{
    uint32_t number = (uint32_t)tid;
    return set->bits && number < TIDS_END && set->bits[number / 8] >> (number & 7) & 1;
}

static inline void tid_set_put(struct tid_set *set, pid_t tid, bool is_in)
{
    uint32_t number = (uint32_t)tid;
    if (!set->bits || number >= TIDS_END)
        return;
    uint8_t bit = (uint8_t)(1u << (number & 7)), *byte = &set->bits[number / 8];
    *byte = is_in ? *byte | bit : (uint8_t)(*byte & ~bit);
}

/* Whether a list of targets includes the thread. An empty list stands for all threads. */
static inline bool tid_list_includes(const pid_t *tids, size_t count, pid_t tid)
{
    for (size_t i = 0; i < count; i++)
        if (tids[i] == tid)
            return true;
    return count == 0;
}
