/* SPDX-License-Identifier: MIT */
#include "cli/options/record/event_option.h"

#include "cli/tables/record_table.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* The letters behind the colon. Without letters, kernel time is a single frame. */
static int parse_modifiers(struct record_options *options, const char *text, const char *letters,
                           struct error *error)
{
    bool has_user = strchr(letters, 'u') != NULL, has_kernel = strchr(letters, 'k') != NULL;
    if (letters[0] == '\0' || letters[strspn(letters, "uk")] != '\0')
        return error_set(error, -EINVAL, "-e %s: the modifiers are :u, :k and :uk", text);
    options->kernel_stacks |= has_kernel;
    options->kernel_only |= has_kernel && !has_user;
    options->exclude_kernel |= !has_kernel;
    return 0;
}

int event_option_parse(struct record_options *options, const char *text, struct error *error)
{
    static const char *const known[] = {"cpu-clock", "task-clock"};
    size_t length = strcspn(text, ":");
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strlen(known[i]) == length && strncmp(text, known[i], length) == 0)
            return text[length] ? parse_modifiers(options, text, text + length + 1, error) : 0;
    return error_set(error, -EINVAL,
                     "-e %s: not supported; rec samples CPU time (cpu-clock or task-clock)", text);
}

int event_option_clock(const char *name, struct error *error)
{
    static const char *const monotonic[] = {"mono", "monotonic", "CLOCK_MONOTONIC", "1"};
    for (size_t i = 0; i < sizeof(monotonic) / sizeof(monotonic[0]); i++)
        if (strcasecmp(name, monotonic[i]) == 0)
            return 0;
    return error_set(error, -EINVAL, "-k %s: not supported; rec uses the monotonic clock (-k mono)",
                     name);
}

void event_option_kernel(struct record_options *options, int id)
{
    options->exclude_kernel |= id == OPTION_ALL_USER;
    options->kernel_stacks |= id != OPTION_ALL_USER;
    options->kernel_only |= id == OPTION_ALL_KERNEL;
    options->kernel_callers |= id == OPTION_KERNEL_CALLCHAINS;
}

int event_option_check(const struct record_options *options, struct error *error)
{
    if (!options->kernel_stacks)
        return 0;
    if (options->exclude_kernel)
        return error_set(error, -EINVAL, "kernel stacks cannot be combined with --all-user or :u");
    if (options->engine == RECORD_ENGINE_PERF_TRAP || options->engine == RECORD_ENGINE_TIMER)
        return error_set(error, -EINVAL,
                         "kernel stacks need --engine perf-ring: the engine %s samples user code",
                         record_engine_name(options->engine));
    return 0;
}
