/* SPDX-License-Identifier: MIT */
/*
 * The evaluation runs with registers of partly unknown value. A result computed from an unknown
 * value is unknown, and a test of an unknown value takes both branches. Jumps go forward only, so
 * each branch ends.
 *
 *     jeq #1, …   A is unknown ─┬─▶ this branch now
 *                               └─▶ the other branch later, from `pending`
 */
#include "sampler/seccomp/seccomp_eval.h"

#include <stddef.h>

#define STEPS_MAX 32768u /* eight times the longest filter */
#define PENDING_MAX 8u

enum { A = BPF_MEMWORDS, X, REGISTERS };
_Static_assert(A == 16, "the scratch memory comes first");

struct machine {
    uint32_t at;    /* the next instruction */
    uint32_t known; /* bit i: registers[i] has a definite value */
    uint32_t registers[REGISTERS];
};

enum outcome { GOES_ON, FORKS, ALLOWS, REFUSES };

static bool is_known(const struct machine *machine, uint32_t index)
{
    return machine->known >> index & 1;
}

static void set(struct machine *machine, uint32_t index, uint32_t value, bool known)
{
    machine->registers[index] = value;
    machine->known = (machine->known & ~(1u << index)) | (uint32_t)known << index;
}

static void copy(struct machine *machine, uint32_t to, uint32_t from)
{
    set(machine, to, machine->registers[from], is_known(machine, from));
}

static bool field_is_known(const struct seccomp_call *call, uint32_t offset)
{
    if (offset < offsetof(struct seccomp_data, instruction_pointer))
        return true;
    if (offset < offsetof(struct seccomp_data, args))
        return false;
    return !(call->unknown >> (offset - offsetof(struct seccomp_data, args)) / 8 & 1);
}

static enum outcome load(struct machine *machine, const struct sock_filter *instruction,
                         const struct seccomp_call *call, uint32_t to)
{
    uint32_t k = instruction->k, word;
    switch (instruction->code & ~BPF_CLASS(0xff)) {
    case BPF_W | BPF_ABS:
        if (to != A || k % 4 != 0 || k >= sizeof(call->data))
            return REFUSES;
        __builtin_memcpy(&word, (const char *)&call->data + k, sizeof(word));
        set(machine, A, word, field_is_known(call, k));
        return GOES_ON;
    case BPF_W | BPF_LEN:
        set(machine, to, sizeof(call->data), true);
        return GOES_ON;
    case BPF_IMM:
        set(machine, to, k, true);
        return GOES_ON;
    case BPF_MEM:
        if (k >= BPF_MEMWORDS)
            return REFUSES;
        copy(machine, to, k);
        return GOES_ON;
    default:
        return REFUSES;
    }
}

static enum outcome store(struct machine *machine, const struct sock_filter *instruction,
                          uint32_t from)
{
    if (instruction->code != BPF_CLASS(instruction->code) || instruction->k >= BPF_MEMWORDS)
        return REFUSES;
    copy(machine, instruction->k, from);
    return GOES_ON;
}

/* False: the kernel ends the program, or has no such operation. */
static bool compute(uint32_t operation, uint32_t a, uint32_t b, uint32_t *result)
{
    switch (operation) {
    case BPF_ADD:
        *result = a + b;
        return true;
    case BPF_SUB:
        *result = a - b;
        return true;
    case BPF_MUL:
        *result = a * b;
        return true;
    case BPF_DIV:
        *result = b ? a / b : 0;
        return b != 0;
    case BPF_AND:
        *result = a & b;
        return true;
    case BPF_OR:
        *result = a | b;
        return true;
    case BPF_XOR:
        *result = a ^ b;
        return true;
    case BPF_LSH:
        *result = a << (b & 31);
        return true;
    case BPF_RSH:
        *result = a >> (b & 31);
        return true;
    default:
        return false;
    }
}

static enum outcome calculate(struct machine *machine, const struct sock_filter *instruction)
{
    uint32_t operation = BPF_OP(instruction->code);
    bool has_x = BPF_SRC(instruction->code) == BPF_X;
    uint32_t a = machine->registers[A], result;
    uint32_t b = has_x ? machine->registers[X] : instruction->k;
    bool known = is_known(machine, A) && (!has_x || is_known(machine, X));
    if (operation == BPF_NEG && !has_x) {
        set(machine, A, 0 - a, is_known(machine, A));
        return GOES_ON;
    }
    bool shifts = operation == BPF_LSH || operation == BPF_RSH;
    if (shifts && !has_x && b > 31)
        return REFUSES;
    if (operation == BPF_DIV && has_x && !is_known(machine, X)) /* possibly 0 */
        return REFUSES;
    if (!compute(operation, a, b, &result))
        return REFUSES;
    set(machine, A, result, known);
    return GOES_ON;
}

