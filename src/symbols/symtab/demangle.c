/* SPDX-License-Identifier: MIT */
#include "symbols/symtab/demangle.h"

#include "base/containers/buffer.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* libiberty's own limit is 1024 bytes; C++ template code has many longer names. libiberty recurses
 * about once a byte, and 4096 levels fit the stack easily. */
enum { LONGEST_NAME = 4096, LONGEST_RESULT = 64 * 1024 };

#define OPTIONS (DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT)

struct output {
    struct buffer text;
    jmp_buf too_long;
};

/* A longjmp is the only way to stop the demangler; while printing, it holds stack memory only. */
static void append(const char *text, size_t size, void *opaque)
{
    struct output *output = opaque;
    if (size > LONGEST_RESULT - output->text.size)
        longjmp(output->too_long, 1);
    buffer_append(&output->text, text, size);
}

/* D's demangler has no callback; back references make names grow. */
static char *demangle_d(const char *name)
{
    char *text = dlang_demangle(name, OPTIONS);
    if (text && strlen(text) <= LONGEST_RESULT)
        return text;
    free(text);
    return NULL;
}

char *demangle(const char *name)
{
    if (name[0] != '_' || strlen(name) > LONGEST_NAME)
        return NULL;
    if (name[1] == 'D')
        return demangle_d(name);
    static struct output output; /* static: read after the longjmp */
    output.text = (struct buffer){0};
    int done = 0;
    if (setjmp(output.too_long) == 0) {
        done = rust_demangle_callback(name, OPTIONS, append, &output);
        if (!done) {
            buffer_clear(&output.text);
            done = cplus_demangle_v3_callback(name, OPTIONS, append, &output);
        }
    } else {
        done = 0;
    }
    buffer_u8(&output.text, 0);
    if (!done || output.text.failed) {
        buffer_free(&output.text);
        return NULL;
    }
    return (char *)output.text.bytes;
}
