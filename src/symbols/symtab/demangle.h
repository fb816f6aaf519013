/* SPDX-License-Identifier: MIT */
#pragma once

/* The readable form of a C++, Rust or D linkage name, to be freed; NULL when it is not mangled, when
 * it is longer than 4 KiB or its readable form than 64 KiB (names can be made to expand without
 * end), or when memory is out. Not thread-safe. */
char *demangle(const char *name);
