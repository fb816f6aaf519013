/* SPDX-License-Identifier: MIT */
#include "record/procfs/pidfd_facts.h"

#include <stdint.h>
#include <sys/ioctl.h>

/* struct pidfd_info of linux/pidfd.h of later kernels, in its first version. */
struct info {
    uint64_t wanted; /* in: further facts; out: facts below */
    uint64_t cgroup;
    uint32_t pid, thread_group, parent;
    uint32_t real_uid, real_gid, effective_uid, effective_gid;
    uint32_t saved_uid, saved_gid, file_system_uid, file_system_gid;
    int32_t exit_code;
};
_Static_assert(sizeof(struct info) == 64, "the kernel's layout");
#define GET_INFO _IOWR(0xff, 11, struct info)
enum { INFO_PID = 1, INFO_CREDENTIALS = 2 };

struct pidfd_facts pidfd_facts_read(int pid_fd)
{
    const uint64_t needed = INFO_PID | INFO_CREDENTIALS;
    struct info info = {.wanted = needed};
    if (ioctl(pid_fd, GET_INFO, &info) != 0 || (info.wanted & needed) != needed)
        return (struct pidfd_facts){.is_known = false};
    return (struct pidfd_facts){.is_known = true,
                                .parent = (pid_t)info.parent,
                                .uid = info.effective_uid,
                                .gid = info.effective_gid};
}
