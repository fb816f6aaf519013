/* SPDX-License-Identifier: MIT */
/* Readable and short forms of arbitrary names. */
#include "base/text/short_name.h"
#include "symbols/symtab/demangle.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *name = strndup((const char *)bytes, size);
    struct buffer out = {0};
    char *readable = demangle(name);
    short_name_append(&out, readable ? readable : name, "_Z");
    buffer_free(&out);
    free(readable);
    free(name);
    return 0;
}
