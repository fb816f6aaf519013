/* SPDX-License-Identifier: MIT */
#include "record/attach/snapshot/limited_read.h"

#include "base/time_limited.h"

#include <errno.h>
#include <sys/mman.h>

/* The reading process cannot write to this process's memory, except for the rows and a head. */
struct shared_head {
    size_t count, torn;
};

struct limited_read {
    struct snapshot *snapshot;
    int (*function)(void *context);
    void *context;
    struct shared_head *head;
};

static int run(void *context)
{
    struct limited_read *read = context;
    int err = read->function(read->context);
    *read->head = (struct shared_head){read->snapshot->count, read->snapshot->torn};
    return err;
}

int limited_read_run(struct snapshot *snapshot, int (*function)(void *context), void *context,
                     uint64_t limit_ns)
{
    struct limited_read read = {.snapshot = snapshot, .function = function, .context = context};
    void *memory =
        mmap(NULL, sizeof(*read.head), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -errno;
    read.head = memory;
    int err = time_limited_run(run, &read, limit_ns);
    size_t count = read.head->count;
    snapshot->count = count < snapshot->capacity ? count : snapshot->capacity;
    snapshot->torn = read.head->torn;
    munmap(memory, sizeof(*read.head));
    return err;
}
