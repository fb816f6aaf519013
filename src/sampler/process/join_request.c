/* SPDX-License-Identifier: MIT */
#include "sampler/process/join_request.h"

#include "sampler/arch/arch.h"
#include "sampler/base/own_call.h"
#include "sampler/process/exit_time.h"
#include "sampler/process/launcher.h"

static void set_name(struct join_request *request)
{
    if (process.slot) {
        arch_copy(request->name, process.slot->name, sizeof(request->name));
        return;
    }
    request->name[0] = '\0';
    own_syscall(GET_NAME, PR_GET_NAME, request->name);
}

/* NULL: none is free. */
static struct join_request *claim(void)
{
    struct requests *requests = process.requests;
    for (uint32_t i = 0; i < SESSION_REQUESTS; i++) {
        struct join_request *request = &requests->requests[i];
        if (load_relaxed(&request->state) != REQUEST_FREE ||
            !swap_acq_rel(&request->state, REQUEST_FREE, REQUEST_CLAIMED))
            continue;
        raise_to(&requests->used, i + 1);
        request->pid = process.pid;
        set_name(request);
        return request;
    }
    add_relaxed(&requests->lost_no_request, 1);
    return NULL;
}

static void refuse(struct join_request *request, enum request_reason reason)
{
    request->reason = reason;
    store_release(&request->state, REQUEST_REFUSED); /* publishes the reason */
    ring_doorbell();
}

void join_request_refuse(enum request_reason reason)
{
    struct join_request *request = claim();
    if (request)
        refuse(request, reason);
}

/* Takes the request back, unless the launcher has answered in the meantime. */
static bool is_answered(void)
{
    uint32_t *state = &process.slot->state;
    return !swap_acq_rel(state, PROCESS_REQUESTED, PROCESS_WITHDRAWN) &&
           !swap_acq_rel(state, PROCESS_TAKEN, PROCESS_WITHDRAWN);
}

/* A launcher that replied without an answer in the process' memory cannot see this process. */
static void end(struct join_request *request, bool was_answered)
{
    if (swap_acq_rel(&request->state, REQUEST_MADE, REQUEST_CLAIMED))
        refuse(request, REQUEST_LATE);
    else if (swap_acq_rel(&request->state, REQUEST_TAKEN, REQUEST_ABANDONED))
        return;
    else if (was_answered)
        swap_acq_rel(&request->state, REQUEST_REPLIED, REQUEST_FREE);
    else
        refuse(request, REQUEST_UNSEEN);
}

static void await_reply(struct join_request *request)
{
    bool is_command = process.parent_pid == process.tables->header.launcher_pid;
    if (is_command) /* without the wake-ups before its exec */
        account_note();
    store_release(&request->state, REQUEST_MADE); /* publishes the request */
    launcher_await(&request->state, REQUEST_REPLIED,
                   is_command ? SESSION_WAIT_COMMAND_NS : SESSION_WAIT_BUSY_NS);
}

static struct join_request *claim_for(uint32_t memory_fd, uint64_t memory_inode, bool wants_size)
{
    struct join_request *request = claim();
    if (!request)
        return NULL;
    request->memory_fd = memory_fd;
    request->memory_inode = memory_inode;
    request->wants_size = wants_size;
    request->copy_of = wants_size ? 0 : process.slot->copy_of;
    return request;
}

void join_request_size(uint32_t memory_fd, uint64_t memory_inode)
{
    struct join_request *request = claim_for(memory_fd, memory_inode, true);
    if (!request)
        return;
    await_reply(request);
    end(request, true);
}

void join_request_make(uint32_t memory_fd, uint64_t memory_inode)
{
    struct join_request *request = claim_for(memory_fd, memory_inode, false);
    if (!request)
        return;
    store_release(&process.slot->state, PROCESS_REQUESTED); /* publishes the slot */
    await_reply(request);
    end(request, is_answered());
}
