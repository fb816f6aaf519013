/* SPDX-License-Identifier: MIT */
/* Names and lines of Go programs without debug info, from the function table of the program. */
#pragma once

#include "elf/go_table.h"
#include "symbols/files/elf_handle.h"

#include <stdbool.h>
#include <stdint.h>

struct go_symbols {
    struct go_table table;
    bool was_read;
};

/* The function around the address; false: none, or not a Go program. The handle must stay open. */
bool go_symbols_find(struct go_symbols *symbols, const struct elf_handle *handle, uint64_t svma,
                     struct go_function *function);
void go_symbols_free(struct go_symbols *symbols);
