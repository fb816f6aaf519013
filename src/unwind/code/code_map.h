/* SPDX-License-Identifier: MIT */
/* The machine code mapped by a process. */
#pragma once

#include "unwind/code/caller_cache.h"
#include "unwind/code/code_image.h"

#include <stdbool.h>
#include <stdint.h>

/* No code is mapped outside: mmap_min_addr, and the end of user addresses. */
#define CODE_LOWEST UINT64_C(65536)
#define CODE_END (UINT64_C(1) << 47)

/* The code at an address of a process. */
struct code_place {
    const struct code_image *image; /* NULL: code that cannot be read, as of a JIT compiler */
    uint64_t bias;                  /* avma - svma */
};

/* Code of a JIT compiler, of no file. False: unknown. */
struct generated_code {
    /* How the code of the runtime is entered. */
    bool (*find_entry)(void *context, uint64_t avma, struct code_entry *entry);
    /* The way from an instruction to the end of the function. */
    bool (*find_leave)(void *context, uint64_t avma, struct code_leave *leave);
    /* Whether the address is in generated code; *is_behind_call: directly behind a call. */
    bool (*find_call)(void *context, uint64_t return_avma, bool *is_behind_call);
    /* CODE_FP_FREE: FP is the caller's at the instruction, and the bytes from SP up to the return
     * address. CODE_FP_UNKNOWN: the code cannot be read. */
    enum code_fp (*find_fp)(void *context, uint64_t avma, uint64_t *return_bytes);
    /* Whether a call precedes the address, in generated code or in that of a file. */
    bool (*is_returned_to)(void *context, uint64_t avma);
};

struct code_map {
    /* False: nothing is mapped executable there. */
    bool (*find)(void *context, uint64_t avma, struct code_place *place);
    void *context;
    struct caller_cache *cache;             /* NULL: none */
    uint64_t generation;                    /* of the cache's entries: see caller_cache_key */
    const struct generated_code *generated; /* NULL: such code is not read */
    void *generated_context;
    bool is_made_stack; /* the program made the stack: its first function came from another one */
};
