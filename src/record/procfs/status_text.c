/* SPDX-License-Identifier: MIT */
#include "record/procfs/status_text.h"

#include <stdlib.h>
#include <string.h>

const char *status_value(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && line[length] == ':')
            return line + length + 1 + strspn(line + length + 1, " \t");
    }
    return NULL;
}

uint64_t status_number(const char *text, const char *key, int base)
{
    const char *value = status_value(text, key);
    return value ? strtoull(value, NULL, base) : 0;
}
