/* SPDX-License-Identifier: MIT */
/*
 * The files (and other objects) of mappings. A module becomes a lib of the profile with its first
 * sample: the profile lists executed modules only.
 */
#pragma once

#include "convert/files/module_segments.h"
#include "convert/maps/address_map.h"
#include "convert/options.h"
#include "convert/store/symbol_store.h"
#include "perfdata/reader.h"
#include "profile/profile.h"
#include "unwind/code/code_image.h"
#include "unwind/module.h"

struct module {
    uint32_t lib; /* PROFILE_NONE: not needed yet */
    bool is_kernel;
    bool is_jit;       /* memory without a file */
    bool is_program;   /* mapped first by some process: not a library */
    uint32_t name;     /* of a program: string, PROFILE_NONE: the file's own */
    bool is_function;  /* a function loaded by the running kernel; the path is its name */
    bool has_segments; /* image was looked for */
    struct module_segments segments;
    bool has_unwind;              /* so was: */
    struct unwind_module *unwind; /* owned; NULL: no CFI */
    bool has_code;                /* the machine code was looked for: */
    struct code_image *code;      /* owned; NULL: not readable, or of another machine */
};

struct modules {
    struct profile *profile;
    const struct convert_options *options; /* borrowed: where files are */
    const struct symbol_store *store;      /* NULL: none. Borrowed */
    struct intern *keys;                   /* path and build-id */
    struct module *modules;
    size_t count, capacity;
};

int modules_init(struct modules *modules, struct profile *profile, const struct symbol_store *store,
                 const struct convert_options *options);
void modules_free(struct modules *modules);

/* The module of a MAPPING record; PROFILE_NONE: out of memory. */
uint32_t modules_id(struct modules *modules, const struct perfdata_event *event);

/* The module of a KSYMBOL record; PROFILE_NONE: out of memory. */
uint32_t modules_function_id(struct modules *modules, const struct perfdata_event *event);

/* Whether a module is a file on disk, hence a possible program. */
bool modules_is_file(const struct modules *modules, uint32_t module);

/* Whether a module is memory without a file: its code was generated at run time. */
bool modules_is_jit(const struct modules *modules, uint32_t module);

/* Valid until the next modules_id(). */
const char *modules_path(const struct modules *modules, uint32_t module);

/* Marks a module as program: its code is no library code. name: string, of the executing
 * process. A file executed by a symbolic link is shown by the link's name; by several names, by
 * its own. */
void modules_set_program(struct modules *modules, uint32_t module, uint32_t name);

/* The lib of a module; PROFILE_NONE: out of memory. */
uint32_t modules_lib(struct modules *modules, uint32_t module);

/* The CFI of a mapping's file (NULL: none) and its load bias, avma - svma. */
const struct unwind_module *modules_unwind(struct modules *modules, const struct mapping *mapping,
                                           uint64_t *bias);

/* The machine code of a mapping's file, read at the first call (NULL: none), and avma - svma. */
const struct code_image *modules_code(struct modules *modules, const struct mapping *mapping,
                                      uint64_t *bias);

/* The profile's address of a runtime address in a mapping; PROFILE_NONE: out of memory. */
uint32_t modules_address(struct modules *modules, const struct mapping *mapping, uint64_t avma);

/* Number of steps that the limit of unwind instructions refused: unwind_module_refused_steps(). */
uint64_t modules_refused_steps(const struct modules *modules);
