/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a record, in the order of the pointers of struct stack_copy; wire/records.h has the
 * places of leaf, middle and root in the stack:
 *
 *     header │ record_stack │ record_copy │ frames │ leaf │ words of the middle │ root
 *                                           8 each   bytes  8 each: number, address   bytes
 */
#include "record/sample/stack_copy.h"

#include <string.h>

/* Stands for a word outside the copy: neither an address of code nor of stack. */
#define ABSENT_WORD (UINT64_C(1) << 63)

/* Each size is bounded, and the sum is computed in 64 bits. */
static bool sizes_add_up(const struct stack_copy *copied, size_t size)
{
    const struct record_copy *copy = &copied->copy;
    if (copied->stack.frame_count > RECORD_FRAMES_MAX || copy->leaf_bytes > RECORD_COPY_BYTES_MAX ||
        copy->root_bytes > RECORD_COPY_BYTES_MAX || copy->root_bytes > copy->stack_end_avma ||
        copy->middle_bytes > RECORD_MIDDLE_BYTES_MAX || copy->word_count > copy->middle_bytes / 8 ||
        (copy->leaf_bytes | copy->middle_bytes | copy->root_bytes) % 8 != 0)
        return false;
    uint64_t words = (uint64_t)copied->stack.frame_count + copy->word_count;
    return size == sizeof(copied->header) + sizeof(copied->stack) + sizeof(*copy) + 8 * words +
                       copy->leaf_bytes + copy->root_bytes;
}

bool stack_copy_parse(struct stack_copy *copied, const uint8_t *record, size_t size)
{
    size_t fixed = sizeof(copied->header) + sizeof(copied->stack) + sizeof(copied->copy);
    if (size < fixed)
        return false;
    memcpy(&copied->header, record, sizeof(copied->header));
    memcpy(&copied->stack, record + sizeof(copied->header), sizeof(copied->stack));
    memcpy(&copied->copy, record + sizeof(copied->header) + sizeof(copied->stack),
           sizeof(copied->copy));
    if (!sizes_add_up(copied, size))
        return false;
    copied->frames = (const uint64_t *)(const void *)(record + fixed);
    copied->leaf = (const uint8_t *)(copied->frames + copied->stack.frame_count);
    copied->words = (const uint64_t *)(const void *)(copied->leaf + copied->copy.leaf_bytes);
    copied->root = (const uint8_t *)(copied->words + copied->copy.word_count);
    return record_are_user_frames(copied->frames, copied->stack.frame_count);
}

bool stack_copy_is_whole(const struct stack_copy *copied)
{
    const struct record_copy *copy = &copied->copy;
    uint64_t taken_bytes = (uint64_t)copy->leaf_bytes + copy->root_bytes;
    return copy->stack_end_avma - copy->stack_start_avma <= taken_bytes;
}

/* Puts the leaf and the middle in their places of the stack. */
static bool lay_out(const struct stack_copy *copied, struct buffer *room)
{
    const struct record_copy *copy = &copied->copy;
    uint32_t count = copy->middle_bytes / 8;
    buffer_clear(room);
    buffer_append(room, copied->leaf, copy->leaf_bytes);
    uint64_t *middle = (uint64_t *)(void *)buffer_room(room, copy->middle_bytes);
    if (!middle)
        return false;
    for (uint32_t i = 0; i < count; i++)
        middle[i] = ABSENT_WORD;
    for (uint32_t i = 0; i < copy->word_count; i++) {
        uint64_t word = copied->words[i];
        if (record_word_number(word) < count)
            middle[record_word_number(word)] = record_word_address(word);
    }
    room->size += copy->middle_bytes;
    return true;
}

/* Two views: leaf and middle from SP on, and the root at the stack's end:
 *
 *     SP ├─ leaf ─┤├─ middle: single words ─┤   not copied   ├─ root ─┤ end
 */
bool stack_copy_view(const struct stack_copy *copied, struct buffer *room,
                     struct stack_copy_view *stack)
{
    const struct record_copy *copy = &copied->copy;
    uint64_t start_avma = copy->stack_start_avma, end_avma;
    if (__builtin_add_overflow(start_avma, copy->leaf_bytes + copy->middle_bytes, &end_avma))
        end_avma = start_avma;
    stack->root = (struct stack_view){.lo = copy->stack_end_avma - copy->root_bytes,
                                      .hi = copy->stack_end_avma,
                                      .bytes = copied->root};
    stack->view = (struct stack_view){
        .lo = start_avma, .hi = end_avma, .bytes = copied->leaf, .beyond = &stack->root};
    if (copy->middle_bytes == 0)
        return true;
    if (!lay_out(copied, room))
        return false;
    stack->view.bytes = room->bytes;
    return true;
}
