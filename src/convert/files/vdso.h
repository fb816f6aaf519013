/* SPDX-License-Identifier: MIT */
#pragma once

#include "perfdata/reader.h"

#include <stddef.h>
#include <stdint.h>

/* The image of this process's vDSO in memory if the build-id matches, else NULL. All 64-bit
 * processes on a kernel have the same vDSO. */
const void *vdso_of_build_id(const uint8_t *build_id, size_t build_id_bytes, size_t *size);

/* For captures without a build-id of the vDSO: sets the build-id of this process's vDSO, if the
 * same kernel runs here. */
void vdso_add_build_id(struct perfdata_event *mapping, const char *os_release);
