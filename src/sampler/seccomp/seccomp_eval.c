/* SPDX-License-Identifier: MIT */
/*
 * The instructions that libseccomp (systemd, containers), Chromium, OpenSSH and minijail generate:
 * loads of a word of the call, AND with a constant, tests against a constant, and constant results.
 * A filter with any other instruction on the way counts as a refusal.
 *
 * A word of an unknown argument is unknown, and a test of an unknown word takes both branches.
 * Jumps go forward only, so each branch ends.
 */
#include "sampler/seccomp/seccomp_eval.h"

#include <stddef.h>

#define STEPS_MAX 32768u /* eight times the longest filter */
#define FORKS_MAX 8u     /* within each other */

struct evaluation {
    const struct sock_filter *code;
    uint32_t count;
    const struct seccomp_call *call;
    uint32_t steps;
};

struct word {
    uint32_t value;
    bool is_known;
};

static bool field_is_known(const struct seccomp_call *call, uint32_t offset)
{
    if (offset < offsetof(struct seccomp_data, instruction_pointer))
        return true;
    if (offset < offsetof(struct seccomp_data, args))
        return false;
    return !(call->unknown >> (offset - offsetof(struct seccomp_data, args)) / 8 & 1);
}

/* False: there is no such word. */
static bool load(const struct seccomp_call *call, uint32_t offset, struct word *word)
{
    if (offset % 4 != 0 || offset >= sizeof(call->data))
        return false;
    __builtin_memcpy(&word->value, (const char *)&call->data + offset, sizeof(word->value));
    word->is_known = field_is_known(call, offset);
    return true;
}

/* False: no test against a constant. */
static bool test(const struct sock_filter *instruction, uint32_t value, bool *holds)
{
    switch (instruction->code) {
    case BPF_JMP | BPF_JEQ | BPF_K:
        *holds = value == instruction->k;
        return true;
    case BPF_JMP | BPF_JGT | BPF_K:
        *holds = value > instruction->k;
        return true;
    case BPF_JMP | BPF_JGE | BPF_K:
        *holds = value >= instruction->k;
        return true;
    case BPF_JMP | BPF_JSET | BPF_K:
        *holds = (value & instruction->k) != 0;
        return true;
    default:
        return false;
    }
}

static bool ends_at(const struct evaluation *evaluation, uint32_t at)
{
    return at < evaluation->count && BPF_CLASS(evaluation->code[at].code) == BPF_RET;
}

static bool allows(struct evaluation *evaluation, uint32_t at, struct word word, uint32_t forks);

/* Both branches of the test before *at; true: the first allows the call, *at is the second. A
 * branch with an immediate end is the first: a long row of tests has no forks within each other. */
static bool take_both(struct evaluation *evaluation, uint32_t *at, struct word word, uint32_t forks)
{
    const struct sock_filter *test = &evaluation->code[*at - 1];
    uint32_t then_at = *at + test->jt, else_at = *at + test->jf;
    bool else_first = ends_at(evaluation, else_at);
    *at = else_first ? then_at : else_at;
    return forks < FORKS_MAX && allows(evaluation, else_first ? else_at : then_at, word, forks + 1);
}

static bool allows(struct evaluation *evaluation, uint32_t at, struct word word, uint32_t forks)
{
    while (at < evaluation->count && evaluation->steps++ < STEPS_MAX) {
        const struct sock_filter *now = &evaluation->code[at++];
        bool holds;
        if (now->code == (BPF_RET | BPF_K))
            return (now->k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ALLOW;
        if (now->code == (BPF_LD | BPF_W | BPF_ABS)) {
            if (!load(evaluation->call, now->k, &word))
                return false;
        } else if (now->code == (BPF_ALU | BPF_AND | BPF_K)) {
            word.value &= now->k;
        } else if (now->code == (BPF_JMP | BPF_JA)) {
            if (now->k >= evaluation->count - at)
                return false;
            at += now->k;
        } else if (!test(now, word.value, &holds)) {
            return false;
        } else if (word.is_known) {
            at += holds ? now->jt : now->jf;
        } else if (!take_both(evaluation, &at, word, forks)) {
            return false;
        }
    }
    return false;
}

bool seccomp_eval_allows(const struct sock_filter *code, uint32_t count,
                         const struct seccomp_call *call)
{
    struct evaluation evaluation = {.code = code, .count = count, .call = call};
    return allows(&evaluation, 0, (struct word){0, true}, 0);
}
