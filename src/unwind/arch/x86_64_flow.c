/* SPDX-License-Identifier: MIT */
#include "unwind/arch/x86_64_flow.h"

#include "unwind/arch/x86_64_effect.h"

enum {
    PENDING_MAX = 512, /* places to be followed */
};

struct pending {
    size_t at;
    struct flow_state state;
};

struct pending_list {
    struct pending items[PENDING_MAX];
    size_t count;
};

struct follower {
    struct flow *flow;
    struct pending_list jumps; /* targets */
    struct pending_list calls; /* instructions behind calls */
    bool has_left;             /* by a return, or a tail call that cannot be a jump inside */
    bool has_conflict;         /* two paths meet and disagree */
};

enum branch { GOES_ON, CALLS, MAY_JUMP, JUMPS, LEAVES, RETURNS, STOPS, REFUSED };

static enum branch branch_of(const struct instruction *in)
{
    const uint8_t hlt = 0xf4, int3 = 0xcc, ud2 = 0x0b;
    unsigned extension = in->modrm ? *in->modrm >> 3 & 7 : 0;
    if (!in->is_plain)
        return (in->second & 0xf0) == 0x80               ? MAY_JUMP
               : in->opcode == 0x0f && in->second == ud2 ? STOPS
                                                         : GOES_ON;
    switch (in->opcode) {
    case 0xe8:
        return CALLS;
    case 0xe9:
    case 0xeb:
        return JUMPS;
    case 0xc3:
        return RETURNS;
    case 0xc2:
    case 0xca:
    case 0xcb:
    case 0xcf:
        return REFUSED;
    case 0xff:
        return extension == 2                     ? CALLS
               : extension == 4                   ? LEAVES
               : extension == 3 || extension == 5 ? REFUSED
                                                  : GOES_ON;
    default:
        if (in->opcode == hlt || in->opcode == int3)
            return STOPS;
        bool may_jump = (in->opcode & 0xf0) == 0x70 || (in->opcode & 0xfc) == 0xe0;
        return may_jump ? MAY_JUMP : GOES_ON;
    }
}

static bool put_off(struct pending_list *list, size_t at, const struct flow_state *state)
{
    if (list->count == PENDING_MAX)
        return false;
    list->items[list->count++] = (struct pending){at, *state};
    return true;
}

/* A jump inside of the function, or to another function: a tail call. A cold part far away jumps
 * back into its function, maybe to a place like a start: no proof of a function. */
static bool jump(struct follower *f, const struct instruction *in, size_t at,
                 const struct flow_state *state)
{
    const struct flow *flow = f->flow;
    bool is_byte = in->is_plain && in->opcode != 0xe9;
    int64_t target = (int64_t)(at + in->bytes) + x86_64_immediate(in, is_byte);
    bool is_inside = target >= 0 && target < (int64_t)flow->bytes;
    bool is_firm = false;
    bool is_tail_call = state->depth == 0 && flow->starts(flow->context, target, &is_firm);
    f->has_left |= is_tail_call && is_firm;
    return is_tail_call || (is_inside && put_off(&f->jumps, (size_t)target, state));
}

static bool is_same(const struct flow_state *a, const struct flow_state *b)
{
    return a->depth == b->depth && a->fp_depth == b->fp_depth && a->fp_word == b->fp_word;
}

/* Marks the bytes of an instruction; false: another instruction overlaps. */
static bool mark(struct flow *flow, size_t at, size_t bytes, const struct flow_state *state)
{
    for (size_t i = 0; i < bytes; i++)
        if (flow->states[at + i].kind != FLOW_UNKNOWN)
            return false;
    for (size_t i = 0; i < bytes; i++)
        flow->states[at + i].kind = FLOW_INSIDE;
    flow->states[at] = *state;
    flow->states[at].kind = FLOW_AT;
    flow->reached[flow->reached_count++] = (uint32_t)at;
    return true;
}

static bool is_nop(const struct instruction *in)
{
    return in->is_plain ? in->opcode == 0x90 : in->opcode == 0x0f && in->second == 0x1f;
}

/* Whether a path ends at a function's start, where the function has a second entry. Behind a call
 * without return another function starts. */
static bool ends_at_start(struct follower *f, size_t at, const struct flow_state *state,
                          bool is_behind_call, bool *is_good)
{
    bool is_firm;
    if (!f->flow->starts(f->flow->context, (int64_t)at, &is_firm))
        return false;
    *is_good = state->depth == 0 && !is_behind_call;
    f->has_left |= *is_good && is_firm;
    return is_firm || *is_good || is_behind_call;
}

