/* SPDX-License-Identifier: MIT */
#pragma once

/* The readable form of a C++, Rust or D linkage name, to be freed; NULL: not mangled, longer
 * than 4 KiB (readable: 64 KiB, as hostile names expand without end), or out of memory. Not
 * thread-safe. */
char *demangle(const char *name);
