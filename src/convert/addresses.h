/* SPDX-License-Identifier: MIT */
/* A profile's addresses as resolving and storing see them: the order, the kind of lib, the name. */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

/* Indices of all addresses by lib, then svma. Freed by the caller; NULL: out of memory. */
uint32_t *addresses_order(const struct profile *profile);

/* Whether the addresses of a lib lie in a file, or in the vDSO. */
bool addresses_are_of_file(const struct profile *profile, uint32_t lib);
bool addresses_are_of_kernel(const struct profile *profile, uint32_t lib);

/* Whether the capture keeps the names of a lib: files, the kernel, and code made at run time. */
bool addresses_are_stored(const struct profile *profile, uint32_t lib);

/* Whether an address has a name other than its own number. */
bool address_is_named(const struct profile *profile, const struct profile_address *address);

/* The name of an address without a name: "0x" and the svma. */
struct address_number {
    char text[20];
};
struct address_number address_number(uint64_t svma);
