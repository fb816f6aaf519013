/* SPDX-License-Identifier: MIT */
/*
 * Addresses of kernel functions by their names, from the sorted symbol table in the kernel: a BPF
 * program calls bpf_kallsyms_lookup_name() (bpf-helpers(7), since Linux 5.16), which takes 2 us.
 * /proc/kallsyms is in the order of addresses, and takes up to 40 ms. For root: the program needs
 * CAP_BPF and CAP_PERFMON.
 *
 *     page (shared with the kernel):  name ─▶ program ─▶ avma, text "futex_do_wait+0x0/0x70"
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_function {
    const char *name;
    size_t name_length;
    uint64_t bytes;    /* to the next symbol: functions of a name differ in size */
    bool is_in_module; /* then the size may be unknown: modules are in no order of addresses */
};

struct lookup_page;

struct kernel_lookup { /* zeros: closed */
    struct lookup_page *page;
    int program_fd;
};

/* Closed, where the kernel refuses the program. */
void kernel_lookup_open(struct kernel_lookup *lookup);
void kernel_lookup_close(struct kernel_lookup *lookup);

/* 0: closed, not there, or the first function of this name is another one. */
uint64_t kernel_lookup_find(const struct kernel_lookup *lookup,
                            const struct kernel_function *function);
