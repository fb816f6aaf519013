/* SPDX-License-Identifier: MIT */
/*
 * Command line options, from a table. Understood: -x, -xVALUE, -x VALUE, -xyz, --name,
 * --name=VALUE,
 * --name VALUE, and -- (everything after it is an operand).
 *
 *     struct options options = options_of(argv + 1, specs);
 *     while ((id = options_next(&options, &value, &error)) > 0)
 *         switch (id) { case 'o': … case OPTIONS_OPERAND: … }
 *     if (id < 0) log_error("%s", error.text);
 */
#pragma once

#include "base/text/error.h"

#include <stdbool.h>
#include <stddef.h>

enum option_value {
    OPTION_ALONE,   /* has no value */
    OPTION_VALUE,   /* -x VALUE or --name=VALUE */
    OPTION_MAYBE,   /* -x, -xVALUE, --name or --name=VALUE; never the next word */
    OPTION_REFUSED, /* known, cannot be honoured: `refusal` says so */
};

struct option_spec {  /* a table ends with id 0 */
    int id;           /* > 0; what options_next() returns; by custom the letter */
    char letter;      /* 0: only the long name */
    const char *name; /* NULL: only the letter */
    enum option_value takes;
    const char *refusal; /* OPTION_REFUSED: a sentence without the option's name */
};

enum {
    OPTIONS_OPERAND = 0x10000, /* a word that is no option; it is the value */
};

struct options {
    char *const *argv; /* the words not looked at yet, NULL-terminated */
    const struct option_spec *specs;
    const char *cluster; /* the letters left of a word like -xyz */
    bool operands_only;  /* after -- */
};

struct options options_of(char *const *argv, const struct option_spec *specs);

/* The id of the next option, or OPTIONS_OPERAND, with its value (NULL when it has none); 0 at the
 * end; -EINVAL for what is not understood, with a sentence. Values point into argv. */
int options_next(struct options *options, const char **value, struct error *error);

/* The entry of `words` (NULL-terminated) that was most likely meant; NULL when none is near. */
const char *options_nearest(const char *word, const char *const *words);

/* A whole decimal number in [least, most]; -EINVAL and a sentence that names `what`. */
int options_number(const char *text, const char *what, unsigned long least, unsigned long most,
                   unsigned long *number, struct error *error);
