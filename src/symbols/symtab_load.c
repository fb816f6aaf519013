/* SPDX-License-Identifier: MIT */
#include "symbols/symtab_load.h"

#include "symbols/packed.h"
#include "symbols/plt.h"

#include <errno.h>

void symtab_files_init(struct symtab_files *files)
{
    files->image.fd = files->debug.fd = files->data.fd = -1;
}

void symtab_files_close(struct symtab_files *files)
{
    image_close(&files->data);
    image_close(&files->debug);
    image_close(&files->image);
}

static int load_small_symtabs(struct symtab *symtab, struct symtab_files *files)
{
    files->source = "dynsym";
    int err = symtab_add_section(symtab, &files->image, SHT_DYNSYM);
    if (err == -ENOENT)
        files->source = "none";
    if ((err == 0 || err == -ENOENT) &&
        (files->data.elf || packed_open_debugdata(&files->data, &files->image) == 0)) {
        files->source = "debugdata";
        err = symtab_add_section(symtab, &files->data, SHT_SYMTAB);
    }
    return err == -ENOENT ? 0 : err;
}

int symtab_load(struct symtab *symtab, struct symtab_files *files)
{
    files->source = "symtab";
    int err = symtab_add_section(symtab, &files->image, SHT_SYMTAB);
    if (err == -ENOENT && files->debug.elf)
        err = symtab_add_section(symtab, &files->debug, SHT_SYMTAB);
    if (err == -ENOENT)
        err = load_small_symtabs(symtab, files);
    if (err == 0)
        err = plt_add_symbols(symtab, files->image.elf);
    if (err == 0)
        err = symtab_finish(symtab);
    image_let_go(&files->image);
    return err;
}
