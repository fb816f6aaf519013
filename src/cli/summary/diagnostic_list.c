/* SPDX-License-Identifier: MIT */
#include "cli/summary/diagnostic_list.h"

#include <stdarg.h>
#include <stdio.h>

double diagnostic_percent(uint64_t part, uint64_t whole)
{
    return whole ? (double)part * 100 / (double)whole : 0;
}

void diagnostic_add(struct diagnostic_list *list, double percent, const char *format, ...)
{
    if (list->count == DIAGNOSTICS_MAX)
        return;
    struct diagnostic *diagnostic = &list->diagnostics[list->count++];
    diagnostic->percent = percent;
    va_list args;
    va_start(args, format);
    vsnprintf(diagnostic->text, sizeof(diagnostic->text), format, args);
    va_end(args);
}
