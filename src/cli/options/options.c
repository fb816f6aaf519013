/* SPDX-License-Identifier: MIT */
#include "cli/options/options.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 40, NAMES_MAX = 64 };

struct options options_of(char *const *argv, const struct option_spec *specs)
{
    return (struct options){.argv = argv, .specs = specs};
}

/* Levenshtein distance: insertions, deletions and replacements of letters; computed by rows. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t length = strlen(b);
    if (strlen(a) > WORD_MAX || length > WORD_MAX)
        return SIZE_MAX;
    size_t row[WORD_MAX + 1];
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < length; j++) {
            size_t replaced = diagonal + (a[i] != b[j]);
            size_t other = 1 + (row[j] < row[j + 1] ? row[j] : row[j + 1]);
            diagonal = row[j + 1];
            row[j + 1] = replaced < other ? replaced : other;
        }
    }
    return row[length];
}

const char *options_nearest(const char *word, const char *const *words)
{
    const char *nearest = NULL;
    size_t best = strlen(word) / 3 + 2; /* edits: 1 in a short word, 2 from six letters on */
    for (; *words; words++) {
        size_t distance = edit_distance(word, *words);
        bool begins_so = strlen(word) >= 3 && strncmp(word, *words, strlen(word)) == 0;
        if (begins_so && best > 1)
            distance = 1;
        if (distance < best) {
            best = distance;
            nearest = *words;
        }
    }
    return nearest;
}

static int unknown_option(const struct options *options, const char *name, struct error *error)
{
    const char *names[NAMES_MAX + 1];
    size_t count = 0;
    for (const struct option_spec *spec = options->specs; spec->id && count < NAMES_MAX; spec++)
        if (spec->name && spec->takes != OPTION_REFUSED)
            names[count++] = spec->name;
    names[count] = NULL;
    const char *nearest = options_nearest(name, names);
    if (nearest)
        return error_set(error, -EINVAL, "unknown option --%s: did you mean --%s?", name, nearest);
    return error_set(error, -EINVAL, "unknown option --%s; see --help", name);
}

/* 0, or -EINVAL with the refusal of a known option. */
static int check_allowed(const struct option_spec *spec, const char *shown, struct error *error)
{
    if (spec->takes != OPTION_REFUSED)
        return 0;
    return error_set(error, -EINVAL, "%s: %s", shown, spec->refusal);
}

static int take_next_word(struct options *options, const char *shown, const char **value,
                          struct error *error)
{
    if (!*options->argv)
        return error_set(error, -EINVAL, "%s needs a value", shown);
    *value = *options->argv++;
    return 0;
}

static int next_long(struct options *options, const char *word, const char **value,
                     struct error *error)
{
    char name[WORD_MAX + 1];
    char shown[WORD_MAX + 3];
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    if (length > WORD_MAX)
        return error_set(error, -EINVAL, "unknown option --%s; see --help", word);
    memcpy(name, word, length);
    name[length] = '\0';
    snprintf(shown, sizeof(shown), "--%s", name);
    const struct option_spec *spec = options->specs;
    while (spec->id && !(spec->name && strcmp(spec->name, name) == 0))
        spec++;
    if (!spec->id)
        return unknown_option(options, name, error);
    int err = check_allowed(spec, shown, error);
    if (err)
        return err;
    if (equals && spec->takes == OPTION_ALONE)
        return error_set(error, -EINVAL, "%s takes no value", shown);
    *value = equals ? equals + 1 : NULL;
    if (spec->takes == OPTION_VALUE && !equals)
        err = take_next_word(options, shown, value, error);
    return err ? err : spec->id;
}

static int next_letter(struct options *options, const char **value, struct error *error)
{
    char shown[] = {'-', *options->cluster++, '\0'};
    const struct option_spec *spec = options->specs;
    while (spec->id && spec->letter != shown[1])
        spec++;
    if (!spec->id)
        return error_set(error, -EINVAL, "unknown option %s; see --help", shown);
    int err = check_allowed(spec, shown, error);
    if (err)
        return err;
    const char *rest = options->cluster;
    if (spec->takes == OPTION_ALONE || (spec->takes == OPTION_MAYBE && !*rest))
        return spec->id;
    options->cluster = NULL;
    if (*rest)
        *value = rest;
    else
        err = take_next_word(options, shown, value, error);
    return err ? err : spec->id;
}

int options_next(struct options *options, const char **value, struct error *error)
{
    *value = NULL;
    if (options->cluster && *options->cluster)
        return next_letter(options, value, error);
    options->cluster = NULL;
    const char *word = *options->argv;
    if (!word)
        return 0;
    options->argv++;
    if (!options->operands_only && strcmp(word, "--") == 0) {
        options->operands_only = true;
        return options_next(options, value, error);
    }
    if (options->operands_only || word[0] != '-' || word[1] == '\0') {
        *value = word;
        return OPTIONS_OPERAND;
    }
    if (word[1] == '-')
        return next_long(options, word + 2, value, error);
    options->cluster = word + 1;
    return next_letter(options, value, error);
}

int options_number(const char *text, const char *what, unsigned long least, unsigned long most,
                   unsigned long *number, struct error *error)
{
    char *end = NULL;
    errno = 0;
    unsigned long parsed = strtoul(text, &end, 10);
    bool is_number = text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
    if (!is_number || parsed < least || parsed > most)
        return error_set(error, -EINVAL, "%s needs a number from %lu to %lu, not '%s'", what, least,
                         most, text);
    *number = parsed;
    return 0;
}
