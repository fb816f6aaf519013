/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* The Debian package with the debug symbols of a file, from the file lists of dpkg (about 10 MB, 20
 * ms; less if the package is named after the file). "": no list with the file, or no dpkg. */
void debug_package_find(const char *path, char *package, size_t size);
