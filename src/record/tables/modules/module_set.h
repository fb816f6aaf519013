/* SPDX-License-Identifier: MIT */
/*
 * The modules of the cache by path: a hostile process maps tens of thousands of files, and each map
 * of a process looks all its files up. For the compiler thread alone.
 */
#pragma once

#include "record/tables/files/mapped_file.h"
#include "record/tables/modules/known_module.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module_set {
    struct known_module **modules; /* owned */
    size_t count, capacity;
    struct known_module **chains; /* by hash of the path */
    uint64_t seed;                /* of the hash */
    uint64_t uses;
};

/* 0 or -ENOMEM. */
int module_set_open(struct module_set *set);
/* After the modules were freed. */
void module_set_close(struct module_set *set);

/* The newest module of the mapped file; NULL: none. */
struct known_module *module_set_find(const struct module_set *set, const struct mapped_file *file);
/* Takes the module over. 0 or -ENOMEM. */
int module_set_add(struct module_set *set, struct known_module *module);
/* Adds a user: the module was used last. */
struct known_module *module_set_use(struct module_set *set, struct known_module *module);

/* Removes the least recently used module without users, of this size range. NULL: all are in
 * use. */
struct known_module *module_set_take_oldest(struct module_set *set, size_t fewest_cells,
                                            size_t most_cells);
