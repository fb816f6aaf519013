/* SPDX-License-Identifier: MIT */
/*
 * Paths of mappings, shared by reference: a process with a thousand mappings of a file, its forked
 * children and its newer maps hold the path once. Each mapping in memory holds a reference, so the
 * number of references and the bytes of paths bound the launcher's memory for mappings
 * (base/budget.h). Thread-safe.
 */
#pragma once

#include <stddef.h>

/* A copy with a single user; NULL: out of memory or budget. */
const char *map_path_new(const char *text, size_t length);

/* Adds a user; NULL: out of budget. */
const char *map_path_use(const char *path);

/* NULL is fine. */
void map_path_release(const char *path);
