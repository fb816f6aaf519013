/* SPDX-License-Identifier: MIT */
/*
 * A look at a thread that waits, without stopping it. The kernel shows SP and PC of a thread off
 * the processor; everything else is copied from memory, and may be torn:
 *
 *     schedstat  syscall  stack (kernel)  4 KiB of stack  schedstat  walk ─┬▶ ends inside: done
 *                                              ▲                           │
 *                                              └── 16, 64 … KiB ◀──────────┘ leads out of the copy
 *
 * The thread has not moved if `turns` in schedstat is the same after each copy. A walk out of a
 * signal handler goes on in a second copy, from the interrupted SP.
 */
#include "record/procfs/blocked/blocked_look.h"

#include "record/jit/jit_code.h"

#include <errno.h>
#include <sys/syscall.h>

/* Most stacks fit into the first step. Mappings that hold many stacks (Go's arena) run on for
 * megabytes, so the steps grow only on demand. */
enum { STEP_BYTES = 4 << 10, STEP_FACTOR = 4, STACK_BYTES_MAX = 16 << 20 };
/* A search for a caller ends within this distance. */
enum { SEARCH_STACK_BYTES = 64 << 10 };

/* The system call's arguments are registers of the innermost frame alone: callees of the callers
 * may have changed them. */
static struct full_regs registers_of(const struct blocked_call *call)
{
    static const uint8_t arguments[6] = {5, 4, 1, 10, 8, 9}; /* rdi rsi rdx r10 r8 r9 */
    struct full_regs regs = {.known = 1u << UNWIND_DWARF_PC | 1u << UNWIND_DWARF_SP};
    regs.value[UNWIND_DWARF_PC] = call->pc;
    regs.value[UNWIND_DWARF_SP] = call->sp;
    for (int i = 0; i < 6 && call->state == CALL_WAITING; i++) {
        regs.value[arguments[i]] = call->arguments[i];
        regs.transient |= 1u << arguments[i];
    }
    regs.known |= regs.transient;
    return regs;
}

/* Into the looker's frames from this place on: 0, or after the first frame, whose caller has these
 * registers. */
static struct offline_result walk_at(struct blocked_looker *looker,
                                     const struct look_process *process,
                                     const struct full_regs *regs, const struct stack_view *stack,
                                     size_t place)
{
    struct map_lookup lookup = {.cache = process->modules, .map = process->map};
    struct jit_code jit = {&looker->jit, process->pid, process->map};
    const struct code_map code = {.find = map_lookup_code,
                                  .context = &lookup,
                                  .generated = &jit_generated_code,
                                  .generated_context = &jit,
                                  .cache = &looker->callers,
                                  .generation = process->generation};
    const struct offline_map map = {.find = map_lookup_mapping,
                                    .context = &lookup,
                                    .cache = &looker->rules,
                                    .walks = &looker->walks,
                                    .generation = process->generation,
                                    .code = &code};
    const struct offline_frames out = {.pcs = looker->frames + place,
                                       .max = LOOK_FRAMES_MAX - place};
    struct offline_result result = offline_unwind_in(&map, regs, place > 0, stack, &out);
    looker->is_put_off |= lookup.is_put_off;
    return result;
}

/* The parent of a vfork() waits in clone() or clone3(). Behind the system call these functions have
 * no CFI (glibc, sysdeps/unix/sysv/linux/x86_64/clone3.S), and nothing on the stack. */
static void walk_from_clone(struct blocked_looker *looker, const struct look_process *process,
                            const struct blocked_call *call, const struct stack_view *stack,
                            struct offline_result *result)
{
    bool is_clone = call->number == SYS_clone || call->number == SYS_clone3;
    struct full_regs caller = {.known = 1u << UNWIND_DWARF_PC | 1u << UNWIND_DWARF_SP};
    if (call->state != CALL_WAITING || !is_clone || result->frame_count != 1 ||
        !stack_load(stack, call->sp, &caller.value[UNWIND_DWARF_PC]))
        return;
    caller.value[UNWIND_DWARF_SP] = call->sp + 8;
    struct offline_result rest = walk_at(looker, process, &caller, stack, 1);
    rest.frame_count++;
    if (rest.end == OFFLINE_ROOT || rest.end == OFFLINE_CUT)
        *result = rest;
}

static bool needs_more(const struct offline_result *result, size_t copied_bytes)
{
    switch (result->end) {
    case OFFLINE_ROOT:
    case OFFLINE_TOO_DEEP:
        return false;
    case OFFLINE_CUT:
        return true;
    default: /* the search for a caller, or for a frame pointer, may need words further up */
        return copied_bytes < SEARCH_STACK_BYTES;
    }
}

/* Whether the thread has not run since the look began. files NULL: the thread cannot run. */
static int check_unmoved(const struct thread_files *files, struct blocked_look *look)
{
    struct run_account now = look->account;
    int err = files ? thread_files_account(files, &now) : 0;
    look->result = !err && now.turns != look->account.turns ? LOOK_TORN : LOOK_STACK;
    return err;
}

static bool ends_in_jit_code(const struct look_process *process, const struct look_end *end,
                             const uint64_t *frames)
{
    const uint32_t last = end->frame_count - 1;
    if ((end->why != OFFLINE_NO_CFI && end->why != OFFLINE_NO_CODE) || end->frame_count == 0)
        return false;
    const struct process_mapping *mapping =
        process_map_find(process->map, frames[last] - (last > 0));
    return mapping && !mapping->module;
}

