/* SPDX-License-Identifier: MIT */
/*
 * Parser of command line options, driven by a table: -x, -xVALUE, -x VALUE, -xyz, --name,
 * --name=VALUE, --name VALUE, and -- (all words after -- are operands).
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
    OPTION_REFUSED, /* recognized, but not supported: the reason is `refusal` */
};

struct option_spec {  /* a table ends with id 0 */
    int id;           /* > 0; the result of options_next(); by custom the letter */
    char letter;      /* 0: only the long name */
    const char *name; /* NULL: only the letter */
    enum option_value takes;
    const char *argument; /* placeholder of the value in help texts */
    const char *help;     /* sentences, with the {…} of help_text.h; NULL: not listed */
    const char *refusal;  /* OPTION_REFUSED: a sentence without the option's name */
};

enum {
    OPTIONS_OPERAND = 0x10000, /* a word without a dash, or behind --; the word is the value */
    OPTIONS_HEADING,        /* a row that begins a group: the title is the help, NULL: unlisted */
    OPTIONS_WITHOUT_EFFECT, /* accepted for compatibility */
    OPTIONS_HELP,
};

/* Rows of tables. */
#define OPTION_HEADING(text)                                       \
    {                                                              \
        .id = OPTIONS_HEADING, .takes = OPTION_ALONE, .help = text \
    }
#define OPTION_SWITCH(id_, letter_, name_, help_)                                         \
    {                                                                                     \
        .id = id_, .letter = letter_, .name = name_, .takes = OPTION_ALONE, .help = help_ \
    }
#define OPTION_TAKING(id_, letter_, name_, argument_, help_)                                       \
    {                                                                                              \
        .id = id_, .letter = letter_, .name = name_, .takes = OPTION_VALUE, .argument = argument_, \
        .help = help_                                                                              \
    }
#define OPTION_MAYBE_TAKING(id_, letter_, name_, argument_, help_)                                 \
    {                                                                                              \
        .id = id_, .letter = letter_, .name = name_, .takes = OPTION_MAYBE, .argument = argument_, \
        .help = help_                                                                              \
    }
#define OPTION_IGNORED(letter_, name_, takes_)                                          \
    {                                                                                   \
        .id = OPTIONS_WITHOUT_EFFECT, .letter = letter_, .name = name_, .takes = takes_ \
    }
#define OPTION_UNSUPPORTED(letter_, name_, refusal_)                                             \
    {                                                                                            \
        .id = OPTIONS_WITHOUT_EFFECT, .letter = letter_, .name = name_, .takes = OPTION_REFUSED, \
        .refusal = refusal_                                                                      \
    }
#define OPTION_HELP_ROW OPTION_SWITCH(OPTIONS_HELP, 'h', "help", "Print this help.")

struct options {
    char *const *argv; /* remaining words, NULL-terminated */
    const struct option_spec *specs;
    const char *cluster; /* remaining letters of a word like -xyz */
    bool operands_only;  /* after -- */
};

struct options options_of(char *const *argv, const struct option_spec *specs);

/* The id of the next option, or OPTIONS_OPERAND, with a value (NULL: none); 0 at the end; -EINVAL
 * with a message for wrong usage. Values point into argv. */
int options_next(struct options *options, const char **value, struct error *error);

/* The entry of `words` (NULL-terminated) with the smallest edit distance; NULL: no close entry. */
const char *options_nearest(const char *word, const char *const *words);

/* Parses a decimal number in [least, most]. -EINVAL: the message begins with `what`. */
int options_number(const char *text, const char *what, unsigned long least, unsigned long most,
                   unsigned long *number, struct error *error);
