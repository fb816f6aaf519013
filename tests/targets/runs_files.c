/* SPDX-License-Identifier: MIT */
/* runs_files TURNS FILE...: maps the first page of each file as code, and calls what is at its end: a
 * function that counts its argument down. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, CODE_BYTES = 16 };

int main(int argc, char **argv)
{
    const unsigned long turns = strtoul(argv[1], NULL, 10);
    for (int i = 2; i < argc; i++) {
        int fd = open(argv[i], O_RDONLY);
        char *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
        if (page == MAP_FAILED)
            return 1;
        ((void (*)(unsigned long))(void *)(page + PAGE_BYTES - CODE_BYTES))(turns);
        close(fd);
    }
    return 0;
}
