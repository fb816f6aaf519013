/* SPDX-License-Identifier: MIT */
#include "cli/options/record/event_option.h"

#include "cli/options/options.h"
#include "cli/tables/record_table.h"
#include "record/events/event_files.h"
#include "record/events/event_list.h"
#include "record/events/event_parse.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* CPU time is recorded once, whatever the name of its clock. */
static struct event_request *place_for(struct record_options *options, bool is_clock)
{
    for (size_t i = 0; i < options->event_count; i++)
        if (is_clock && options->events[i].is_clock)
            return &options->events[i];
    if (options->event_count == EVENT_REQUESTS_MAX)
        return NULL;
    return &options->events[options->event_count++];
}

static int add_event(struct record_options *options, const char *text, struct error *error)
{
    struct event_request request;
    int err = event_parse(&request, text, &event_roots_system, error);
    if (err)
        return err;
    struct event_request *place = place_for(options, request.is_clock);
    if (!place)
        return error_set(error, -EINVAL, "-e: at most %d events can be recorded at once",
                         EVENT_REQUESTS_MAX);
    *place = request;
    options->kernel_stacks |= request.kernel_stacks;
    if (request.is_clock) {
        options->kernel_only = request.exclude_user;
        options->exclude_kernel = request.exclude_kernel;
    }
    return 0;
}

/* The comma after the event; commas between slashes belong to the event. */
static size_t event_length(const char *text)
{
    size_t length = strcspn(text, ",/");
    const char *end = text[length] == '/' ? strchr(text + length + 1, '/') : NULL;
    return end ? (size_t)(end - text) + strcspn(end, ",") : strcspn(text, ",");
}

int event_option_parse(struct record_options *options, const char *text, struct error *error)
{
    char event[EVENT_NAME_BYTES];
    int err = 0;
    do {
        size_t length = event_length(text);
        if (length >= sizeof(event))
            return error_set(error, -EINVAL, "-e %.64s...: the name is too long", text);
        memcpy(event, text, length);
        event[length] = '\0';
        err = add_event(options, event, error);
        text += length + (text[length] == ',');
    } while (err == 0 && *text);
    return err;
}

/* Occurrences of software events and tracepoints are few: each is a sample. */
static uint64_t usual_period(const struct event_request *event)
{
    return event->type == PERF_TYPE_SOFTWARE || event->type == PERF_TYPE_TRACEPOINT;
}

int event_option_rate(struct record_options *options, const char *period, bool has_frequency,
                      struct error *error)
{
    unsigned long count = 0;
    bool has_clock = event_list_has_clock(options);
    int err = !period ? 0
              : has_clock
                  ? options_number(period, "-c, nanoseconds of CPU time for each sample,",
                                   1000000000 / RECORD_FREQUENCY_MAX, 1000000000, &count, error)
                  : options_number(period, "-c, occurrences for each sample,", 1, UINT32_MAX,
                                   &count, error);
    if (err)
        return err;
    if (count && has_clock)
        options->frequency = (uint32_t)((1000000000 + count / 2) / count);
    for (size_t i = 0; i < options->event_count; i++) {
        struct event_request *event = &options->events[i];
        event->period = count ? count : has_frequency ? 0 : usual_period(event);
        event->frequency = options->frequency;
    }
    return 0;
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

int event_option_check(struct record_options *options, struct error *error)
{
    for (size_t i = 0; i < options->event_count; i++) {
        options->events[i].exclude_user |= options->kernel_only;
        options->events[i].exclude_kernel |= options->exclude_kernel;
    }
    if (options->kernel_stacks && options->exclude_kernel)
        return error_set(error, -EINVAL, "kernel stacks cannot be combined with --all-user or :u");
    bool is_injected = record_engine_is_injected(options->engine);
    bool is_timer =
        options->engine == RECORD_ENGINE_TIMER &&
        (options->kernel_stacks || (options->event_count > 0 && !event_list_has_clock(options)));
    if (is_timer || (is_injected && !event_list_suits_sampler(options)))
        return error_set(error, -EINVAL, "%s --engine perf-ring: the engine %s samples user code",
                         options->kernel_stacks ? "kernel stacks need"
                                                : "these events need the modifier :u or",
                         record_engine_name(options->engine));
    return 0;
}
