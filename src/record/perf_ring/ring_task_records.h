/* SPDX-License-Identifier: MIT */
/* FORK, COMM and EXIT records of the kernel become records of the file. */
#pragma once

#include "record/perf_ring/ring_tasks.h"

/* FORK, COMM or EXIT; other types have no effect. */
void ring_task_records_take(struct ring_tasks *tasks, const struct ring_record *record);
