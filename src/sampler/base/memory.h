/* SPDX-License-Identifier: MIT */
/* Addresses from the program may be invalid: the result is EFAULT, not SIGSEGV. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Own calls required for the test of memory. */
#define CALLS_OF_MEMORY CALL_BIT(SIGPROCMASK)

#define MEMORY_NO_PAGE UINTPTR_MAX
#define MEMORY_PAGE_BYTES 4096u

/* *known_page is the last page found readable, tested once. Under valgrind all memory counts as
 * readable. Async-signal-safe. */
bool memory_is_readable(const void *memory, size_t bytes, uintptr_t *known_page);
