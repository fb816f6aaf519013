/* SPDX-License-Identifier: MIT */
/* Libraries for few commands, loaded at need: the dynamic linker would load and bind them at each
 * start of rec, 0.1 to 2 ms each. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct library_function {
    const char *name;
    void *place; /* of a function pointer */
};

/* Loads the library for the life of the process. `functions` ends with a name of NULL. False: the
 * library or a function is missing; the places of earlier functions are filled in. */
bool library_load(const char *file, const struct library_function *functions);

/* A library loaded at its first use, from any thread. */
struct library_at_need {
    pthread_mutex_t mutex;
    char file[32];
    const struct library_function *functions;
    bool was_tried, is_there;
};

/* At file scope: LIBRARY_AT_NEED("libm.so.6", {"exp", &place}, {"log", &other_place}) */
#define LIBRARY_AT_NEED(name, ...)                                                 \
    {                                                                              \
        .mutex = PTHREAD_MUTEX_INITIALIZER, .file = name,                          \
        .functions = (const struct library_function[]){__VA_ARGS__, {NULL, NULL}}, \
    }

/* Whether the library is there. A confined worker cannot load: its parent does so before. */
bool library_need(struct library_at_need *library);
