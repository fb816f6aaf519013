/* SPDX-License-Identifier: MIT */
/*
 * The recorder thread-lifecycle in the launcher: from slots of the target to thread ids. Starts and
 * ends of threads are FORK and EXIT records of every recording, names are COMM records.
 *
 *     event of the ring        sample of        address         number
 *     create, in the new ring  the creator      handle or 0     tid of the new thread
 *     join, detach             the caller       handle          0
 */
#pragma once

#include "record/sample/sample_writer.h"
#include "record/tables/thread_table.h"

#include <stdbool.h>
#include <stdint.h>

bool thread_lifecycle_has(enum record_event event);

/* `thread` has the ring of the record; raw->object is the target's, and not trusted. */
void thread_lifecycle_translate(const struct thread *thread, enum record_event event,
                                struct raw_sample *raw);

/* A RECORD_NAME in the ring of `thread`. False: malformed. */
bool thread_lifecycle_name(struct thread_table *threads, const struct thread *thread,
                           const struct raw_sample *raw);
