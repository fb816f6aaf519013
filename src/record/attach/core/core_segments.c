/* SPDX-License-Identifier: MIT */
#include "record/attach/core/core_segments.h"

#include "base/containers/array.h"
#include "base/containers/sort.h"
#include "base/files/io.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

int core_segments_open(struct core_segments *segments, const struct elf_file *core)
{
    size_t count = elf_segment_count(core);
    *segments = (struct core_segments){.items = calloc(count + 1, sizeof(*segments->items))};
    if (!segments->items)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        if (elf_segment(core, i)->type == PT_LOAD)
            segments->items[segments->count++] = *elf_segment(core, i);
    return SORT_BY(segments->items, segments->count, svma);
}

void core_segments_free(struct core_segments *segments)
{
    free(segments->items);
    *segments = (struct core_segments){.items = NULL};
}

const struct elf_segment *core_segments_find(const struct core_segments *segments, uint64_t avma)
{
    size_t index = ARRAY_COUNT_UP_TO(segments->items, segments->count, svma, avma);
    const struct elf_segment *last = index > 0 ? &segments->items[index - 1] : NULL;
    return last && avma - last->svma < last->memory_bytes ? last : NULL;
}

bool core_segments_read(const struct core_segments *segments, int fd, uint64_t avma, void *out,
                        size_t size)
{
    const struct elf_segment *segment = core_segments_find(segments, avma);
    uint64_t inside = segment ? avma - segment->svma : 0, offset;
    return segment && inside <= segment->file_bytes && size <= segment->file_bytes - inside &&
           !__builtin_add_overflow(segment->offset, inside, &offset) &&
           io_pread(fd, out, size, offset) == 0;
}
