/* SPDX-License-Identifier: MIT */
/* free_at_exit MEGABYTES: touches that much memory and leaves it to the kernel to free. */
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    size_t bytes = strtoull(argc > 1 ? argv[1] : "500", NULL, 10) << 20;
    char *memory = malloc(bytes);
    if (!memory)
        return 1;
    memset(memory, 1, bytes);
    return memory[bytes / 2] != 1;
}
