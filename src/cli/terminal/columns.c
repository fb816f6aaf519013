/* SPDX-License-Identifier: MIT */
#include "cli/terminal/columns.h"

#include "cli/terminal/ellipsize.h"

#include <stdio.h>

/* printf() would count bytes instead of columns. */
void columns_print(const char *text, unsigned columns)
{
    char fitted[512];
    ellipsize_name(fitted, sizeof(fitted), text, columns);
    unsigned width = 0;
    for (const char *p = fitted; *p; p++)
        width += ((unsigned char)*p & 0xc0) != 0x80;
    printf("%s%*s  ", fitted, (int)(columns - width), "");
}
