/* SPDX-License-Identifier: MIT */
#include "record/procfs/frozen_thread.h"

#include "base/files/io.h"

#include <stdio.h>
#include <string.h>

/* Version 1 of cgroups: __refrigerator(). Version 2: do_freezer_trap(), mostly inlined into
 * get_signal(), where stopped threads wait as well (state T). Observed on Linux 6.18. */
bool frozen_thread_check(pid_t pid, pid_t tid)
{
    static const char *const functions[] = {"__refrigerator", "get_signal", "do_freezer_trap"};
    char path[64];
    struct buffer text = {0};
    bool is_frozen = false;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/wchan", (int)pid, (int)tid);
    if (io_read_file(path, &text, 256) == 0)
        buffer_u8(&text, 0);
    for (size_t i = 0; text.size && !text.failed && i < sizeof(functions) / sizeof(functions[0]);
         i++)
        is_frozen |= strcmp((const char *)text.bytes, functions[i]) == 0;
    buffer_free(&text);
    return is_frozen;
}
