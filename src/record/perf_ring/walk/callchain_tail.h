/* SPDX-License-Identifier: MIT */
/*
 * Frames beyond a cut copy of the stack, from the kernel's callchain of frame pointers:
 *
 *     walk by CFI   leaf ─ f1 ─ f2 ─ f3 ─ f4 ┊ end of the copy
 *     callchain     leaf ─────  f2 ─ f3 ─ f4 ─ f5 ─ f6 ─ root[0]      f1 keeps no frame pointer
 *     root          of complete stacks:                   root[0] ─ root[1] ─ root[2]
 *
 * The last frames of the walk must be in the callchain, one after the other. A tail is complete
 * where the frames of all complete stacks of the thread's kind begin.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Below main() and start routines: two to three functions of the C library. */
enum { ROOT_FRAMES = 3 };

/* The outermost frames of a complete stack; count 0: none was seen. */
struct root_frames {
    uint64_t avmas[ROOT_FRAMES];
    size_t count;
};

/* frames: of a complete stack. is_main: of the main thread. */
void root_frames_note(struct root_frames *root, bool is_main, const uint64_t *frames, size_t count);

/* Frames, of a walk cut at the end of the copy, and the places behind. */
struct cut_walk {
    uint64_t *frames;
    size_t count, room;
};

/* Appends the callchain's frames beyond the walk; user addresses only. True: the stack is
 * complete. */
bool callchain_tail_append(struct cut_walk *walk, const uint64_t *chain, size_t chain_count,
                           const struct root_frames *root);
