/* SPDX-License-Identifier: MIT */
#include "record/events/event_parse.h"

#include "record/events/event_files.h"
#include "record/events/event_tables.h"
#include "record/events/tracefs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The letters behind the last colon or slash. Without :u or :k, the event is of both modes. */
static int parse_modifiers(struct event_request *request, const char *letters, struct error *error)
{
    bool has_user = strchr(letters, 'u') != NULL, has_kernel = strchr(letters, 'k') != NULL;
    if (letters[strspn(letters, "uk")] != '\0' || !(has_user || has_kernel))
        return error_set(error, -EINVAL, "-e %s: the modifiers are :u, :k and :uk", request->name);
    request->exclude_user = !has_user;
    request->exclude_kernel = !has_kernel;
    request->kernel_stacks = has_kernel;
    return 0;
}

/* cpu/event=0x3c/u, with or without a colon before the modifiers. */
static int parse_pmu(struct event_request *request, const struct event_roots *roots, char *text,
                     struct error *error)
{
    char *terms = strchr(text, '/'), *end = strrchr(text, '/');
    const char *letters = end + 1 + (end[1] == ':');
    if (terms == end)
        return error_set(error, -EINVAL, "-e %s: write PMU/TERM=VALUE,.../", request->name);
    *terms = *end = '\0';
    int err = event_files_pmu(request, roots, text, terms + 1);
    if (err == -ENOENT)
        return error_set(error, err, "-e %s: no such PMU or field in %s", request->name,
                         roots->devices);
    if (err)
        return error_set(error, err, "-e %s: a value of a field is not valid", request->name);
    return letters[0] ? parse_modifiers(request, letters, error) : 0;
}

static int parse_tracepoint(struct event_request *request, const struct event_roots *roots,
                            char *text, struct error *error)
{
    char *name = strchr(text, ':'), *letters = strchr(name + 1, ':');
    *name = '\0';
    if (letters)
        *letters = '\0';
    int err = tracefs_tracepoint(request, roots, text, name + 1);
    if (err == -EACCES || err == -EPERM)
        return error_set(error, err, "-e %s: tracepoints are described in %s, readable by root",
                         request->name, roots->tracepoints);
    if (err)
        return error_set(error, err, "-e %s: not supported: no such event; see `perf list`",
                         request->name);
    return letters ? parse_modifiers(request, letters + 1, error) : 0;
}

static bool parse_raw(struct event_request *request, const char *text, size_t length)
{
    char *end;
    if (text[0] != 'r' || length < 2 || strspn(text + 1, "0123456789abcdefABCDEF") != length - 1)
        return false;
    request->type = PERF_TYPE_RAW;
    request->config = strtoull(text + 1, &end, 16);
    return true;
}

/* A slash marks a PMU. Names of the tables go before tracepoints: a colon may begin modifiers,
 * too. */
int event_parse(struct event_request *request, const char *text, const struct event_roots *roots,
                struct error *error)
{
    char copy[EVENT_NAME_BYTES];
    size_t length = strcspn(text, ":");
    *request = (struct event_request){0};
    if (strlen(text) >= sizeof(copy))
        return error_set(error, -EINVAL, "-e %.64s...: the name is too long", text);
    strcpy(copy, text);
    strcpy(request->name, text);
    if (strchr(text, '/'))
        return parse_pmu(request, roots, copy, error);
    if (event_tables_find(request, text, length) || parse_raw(request, text, length))
        return text[length] ? parse_modifiers(request, text + length + 1, error) : 0;
    if (text[length])
        return parse_tracepoint(request, roots, copy, error);
    return error_set(error, -EINVAL, "-e %s: not supported: no such event; see `perf list`", text);
}
