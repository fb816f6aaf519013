/* SPDX-License-Identifier: MIT */
/*
 * From the cheapest evidence to the dearest: state of the thread; number of the system call; for a
 * futex the function of the C library, by
 *
 *     the frame of a known function       pthread_mutex_lock
 *     the call before a return address    sem_wait ─jmp─▶ unnamed function, without a frame of
 *                                         sem_wait
 *
 * The functions of a module are read once, by families of names (wait_functions.c).
 */
#include "record/procfs/blocked/wait_reason.h"

#include "base/containers/array.h"
#include "record/procfs/blocked/wait_calls.h"
#include "unwind/arch/machine.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* __owner of a pthread mutex, from the futex word on: the same in all of glibc for x86-64. */
#define MUTEX_OWNER_BYTES 8
enum { FRAMES_LOOKED_AT = 16, MODULES_MAX = 64 };
/* The longest PLT stub: endbr64; bnd jmp *slot(%rip) */
enum { JUMP_BYTES = 12 };

static const struct wait_functions *
functions_of(struct wait_modules *modules, struct module_cache *cache, struct known_module *module)
{
    for (size_t i = 0; i < modules->count; i++)
        if (modules->modules[i].module == module)
            return &modules->modules[i].functions;
    struct wait_module *added =
        modules->count < MODULES_MAX
            ? ARRAY_PUSH(modules->modules, modules->count, modules->capacity)
            : NULL;
    if (!added)
        return NULL;
    *added = (struct wait_module){.module = module};
    known_module_use(module);
    struct elf_file *elf = module_cache_open_file(cache, module);
    if (elf)
        (void)wait_functions_read(&added->functions, elf);
    elf_close(elf);
    return &added->functions;
}

