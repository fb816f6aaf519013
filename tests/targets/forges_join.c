/* SPDX-License-Identifier: MIT */
/* forges_join SOCKET PID ADDRESS EXECUTABLE [maps] [copy]: joins its recording in the name of a
 * takes_requests at SOCKET, whose buffer at ADDRESS gets the mark. "maps": the service maps the
 * rings; "copy": as a forked child of this process. Prints the engine that the launcher chose. */
#include "rings.h"
#include "wire/atomic.h"

#include <linux/futex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static bool has_word(char **words, const char *word)
{
    for (; *words; words++)
        if (strcmp(*words, word) == 0)
            return true;
    return false;
}

static int rings_fd(void)
{
    for (int fd = 3; fd < 1024; fd++) {
        char path[32], link[64];
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        ssize_t length = readlink(path, link, sizeof(link));
        if (length > 16 && memcmp(link, "/memfd:rec-rings", 16) == 0)
            return fd;
    }
    return -1;
}

static uint32_t claim(struct rings *rings)
{
    uint32_t index = 0;
    while (!swap_acq_rel(&rings->processes[index].state, PROCESS_FREE, PROCESS_CLAIMED))
        index = (index + 1) % SESSION_PROCESSES;
    raise_to(&rings->header.processes_used, index + 1);
    return index;
}

static uint32_t own_index(const struct rings *rings)
{
    uint32_t index = 0;
    while (rings->processes[index].pid != (uint32_t)getpid())
        index = (index + 1) % SESSION_PROCESSES;
    return index;
}

/* The answer comes when the service has stored it. */
static bool send_mark(const char *path, const struct process_mark *mark, int fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char control[CMSG_SPACE(sizeof(int))] = {0}, answer;
    struct iovec bytes = {(void *)mark, 12};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    int peer = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (fd >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof(control);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        *header = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof(fd)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    }
    return connect(peer, (struct sockaddr *)&address, sizeof(address)) == 0 &&
           sendmsg(peer, &message, 0) == 12 && recv(peer, &answer, 1, 0) == 1;
}

static void request(struct rings *rings, struct process_slot *slot)
{
    store_release(&slot->state, PROCESS_REQUESTED);
    add_release(&rings->header.doorbell, 1);
    syscall(SYS_futex, &rings->header.doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
    for (int i = 0; i < 2000 && load_acquire(&slot->state) < PROCESS_ANSWERED; i++)
        usleep(1000);
}

int main(int argc, char **argv)
{
    struct rings *rings = find_shared("rec-rings");
    const struct tables *tables = find_shared("rec-tables");
    if (!rings || !tables || argc < 5)
        return 2;
    uint32_t index = claim(rings);
    struct process_slot *slot = &rings->processes[index];
    struct process_mark mark = {.token = rings->header.token, .process = index};
    slot->pid = (uint32_t)strtoul(argv[2], NULL, 10);
    slot->parent_pid = (uint32_t)getpid();
    slot->mark_avma = strtoull(argv[3], NULL, 16);
    slot->vdso_avma = 0;
    slot->copy_of = has_word(argv + 5, "copy") ? 1 + own_index(rings) : 0;
    snprintf(slot->executable, sizeof(slot->executable), "%s", argv[4]);
    if (!send_mark(argv[1], &mark, has_word(argv + 5, "maps") ? rings_fd() : -1))
        return 3;
    request(rings, slot);
    printf("%u\n", tables->verdicts[index].engine);
    swap_acq_rel(&slot->state, PROCESS_ANSWERED, PROCESS_DISMISSED);
    return 0;
}
