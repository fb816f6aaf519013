/* SPDX-License-Identifier: MIT */
/*
 * The rows of a capture, by number (struct perfdata_event_row):
 *
 *     0 … RECORD_EVENTS - 1     of the recorders: CPU time, off-CPU time, threads
 *     EVENT_ROW_FIRST + i       event i of -e; a clock of -e is the row of CPU time
 */
#include "record/events/event_list.h"

#include "record/perf_ring/rings/ring_record.h"
#include "record/perf_ring/thread_events.h"
#include "record/procfs/sysctl.h"
#include "wire/records.h"

#include <errno.h>

_Static_assert((int)RECORD_EVENTS <= EVENT_ROW_FIRST, "rows of the recorders come first");
_Static_assert(EVENT_REQUESTS_MAX <= 64, "a bit for each event");
_Static_assert(EVENT_ROW_FIRST + EVENT_REQUESTS_MAX <= PERFDATA_EVENTS_MAX, "a row for each event");

bool event_list_has_clock(const struct record_options *options)
{
    bool has_clock = options->event_count == 0 && !options->off_cpu_only;
    for (size_t i = 0; i < options->event_count; i++)
        has_clock |= options->events[i].is_clock;
    return has_clock;
}

uint64_t event_list_clocks(const struct record_options *options)
{
    uint64_t clocks = 0;
    for (size_t i = 0; i < options->event_count; i++)
        clocks |= (uint64_t)options->events[i].is_clock << i;
    return clocks;
}

uint32_t event_list_row(const struct record_options *options, size_t index)
{
    bool is_clock = options->event_count == 0 || options->events[index].is_clock;
    return is_clock ? RECORD_EVENT_CPU : EVENT_ROW_FIRST + (uint32_t)index;
}

uint32_t event_list_main_row(const struct record_options *options)
{
    return event_list_has_clock(options) ? RECORD_EVENT_CPU : EVENT_ROW_FIRST;
}

const char *event_list_main_name(const struct record_options *options)
{
    return options->off_cpu_only           ? "off-cpu"
           : event_list_has_clock(options) ? NULL
                                           : options->events[0].name;
}

void event_list_describe(const struct record_options *options,
                         struct perfdata_event_row rows[PERFDATA_EVENTS_MAX])
{
    if (!event_list_has_clock(options))
        rows[RECORD_EVENT_CPU] = (struct perfdata_event_row){0};
    for (size_t i = 0; i < options->event_count && !options->off_cpu_only; i++)
        if (!options->events[i].is_clock)
            rows[EVENT_ROW_FIRST + i] =
                (struct perfdata_event_row){.name = options->events[i].name,
                                            .unit = "count",
                                            .period = options->events[i].period};
    for (size_t i = 0; i < PERFDATA_EVENTS_MAX && options->raw_stacks; i++)
        if (rows[i].name && (i == RECORD_EVENT_CPU || i >= EVENT_ROW_FIRST))
            rows[i].registers = RING_REGISTERS;
}

bool event_list_suits_sampler(const struct record_options *options)
{
    bool is_cpu = options->event_count <= 1 && event_list_has_clock(options);
    bool is_without = options->event_count == 0 && options->off_cpu_only;
    bool has_user_time = !options->kernel_only && !options->kernel_callers;
    return is_without ||
           (is_cpu ? has_user_time : !options->kernel_stacks && event_list_injected(options));
}

/* exclude_kernel: set by a modifier, or by event_list_settle() where the kernel may not be
 * sampled. */
const struct event_request *event_list_injected(const struct record_options *options)
{
    const struct event_request *only = &options->events[0];
    bool is_single = options->event_count == 1 && !only->is_clock;
    return is_single && only->period && only->exclude_kernel ? only : NULL;
}

static int settle(struct event_request *request, bool may_sample_kernel, struct error *error)
{
    /* As perf does: without a modifier, the kernel's part is left out where it is not permitted. */
    bool is_unmodified = !request->exclude_user && !request->exclude_kernel;
    if (is_unmodified && !request->kernel_stacks && !may_sample_kernel)
        request->exclude_kernel = true;
    if (request->is_of_kernel && request->exclude_kernel)
        return error_set(error, -EACCES,
                         "cannot record %s: happens in the kernel, and kernel.perf_event_paranoid "
                         "is %d; run rec as root or with CAP_PERFMON",
                         request->name, sysctl_kernel_read("perf_event_paranoid", 2));
    return request->is_clock ? 0 : event_request_check(request, error);
}

/* Tasks and mappings come from kernel rings, by an event without samples, and nothing is injected.
 * Where these rings are refused, from a sampler that stays quiet and is rarely called. */
static void leave_samples_out(struct record_options *options)
{
    options->frequency = 1;
    if (record_engine_is_injected(options->engine) || (options->argv && thread_events_probe() != 0))
        return;
    options->event_count = 1;
    options->events[0] =
        (struct event_request){.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY};
}

int event_list_settle(struct record_options *options, struct error *error)
{
    if (options->off_cpu_only) {
        leave_samples_out(options);
        return 0;
    }
    bool may_sample_kernel = thread_events_may_sample_kernel();
    int err = 0;
    for (size_t i = 0; i < options->event_count && err == 0; i++)
        err = settle(&options->events[i], may_sample_kernel, error);
    return err;
}