/* Whether another function may start behind a call: behind padding, or with a prologue. */
static bool may_start(const struct instruction *in, uint64_t address, bool is_behind_padding)
{
    enum { RBX = 3, R12 = 12, SUB_SP = 0xec, ENDBR = 0x1e, CODE_ALIGNMENT = 16 };
    unsigned reg = (in->opcode & 7u) | (in->rex & (unsigned)REX_B) << 3;
    if (is_behind_padding && address % CODE_ALIGNMENT == 0)
        return true;
    if (!in->is_plain)
        return in->opcode == 0x0f && in->second == ENDBR;
    bool is_push = (in->opcode & 0xf8) == 0x50 && (reg == RBX || reg == RBP || reg >= R12);
    return is_push || ((in->opcode == 0x83 || in->opcode == 0x81) && *in->modrm == SUB_SP);
}

static bool meets(struct follower *f, const struct flow_state *there,
                  const struct flow_state *state)
{
    f->has_conflict |= !is_same(there, state);
    return is_same(there, state);
}

/* Whether an indirect jump may lead to a label of its own function: through a register, as in code
 * written by hand, or through a table. */
static bool may_jump_inside(const struct instruction *in)
{
    const unsigned has_index = 4;
    return x86_64_rm_is_register(in) || (*in->modrm & 7u) == has_index;
}

/* Follows a path until it ends or meets another. A call may never return, so what lies behind is
 * another path. */
static bool follow_path(struct follower *f, size_t at, struct flow_state state, bool is_behind_call)
{
    struct flow *flow = f->flow;
    bool is_good, is_behind_padding = false;
    for (bool is_entry = !is_behind_call; at < flow->bytes; is_entry = false) {
        if (!is_entry && ends_at_start(f, at, &state, is_behind_call, &is_good))
            return is_good;
        if (flow->states[at].kind == FLOW_AT)
            return meets(f, &flow->states[at], &state);
        struct instruction in = x86_64_decode(flow->code + at, flow->bytes - at);
        if (in.bytes == 0 || !flow_may_step(flow) ||
            (is_behind_call && may_start(&in, flow->svma + at, is_behind_padding)) ||
            !mark(flow, at, in.bytes, &state))
            return false;
        enum branch branch = branch_of(&in);
        if (branch == RETURNS || branch == LEAVES) {
            f->has_left |= state.depth == 0 && (branch == RETURNS || !may_jump_inside(&in));
            return state.depth == 0 || branch == LEAVES; /* a table of jumps */
        }
        if (branch == REFUSED || branch == STOPS)
            return branch == STOPS;
        if ((branch == JUMPS || branch == MAY_JUMP) && !jump(f, &in, at, &state))
            return false;
        if (branch == JUMPS)
            return true;
        if (branch == CALLS)
            return put_off(&f->calls, at + in.bytes, &state);
        if (branch == GOES_ON && !x86_64_effect(&state, &in))
            return false;
        is_behind_call = is_behind_padding = is_behind_call && is_nop(&in);
        at += in.bytes;
    }
    return false;
}

/* Follows a path and all jumps from there. */
static bool follow_all(struct follower *f, size_t at, struct flow_state state, bool is_behind_call)
{
    bool is_good = follow_path(f, at, state, is_behind_call);
    while (is_good && f->jumps.count > 0) {
        struct pending next = f->jumps.items[--f->jumps.count];
        is_good = follow_path(f, next.at, next.state, false);
    }
    f->jumps.count = 0;
    return is_good;
}

/* Behind the calls: a path that leads nowhere means a call without return. */
static void follow_calls(struct follower *f)
{
    while (f->calls.count > 0 && !f->has_conflict) {
        struct pending next = f->calls.items[--f->calls.count];
        size_t reached = f->flow->reached_count, calls = f->calls.count;
        bool had_left = f->has_left;
        if (follow_all(f, next.at, next.state, true))
            continue;
        flow_forget(f->flow, reached);
        f->calls.count = calls;
        f->has_left = had_left;
    }
}

bool x86_64_flow_follow(struct flow *flow, size_t start)
{
    struct follower f;
    bool is_firm = false;
    f.flow = flow;
    f.jumps.count = f.calls.count = 0;
    f.has_left = f.has_conflict = false;
    flow->reached_count = 0;
    bool is_good = start < flow->bytes && flow->states[start].kind == FLOW_UNKNOWN &&
                   follow_all(&f, start, (struct flow_state){0}, false);
    if (is_good)
        follow_calls(&f);
    /* A label inside of a function may be followed up to the end, but not back to the caller. */
    bool is_start =
        flow->starts(flow->context, (int64_t)start, &is_firm) && (is_firm || f.has_left);
    is_good = is_good && is_start && !f.has_conflict;
    if (!is_good)
        flow_forget(flow, 0);
    return is_good;
}
