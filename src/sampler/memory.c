/* SPDX-License-Identifier: MIT */
#include "sampler/memory.h"

/* The kernel looks at the mask before it refuses what is to be done with it. */
static bool page_is_readable(uintptr_t avma)
{
    return avma != 0 && !sandbox_forbids(CALLS_OF_MEMORY) &&
           own_syscall(SIGPROCMASK, -1, avma, NULL, 8) != -EFAULT;
}

bool memory_is_readable(const void *memory, size_t bytes, uintptr_t *known_page)
{
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
