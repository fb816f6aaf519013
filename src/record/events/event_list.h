/* SPDX-License-Identifier: MIT */
/* The events of a recording. Without -e: CPU time. */
#pragma once

#include "perfdata/writer.h"
#include "record/options.h"

/* Whether CPU time is recorded. */
bool event_list_has_clock(const struct record_options *options);
/* Of the options' events, by index: a bit for each clock. */
uint64_t event_list_clocks(const struct record_options *options);
/* The row of an event in the capture. */
uint32_t event_list_row(const struct record_options *options, size_t index);
/* The row of the first event, or of CPU time: the samples of the summary. */
uint32_t event_list_main_row(const struct record_options *options);

/* The name of the first event; NULL: CPU time is recorded. */
const char *event_list_main_name(const struct record_options *options);

/* Adds the rows of the events to the rows of the recorders; CPU time only when it is recorded. */
void event_list_describe(const struct record_options *options,
                         struct perfdata_event_row rows[PERFDATA_EVENTS_MAX]);

/* Whether the injected sampler records the events: CPU time alone, in the kernel by a
 * second event, or event_list_injected(). */
bool event_list_suits_sampler(const struct record_options *options);

/* The event of the sampler's signals in place of CPU time; NULL: CPU time. A single event of user
 * mode with a period: the signal carries no weight, and must not be raised in kernel mode. */
const struct event_request *event_list_injected(const struct record_options *options);

/* Leaves out modes that rec may not record, and checks that the machine has the events; without
 * samples (off_cpu_only), chooses what records tasks. 0, or a negative errno with a message. */
int event_list_settle(struct record_options *options, struct error *error);
