/* SPDX-License-Identifier: MIT */
#include "symbols/symtab/symtab_load.h"

#include "symbols/files/compressed_debug.h"
#include "symbols/symtab/plt.h"

#include <errno.h>

void symtab_files_init(struct symtab_files *files)
{
    files->main.fd = files->debug.fd = files->data.fd = -1;
}

void symtab_files_close(struct symtab_files *files)
{
    elf_handle_close(&files->data);
    elf_handle_close(&files->debug);
    elf_handle_close(&files->main);
}

/* Of a stripped file: .dynsym, and .gnu_debugdata for the functions missing there. */
static int load_small_symtabs(struct symtab *symtab, struct symtab_files *files)
{
    files->source = "dynsym";
    int err = symtab_add_section(symtab, &files->main, SHT_DYNSYM);
    if (err == -ENOENT)
        files->source = "none";
    if ((err == 0 || err == -ENOENT) &&
        (files->data.elf || compressed_debug_open_debugdata(&files->data, &files->main) == 0)) {
        files->source = "debugdata";
        err = symtab_add_section(symtab, &files->data, SHT_SYMTAB);
    }
    return err == -ENOENT ? 0 : err;
}

/* The first table counts: .symtab of the file, .symtab of the debug file, the small tables. Stubs
 * have no symbols, so they are added in any case. */
int symtab_load(struct symtab *symtab, struct symtab_files *files)
{
    files->source = "symtab";
    int err = symtab_add_section(symtab, &files->main, SHT_SYMTAB);
    if (err == -ENOENT && files->debug.elf)
        err = symtab_add_section(symtab, &files->debug, SHT_SYMTAB);
    if (err == -ENOENT)
        err = load_small_symtabs(symtab, files);
    if (err == 0)
        err = plt_add_symbols(symtab, files->main.elf);
    if (err == 0)
        err = symtab_finish(symtab);
    elf_handle_drop_pages(&files->main);
    return err;
}
