/* SPDX-License-Identifier: MIT */
/*
 * maps_bomb FORKS SECONDS: maps single pages of a file whose path has 3600 characters, so that no two become one
 * mapping, calls into the last, unmaps all, and begins again elsewhere; FORKS children do the same. The working
 * directory is to be an empty one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 60000, PAGE_BYTES = 4096, NAME_BYTES = 240, DIRECTORIES = 15, CALLS = 200000 };

static void fail(const char *what)
{
    perror(what);
    exit(2);
}

/* A function that returns at once, at the start of a page. */
static int make_file(void)
{
    static unsigned char code[2 * PAGE_BYTES];
    char name[NAME_BYTES + 1];
    memset(name, 'n', NAME_BYTES);
    name[NAME_BYTES] = '\0';
    for (int i = 0; i < DIRECTORIES - 1; i++) {
        (void)mkdir(name, 0700);
        if (chdir(name) != 0)
            fail("chdir");
    }
    code[0] = code[PAGE_BYTES] = 0xc3; /* ret */
    int fd = open(name, O_RDWR | O_CREAT, 0700);
    if (fd < 0 || write(fd, code, sizeof(code)) != sizeof(code))
        fail("open");
    return fd;
}

static void map_and_call(int fd, unsigned turn)
{
    /* Every second page: neighbours would become one mapping. */
    size_t bytes = (size_t)PAGES * 2 * PAGE_BYTES;
    char *place = (char *)(0x100000000000 + (unsigned long)(turn % 64) * 0x10000000000);
    for (size_t i = 0; i < PAGES; i++)
        if (mmap(place + 2 * i * PAGE_BYTES, PAGE_BYTES, PROT_READ | PROT_EXEC,
                 MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
            fail("mmap");
    void (*function)(void);
    for (int i = 0; i < CALLS; i++) {
        char *code = place + 2 * ((size_t)i % PAGES) * PAGE_BYTES;
        memcpy(&function, &code, sizeof(function));
        function();
    }
    munmap(place, bytes);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    int fd = make_file();
    for (int i = 0; i < atoi(argv[1]); i++)
        if (fork() == 0)
            break;
    time_t end = time(NULL) + atoi(argv[2]);
    for (unsigned turn = 0; time(NULL) < end; turn++)
        map_and_call(fd, turn);
    while (wait(NULL) > 0)
        ;
    return 0;
}
