/* SPDX-License-Identifier: MIT */
/* The text of /proc/PID/status: a line for each key (proc(5)). */
#pragma once

#include <stdint.h>

/* The text behind "KEY:" and blanks; NULL: no such line. */
const char *status_value(const char *text, const char *key);

/* 0: no such line. */
uint64_t status_number(const char *text, const char *key, int base);
