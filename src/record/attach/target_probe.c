/* SPDX-License-Identifier: MIT */
#include "record/attach/target_probe.h"

#include "record/attach/refusal.h"
#include "record/attach/snapshot/snapshot_refusal.h"
#include "record/events/event_attr.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

int target_probe_ring(const struct target_facts *facts, pid_t pid, struct error *error)
{
    struct observer_facts observer = observer_facts_read();
    int err = refusal_check(facts, &observer, pid, false, error);
    if (err)
        return err;
    struct perf_event_attr attr = event_attr_clock(1000000);
    int fd = event_open(&attr, pid, -1, 0);
    if (fd < 0)
        return refusal_explain(facts, &observer, pid, fd, error);
    close(fd);
    return 0;
}

/* Nothing is mapped at address 0: the right to read the memory comes before the address
 * (process_vm_readv(2)). */
int target_probe_memory(const struct target_facts *facts, pid_t pid, struct error *error)
{
    struct reader_facts reader = reader_facts_read();
    char byte;
    struct iovec local = {&byte, 1}, remote = {NULL, 1};
    int err = snapshot_refusal_check(facts, &reader, pid, error);
    if (err == 0 && process_vm_readv(pid, &local, 1, &remote, 1, 0) < 0 && errno != EFAULT)
        err = snapshot_refusal_explain(facts, &reader, pid, -errno, error);
    return err;
}
