/* SPDX-License-Identifier: MIT */
#include "record/events/event_request.h"

#include "record/events/event_attr.h"
#include "record/procfs/sysctl.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* A clock keeps the type, config and period of event_attr_clock(): its weights are ns. */
void event_request_apply(const struct event_request *request, struct perf_event_attr *attr)
{
    attr->exclude_user = request->exclude_user;
    attr->exclude_kernel = request->exclude_kernel;
    if (request->is_clock)
        return;
    attr->type = request->type;
    attr->config = request->config;
    attr->config1 = request->config1;
    attr->config2 = request->config2;
    attr->freq = request->period == 0;
    if (request->period)
        attr->sample_period = request->period;
    else
        attr->sample_freq = request->frequency;
}

int event_request_check(const struct event_request *request, struct error *error)
{
    struct perf_event_attr attr = event_attr_clock(1);
    event_request_apply(request, &attr);
    int fd = event_open(&attr, 0, -1, 0);
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    if (fd == -EACCES || fd == -EPERM)
        return error_set(error, fd,
                         "cannot record %s: kernel.perf_event_paranoid is %d; run rec as root or "
                         "with CAP_PERFMON, or try the modifier :u",
                         request->name, sysctl_kernel_read("perf_event_paranoid", 2));
    if (fd == -ENOENT || fd == -ENODEV || fd == -EOPNOTSUPP)
        return error_set(error, fd, "cannot record %s: the processor or kernel has no such event%s",
                         request->name,
                         request->type == PERF_TYPE_SOFTWARE ? ""
                                                             : " (virtual machines often hide "
                                                               "the counters)");
    return error_set(error, fd, "cannot record %s: %s", request->name, strerror(-fd));
}
