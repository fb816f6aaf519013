/* SPDX-License-Identifier: MIT */
/*
 * forges_join SOCKET PID: joins its recording in the name of a takes_requests at SOCKET. The service
 * gets a memory made here, by descriptor, maps it and keeps the descriptor; the request names its pid
 * and that descriptor. Prints the state of the memory and the chosen engine: 1 0 without an answer.
 */
#include "rings.h"
#include "wire/atomic.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static int make_memory(void)
{
    int fd = memfd_create(SESSION_MEMORY_NAME, MFD_ALLOW_SEALING);
    if (ftruncate(fd, sizeof(struct process_memory)) != 0 ||
        fcntl(fd, F_ADD_SEALS, SESSION_MEMORY_SEALS) != 0)
        return -1;
    return fd;
}

/* The answer is the number of the descriptor in the service, which maps the memory by then. */
static bool hand_over(const char *path, int fd, uint32_t *their_fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec bytes = {"memory", 6};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    int peer = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    *header = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(fd)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    return connect(peer, (struct sockaddr *)&address, sizeof(address)) == 0 &&
           sendmsg(peer, &message, 0) == 6 &&
           recv(peer, their_fd, sizeof(*their_fd), 0) == sizeof(*their_fd);
}

static struct join_request *claim(struct requests *requests)
{
    uint32_t i = 0;
    while (!swap_acq_rel(&requests->requests[i].state, REQUEST_FREE, REQUEST_CLAIMED))
        i = (i + 1) % SESSION_REQUESTS;
    raise_to(&requests->used, i + 1);
    return &requests->requests[i];
}

static void await_reply(struct requests *requests, struct join_request *request)
{
    store_release(&request->state, REQUEST_MADE);
    add_release(&requests->doorbell, 1);
    syscall(SYS_futex, &requests->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
    for (int i = 0; i < 2000 && load_acquire(&request->state) < REQUEST_REPLIED; i++)
        usleep(1000);
}

int main(int argc, char **argv)
{
    struct requests *requests = find_shared("rec-requests");
    struct stat status;
    uint32_t their_fd;
    int fd = make_memory();
    if (!requests || argc != 3 || fd < 0 || fstat(fd, &status) != 0)
        return 2;
    struct process_memory *memory =
        mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memory->process = (struct process_slot){.state = PROCESS_REQUESTED,
                                            .pid = (uint32_t)strtoul(argv[2], NULL, 10),
                                            .parent_pid = (uint32_t)getppid()};
    if (!hand_over(argv[1], fd, &their_fd))
        return 3;
    struct join_request *request = claim(requests);
    request->pid = memory->process.pid;
    request->memory_fd = their_fd;
    request->memory_inode = status.st_ino;
    await_reply(requests, request);
    swap_acq_rel(&request->state, REQUEST_REPLIED, REQUEST_FREE);
    printf("%d %u\n", memory->process.state == PROCESS_ANSWERED, memory->verdict.engine);
    return 0;
}
