/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/text/error.h"

#include <sys/types.h>

/* Prints what rec can do with a running process, and with its program. 0, or -ESRCH with a
 * message: no such process. */
int doctor_target_print(pid_t pid, struct error *error);
