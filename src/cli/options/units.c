/* SPDX-License-Identifier: MIT */
#include "cli/options/units.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define YEAR_NS (UINT64_C(31536000) * 1000000000)
#define BYTES_MIN (UINT64_C(64) << 10)
#define BYTES_MAX (UINT64_C(1) << 50)

struct unit {
    const char *name;
    uint64_t worth;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits, optional point and digits, optional unit. Not strtod(), which depends on the locale. */
static bool parse(const char *text, const struct unit *units, double *value)
{
    double number = 0, place = 1;
    if (!is_digit(text[0]))
        return false;
    for (; is_digit(*text); text++)
        number = number * 10 + (*text - '0');
    if (*text == '.' && is_digit(text[1]))
        for (text++; is_digit(*text); text++)
            number += (*text - '0') * (place /= 10);
    for (; units->name; units++) {
        if (strcmp(text, units->name) != 0)
            continue;
        *value = number * (double)units->worth;
        return true;
    }
    return false;
}

int units_parse_time(const char *text, const char *what, uint64_t *time_ns, struct error *error)
{
    static const struct unit units[] = {
        {"", 1000000000},
        {"s", 1000000000},
        {"ms", 1000000},
        {"m", UINT64_C(60000000000)},
        {"min", UINT64_C(60000000000)},
        {"h", UINT64_C(3600000000000)},
        {NULL, 0},
    };
    double value;
    if (!parse(text, units, &value) || value < 1 || value > (double)YEAR_NS)
        return error_set(error, -EINVAL, "%s needs a time like 5, 1.5s, 200ms or 2m, not '%s'",
                         what, text);
    *time_ns = (uint64_t)value;
    return 0;
}

int units_parse_percent(const char *text, const char *what, double *percent, struct error *error)
{
    static const struct unit units[] = {{"", 1}, {"%", 1}, {NULL, 0}};
    double value;
    if (!parse(text, units, &value) || value > 100)
        return error_set(error, -EINVAL,
                         "%s needs a percentage like 5 or 0.5, at most 100, not '%s'", what, text);
    *percent = value;
    return 0;
}

int units_parse_bytes(const char *text, const char *what, uint64_t *bytes, struct error *error)
{
    static const struct unit units[] = {
        {"", 1},
        {"K", UINT64_C(1) << 10},
        {"k", UINT64_C(1) << 10},
        {"M", UINT64_C(1) << 20},
        {"G", UINT64_C(1) << 30},
        {NULL, 0},
    };
    double value;
    if (!parse(text, units, &value) || value < (double)BYTES_MIN || value > (double)BYTES_MAX)
        return error_set(error, -EINVAL,
                         "%s needs a size like 500K, 64M or 2G, at least 64K, not '%s'", what,
                         text);
    *bytes = (uint64_t)value;
    return 0;
}
