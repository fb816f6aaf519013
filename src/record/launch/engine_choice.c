/* SPDX-License-Identifier: MIT */
/*
 * The order of engine_choose(); `summary` keeps engine and reason:
 *
 *     the program takes no sampler, an event of -e       perf-ring
 *     that the sampler cannot record, --engine=perf-ring
 *     --engine=timer                                     timer
 *     perf events with signals are permitted             perf-trap
 *     kernel stacks, no --engine                         perf-ring
 *     --engine=perf-trap, or an event of -e              an error: no silent replacement
 *     else                                               timer
 */
#include "record/launch/engine_choice.h"

#include "record/events/event_list.h"
#include "record/launch/perf_event.h"
#include "record/launch/probe.h"
#include "record/perf_ring/thread_events.h"

#include <errno.h>

/* A program that takes no sampler is recorded by perf-ring, if perf events are permitted; so are
 * kernel stacks, and events that the sampler cannot record. */
static bool needs_ring(const struct record_options *options, bool takes_ring)
{
    enum record_engine engine = options->engine;
    return !event_list_suits_sampler(options) || engine == RECORD_ENGINE_PERF_RING ||
           (engine == RECORD_ENGINE_AUTO && takes_ring && thread_events_probe() == 0);
}

int engine_choose(struct engine_choice *choice, const struct record_options *options,
                  bool takes_ring, struct record_summary *summary, struct error *error)
{
    *choice = (struct engine_choice){.probe_fd = -1};
    summary->engine = RECORD_ENGINE_TIMER;
    summary->frequency_requested = options->frequency;
    choice->is_outside = needs_ring(options, takes_ring);
    if (choice->is_outside) {
        summary->engine = RECORD_ENGINE_PERF_RING;
        summary->lacks_sampler = takes_ring || !event_list_suits_sampler(options);
        return 0;
    }
    if (options->engine == RECORD_ENGINE_TIMER) {
        summary->engine_reason = "--engine=timer was given";
        return 0;
    }
    choice->probe_fd = perf_event_probe();
    if (choice->probe_fd >= 0) {
        summary->engine = RECORD_ENGINE_PERF_TRAP;
        return 0;
    }
    if (options->kernel_stacks && options->engine == RECORD_ENGINE_AUTO) {
        choice->is_outside = true;
        summary->engine = RECORD_ENGINE_PERF_RING;
        return 0;
    }
    struct record_probe probe;
    record_probe(&probe);
    if (options->engine == RECORD_ENGINE_PERF_TRAP || event_list_injected(options))
        return error_set(error, -EPERM, "engine perf-trap is not available: %s",
                         probe.perf_trap_reason);
    bool is_forbidden = choice->probe_fd == -EACCES || choice->probe_fd == -EPERM;
    summary->engine_reason =
        is_forbidden ? "perf events are forbidden" : "perf events are not available";
    return 0;
}

uint32_t engine_choose_frequency(struct record_summary *summary)
{
    uint32_t requested = summary->frequency_requested;
    uint32_t limit = summary->engine == RECORD_ENGINE_TIMER ? 0 : perf_event_rate_limit();
    if (limit == 0 || limit >= requested)
        return requested;
    summary->frequency_limit = limit;
    return limit;
}
