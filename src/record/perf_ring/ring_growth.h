/* SPDX-License-Identifier: MIT */
/*
 * Growth of the stack copies. Copies begin small: a ring keeps the whole size for each sample.
 * Where stacks are larger, events with larger copies replace the events:
 *
 *     time ────────────────────────── since_ns ──────────────▶
 *     small copies  ██████████████████████│░░░░ closed
 *     large copies              ░░░░░░░░░░│███████████████████      █ taken   ░ left out
 *                               opened on one thread after another
 *
 * A record has the id of its event, and of a replaced set each time has one kind of events, so no
 * sample is lost or taken twice. A thread created meanwhile inherits the events of its creator: a
 * FORK record of a large event shows that the thread has such an event.
 *
 * Clocks only. Page faults come in bursts that need the room of the rings; and both records of a
 * page fault have the id of one event (perf_prepare_sample() in kernel/events/core.c keeps the id
 * of the first event, Linux 6.18).
 */
#pragma once

#include "record/perf_ring/ring_source.h"

/* Replaces the events of each set with many cut copies, or where a stack lacks its callchain; once
 * for each reason. Takes records from the rings. */
void ring_growth_round(struct ring_source *source);

/* At most wait_ns until the next round; less after a cut copy, and at the start. */
uint64_t ring_growth_wait_ns(const struct ring_source *source, uint64_t wait_ns);
