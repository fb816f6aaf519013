/* SPDX-License-Identifier: MIT */
/* Marks a function that the sampler exports in front of the C library's; export.list names all of
 * them. The headers of hooks declare functions of the C library again, with this visibility. */
#pragma once

#define HOOK __attribute__((visibility("default")))

#pragma GCC diagnostic ignored "-Wredundant-decls"
