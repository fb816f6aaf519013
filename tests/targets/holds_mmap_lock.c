/* SPDX-License-Identifier: MIT */
/* holds_mmap_lock FILE: one thread reads the file, another one maps it for a descriptor open for writing. See
 * tests/integration/slow_file.py: the second one hangs in mmap() with the lock of the process' memory held. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static void *reads(void *path)
{
    char byte;
    int fd = open(path, O_RDONLY);
    return read(fd, &byte, 1) == 1 ? path : NULL;
}

static void *maps(void *path)
{
    int fd = open(path, O_RDWR);
    usleep(100000);
    return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
}

int main(int argc, char **argv)
{
    pthread_t reader, mapper;
    if (argc < 2 || pthread_create(&reader, NULL, reads, argv[1]) != 0 ||
        pthread_create(&mapper, NULL, maps, argv[1]) != 0)
        return 1;
    pthread_join(reader, NULL);
    pthread_join(mapper, NULL);
    return 0;
}
