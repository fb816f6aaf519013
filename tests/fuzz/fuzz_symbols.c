/* SPDX-License-Identifier: MIT */
/* Names out of arbitrary bytes as an ELF file: its tables, debug info and what is compressed in it. Seed it with
 * small programs. What crashes libdw is a finding too, though it costs a worker only. */
#include "symbols/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void resolve_some(struct symbols *symbols, uint64_t start_svma)
{
    for (uint64_t offset = 0; offset < 0x3000; offset += 0x35) {
        struct symbol_result result;
        if (symbols_resolve(symbols, start_svma + offset, &result) != 0)
            break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct symbols *symbols;
    struct error error;
    if (symbols_open_memory(&symbols, bytes, size, &error) != 0)
        return 0;
    resolve_some(symbols, 0);        /* where position independent code is linked to, … */
    resolve_some(symbols, 0x400000); /* … and other programs */
    symbols_close(symbols);
    return 0;
}
