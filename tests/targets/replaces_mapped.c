/* SPDX-License-Identifier: MIT */
/*
 * Maps a file of code, puts a link to another object in its place and runs in it, again and again: what a profiler finds
 * at the path of the mapping is what this program chose.
 *
 *     replaces_mapped PATH OBJECT SECONDS
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { CODE_BYTES = 4096, COPIED_BYTES = 256 };

/* Without calls and addresses, so that it can be copied. */
__attribute__((noinline, aligned(64))) static void spin(unsigned count)
{
    for (; count > 0; count--)
        __asm__ volatile("");
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *map_code(const char *path)
{
    static char page[CODE_BYTES];
    memcpy(page, (const void *)(uintptr_t)spin, COPIED_BYTES);
    unlink(path);
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0755);
    if (fd < 0 || write(fd, page, sizeof(page)) != sizeof(page))
        return NULL;
    void *code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    close(fd);
    return code == MAP_FAILED ? NULL : code;
}

int main(int argc, char **argv)
{
    double end_s = now_s() + (argc == 4 ? atof(argv[3]) : 0);
    unsigned attempts = 0;
    while (argc == 4 && now_s() < end_s) {
        void *code = map_code(argv[1]);
        if (!code || unlink(argv[1]) != 0 || symlink(argv[2], argv[1]) != 0)
            return 1;
        ((void (*)(unsigned))(uintptr_t)code)(1500000);
        munmap(code, CODE_BYTES);
        attempts++;
    }
    printf("%u\n", attempts);
    return attempts ? 0 : 1;
}
