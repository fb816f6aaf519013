/* SPDX-License-Identifier: MIT */
#include "record/attach/target_probe.h"

#include "record/attach/refusal.h"
#include "record/attach/snapshot/snapshot_refusal.h"
#include "record/events/event_attr.h"
#include "record/perf_ring/rings/kernel_ring.h"
#include "record/procfs/processors.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

/* The smallest ring of a recording. */
#define RING_BYTES (64 << 10)

/* Whether the events of all threads have room below the limit, which rec raises to the hard one. */
static bool has_descriptors(const struct target_facts *facts)
{
    static uint32_t processors[PROCESSORS_MAX];
    struct rlimit files;
    const uint64_t count = processors_list(NULL, processors, PROCESSORS_MAX);
    return getrlimit(RLIMIT_NOFILE, &files) != 0 || facts->threads * count <= files.rlim_max;
}

int target_probe_ring(const struct target_facts *facts, pid_t pid, struct error *error)
{
    struct own_rights own = own_rights_read();
    int err = refusal_check(facts, &own, pid, false, error);
    if (err)
        return err;
    struct kernel_ring ring;
    if ((err = kernel_ring_open(&ring, 0, RING_BYTES, RING_BYTES)) != 0)
        return refusal_explain_rings(&own, err, error);
    kernel_ring_close(&ring);
    struct perf_event_attr attr = event_attr_clock(1000000);
    int fd = event_open(&attr, pid, -1, 0);
    if (fd < 0)
        return refusal_explain(facts, &own, pid, fd, error);
    close(fd);
    return has_descriptors(facts) ? 0 : refusal_explain(facts, &own, pid, -EMFILE, error);
}

/* Nothing is mapped at address 0: the right to read the memory comes before the address
 * (process_vm_readv(2)). */
int target_probe_memory(const struct target_facts *facts, pid_t pid, struct error *error)
{
    struct own_rights own = own_rights_read();
    char byte;
    struct iovec local = {&byte, 1}, remote = {NULL, 1};
    int err = snapshot_refusal_check(facts, own.pid, pid, error);
    if (err == 0 && process_vm_readv(pid, &local, 1, &remote, 1, 0) < 0 && errno != EFAULT)
        err = snapshot_refusal_explain(facts, &own, pid, -errno, error);
    return err;
}

int target_probe_system(struct error *error)
{
    struct perf_event_attr attr = event_attr_clock(1000000);
    int fd = event_open(&attr, -1, 0, 0);
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    struct own_rights own = own_rights_read();
    return refusal_explain_system(&own, fd, error);
}
