/* SPDX-License-Identifier: MIT */
/* Requests in the name of the test, or of its children, to a launcher that is the same test. */
#pragma once

#include "quiet_collector.h"

#include "wire/atomic.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static inline struct join_request *request_of(struct fixture *fixture)
{
    return &fixture->session.requests->requests[3];
}

static inline void take(struct fixture *fixture)
{
    fixture->session.requests->used = 4;
    fixture->session.requests->doorbell++;
    handshake_answer(&fixture->collector->handshake);
}

/* The statements of a process that exaggerates. */
static inline void fill_slot(struct process_slot *slot)
{
    slot->pid = (uint32_t)getpid();
    slot->parent_pid = (uint32_t)getppid();
    slot->start_ticks = UINT64_MAX;
    slot->start_cpu_ns = UINT64_MAX;
    /* No terminating zero anywhere. */
    memset(slot->executable, 'x', sizeof(slot->executable));
    slot->state = PROCESS_REQUESTED;
}

/* A request for the memory at this descriptor of this pid. */
static inline void ask_for(struct fixture *fixture, pid_t pid, int fd, uint64_t inode)
{
    *request_of(fixture) = (struct join_request){.pid = (uint32_t)pid,
                                                 .memory_fd = (uint32_t)fd,
                                                 .memory_inode = inode,
                                                 .name = "starter",
                                                 .state = REQUEST_MADE};
    take(fixture);
}

static inline void ask(struct fixture *fixture, pid_t pid)
{
    fill_slot(&fixture->memory.shared->process);
    ask_for(fixture, pid, fixture->memory.fd, fixture->memory.inode);
}

static inline size_t count(const struct fixture *fixture)
{
    return fixture->collector->processes.live_count;
}

static inline const struct process *first(const struct fixture *fixture)
{
    return process_table_at(&fixture->collector->processes, 0);
}

static inline bool was_answered(const struct fixture *fixture)
{
    return fixture->memory.shared->process.state == PROCESS_ANSWERED;
}

/* A child, or a process left to init, that has the test's memory at its descriptor. */
static inline pid_t start_other_as(struct fixture *fixture, bool maps, bool is_left, uid_t uid)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        pid_t parent = getpid();
        if (is_left && fork() != 0)
            _exit(0);
        while (is_left && getppid() == parent)
            usleep(1000);
        if (!maps)
            munmap(fixture->memory.shared, sizeof(struct process_memory));
        if (uid != geteuid() && setresuid(uid, uid, uid) != 0)
            _exit(1);
        pid = getpid();
        (void)!write(ready[1], &pid, sizeof(pid));
        pause();
    }
    if (is_left)
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(read(ready[0], &pid, sizeof(pid)), sizeof(pid));
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static inline pid_t start_other(struct fixture *fixture, bool maps, bool is_left)
{
    return start_other_as(fixture, maps, is_left, geteuid());
}

/* A recorded process with code at 0x1234000. */
static inline struct process *enter_other(struct fixture *fixture, pid_t pid, int pid_fd)
{
    static const char maps[] = "1234000-1235000 r-xp 00000000 08:01 42 /other\n";
    struct own_memory memory = own_memory_make();
    struct process other = {.pid = pid,
                            .pid_fd = pid_fd,
                            .rights = {.uid = geteuid()},
                            .engine = ENGINE_TIMER,
                            .memory = own_memory_mapped(&memory, &fixture->session)};
    assert_int_equal(proc_maps_parse(&other.first_mappings, maps, strlen(maps)), 0);
    own_memory_free(&memory);
    return process_table_add(&fixture->collector->processes, &other);
}
