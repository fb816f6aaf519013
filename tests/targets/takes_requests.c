/* SPDX-License-Identifier: MIT */
/* takes_requests SOCKET: a service. Maps a descriptor that comes with a request as shared memory,
 * keeps it, answers with its number, and works for 100 ms; "quit" ends it with status 0. Prints its
 * pid once it listens. */
#include "burn.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char request[64];

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        chmod(path, 0777) != 0 || listen(fd, 16) != 0)
        return -1;
    return fd;
}

static void map(int fd)
{
    struct stat status;
    if (fstat(fd, &status) == 0)
        mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static int receive(int peer)
{
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec bytes = {request, sizeof(request)};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    int fd = -1;
    if (recvmsg(peer, &message, 0) <= 0)
        return -1;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_type == SCM_RIGHTS) {
        memcpy(&fd, CMSG_DATA(header), sizeof(fd));
        map(fd);
    }
    return fd;
}

int main(int argc, char **argv)
{
    int fd = argc == 2 ? listen_at(argv[1]) : -1;
    if (fd < 0)
        return 2;
    printf("%d\n", (int)getpid());
    fflush(stdout);
    while (strcmp(request, "quit") != 0) {
        int peer = accept(fd, NULL, NULL);
        int kept = receive(peer);
        send(peer, &kept, sizeof(kept), MSG_NOSIGNAL);
        burn_until_ns(burn_clock_ns(CLOCK_PROCESS_CPUTIME_ID) + 100000000);
        close(peer);
    }
    return 0;
}
