/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/*
 * Fits a name into a line of this width: escapes control characters; then shortens template
 * arguments, then parameters, then the end, as needed.
 *
 *     std::vector<std::pair<int, int>, std::allocator<…>>::push_back(int const&)
 *     std::vector<…>::push_back(int const&)
 */
char *ellipsize_name(char *out, size_t size, const char *name, unsigned columns);
