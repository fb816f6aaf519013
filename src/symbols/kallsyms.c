/* SPDX-License-Identifier: MIT */
#include "symbols/kallsyms.h"

#include "base/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_BYTES_MAX = 256 << 20 };

/* One line, terminated. */
static int add_line(struct symtab *symtab, char *line, uint64_t *text_avma)
{
    char *rest;
    uint64_t avma = strtoull(line, &rest, 16);
    if (avma == 0 || rest[0] != ' ' || rest[1] == '\0' || rest[2] != ' ')
        return 0;
    const char *name = rest + 3;
    if (strcmp(name, "_text") == 0)
        *text_avma = avma;
    if (!strchr("tTwW", rest[1]) || name[0] == '$' || strchr(name, '\t'))
        return 0;
    return symtab_add_label(symtab, avma, name, rest[1] != 't');
}

int kallsyms_read(struct symtab *symtab, const char *path, uint64_t *text_avma)
{
    struct buffer list = {0};
    *text_avma = 0;
    int err = io_read_file(path, &list, LIST_BYTES_MAX);
    buffer_u8(&list, 0);
    if (list.failed)
        err = -ENOMEM;
    char *rest = (char *)list.bytes;
    for (char *line; err == 0 && (line = strsep(&rest, "\n"));)
        err = add_line(symtab, line, text_avma);
    buffer_free(&list);
    if (err == 0 && *text_avma == 0)
        err = -ENOENT;
    return err == -ENOMEM ? err : err ? -ENOENT : 0;
}
