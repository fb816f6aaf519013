/* SPDX-License-Identifier: MIT */
#include "sampler/base/memory.h"

#include "sampler/base/own_call.h"

/* valgrind reports this call as an error, and the uninitialized bytes, on the program's stderr.
 * Under valgrind a bad address ends in SIGSEGV. */
static bool may_be_inside_valgrind(void)
{
    return !process.vdso_avma && !process_is_followed();
}

/* The kernel reads the mask before it rejects `how`. */
static bool page_is_readable(uintptr_t avma)
{
    return avma != 0 && !seccomp_forbids(CALLS_OF_MEMORY) &&
           own_syscall(SIGPROCMASK, -1, avma, NULL, 8) != -EFAULT;
}

bool memory_is_readable(const void *memory, size_t bytes, uintptr_t *known_page)
{
    if (may_be_inside_valgrind())
        return true;
    uintptr_t first = (uintptr_t)memory / MEMORY_PAGE_BYTES;
    uintptr_t last = ((uintptr_t)memory + bytes - 1) / MEMORY_PAGE_BYTES;
    for (uintptr_t page = first; page <= last; page++) {
        if (page == *known_page)
            continue;
        if (!page_is_readable(page * MEMORY_PAGE_BYTES))
            return false;
        *known_page = page;
    }
    return true;
}
