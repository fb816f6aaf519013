/* SPDX-License-Identifier: MIT */
/* The figures of the whole recording, after collector_stop(). */
#pragma once

#include <stdint.h>

struct collector;

/* Compares the samples with the kernel's figure for the tree (billed_ns), writes a synthetic sample
 * for the difference, and fills the summary. program: of the command, in case it never joined. */
void collector_settle_tree(struct collector *collector, const char *program, uint64_t billed_ns,
                           uint64_t end_ns);
