/* SPDX-License-Identifier: MIT */
/* The program rec-view: `rec view` (commands/view_exec.h). */
#include "base/files/io.h"
#include "base/heap.h"
#include "cli/commands/cmd_view.h"
#include "cli/files/sudo_reader.h"

int main(int argc, char **argv)
{
    io_take_closed_standard_places();
    heap_prefer_large_pages();
    sudo_reader_set();
    return cmd_view(argv + (argc > 0));
}
