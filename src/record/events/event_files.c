/* SPDX-License-Identifier: MIT */
#include "record/events/event_files.h"

#include "base/files/io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Files of a PMU, see perf_event_open(2): "type", a number; "format/TERM", the place of a term in
 * config; "events/NAME", a list of terms. */
const struct event_roots event_roots_system = {
    .devices = "/sys/bus/event_source/devices",
    .tracepoints = "/sys/kernel/tracing/events",
};

enum { TEXT_BYTES = 256, PATH_BYTES = 512 };

/* Names become parts of a path. */
static bool is_word(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return text[0] && text[strspn(text, letters)] == '\0';
}

/* The first line of the file. */
static int read_line(char text[TEXT_BYTES], const char *root, const char *folder, const char *name)
{
    char path[PATH_BYTES];
    struct buffer bytes = {0};
    if (!is_word(folder) ||
        (size_t)snprintf(path, sizeof(path), "%s/%s/%s", root, folder, name) >= sizeof(path))
        return -ENOENT;
    int err = io_read_file(path, &bytes, TEXT_BYTES - 1);
    if (err == 0 && bytes.failed)
        err = -ENOMEM;
    text[0] = '\0';
    if (err == 0)
        snprintf(text, TEXT_BYTES, "%.*s", (int)bytes.size, (const char *)bytes.bytes);
    text[strcspn(text, "\n")] = '\0';
    buffer_free(&bytes);
    return err;
}

/* Puts the low bits of the value into the bits of a range "0-7" or "32"; the text behind goes to
 * *end. */
static uint64_t put_range(uint64_t *value, const char *range, char **end)
{
    unsigned long first = strtoul(range, end, 10), last = first;
    if (**end == '-')
        last = strtoul(*end + 1, end, 10);
    uint64_t bits = 0;
    for (unsigned long bit = first; bit <= last && bit < 64; bit++, *value >>= 1)
        bits |= (*value & 1) << bit;
    return bits;
}

/* format: "config:0-7,32-35". The low bits of the value go into the first range. */
static int put_field(struct event_request *request, const char *format, uint64_t value)
{
    const char *colon = strchr(format, ':');
    uint64_t bits = 0, *config = strncmp(format, "config1:", 8) == 0   ? &request->config1
                                 : strncmp(format, "config2:", 8) == 0 ? &request->config2
                                                                       : &request->config;
    if (!colon || strncmp(format, "config", 6) != 0)
        return -EINVAL;
    for (char *at = (char *)colon; *at == ':' || *at == ',';)
        bits |= put_range(&value, at + 1, &at);
    *config |= bits;
    return value ? -EINVAL : 0; /* bits without room */
}

/* "umask=0x1", or "edge" for 1. */
static int put_term(struct event_request *request, const struct event_roots *roots, const char *pmu,
                    char *term)
{
    char name[TEXT_BYTES], format[TEXT_BYTES], *end = "";
    char *equals = strchr(term, '=');
    uint64_t value = equals ? strtoull(equals + 1, &end, 0) : 1;
    if (equals)
        *equals = '\0';
    if (*end || (equals && !equals[1]))
        return -EINVAL;
    if (strcmp(term, "config") == 0) {
        request->config |= value;
        return 0;
    }
    if (!is_word(term))
        return -EINVAL;
    snprintf(name, sizeof(name), "format/%.200s", term);
    int err = read_line(format, roots->devices, pmu, name);
    return err ? err : put_field(request, format, value);
}

static int put_terms(struct event_request *request, const struct event_roots *roots,
                     const char *pmu, const char *terms)
{
    char copy[TEXT_BYTES], *rest = copy;
    if (strlen(terms) >= sizeof(copy))
        return -EINVAL;
    strcpy(copy, terms);
    int err = 0;
    for (char *term; err == 0 && (term = strsep(&rest, ","));)
        err = put_term(request, roots, pmu, term);
    return err;
}

/* A single word may name an event of the PMU, and stands for the terms in the file of the event. */
int event_files_pmu(struct event_request *request, const struct event_roots *roots, const char *pmu,
                    const char *terms)
{
    char text[TEXT_BYTES], name[TEXT_BYTES];
    int err = read_line(text, roots->devices, pmu, "type");
    if (err)
        return err;
    request->type = (uint32_t)strtoul(text, NULL, 10);
    if (is_word(terms) && strlen(terms) < 200) {
        snprintf(name, sizeof(name), "events/%s", terms);
        if (read_line(text, roots->devices, pmu, name) == 0)
            terms = text;
    }
    return put_terms(request, roots, pmu, terms);
}

int event_files_tracepoint(struct event_request *request, const struct event_roots *roots,
                           const char *system, const char *name)
{
    char text[TEXT_BYTES], path[PATH_BYTES];
    if (!is_word(name) || strlen(name) >= TEXT_BYTES)
        return -ENOENT;
    snprintf(path, sizeof(path), "%s/id", name);
    int err = read_line(text, roots->tracepoints, system, path);
    request->type = PERF_TYPE_TRACEPOINT;
    request->config = strtoull(text, NULL, 10);
    request->is_of_kernel = true;
    return err;
}
