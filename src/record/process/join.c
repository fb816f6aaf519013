/* SPDX-License-Identifier: MIT */
#include "record/process/join.h"

#include "base/pid_fd.h"
#include "record/process/process_watch.h"
#include "record/procfs/proc.h"
#include "wire/atomic.h"

#include <unistd.h>

void join_open(struct join *join, pid_t pid, struct process *before)
{
    join->before = before;
    join->owns_pid_fd = !before || before->pid_fd < 0;
    join->pid_fd = join->owns_pid_fd ? pid_fd_open(pid) : before->pid_fd;
    join->facts = pidfd_facts_read(join->pid_fd);
}

void join_close(struct join *join)
{
    if (join->pid_fd >= 0 && join->owns_pid_fd)
        close(join->pid_fd);
    join->pid_fd = -1;
    target_memory_release(join->memory);
    proc_maps_free(&join->mappings);
}

/* Only the same user, and a process whose parent or previous program is recorded: pidfd_getfd()
 * then yields the descriptor without a search. In a recording of root, a process of another user
 * can state a descriptor of root's processes. */
bool join_take_memory(struct join *join, const struct session *session)
{
    const pid_t pid = (pid_t)join->request.pid;
    if (session->uid == 0 || !join->is_near || join->facts.uid != session->uid)
        return false;
    int fd = target_memory_take(session, join->pid_fd, &join->request);
    join->identity = (struct identity){.pid = pid, .stated_pid = pid, .memory_fd = fd};
    return fd >= 0;
}

/* A recording of root reads files with the rights of the process, never with its own. */
static struct rights rights_of_root(const struct join *join)
{
    const struct pidfd_facts *facts = &join->facts;
    return facts->is_known ? (struct rights){.uid = facts->uid, .gid = facts->gid}
                           : proc_rights_of_owner(join->identity.pid);
}

bool join_map(struct join *join, const struct session *session)
{
    const bool is_root = session->uid == 0;
    int err = target_memory_map(&join->memory, join->identity.memory_fd);
    close(join->identity.memory_fd);
    if (is_root)
        join->rights = rights_of_root(join);
    /* A memory of another user may be mapped there, but was not made there. */
    return err == 0 && (!is_root || join->memory->uid == join->rights.uid);
}

bool join_load_statements(struct join *join)
{
    struct process_slot *shared = &join->memory->shared->process;
    struct process_slot *stated = &join->stated;
    if (!swap_acq_rel(&shared->state, PROCESS_REQUESTED, PROCESS_TAKEN))
        return false;
    load_words(stated, shared, sizeof(*stated));
    stated->name[sizeof(stated->name) - 1] = '\0';
    /* Ids in the slot are those of the inner pid namespace; the identity has them translated. */
    if (join->identity.parent_pid)
        stated->parent_pid = (uint32_t)join->identity.parent_pid;
    return true;
}

const struct process *join_original(const struct join *join, const struct process_table *processes)
{
    const struct process_slot *stated = &join->stated;
    if (stated->copy_of == 0 || stated->copy_of > SESSION_PROCESSES)
        return NULL;
    const struct process *process = &processes->processes[stated->copy_of - 1];
    /* The index is stated by the target: pid and user of the entry have to match as well. Children
     * of a process without an engine are judged on their own. */
    bool is_it =
        process->pid == (pid_t)stated->parent_pid && process->rights.uid == join->rights.uid;
    return is_it && process->engine != ENGINE_NONE ? process : NULL;
}

bool join_find_mappings(struct join *join, const struct session *session)
{
    pid_t pid = join->identity.pid;
    const struct mapped_memory memory = {join->memory->inode, join->stated.memory_avma};
    if (join->original && process_maps_inherit(join->original, &join->mappings))
        return membership_maps(session, pid, memory);
    proc_maps_free(&join->mappings);
    return membership_read_maps(session, pid, memory, &join->mappings);
}

static bool is_watched_for_tracers(const struct process *process)
{
    return process && process->engine != ENGINE_NONE && !process->is_traced;
}

bool join_may_be_traced(const struct join *join, const struct process_table *processes,
                        uint64_t now_ns)
{
    const struct process *parent =
        join->facts.parent ? process_find(processes, join->facts.parent) : NULL;
    return (join->before && !is_watched_for_tracers(join->before)) ||
           !is_watched_for_tracers(parent) ||
           now_ns - parent->checked_ns >= PROCESS_CHECK_INTERVAL_NS;
}

bool join_is_guest(const struct join *join)
{
    const struct process *emulator = join->before;
    return emulator && emulator->engine != ENGINE_NONE && emulator->executable_id != 0 &&
           join->executable.id == emulator->executable_id &&
           admission_has_other_view(&join->stated, emulator->pid, &join->mappings);
}
