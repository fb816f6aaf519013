/* SPDX-License-Identifier: MIT */
/*
 * A sample takes 3.8 KiB of the interrupted stack with AVX-512, nearly all of it the kernel's frame. Threads
 * that ask for a small stack may not have that to spare, so they get 16 KiB more than they asked for, below
 * what they see of it.
 */
#include "sampler/threads/thread_stack.h"

#include "sampler/base/next_symbol.h"

#define SMALL_BYTES 65536
#define SAMPLE_BYTES 16384 /* also for processors with larger registers */

/* The size asked for, and the memory if the program brought its own. */
static void read_attributes(const pthread_attr_t *attributes, uint64_t *bytes, uint64_t *given_avma)
{
    void *address = NULL;
    size_t size = 0;
    *bytes = 0;
    *given_avma = 0;
    if (!attributes || pthread_attr_getstack(attributes, &address, &size) != 0)
        return;
    /* Without memory of its own, glibc says "end at 0", which makes the address 0 - size. */
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
    *larger = *attributes; /* what it points to stays the original's */
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
 * The thread's control block lies at the top of the block that holds the stack, whoever allocated it:
 * everything from SP up to it is the stack. The lowest eighth (at most 64 KiB) of the size asked for is left
 * out: there the guard page and, with large static TLS, the end of the block may lie. An SP down there
 * yields the leaf only.
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

/* The stack that makecontext() was given; a context that it did not make says nothing. */
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
