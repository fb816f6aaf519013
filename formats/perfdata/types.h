/* SPDX-License-Identifier: MIT */
/* Decoded contents of perf.data: events, attributes, tracepoint fields and header facts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum perfdata_event_kind {
    PERFDATA_SAMPLE,
    PERFDATA_MAPPING, /* MMAP and MMAP2 */
    PERFDATA_COMM,
    PERFDATA_FORK,
    PERFDATA_EXIT,
    PERFDATA_LOST,       /* LOST and LOST_SAMPLES */
    PERFDATA_READ,       /* value of an event of pid/tid, at the end of the task */
    PERFDATA_SWITCH,     /* SWITCH and SWITCH_CPU_WIDE: of pid/tid, by the trailer */
    PERFDATA_NAMESPACES, /* namespaces of pid/tid from now on */
    PERFDATA_CGROUP,     /* path of a cgroup number in samples */
    PERFDATA_KSYMBOL,    /* kernel code came or went: bpf programs, kprobes */
    PERFDATA_BPF,        /* a bpf program came or went */
    PERFDATA_TEXT_POKE,  /* kernel code was changed */
    PERFDATA_DEFERRED,   /* the user half of earlier callchains of pid/tid */
    PERFDATA_ROUND,      /* FINISHED_ROUND */
    PERFDATA_COUNTER,    /* TIME_CONV: conversion of the processor's counter */
    PERFDATA_OTHER,      /* unused here; only `type` is set */
    PERFDATA_UNKNOWN,    /* of an unknown type, or a sample of an undescribed event */
};

/* Of user registers. */
enum perfdata_abi {
    PERFDATA_ABI_NONE,
    PERFDATA_ABI_32,
    PERFDATA_ABI_64,
};

struct perfdata_branch { /* newest first */
    uint64_t from_avma, to_avma;
};

struct perfdata_count { /* of an event since its opening */
    uint64_t id;        /* of the event on a CPU or task; 0: the sample's own */
    size_t attr_index;  /* event; SIZE_MAX: undescribed */
    uint64_t value;
};

struct perfdata_namespace { /* in the order net, uts, ipc, pid, user, mnt, cgroup */
    uint64_t device, inode;
};

struct window_block; /* opaque */

struct perfdata_record { /* of the file, not decoded */
    uint32_t type;
    uint16_t misc;
    bool ends_round;     /* FINISHED_ROUND */
    uint32_t attr_index; /* of a SAMPLE; UINT32_MAX: of an undescribed event */
    uint32_t body_bytes;
    const uint8_t *body;        /* without the header */
    uint64_t time_ns;           /* 0 when the file has none */
    struct window_block *block; /* memory of the body; NULL: overwritten by the next record */
};

struct perfdata_stack {   /* of a sample with nothing but a callchain */
    uint32_t pid;         /* not decoded, … */
    const uint8_t *words; /* … in the byte order of the file */
    size_t count;
};

struct perfdata_event {
    enum perfdata_event_kind kind;
    struct perfdata_record record;
    uint32_t pid, tid;
    uint32_t cpu;     /* UINT32_MAX when not recorded */
    uint64_t time_ns; /* 0 when the file has none */
    uint64_t id;      /* of the event on a CPU or task; 0: not recorded */

    /* SAMPLE */
    size_t attr_index; /* of the event */
    uint64_t ip;
    uint64_t period;
    uint64_t data_avma; /* accessed address; 0: not recorded */
    uint64_t weight;    /* of memory accesses: cycles; 0: not recorded */
    uint64_t cgroup;    /* SAMPLE, CGROUP; 0: not recorded */
    const uint64_t
        *callchain; /* with context markers, as in the file; host byte order. DEFERRED too */
    size_t callchain_count;

    const struct perfdata_count *counts; /* a sample for each count (perf record -e '{…}:S') */
    size_t count_count;
    const uint8_t *raw; /* fields of a tracepoint, see perfdata_field() */
    size_t raw_bytes;
    const struct perfdata_branch *branches; /* LBR: the newest first */
    size_t branch_count;
    /* SAMPLE, from perf record --call-graph dwarf: user registers (a bit per register of the
     * kernel's perf_regs.h; their values in that order) and a copy of the stack from SP up. Mask 0:
     * none. */
    enum perfdata_abi user_abi;
    uint64_t user_registers_mask;
    const uint64_t *user_registers;
    const uint8_t *user_stack; /* in the byte order of the file */
    size_t user_stack_bytes;
    size_t user_stack_wanted_bytes; /* had the stack been as deep */

    /* MAPPING; KSYMBOL and TEXT_POKE have start_avma and bytes, CGROUP has path */
    uint64_t start_avma, bytes, file_offset;
    uint32_t protection;
    bool is_kernel;
    bool is_guest; /* MAPPING: in a virtual machine, with unrelated addresses */
    const char *path;
    uint8_t build_id[20];
    size_t build_id_bytes; /* from the record, else from the BUILD_ID feature by path */

    const char *name;   /* COMM, KSYMBOL */
    bool is_exec;       /* COMM */
    bool was_there;     /* FORK: existed before the recording; its mappings follow */
    bool is_gone;       /* KSYMBOL, BPF: unloaded */
    uint64_t lost;      /* LOST: records of any kind, … */
    bool is_of_samples; /* … or samples: see lost_in_all() in load.c */
    uint64_t value;     /* READ, of attr_index */

    bool is_switch_out, is_preempted;            /* SWITCH */
    uint32_t switch_pid, switch_tid;             /* SWITCH_CPU_WIDE: the previous or next task */
    const struct perfdata_namespace *namespaces; /* NAMESPACES */
    size_t namespace_count;
    uint32_t bpf_id; /* BPF */
    /* COUNTER: time = zero + ticks * multiplier / 2^shift, in the kernel's own clock */
    uint64_t counter_shift, counter_multiplier, counter_zero_ns;
    uint64_t deferred_cookie; /* DEFERRED: follows PERF_CONTEXT_USER_DEFERRED in the callchain */
    uint32_t parent_pid, parent_tid; /* FORK, EXIT */
};

struct perfdata_attr {
    uint32_t type;
    uint64_t config;
    uint64_t sample_type;
    uint64_t branch_sample_type;
    uint64_t period_or_frequency;
    bool is_frequency;
    bool is_inherited;  /* threads and children have counters of their own */
    bool has_own_clock; /* times of another clock than the kernel's default (perf record -k) */
    bool has_switches;  /* recorded with SWITCH records */
    const char *name;   /* as recorded, or made from type and config */
    char unit[16];      /* of the weights, as recorded (EVENT_UPDATE); "": not recorded */
};

/* A field of an event's raw bytes, from the format description in the file. */
struct perfdata_field {
    size_t offset, bytes; /* 1, 2, 4 or 8 for numbers */
    bool is_signed;
};

/* Facts of the header features; empty or 0 where not recorded. */
struct perfdata_facts {
    const char *host, *os_release, *version, *arch, *cpu;
    const char *const *argv; /* NULL-terminated */
    size_t argc;
    uint32_t cpus_online;
    uint64_t first_sample_ns, last_sample_ns;
    uint64_t clock_ns, wall_ns; /* the same instant in the sample clock and in CLOCK_REALTIME */
    bool has_call_addresses;    /* callers in callchains lie within the call instruction */
};
