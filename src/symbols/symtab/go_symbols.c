/* SPDX-License-Identifier: MIT */
#include "symbols/symtab/go_symbols.h"

static void read_table(struct go_symbols *symbols, const struct elf_handle *handle)
{
    struct elf_file *elf = NULL;
    symbols->was_read = true;
    if (handle->fd >= 0 && elf_open(&elf, handle->fd, NULL) == 0)
        (void)go_table_open(&symbols->table, elf);
    elf_close(elf);
}

bool go_symbols_find(struct go_symbols *symbols, const struct elf_handle *handle, uint64_t svma,
                     struct go_function *function)
{
    if (!symbols->was_read)
        read_table(symbols, handle);
    return symbols->table.count > 0 && go_table_find(&symbols->table, svma, function);
}

void go_symbols_free(struct go_symbols *symbols)
{
    go_table_close(&symbols->table);
}
