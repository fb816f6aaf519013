/* SPDX-License-Identifier: MIT */
/*
 * closes_all HOW PROGRAM ARGUMENT…: closes all descriptors but the first three, as daemons do, and starts a
 * program.
 *
 *     range    close_range()
 *     loop     close() of each, up to 65535
 *     replace  something else takes every number that was open
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void replace_all(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int null = open("/dev/null", O_RDWR);
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        int fd = atoi(entry->d_name);
        if (fd > 2 && fd != dirfd(directory) && fd != null)
            dup2(null, fd);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 98;
    if (strcmp(argv[1], "range") == 0)
        close_range(3, ~0u, 0);
    else if (strcmp(argv[1], "loop") == 0)
        for (int fd = 3; fd < 65536; fd++)
            close(fd);
    else
        replace_all();
    if (strcmp(argv[1], "replace") != 0 && open("/dev/null", O_RDONLY) != 3)
        return 97;
    if (fork() == 0) {
        execv(argv[2], argv + 2);
        _exit(9);
    }
    int status;
    wait(&status);
    return status != 0;
}
