/* SPDX-License-Identifier: MIT */
/*
 * The memory of this process alone: process slot, module maps, thread slots and rings, shared with
 * the launcher.
 *
 *     make ─▶ handshake ─▶ the descriptor is closed, the mapping stays
 *     fork ─▶ forget: the child has no such mapping
 */
#pragma once

#include "sampler/base/state.h"

/* Makes and maps the memory of process.memory. *fd: to be closed after the handshake. False: no
 * descriptor, memory or address space is left, or the limit of file sizes is too low. */
bool own_memory_make(long *fd, uint64_t *inode);
/* Gives the memory back. Not for a recorded process. */
void own_memory_free(void);
/* In a forked child. */
void own_memory_forget(void);

/* The ring of a claimed thread slot; NULL: no address space. Any thread, but not
 * async-signal-safe. */
uint8_t *own_memory_ring(uint32_t index);
