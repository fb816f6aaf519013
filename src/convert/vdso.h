/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The vDSO of this process, its image in memory, when it has this build-id; else NULL. All processes on
 * the same kernel have the same one. */
const void *vdso_of_build_id(const uint8_t *build_id, size_t build_id_bytes, size_t *size);
