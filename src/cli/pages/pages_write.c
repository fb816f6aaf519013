/* SPDX-License-Identifier: MIT */
/* Writes a file that is generated from the tables of commands, for the build:
 *     rec-pages man [COMMAND]|bash|zsh|fish|markdown    to standard output */
#include "cli/tables/command_table.h"
#include "cli/pages/bash.h"
#include "cli/pages/fish.h"
#include "cli/pages/man.h"
#include "cli/pages/markdown.h"
#include "cli/pages/zsh.h"

#include <stdio.h>
#include <string.h>

static int write_page(struct buffer *out, const char *kind, const char *name)
{
    const struct command_spec *command = name ? command_find(name) : NULL;
    if (name && !command)
        return -1;
    if (strcmp(kind, "man") == 0 && command)
        man_command(out, command);
    else if (strcmp(kind, "man") == 0)
        man_overview(out);
    else if (strcmp(kind, "bash") == 0)
        bash_completion(out);
    else if (strcmp(kind, "zsh") == 0)
        zsh_completion(out);
    else if (strcmp(kind, "fish") == 0)
        fish_completion(out);
    else if (strcmp(kind, "markdown") == 0)
        markdown_reference(out);
    return out->failed || out->size == 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
    struct buffer out = {0};
    if (argc < 2 || argc > 3 || write_page(&out, argv[1], argv[2]) != 0) {
        fputs("usage: rec-pages man [COMMAND]|bash|zsh|fish|markdown\n", stderr);
        return 2;
    }
    fwrite(out.bytes, 1, out.size, stdout);
    buffer_free(&out);
    return fflush(stdout) != 0;
}
