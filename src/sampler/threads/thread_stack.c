/* SPDX-License-Identifier: MIT */
/*
 * A sample takes 3.8 KiB of the interrupted stack with AVX-512, nearly all for the kernel's frame.
 * Threads with a small stack may lack this room, so their stacks are 16 KiB larger than requested,
 * at the low end.
 */
#include "sampler/threads/thread_stack.h"

#include "sampler/base/next_symbol.h"

#define SMALL_BYTES 65536
#define SAMPLE_BYTES 16384 /* also for processors with larger registers */

/* The requested size, and the memory if provided by the program. */
static void read_attributes(const pthread_attr_t *attributes, uint64_t *bytes, uint64_t *given_avma)
{
    void *address = NULL;
    size_t size = 0;
    *bytes = 0;
    *given_avma = 0;
    if (!attributes || pthread_attr_getstack(attributes, &address, &size) != 0)
        return;
    /* Without memory of the program, glibc reports "end at 0", so the address is 0 - size. */
    *bytes = size;
    if (address && (uint64_t)(uintptr_t)address + size != 0)
        *given_avma = (uint64_t)(uintptr_t)address;
}

bool thread_stack_enlarge(const pthread_attr_t *attributes, pthread_attr_t *larger)
{
    uint64_t bytes, given_avma;
    read_attributes(attributes, &bytes, &given_avma);
    if (bytes == 0 || bytes >= SMALL_BYTES || given_avma)
        return false;
    *larger = *attributes; /* a shallow copy: the original owns the targets of the pointers */
    return pthread_attr_setstacksize(larger, bytes + SAMPLE_BYTES) == 0;
}

void thread_stack_note(struct thread_state *thread, const pthread_attr_t *attributes,
                       uint64_t default_bytes)
{
    read_attributes(attributes, &thread->stack_bytes, &thread->stack_given_avma);
    if (thread->stack_bytes == 0)
        thread->stack_bytes = default_bytes;
}

/*
 * The thread's control block lies at the top of the block with the stack, for every allocator of
 * the block: the stack reaches from SP to the control block. The lowest eighth (at most 64 KiB) of
 * the requested size is excluded: the guard page and, with large static TLS, the end of the block
 * may lie there. An SP in this part yields the leaf only.
 */
void thread_stack_set_range(struct thread_state *thread)
{
    uint64_t end_avma = (uint64_t)(uintptr_t)__builtin_thread_pointer();
    uint64_t margin = thread->stack_bytes / 8;
    if (margin > 65536)
        margin = 65536;
    thread->stack_end_avma = end_avma;
    thread->stack_start_avma = thread->stack_given_avma;
    if (!thread->stack_given_avma)
        thread->stack_start_avma = end_avma - thread->stack_bytes + margin;
}

static void set_stack(stack_t *stack, const stack_t *from)
{
    stack->ss_size = 0;
    signal_fence();
    stack->ss_sp = from->ss_sp;
    signal_fence();
    stack->ss_size = from->ss_size;
}

/* The stack passed to makecontext(). Contexts of other origin have no bounds. */
static void note_context(const ucontext_t *context)
{
    struct thread_state *thread = thread_self;
    if (!thread || (uintptr_t)context < 4096) /* the C library answers EFAULT */
        return;
    set_stack(&thread->context_stacks[1], &thread->context_stacks[0]);
    set_stack(&thread->context_stacks[0], &context->uc_stack);
}

int swapcontext(ucontext_t *from, const ucontext_t *to)
{
    note_context(to);
    return NEXT(swapcontext)(from, to);
}

int setcontext(const ucontext_t *context)
{
    note_context(context);
    return NEXT(setcontext)(context);
}
