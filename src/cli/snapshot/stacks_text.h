/* SPDX-License-Identifier: MIT */
/* Output of `rec stacks` and `rec threads` for readers, to standard output. */
#pragma once

#include "cli/snapshot/named_snapshot.h"

/* 0 or -ENOMEM. */
int stacks_print(const struct named_snapshot *named, unsigned columns);
void threads_print(const struct named_snapshot *named);
