/* SPDX-License-Identifier: MIT */
/* transfers MILLISECONDS: large reads, writes and copies of every kind in parallel threads; counts those
 * that moved less than was asked for. */
#include "calls.h"

#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LARGE = 4 << 20, MIDDLE = 1 << 20, RANDOM = 256 << 10, PIECES = 8 };

static int zero, null, source, target;
static int stream[2], vectors[2], sent[2], spliced[2];

static void *drain(void *argument)
{
    static __thread char bytes[65536];
    int fd = *(const int *)argument;
    while (read(fd, bytes, sizeof(bytes)) > 0)
        continue;
    return NULL;
}

static bool read_is_whole(void)
{
    static char bytes[LARGE];
    return read(zero, bytes, LARGE) == LARGE;
}

static bool pread_is_whole(void)
{
    static char bytes[LARGE];
    return pread(source, bytes, LARGE, 0) == LARGE;
}

static bool readv_is_whole(void)
{
    static char bytes[PIECES][LARGE / PIECES];
    struct iovec pieces[PIECES];
    for (int i = 0; i < PIECES; i++)
        pieces[i] = (struct iovec){bytes[i], sizeof(bytes[i])};
    return readv(zero, pieces, PIECES) == LARGE;
}

static bool getrandom_is_whole(void)
{
    static char bytes[RANDOM];
    return getrandom(bytes, RANDOM, 0) == RANDOM;
}

static bool write_is_whole(void)
{
    static const char bytes[MIDDLE];
    return write(stream[1], bytes, MIDDLE) == MIDDLE;
}

static bool writev_is_whole(void)
{
    static char bytes[PIECES][MIDDLE / PIECES];
    struct iovec pieces[PIECES];
    for (int i = 0; i < PIECES; i++)
        pieces[i] = (struct iovec){bytes[i], sizeof(bytes[i])};
    return writev(vectors[1], pieces, PIECES) == MIDDLE;
}

static bool pwrite_is_whole(void)
{
    static const char bytes[LARGE];
    return pwrite(target, bytes, LARGE, LARGE) == LARGE;
}

static bool sendfile_is_whole(void)
{
    off_t from = 0;
    return sendfile(sent[1], source, &from, MIDDLE) == MIDDLE;
}

static bool copy_file_range_is_whole(void)
{
    off_t from = 0, to = 0;
    return copy_file_range(source, &from, target, &to, LARGE, 0) == LARGE;
}

static bool splice_is_whole(void)
{
    off_t from = 0;
    return splice(source, &from, spliced[1], NULL, 65536, 0) == 65536 &&
           splice(spliced[0], NULL, null, NULL, 65536, 0) == 65536;
}

static int make_file(void)
{
    static char bytes[LARGE];
    char path[] = "/tmp/transfers-XXXXXX";
    int fd = mkstemp(path);
    unlink(path);
    return write(fd, bytes, LARGE) == LARGE ? fd : -1;
}

static bool prepare(void)
{
    zero = open("/dev/zero", O_RDONLY);
    null = open("/dev/null", O_WRONLY);
    source = make_file();
    target = make_file();
    if (zero < 0 || null < 0 || source < 0 || target < 0 || pipe(spliced) != 0 ||
        pipe(stream) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, vectors) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, sent) != 0)
        return false;
    int *const readers[] = {&stream[0], &vectors[0], &sent[0]};
    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, drain, readers[i]) != 0)
            return false;
        pthread_detach(thread);
    }
    return true;
}

static struct call calls[] = {
    {.name = "read", .is_right = read_is_whole},
    {.name = "pread", .is_right = pread_is_whole},
    {.name = "readv", .is_right = readv_is_whole},
    {.name = "getrandom", .is_right = getrandom_is_whole},
    {.name = "write", .is_right = write_is_whole},
    {.name = "writev", .is_right = writev_is_whole},
    {.name = "pwrite", .is_right = pwrite_is_whole},
    {.name = "sendfile", .is_right = sendfile_is_whole},
    {.name = "copy_file_range", .is_right = copy_file_range_is_whole},
    {.name = "splice", .is_right = splice_is_whole},
};

int main(int argc, char **argv)
{
    if (!prepare())
        return 1;
    return calls_run(calls, sizeof(calls) / sizeof(calls[0]), argc > 1 ? argv[1] : "1000");
}