static bool read_memory(pid_t pid, uint64_t avma, void *out, size_t size)
{
    struct iovec local = {out, size}, remote = {(void *)(uintptr_t)avma, size};
    return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* The function called before a return address, also through a PLT stub; 0: unknown. */
static uint64_t read_called_avma(pid_t pid, uint64_t return_avma)
{
    uint8_t code[JUMP_BYTES];
    uint64_t target_avma = 0;
    const struct machine_code *machine = unwind_machine_own()->code;
    if (!machine || !read_memory(pid, return_avma - CODE_CALL_BYTES_MAX, code, CODE_CALL_BYTES_MAX))
        return 0;
    struct code_branch call = machine->call_before(code, CODE_CALL_BYTES_MAX, return_avma);
    if (call.kind == BRANCH_DIRECT && read_memory(pid, call.svma, code, sizeof(code))) {
        struct code_branch jump = machine->jump_at(code, sizeof(code), call.svma);
        if (jump.kind != BRANCH_SLOT)
            return call.svma;
        call = jump;
    }
    if (call.kind == BRANCH_SLOT && read_memory(pid, call.svma, &target_avma, sizeof(target_avma)))
        return target_avma;
    return 0;
}

static uint64_t called_avma(struct wait_modules *modules, const struct look_process *process,
                            uint64_t return_avma)
{
    struct wait_called *known = &modules->called[return_avma % WAIT_CALLS_KNOWN];
    if (known->pid != process->pid || known->generation != process->generation ||
        known->return_avma != return_avma)
        *known = (struct wait_called){process->pid, process->generation, return_avma,
                                      read_called_avma(process->pid, return_avma)};
    return known->called_avma;
}

/* The modules are few: of the functions in which threads wait. */
static enum wait_kind kind_at(struct wait_modules *modules, const struct look_process *process,
                              uint64_t avma)
{
    const struct process_mapping *mapping = process_map_find(process->map, avma);
    if (!mapping || !mapping->module)
        return WAIT_OTHER;
    const struct wait_functions *functions =
        functions_of(modules, process->modules, mapping->module);
    return functions ? wait_functions_find(functions, avma - mapping->bias) : WAIT_OTHER;
}

static bool is_in_module_of(const struct look_process *process, uint64_t avma, uint64_t other_avma)
{
    const struct process_mapping *mapping = process_map_find(process->map, avma);
    const struct process_mapping *other = process_map_find(process->map, other_avma);
    return mapping && other && mapping->module == other->module;
}

/* By the functions of the frames in the C library, and by the calls that created the frames:
 * sem_wait() goes on to an unnamed function by a tail call, and has no frame then. */
static enum wait_kind kind_by_frames(struct wait_modules *modules,
                                     const struct look_process *process, const uint64_t *frames,
                                     size_t count)
{
    for (size_t i = 0; i < count && i < FRAMES_LOOKED_AT; i++) {
        uint64_t pc = unwind_lookup_pc(frames[i], i > 0);
        if (!is_in_module_of(process, pc, frames[0]))
            break;
        enum wait_kind kind = kind_at(modules, process, pc);
        if (kind == WAIT_OTHER && i + 1 < count)
            kind = kind_at(modules, process, called_avma(modules, process, frames[i + 1]));
        if (kind != WAIT_OTHER)
            return kind;
    }
    return WAIT_OTHER;
}

static pid_t read_holder(pid_t pid, uint64_t mutex_avma)
{
    int32_t owner;
    bool is_read = read_memory(pid, mutex_avma + MUTEX_OWNER_BYTES, &owner, sizeof(owner));
    return is_read && owner > 0 ? owner : 0;
}

static void explain_futex(struct wait_reason *reason, struct wait_modules *modules,
                          const struct look_process *process, const struct blocked_look *look,
                          const uint64_t *frames)
{
    enum wait_kind kind = kind_by_frames(modules, process, frames, look->end.frame_count);
    reason->kind = kind == WAIT_OTHER ? WAIT_FUTEX : kind;
    reason->futex_avma = look->call.arguments[0];
    if (reason->kind == WAIT_LOCK)
        reason->holder = read_holder(process->pid, reason->futex_avma);
}

static void explain_call(struct wait_reason *reason, const struct blocked_call *call)
{
    const struct wait_call *known = wait_call_find(call->number);
    if (!known)
        return;
    reason->kind = known->kind;
    reason->call = known->name;
    if (known->descriptor >= 0)
        reason->descriptor = (int)call->arguments[known->descriptor];
    if (call->number == SYS_poll || call->number == SYS_ppoll)
        reason->polled = (uint32_t)call->arguments[1];
    if (call->number == SYS_wait4 && (int)call->arguments[0] > 0)
        reason->child = (pid_t)call->arguments[0];
    if (call->number == SYS_waitid && call->arguments[0] == 1 && call->arguments[1] <= INT_MAX)
        reason->child = (pid_t)call->arguments[1]; /* P_PID */
}

struct wait_reason wait_reason_find(struct wait_modules *modules,
                                    const struct look_process *process,
                                    const struct blocked_look *look, const uint64_t *frames,
                                    char state)
{
    struct wait_reason reason = {.kind = WAIT_OTHER, .descriptor = -1};
    if (look->call.state == CALL_WAITING)
        explain_call(&reason, &look->call);
    if (state == 'T' || state == 't')
        reason.kind = WAIT_STOPPED;
    else if (look->call.state == CALL_FAULTING)
        reason.kind = state == 'D' ? WAIT_DISK : WAIT_FAULT;
    else if (reason.kind == WAIT_FUTEX)
        explain_futex(&reason, modules, process, look, frames);
    else if (look->call.number == SYS_restart_syscall) /* continues a call after a stop */
        reason.kind = kind_by_frames(modules, process, frames, look->end.frame_count);
    else if (state == 'D' && reason.kind == WAIT_OTHER)
        reason.kind = WAIT_DISK;
    return reason;
}

void wait_modules_free(struct wait_modules *modules)
{
    for (size_t i = 0; i < modules->count; i++) {
        wait_functions_free(&modules->modules[i].functions);
        known_module_release(modules->modules[i].module);
    }
    free(modules->modules);
    *modules = (struct wait_modules){0};
}
