/* SPDX-License-Identifier: MIT */
/*
 * Recognizes a kernel stack by the functions at its ends, innermost first:
 *
 *     perf_pending_task ─ … ─ exit_to_user_mode_loop ─ … ─ asm_sysvec_apic_timer_interrupt
 *                             DELIVERY_EXIT                 DELIVERY_ENTRY, the outermost
 *
 * A stack with schedule() between the two is a switch to another thread, the program's own time.
 */
#include "record/kernel_time/signal_delivery.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#ifndef TRAP_PERF
#define TRAP_PERF 6 /* Linux 5.13, unknown to older C libraries */
#endif

/* Linux 6.18 inlines exit_to_user_mode_loop() there; earlier kernels call one of the others
 * (include/linux/entry-common.h). */
static const struct {
    const char *name;
    enum delivery_kind kind;
} functions[] = {
    {"asm_sysvec_apic_timer_interrupt", DELIVERY_ENTRY},
    {"irqentry_exit_to_user_mode", DELIVERY_EXIT},
    {"exit_to_user_mode_prepare", DELIVERY_EXIT},
    {"exit_to_user_mode_loop", DELIVERY_EXIT},
    {"schedule", DELIVERY_SWITCH},
    {"perf_swevent_hrtimer", DELIVERY_TIMER},
};

/* "ffffffff81000df0 T name", and a module's name behind a tab. */
static enum delivery_kind kind_of(const char *line)
{
    const char *type = strchr(line, ' ');
    const char *name = type ? strchr(type + 1, ' ') : NULL;
    for (size_t i = 0; name && i < sizeof(functions) / sizeof(functions[0]); i++) {
        size_t length = strlen(functions[i].name);
        if (strncmp(name + 1, functions[i].name, length) == 0 && name[1 + length] == '\n')
            return functions[i].kind;
    }
    return DELIVERY_NONE;
}

void signal_delivery_read(struct signal_delivery *delivery, FILE *symbols)
{
    char *line = NULL;
    size_t room = 0;
    struct delivery_function *open = NULL; /* its end is not known yet */
    delivery->count = 0;
    while (getline(&line, &room, symbols) > 0) {
        uint64_t avma = strtoull(line, NULL, 16);
        if (open && avma > open->start_avma) {
            open->end_avma = avma;
            open = NULL;
        }
        enum delivery_kind kind = kind_of(line);
        if (kind == DELIVERY_NONE || avma == 0 || delivery->count == DELIVERY_FUNCTIONS_MAX)
            continue;
        open = &delivery->functions[delivery->count++];
        *open = (struct delivery_function){.start_avma = avma, .end_avma = avma, .kind = kind};
    }
    free(line);
}

/* At rt_sigreturn(2), SP is behind the restorer's address: struct rt_sigframe (asm/sigframe.h,
 * x86-64) has the context there, then the siginfo of the signal. */
bool signal_delivery_is_return(const uint8_t *stack, size_t stack_bytes)
{
    enum { CONTEXT_BYTES = 304 };
    struct {
        int32_t signo, error, code;
    } info;
    if (stack_bytes < CONTEXT_BYTES + sizeof(info))
        return false;
    memcpy(&info, stack + CONTEXT_BYTES, sizeof(info));
    return info.signo == SIGTRAP && info.code == TRAP_PERF;
}

/* Return addresses: the end belongs to the function of a call at its end. */
static enum delivery_kind kind_at(const struct signal_delivery *delivery, uint64_t avma)
{
    for (size_t i = 0; i < delivery->count; i++)
        if (avma > delivery->functions[i].start_avma && avma <= delivery->functions[i].end_avma)
            return delivery->functions[i].kind;
    return DELIVERY_NONE;
}

uint64_t signal_delivery_find(const struct signal_delivery *delivery, enum delivery_kind kind)
{
    for (size_t i = 0; i < delivery->count; i++)
        if (delivery->functions[i].kind == kind)
            return delivery->functions[i].start_avma;
    return 0;
}

size_t signal_delivery_interrupt(const struct signal_delivery *delivery, const uint64_t *frames,
                                 size_t count)
{
    size_t i = 0;
    while (i < count && kind_at(delivery, frames[i]) != DELIVERY_ENTRY)
        i++;
    return i < count ? i + 1 : count;
}

bool signal_delivery_has(const struct signal_delivery *delivery, const uint64_t *frames,
                         size_t count)
{
    if (count == 0 || kind_at(delivery, frames[count - 1]) != DELIVERY_ENTRY)
        return false;
    bool is_exit = false;
    for (size_t i = 0; i < count; i++) {
        enum delivery_kind kind = kind_at(delivery, frames[i]);
        if (kind == DELIVERY_SWITCH)
            return false;
        is_exit |= kind == DELIVERY_EXIT;
    }
    return is_exit;
}
