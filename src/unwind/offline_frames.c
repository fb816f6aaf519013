/* SPDX-License-Identifier: MIT */
#include "unwind/offline_frames.h"

static void swap_frames(const struct offline_frames *frames, size_t a, size_t b)
{
    uint64_t pc = frames->pcs[a];
    frames->pcs[a] = frames->pcs[b];
    frames->pcs[b] = pc;
    if (!frames->are_return_addresses)
        return;
    bool is_return_address = frames->are_return_addresses[a];
    frames->are_return_addresses[a] = frames->are_return_addresses[b];
    frames->are_return_addresses[b] = is_return_address;
}

static void reverse_frames(const struct offline_frames *frames, size_t start, size_t end)
{
    for (; start + 1 < end; start++, end--)
        swap_frames(frames, start, end - 1);
}

/* Rotates the circular part, the oldest frame to the front, by three reversals in place:
 *
 *     leaf │ 7 8 5 6     reversed in halves: 8 7 6 5, then as a whole: 5 6 7 8
 */
size_t offline_frames_settle(const struct offline_frames *frames, size_t frame_count)
{
    if (frame_count <= frames->max)
        return 0;
    size_t leaf = frames->leaf_max, max = frames->max;
    size_t oldest = leaf + (frame_count - leaf) % (max - leaf);
    reverse_frames(frames, leaf, oldest);
    reverse_frames(frames, oldest, max);
    reverse_frames(frames, leaf, max);
    return frame_count - max;
}
