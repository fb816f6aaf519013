/* SPDX-License-Identifier: MIT */
/*
 * Callers of the vDSO in Go programs. Go calls the vDSO on the stack of the thread, and the callers
 * are on the stack of the goroutine, which the kernel does not copy (time.now in
 * runtime/time_linux_amd64.s, Go 1.26). The frame pointers lead back. The vDSO has frame pointers,
 * too (__vdso_clock_gettime, Linux 6.18):
 *
 *     walk by CFI   vDSO ─ time.now ┊ another stack
 *     callchain     vDSO ─ time.now ─ time.Now ─ … ─ runtime.goexit
 */
#pragma once

#include "record/perf_ring/walk/callchain_tail.h"
#include "record/tables/maps/process_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The place in the walk of the Go function that called the vDSO; 0: none. map: may be NULL. */
size_t vdso_tail_caller(const struct cut_walk *walk, const struct process_map *map);

/* Replaces the frames behind the caller by the callchain's frames. False, and the walk is
 * unchanged: the callchain lacks the caller. */
bool vdso_tail_append(struct cut_walk *walk, size_t caller, const uint64_t *chain,
                      size_t chain_count);