static enum outcome jump(struct machine *machine, const struct sock_filter *instruction,
                         uint32_t count)
{
    bool has_x = BPF_SRC(instruction->code) == BPF_X;
    uint32_t a = machine->registers[A];
    uint32_t b = has_x ? machine->registers[X] : instruction->k;
    bool holds;
    switch (BPF_OP(instruction->code)) {
    case BPF_JA:
        if (has_x || instruction->k >= count - machine->at)
            return REFUSES;
        machine->at += instruction->k;
        return GOES_ON;
    case BPF_JEQ:
        holds = a == b;
        break;
    case BPF_JGT:
        holds = a > b;
        break;
    case BPF_JGE:
        holds = a >= b;
        break;
    case BPF_JSET:
        holds = (a & b) != 0;
        break;
    default:
        return REFUSES;
    }
    if (!is_known(machine, A) || (has_x && !is_known(machine, X)))
        return FORKS;
    machine->at += holds ? instruction->jt : instruction->jf;
    return GOES_ON;
}

static enum outcome finish(const struct machine *machine, const struct sock_filter *instruction)
{
    bool has_a = instruction->code == (BPF_RET | BPF_A);
    uint32_t result = has_a ? machine->registers[A] : instruction->k;
    if ((!has_a && instruction->code != (BPF_RET | BPF_K)) || (has_a && !is_known(machine, A)))
        return REFUSES;
    return (result & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ALLOW ? ALLOWS : REFUSES;
}

static enum outcome transfer(struct machine *machine, const struct sock_filter *instruction)
{
    switch (instruction->code) {
    case BPF_MISC | BPF_TAX:
        copy(machine, X, A);
        return GOES_ON;
    case BPF_MISC | BPF_TXA:
        copy(machine, A, X);
        return GOES_ON;
    default:
        return REFUSES;
    }
}

/* machine->at is behind the instruction already. */
static enum outcome step(struct machine *machine, const struct sock_filter *instruction,
                         uint32_t count, const struct seccomp_call *call)
{
    if (instruction->code > 0xff)
        return REFUSES;
    switch (BPF_CLASS(instruction->code)) {
    case BPF_LD:
        return load(machine, instruction, call, A);
    case BPF_LDX:
        return load(machine, instruction, call, X);
    case BPF_ST:
        return store(machine, instruction, A);
    case BPF_STX:
        return store(machine, instruction, X);
    case BPF_ALU:
        return calculate(machine, instruction);
    case BPF_JMP:
        return jump(machine, instruction, count);
    case BPF_RET:
        return finish(machine, instruction);
    default:
        return transfer(machine, instruction);
    }
}

/* Takes a branch with an immediate end first: a long row of tests then leaves at most one branch
 * pending. */
static void fork_machine(struct machine *machine, struct machine *other,
                         const struct sock_filter *code, uint32_t count)
{
    const struct sock_filter *test = &code[machine->at - 1];
    uint32_t then_at = machine->at + test->jt;
    uint32_t else_at = machine->at + test->jf;
    bool else_first = else_at < count && BPF_CLASS(code[else_at].code) == BPF_RET;
    *other = *machine;
    machine->at = else_first ? else_at : then_at;
    other->at = else_first ? then_at : else_at;
}

bool seccomp_eval_allows(const struct sock_filter *code, uint32_t count,
                         const struct seccomp_call *call)
{
    struct machine machine = {.known = 1u << A | 1u << X};
    struct machine pending[PENDING_MAX];
    uint32_t pending_count = 0;
    for (uint32_t steps = 0; steps < STEPS_MAX && machine.at < count; steps++) {
        const struct sock_filter *instruction = &code[machine.at++];
        switch (step(&machine, instruction, count, call)) {
        case GOES_ON:
            break;
        case FORKS:
            if (pending_count == PENDING_MAX)
                return false;
            fork_machine(&machine, &pending[pending_count++], code, count);
            break;
        case ALLOWS:
            if (pending_count == 0)
                return true;
            machine = pending[--pending_count];
            break;
        case REFUSES:
            return false;
        }
    }
    return false;
}
