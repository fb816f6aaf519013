/* SPDX-License-Identifier: MIT */
#include "unwind/arch/x86_64_prologue.h"

#include <stdbool.h>
#include <string.h>

enum { PATTERN_BYTES = 13 };

/* The byte ANY matches all values. */
#define ANY (-1)
struct prologue {
    size_t bytes;
    int16_t pattern[PATTERN_BYTES];
    enum code_fp fp;
};

/* A frame set up by several of these ends with the instruction that sets FP. */
static const struct prologue prologues[] = {
    {3, {0x48, 0x89, 0xe5}, CODE_FP_SET},                               /* mov %rsp, %rbp */
    {3, {0x48, 0x8b, 0xec}, CODE_FP_SET},                               /* the same */
    {4, {0x48, 0x8d, 0x6c, 0x24}, CODE_FP_SET},                         /* lea n(%rsp), %rbp */
    {4, {0x48, 0x8d, 0xac, 0x24}, CODE_FP_SET},                         /* the same, large n */
    {3, {0x8f, 0x45, 0x08}, CODE_FP_SET},                               /* pop 8(%rbp) */
    {4, {0x55, 0x48, 0x83, 0xec}, CODE_FP_FREE},                        /* push; sub */
    {4, {0x55, 0x48, 0x81, 0xec}, CODE_FP_FREE},                        /* the same, large n */
    {8, {0x48, 0x83, 0xec, ANY, 0x48, 0x89, 0x6c, 0x24}, CODE_FP_FREE}, /* sub; mov */
    {11, {0x48, 0x81, 0xec, ANY, ANY, ANY, ANY, 0x48, 0x89, 0x6c, 0x24}, CODE_FP_FREE},
    {11, {0x48, 0x81, 0xec, ANY, ANY, ANY, ANY, 0x48, 0x89, 0xac, 0x24}, CODE_FP_FREE},
};

static bool is_at(const struct prologue *prologue, const uint8_t *bytes, size_t size)
{
    bool is_equal = size >= prologue->bytes;
    for (size_t i = 0; is_equal && i < prologue->bytes; i++)
        is_equal = prologue->pattern[i] == ANY || prologue->pattern[i] == bytes[i];
    return is_equal;
}

/* mov between a register and -n(%rbp). Where FP is free, it may point to an object: its fields
 * have positive offsets. */
static bool is_move_below_fp(const uint8_t *bytes, size_t size)
{
    enum { NEAR_BYTES = 4, FAR_BYTES = 7 };
    if (size < NEAR_BYTES || (bytes[0] & 0xfb) != 0x48 || (bytes[1] & 0xfd) != 0x89)
        return false;
    bool is_near = (bytes[2] & 0xc7) == 0x45, is_far = (bytes[2] & 0xc7) == 0x85;
    return (is_near && bytes[3] >= 0x80) || (is_far && size >= FAR_BYTES && bytes[6] == 0xff);
}

static enum code_fp fp_at(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof(prologues) / sizeof(prologues[0]); i++)
        if (is_at(&prologues[i], bytes, size))
            return prologues[i].fp;
    return is_move_below_fp(bytes, size) ? CODE_FP_SET : CODE_FP_UNKNOWN;
}

enum code_fp x86_64_fp_before_end(const uint8_t *bytes, size_t size)
{
    enum code_fp fp = CODE_FP_UNKNOWN;
    for (size_t at = size; at-- > 0 && fp == CODE_FP_UNKNOWN;)
        fp = fp_at(bytes + at, size - at);
    return fp;
}

enum code_fp x86_64_fp_from_start(const uint8_t *bytes, size_t size)
{
    enum code_fp fp = CODE_FP_UNKNOWN;
    for (size_t at = 0; at < size && fp == CODE_FP_UNKNOWN; at++)
        fp = fp_at(bytes + at, size - at);
    return fp;
}

struct code_entry x86_64_realigning_entry(const uint8_t *bytes, size_t size)
{
    enum { LEAST_BYTES = 4096, ENTRY_BYTES = 11, MASK_AT = 10 };
    static const struct prologue entry = {
        ENTRY_BYTES, {0x48, 0x81, 0xec, ANY, ANY, ANY, ANY, 0x48, 0x83, 0xe4, ANY}, CODE_FP_FREE};
    for (size_t at = 0; at < size; at++) {
        int32_t frame_bytes;
        if (!is_at(&entry, bytes + at, size - at))
            continue;
        memcpy(&frame_bytes, bytes + at + 3, sizeof(frame_bytes));
        uint64_t alignment = 0x100u - bytes[at + MASK_AT];
        bool is_mask = alignment <= 0x80 && (alignment & (alignment - 1)) == 0;
        if (is_mask && frame_bytes >= LEAST_BYTES)
            return (struct code_entry){(uint64_t)frame_bytes, alignment};
    }
    return (struct code_entry){0};
}
