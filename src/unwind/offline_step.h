/* SPDX-License-Identifier: MIT */
/* One step of the offline unwinder: from a frame to its caller. offline.c walks with these. */
#pragma once

#include "unwind/code/evidence.h"
#include "unwind/offline_map.h"

/* Callers found by the caller search in a walk. */
struct offline_callers {
    size_t verified, plausible;
};

struct offline_walk {
    const struct offline_map *map;
    const struct stack_view *stack;
    struct stack_frame frame; /* the frame reached */
    struct full_regs full;    /* of an earlier frame, or the same */
    bool full_is_return_address;
    size_t behind; /* how many frames earlier */
    bool has_lost_sp;
    bool is_interrupted;   /* a signal interrupted the frame; its stack may be another one */
    bool leads_nowhere;    /* the last frame pointer step led to unmapped code */
    bool may_be_entered;   /* the function that entered the code may be behind the bytes */
    uint64_t chain_end_sp; /* of the frame behind the last frame record with an FP of 0; 0: none */
    enum caller_evidence evidence; /* of the last caller search; CALLER_NONE: none needed */
    struct offline_callers searched;
    bool has_followed_fp; /* a step by frame pointer alone */
    size_t verified;      /* frames before; SIZE_MAX: all */
    size_t inferred_fps;
    size_t steps; /* frames not of the cache */
};

/* The rule at a PC. Large programs have half a million rows. */
struct offline_place {
    struct two_way_cache_key key;
    const struct unwind_module *module; /* NULL: no CFI */
    uint64_t bias;
    uint32_t rule;
};

/* False: nothing is mapped there. */
bool offline_find_place(const struct offline_walk *walk, uint64_t pc, struct offline_place *place);

/* A frame with its registers: PC, SP, and FP if known. */
struct stack_frame offline_frame_of(const struct full_regs *full, bool is_return_address);

/* Steps to the caller of the walk's frame, at this place. */
enum unwind_result offline_step(struct offline_walk *walk, const struct offline_place *place);
