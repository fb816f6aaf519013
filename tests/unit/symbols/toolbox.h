/* SPDX-License-Identifier: MIT */
/* What the symbol tests share: a directory that goes away, compilers and binutils as they are in
 * PATH. */
#pragma once

#include "base/containers/buffer.h"
#include "symbols/symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char test_directory[] = "/tmp/rec-symbols-XXXXXX";

static inline int make_directory(void **state)
{
    (void)state;
    return mkdtemp(test_directory) ? 0 : -1;
}

static inline int remove_directory(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", test_directory);
    return system(command);
}

/* Runs a shell command in the directory; its exit status. S is where the sources lie. */
__attribute__((format(printf, 1, 2))) static inline int run(const char *format, ...)
{
    char command[4096];
    int n = snprintf(command, sizeof(command), "cd %s && S=%s/tests/targets && exec 2>>log && ",
                     test_directory, SOURCE_DIR);
    va_list args;
    va_start(args, format);
    vsnprintf(command + n, sizeof(command) - (size_t)n, format, args);
    va_end(args);
    return system(command);
}

/* Valid for the next three calls. */
static inline const char *in_directory(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", test_directory, name);
    return path;
}

/* The output of a shell command, terminated; to be freed. */
__attribute__((format(printf, 1, 2))) static inline char *output_of(const char *format, ...)
{
    char command[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof(command), format, args);
    va_end(args);
    struct buffer out = {0};
    char chunk[4096];
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t n;
    while ((n = fread(chunk, 1, sizeof(chunk), pipe)) > 0)
        buffer_append(&out, chunk, n);
    pclose(pipe);
    buffer_u8(&out, 0);
    assert_false(out.failed);
    return (char *)out.bytes;
}

/* The address of a symbol, from nm. */
static inline uint64_t address_of(const char *file, const char *symbol)
{
    char *text =
        output_of("nm %s/%s | awk '$3 == \"%s\" { print $1; exit }'", test_directory, file, symbol);
    uint64_t address = strtoull(text, NULL, 16);
    free(text);
    assert_int_not_equal(address, 0);
    return address;
}

static inline struct symbols *open_in(const char *name, const char *debug_directory)
{
    struct symbols *symbols;
    struct error error = {{0}};
    struct symbols_config config = {.debug_directory = debug_directory};
    if (symbols_open(&symbols, in_directory(name), NULL, 0, &config, &error) != 0)
        fail_msg("%s", error.text);
    return symbols;
}
