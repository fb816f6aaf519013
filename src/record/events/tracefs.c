/* SPDX-License-Identifier: MIT */
#include "record/events/tracefs.h"

#include "record/events/event_files.h"

#include <errno.h>
#include <linux/mount.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A descriptor of the root, or a negative errno. Since Linux 5.2. */
static int mount_nowhere(void)
{
    int context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);
    if (context < 0)
        return -errno;
    long root = syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
    if (root == 0)
        root = syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY);
    int err = root < 0 ? -errno : 0;
    close(context);
    return err ? err : (int)root;
}

int tracefs_tracepoint(struct event_request *request, const struct event_roots *roots,
                       const char *system, const char *name)
{
    char path[64];
    int err = event_files_tracepoint(request, roots, system, name);
    int root = err == -ENOENT && roots == &event_roots_system ? mount_nowhere() : -ENOENT;
    if (root < 0)
        return err == -ENOENT ? root : err;
    snprintf(path, sizeof(path), "/proc/self/fd/%d/events", root);
    const struct event_roots own_roots = {.tracepoints = path};
    err = event_files_tracepoint(request, &own_roots, system, name);
    close(root);
    return err;
}
