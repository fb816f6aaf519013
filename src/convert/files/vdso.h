/* SPDX-License-Identifier: MIT */
#pragma once

#include "perfdata/reader.h"

#include <stddef.h>
#include <stdint.h>

/* The vDSO of this process, its image in memory, when it has this build-id; else NULL. All 64-bit processes on
 * the same kernel have the same one. */
const void *vdso_of_build_id(const uint8_t *build_id, size_t build_id_bytes, size_t *size);

/* Where the capture has no build-id for the vDSO: that of this process, when the same kernel runs here. */
void vdso_add_build_id(struct perfdata_event *mapping, const char *os_release);
