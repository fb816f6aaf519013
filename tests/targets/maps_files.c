/* SPDX-License-Identifier: MIT */
/* maps_files COUNT FILE...: maps pages of the files as code, COUNT times, always at one place. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
    long count = strtol(argv[1], NULL, 10);
    int *fds = calloc((size_t)argc, sizeof(*fds));
    void *place = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 2; i < argc; i++)
        fds[i] = open(argv[i], O_RDONLY);
    for (long i = 0; i < count; i++)
        if (mmap(place, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
                 fds[2 + i % (argc - 2)], 0) == MAP_FAILED)
            return 1;
    return 0;
}
