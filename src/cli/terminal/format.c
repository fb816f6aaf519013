/* SPDX-License-Identifier: MIT */
#include "cli/terminal/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct formatted format_count(uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
    struct formatted shown = {{0}};
    size_t used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            shown.text[used++] = ' ';
        shown.text[used++] = digits[i];
    }
    return shown;
}

struct formatted format_number_of(uint64_t count, const char *thing)
{
    struct formatted shown;
    snprintf(shown.text, sizeof(shown.text), "%.26s %.7s%s", format_count(count).text, thing,
             count == 1 ? "" : "s");
    return shown;
}

struct formatted format_duration(uint64_t ns)
{
    struct formatted shown;
    double seconds = (double)ns / 1e9;
    if (seconds >= 120)
        snprintf(shown.text, sizeof(shown.text), "%.0f min %02.0f s", (double)(ns / 60000000000u),
                 (double)(ns % 60000000000u / 1000000000u));
    else if (seconds >= 0.9995)
        snprintf(shown.text, sizeof(shown.text), "%.1f s", seconds);
    else if (seconds >= 0.0009995)
        snprintf(shown.text, sizeof(shown.text), "%.0f ms", seconds * 1e3);
    else if (ns >= 1000)
        snprintf(shown.text, sizeof(shown.text), ns >= 10000 ? "%.0f us" : "%.1f us",
                 seconds * 1e6);
    else
        snprintf(shown.text, sizeof(shown.text), "%" PRIu64 " ns", ns);
    return shown;
}

struct formatted format_bytes(uint64_t bytes)
{
    struct formatted shown;
    if (bytes >= 999950000)
        snprintf(shown.text, sizeof(shown.text), "%.1f GB", (double)bytes / 1e9);
    else if (bytes >= 999950)
        snprintf(shown.text, sizeof(shown.text), "%.1f MB", (double)bytes / 1e6);
    else
        snprintf(shown.text, sizeof(shown.text), "%" PRIu64 " kB", (bytes + 999) / 1000);
    return shown;
}

struct formatted format_percent(uint64_t part, uint64_t whole)
{
    struct formatted shown;
    double percent = whole ? (double)part * 100 / (double)whole : 0;
    if (whole && part == whole)
        snprintf(shown.text, sizeof(shown.text), "100 %%");
    else if (percent >= 99.95 && percent < 100) /* not rounded up to 100 */
        snprintf(shown.text, sizeof(shown.text), "%.2f %%", percent - 0.005);
    else if (percent > 0 && percent < 0.1)
        snprintf(shown.text, sizeof(shown.text), "<0.1 %%");
    else
        snprintf(shown.text, sizeof(shown.text), "%.1f %%", percent);
    return shown;
}
