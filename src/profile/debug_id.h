/* SPDX-License-Identifier: MIT */
#pragma once

#include "profile/profile.h"

/*
 * The build-id in Breakpad's form: the first 16 bytes as a little-endian GUID (the first three
 * fields are integers and appear reversed), then the "age" 0. All zeros without a build-id.
 */
void debug_id_write(const struct profile_lib *lib, char out[34]);

/* The name that, with the id, tells libs apart, a string of the profile. Generated code: the path,
 * which has the process and the generation. */
uint32_t debug_name(const struct profile_lib *lib);
