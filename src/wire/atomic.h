/* SPDX-License-Identifier: MIT */
/*
 * The atomic operations across the process boundary, with the memory order in the name. Plain
 * integers in shared memory are accessed through these functions alone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define load_relaxed(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define add_relaxed(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define add_release(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELEASE)
#define exchange_acquire(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQUIRE)

#define fence_acquire() __atomic_thread_fence(__ATOMIC_ACQUIRE)

/* from -> to; acquire on success, so that the new owner sees the writes of the last owner. */
static inline bool swap_acq_rel(uint32_t *word, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Raises the word to at least this value. */
static inline void raise_to(uint32_t *word, uint32_t value)
{
    uint32_t now = load_relaxed(word);
    while (now < value && !__atomic_compare_exchange_n(word, &now, value, true, __ATOMIC_RELEASE,
                                                       __ATOMIC_RELAXED))
        continue;
}

/* Copies a multiple of 8 bytes and reads each word once: in a plain assignment the compiler may
 * read parts twice, before and after a write of the other side. */
static inline void load_words(void *to, const void *from, uint64_t bytes)
{
    const uint64_t *words = (const uint64_t *)from;
    for (uint64_t i = 0; i < bytes / 8; i++) {
        uint64_t word = load_relaxed(&words[i]);
        __builtin_memcpy((uint8_t *)to + 8 * i, &word, 8);
    }
}

/* Keeps the compiler (not the processor) from moving accesses: sufficient between a thread and a
 * signal handler on the same thread. */
static inline void signal_fence(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
