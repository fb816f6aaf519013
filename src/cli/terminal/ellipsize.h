/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/*
 * A name on one line of at most so many columns: control characters replaced; when it is too long
 * the innards of template arguments give way first, then of parameters, then the end.
 *
 *     std::vector<std::pair<int, int>, std::allocator<…>>::push_back(int const&)
 *     std::vector<…>::push_back(int const&)
 */
char *ellipsize_name(char *out, size_t size, const char *name, unsigned columns);
