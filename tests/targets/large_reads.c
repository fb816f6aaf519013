/* SPDX-License-Identifier: MIT */
/* large_reads: a gigabyte from /dev/zero and 64 MB of random bytes in large calls; counts the calls that
 * gave less than was asked for. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

int main(void)
{
    const size_t bytes = 4 << 20, random_bytes = 256 << 10;
    char *buffer = malloc(bytes);
    int zero = open("/dev/zero", O_RDONLY);
    unsigned fewer = 0;
    for (int i = 0; i < 256; i++)
        fewer += read(zero, buffer, bytes) != (ssize_t)bytes;
    for (int i = 0; i < 256; i++)
        fewer += getrandom(buffer, random_bytes, 0) != (ssize_t)random_bytes;
    printf("%u calls gave less\n", fewer);
    return 0;
}
