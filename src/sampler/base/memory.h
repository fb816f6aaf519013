/* SPDX-License-Identifier: MIT */
/* What a program hands in may be no memory at all: then it gets EFAULT, and no SIGSEGV. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The own calls without which no memory is known to be readable. */
#define CALLS_OF_MEMORY CALL_BIT(SIGPROCMASK)

#define MEMORY_NO_PAGE UINTPTR_MAX
#define MEMORY_PAGE_BYTES 4096u

/* *known_page is a page that need not be asked for: the last one that was. Inside valgrind all is taken for readable.
 * Async-signal-safe. */
bool memory_is_readable(const void *memory, size_t bytes, uintptr_t *known_page);
