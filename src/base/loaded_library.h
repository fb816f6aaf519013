/* SPDX-License-Identifier: MIT */
/* Libraries for few commands, loaded at need: the dynamic linker would load and bind them at each
 * start of rec, 0.1 to 2 ms each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct library_function {
    const char *name;
    void *place; /* of a function pointer */
};

/* Loads the library for the life of the process. False: the library, or a function, is not there;
 * the places before it are filled in. */
bool library_load(const char *file, const struct library_function *functions, size_t count);
