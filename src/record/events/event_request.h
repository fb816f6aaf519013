/* SPDX-License-Identifier: MIT */
/* An event of -e, as the members of perf_event_attr(2). */
#pragma once

#include "base/text/error.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_REQUESTS_MAX 8
#define EVENT_NAME_BYTES 96
/* Rows of the capture: the first event of -e besides the clocks, which are the row of CPU time. */
#define EVENT_ROW_FIRST 8

struct event_request {
    char name[EVENT_NAME_BYTES]; /* as given, with modifiers */
    uint32_t type;
    uint64_t config, config1, config2;
    bool is_clock;     /* cpu-clock or task-clock: CPU time */
    bool is_of_kernel; /* happens in the kernel only */
    bool exclude_user, exclude_kernel, kernel_stacks;
    uint64_t period;    /* occurrences for each sample; 0: by frequency */
    uint32_t frequency; /* samples per second; only with period 0 */
};

/* Where the kernel describes events; tests have their own. */
struct event_roots {
    const char *devices;     /* /sys/bus/event_source/devices */
    const char *tracepoints; /* /sys/kernel/tracing/events */
};

/* Sets type, config, period and the excluded modes. */
void event_request_apply(const struct event_request *request, struct perf_event_attr *attr);

/* Opens the event on rec itself, closed at once. 0, or a negative errno with the rule. */
int event_request_check(const struct event_request *request, struct error *error);
