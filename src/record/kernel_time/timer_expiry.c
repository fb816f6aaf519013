/* SPDX-License-Identifier: MIT */
#include "record/kernel_time/timer_expiry.h"

#include "record/events/event_files.h"
#include "record/events/tracefs.h"
#include "record/procfs/sysctl.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The interrupt of a timer has 5 frames on Linux 6.18; the usual limit of a stack is 127. */
#define FRAMES_MIN 32
#define CLOCK_FILE "/sys/devices/system/clockevents/clockevent0/current_device"

struct start_of_file {
    char text[4096];
};

static struct start_of_file read_start(const char *path)
{
    struct start_of_file start = {""};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, start.text, sizeof(start.text) - 1);
    start.text[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        close(fd);
    return start;
}

/* Other clocks of hypervisors, and processors with FRED, enter the kernel by other functions than
 * DELIVERY_ENTRY. The flags of the first processor are at the start of cpuinfo. */
static bool has_known_entry(const struct signal_delivery *delivery)
{
    struct start_of_file clock = read_start(CLOCK_FILE), processor = read_start("/proc/cpuinfo");
    return signal_delivery_find(delivery, DELIVERY_ENTRY) != 0 &&
           strncmp(clock.text, "lapic", 5) == 0 && processor.text[0] &&
           !strstr(processor.text, " fred ") &&
           sysctl_kernel_read("perf_event_max_stack", 0) >= FRAMES_MIN;
}

bool timer_expiry_find(struct timer_expiry *expiry, const struct signal_delivery *delivery)
{
    uint64_t handler_avma = signal_delivery_find(delivery, DELIVERY_TIMER);
    struct event_request request = {.period = 1};
    if (handler_avma == 0 || !has_known_entry(delivery) ||
        tracefs_tracepoint(&request, &event_roots_system, "timer", "hrtimer_expire_entry") != 0)
        return false;
    for (size_t i = 0; i < TIMER_EXPIRY_EVENTS; i++)
        expiry->requests[i] = request;
    snprintf(expiry->filter, sizeof(expiry->filter), "function == 0x%llx",
             (unsigned long long)handler_avma);
    return true;
}
