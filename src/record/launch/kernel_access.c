/* SPDX-License-Identifier: MIT */
#include "record/launch/kernel_access.h"

#include "record/attach/refusal.h"
#include "record/perf_ring/thread_events.h"
#include "record/procfs/kernel/kernel_image.h"
#include "record/procfs/sysctl.h"

#include <errno.h>

int kernel_access_check(struct error *reason)
{
    struct kernel_image image;
    int err = thread_events_probe();
    if (err)
        return error_set(reason, err, "%s", refusal_of_rec(ACCESS_EVENTS, err).text);
    if (!thread_events_may_sample_kernel())
        return error_set(reason, -EPERM,
                         "kernel.perf_event_paranoid is %d; set to 1 or less, or run rec as root "
                         "or with CAP_PERFMON",
                         sysctl_kernel_read("perf_event_paranoid", 2));
    if (kernel_image_read(&image) == 0)
        return 0;
    return error_set(reason, -EPERM,
                     "kernel.kptr_restrict is %d and hides the addresses of kernel functions; set "
                     "to 0, or run rec as root",
                     sysctl_kernel_read("kptr_restrict", 1));
}

int kernel_access_require(struct error *error)
{
    struct error reason = {{0}};
    int err = kernel_access_check(&reason);
    return err ? error_set(error, err, "cannot record kernel stacks: %s", reason.text) : 0;
}
