/* SPDX-License-Identifier: MIT */
#include "symbols/symtab/demangle.h"

#include "base/containers/buffer.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* libiberty's own limit is 1024 bytes; C++ template code has many longer names. libiberty recurses
 * about once a byte, and 4096 levels fit the stack easily. */
enum { LONGEST_NAME = 4096, LONGEST_RESULT = 64 * 1024 };
/* By a coarse upper bound, see expands(). */
enum { LONGEST_EXPANSION = 1 << 20 };

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

/* The bytes that the back reference at name[q] can add: a number in base 26 leads back to an
 * identifier, or to a type (D's ABI, "Back references"). A type ends before the reference, or in
 * plain text behind it: the demangler follows no reference again inside of itself. sums[i]: bytes
 * of the first i characters. */
static uint64_t reference_bytes(const char *name, size_t q, size_t length, const uint64_t *sums)
{
    size_t back = 0, i = q + 1;
    for (; name[i] >= 'A' && name[i] <= 'Z' && back <= q; i++)
        back = 26 * back + (size_t)(name[i] - 'A');
    if (name[i] < 'a' || name[i] > 'z')
        return 0;
    back = 26 * back + (size_t)(name[i] - 'a');
    if (back == 0 || back > q)
        return 0;
    const char *target = name + q - back;
    if (*target < '0' || *target > '9')
        return sums[q] - sums[q - back] + length - q;
    uint64_t bytes = strtoul(target, NULL, 10);
    return bytes < length ? bytes : length;
}

/* Twice as long with each reference, a name of 200 characters takes minutes and all memory. */
static bool expands(const char *name)
{
    static uint64_t sums[LONGEST_NAME + 1];
    const size_t length = strlen(name);
    for (size_t i = 0; i < length; i++) {
        sums[i + 1] = sums[i] + 1;
        if (name[i] == 'Q')
            sums[i + 1] += reference_bytes(name, i, length, sums);
        if (sums[i + 1] > LONGEST_EXPANSION)
            return true;
    }
    return false;
}

/* D's demangler has no callback. */
static char *demangle_d(const char *name)
{
    if (expands(name))
        return NULL;
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