static struct look_end end_of(struct blocked_looker *looker, const struct look_process *process,
                              const struct offline_result *result)
{
    struct look_end end = {.frame_count =
                               (uint32_t)record_user_frames(looker->frames, result->frame_count)};
    const struct jit_stack stack = {.pid = process->pid,
                                    .map = process->map,
                                    .frames = looker->frames,
                                    .count = end.frame_count,
                                    .verified_to = result->verified};
    end.why = end.frame_count == result->frame_count ? result->end_if_whole : OFFLINE_UNMAPPED;
    if (end.why == OFFLINE_ROOT)
        end.before_gap = (uint32_t)jit_frames_before_gap(&looker->jit, &stack);
    if (end.before_gap > 0 || ends_in_jit_code(process, &end, looker->frames))
        end.why = OFFLINE_NO_FP;
    end.is_complete = end.why == OFFLINE_ROOT;
    return end;
}

struct look_end blocked_looker_walk(struct blocked_looker *looker,
                                    const struct look_process *process,
                                    const struct full_regs *regs, const struct stack_view *stack)
{
    struct offline_result result = walk_at(looker, process, regs, stack, 0);
    return end_of(looker, process, &result);
}

/* A look at the stacks of a thread. */
struct stack_look {
    struct blocked_looker *looker;
    const struct look_process *process;
    const struct full_regs *regs;
    const struct thread_files *files; /* NULL: the thread cannot run */
    struct blocked_look *look;
};

static struct offline_result walk_copies(const struct stack_look *s)
{
    const struct stack_view interrupted = remote_stack_view(&s->looker->interrupted);
    struct stack_view view = remote_stack_view(&s->looker->stack);
    view.beyond = s->looker->interrupted.size ? &interrupted : NULL;
    struct offline_result result = walk_at(s->looker, s->process, s->regs, &view, 0);
    walk_from_clone(s->looker, s->process, &s->look->call, &view, &result);
    s->look->end = end_of(s->looker, s->process, &result);
    s->look->inferred_fps = (uint32_t)result.inferred_fps;
    return result;
}

/* Copies more of the stack until the walk ends inside of the copy. */
static int copy_and_walk(const struct stack_look *s, struct remote_stack *stack,
                         struct offline_result *result)
{
    size_t size = STEP_BYTES;
    for (bool is_whole = false; !is_whole && size <= STACK_BYTES_MAX; size *= STEP_FACTOR) {
        int err = remote_stack_grow(stack, size);
        if (err == -ENODATA && stack->size > 0)
            break;
        if (err && err != -ENODATA)
            return err;
        err = check_unmoved(s->files, s->look);
        if (err || s->look->result == LOOK_TORN)
            return err;
        *result = walk_copies(s);
        is_whole = !needs_more(result, stack->size);
    }
    return 0;
}

/* In a handler on an alternate stack, the interrupted stack follows. */
static int take_stack(const struct stack_look *s)
{
    struct blocked_looker *looker = s->looker;
    struct offline_result result = {0};
    pid_t pid = s->process->pid;
    remote_stack_begin(&looker->stack, pid, s->regs->value[UNWIND_DWARF_SP]);
    remote_stack_begin(&looker->interrupted, pid, 0);
    int err = copy_and_walk(s, &looker->stack, &result);
    if (err || s->look->result == LOOK_TORN || result.interrupted_sp == 0)
        return err;
    remote_stack_begin(&looker->interrupted, pid, result.interrupted_sp);
    return copy_and_walk(s, &looker->interrupted, &result);
}

static enum look_result result_of(enum call_state state)
{
    return state == CALL_RUNNING     ? LOOK_RUNNING
           : state == CALL_STACKLESS ? LOOK_STACKLESS
                                     : LOOK_STACK;
}

/* A turn between the first and the last read of the account means a torn look: the thread ran. The
 * order of reads: account, system call, kernel stack, user stack, account. */
struct blocked_look blocked_look(struct blocked_looker *looker, const struct look_process *process,
                                 const struct thread_files *files)
{
    struct blocked_look look = {0};
    look.error = thread_files_account(files, &look.account);
    if (!look.error)
        look.error = thread_files_call(files, &look.call);
    look.result = result_of(look.call.state);
    const struct full_regs regs = registers_of(&look.call);
    const struct stack_look stack_look = {looker, process, &regs, files, &look};
    thread_files_kernel_stack(files, looker->kernel_stack, sizeof(looker->kernel_stack));
    if (!look.error && look.result == LOOK_STACK)
        look.error = take_stack(&stack_look);
    if (look.error)
        look.result = LOOK_FAILED;
    return look;
}

struct blocked_look blocked_look_from(struct blocked_looker *looker,
                                      const struct look_process *process,
                                      const struct full_regs *regs)
{
    struct blocked_look look = {0};
    const struct stack_look stack_look = {looker, process, regs, NULL, &look};
    look.error = take_stack(&stack_look);
    if (look.error)
        look.result = LOOK_FAILED;
    return look;
}

void blocked_looker_free(struct blocked_looker *looker)
{
    remote_stack_free(&looker->stack);
    remote_stack_free(&looker->interrupted);
    two_way_cache_free(&looker->rules);
    unwind_cache_free(&looker->walks);
    caller_cache_free(&looker->callers);
    jit_frames_free(&looker->jit);
}
