/* SPDX-License-Identifier: MIT */
#include "record/procfs/blocked/remote_stack.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/uio.h>

#define PAGE_BYTES 4096
enum { PIECES_MAX = 256 };

void remote_stack_begin(struct remote_stack *stack, pid_t pid, uint64_t sp_avma)
{
    stack->size = 0;
    stack->sp_avma = sp_avma;
    stack->pid = pid;
}

static int make_room(struct remote_stack *stack, size_t size)
{
    if (size <= stack->capacity)
        return 0;
    uint8_t *bytes = realloc(stack->bytes, size);
    if (!bytes)
        return -ENOMEM;
    stack->bytes = bytes;
    stack->capacity = size;
    return 0;
}

/* Pieces that end at page borders: a transfer stops before the first piece with an unmapped page
 * (process_vm_readv(2)). */
static size_t cut(struct iovec *pieces, uint64_t avma, size_t bytes)
{
    size_t most = (bytes / PIECES_MAX + PAGE_BYTES) & ~(size_t)(PAGE_BYTES - 1), count = 0;
    while (bytes > 0 && count < PIECES_MAX) {
        size_t piece = most - (avma & (PAGE_BYTES - 1));
        piece = piece < bytes ? piece : bytes;
        pieces[count++] = (struct iovec){(void *)(uintptr_t)avma, piece};
        avma += piece;
        bytes -= piece;
    }
    return count;
}

int remote_stack_grow(struct remote_stack *stack, size_t size)
{
    struct iovec pieces[PIECES_MAX];
    int err = make_room(stack, size);
    if (err || size <= stack->size)
        return err ? err : -ENODATA;
    uint64_t avma = stack->sp_avma + stack->size, end;
    if (__builtin_add_overflow(stack->sp_avma, size, &end))
        return -ENODATA;
    struct iovec local = {stack->bytes + stack->size, size - stack->size};
    size_t count = cut(pieces, avma, local.iov_len);
    /* A partial read ends at a piece: fewer bytes than requested are no error. */
    ssize_t got = process_vm_readv(stack->pid, &local, 1, pieces, count, 0);
    if (got < 0)
        return errno == EFAULT ? -ENODATA : -errno;
    stack->size += (size_t)got;
    return got > 0 ? 0 : -ENODATA;
}

struct stack_view remote_stack_view(const struct remote_stack *stack)
{
    return (struct stack_view){
        .lo = stack->sp_avma, .hi = stack->sp_avma + stack->size, .bytes = stack->bytes};
}

void remote_stack_free(struct remote_stack *stack)
{
    free(stack->bytes);
    *stack = (struct remote_stack){0};
}
