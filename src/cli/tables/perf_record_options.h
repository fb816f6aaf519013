/* SPDX-License-Identifier: MIT */
/*
 * Options of perf record without effect in rec, as rows of the table in record_table.c: accepted
 * options for the default behaviour of rec, and options refused with a reason. An unsupported
 * option must not be ignored silently.
 */
#pragma once

#define NOT_THE_SYSTEM \
    "rec records a command and the children of the command only; use `perf record`"
#define NOT_RECORDED \
    "not recorded by rec; use `perf record` and convert the file with `rec convert`"
#define NOT_THIS_WAY "a detail of perf's implementation, without a counterpart in rec"

/* clang-format off */
#define PERF_RECORD_OPTIONS \
    OPTION_IGNORED('P', "period", OPTION_ALONE), \
    OPTION_IGNORED('T', "timestamp", OPTION_ALONE), \
    OPTION_IGNORED('N', "no-buildid-cache", OPTION_ALONE), \
    OPTION_IGNORED(0, "buildid-all", OPTION_ALONE), \
    OPTION_IGNORED(0, "buildid-mmap", OPTION_ALONE), \
    OPTION_IGNORED(0, "exclude-perf", OPTION_ALONE), \
    OPTION_IGNORED(0, "no-bpf-event", OPTION_ALONE), \
    OPTION_IGNORED(0, "sample-identifier", OPTION_ALONE), \
    OPTION_IGNORED(0, "tail-synthesize", OPTION_ALONE), \
    OPTION_IGNORED(0, "user-callchains", OPTION_ALONE), \
    OPTION_IGNORED('m', "mmap-pages", OPTION_VALUE), \
    OPTION_IGNORED(0, "num-thread-synthesize", OPTION_VALUE), \
    OPTION_IGNORED(0, "proc-map-timeout", OPTION_VALUE), \
    OPTION_UNSUPPORTED(0, "per-thread", NOT_THE_SYSTEM), \
    OPTION_UNSUPPORTED(0, "namespaces", NOT_THE_SYSTEM), \
    OPTION_UNSUPPORTED(0, "all-cgroups", NOT_THE_SYSTEM), \
    OPTION_UNSUPPORTED('b', "branch-any", NOT_RECORDED), \
    OPTION_UNSUPPORTED('j', "branch-filter", NOT_RECORDED), \
    OPTION_UNSUPPORTED('d', "data", NOT_RECORDED), \
    OPTION_UNSUPPORTED('I', "intr-regs", NOT_RECORDED), \
    OPTION_UNSUPPORTED('R', "raw-samples", NOT_RECORDED), \
    OPTION_UNSUPPORTED('s', "stat", NOT_RECORDED), \
    OPTION_UNSUPPORTED('W', "weight", NOT_RECORDED), \
    OPTION_UNSUPPORTED(0, "user-regs", NOT_RECORDED), \
    OPTION_UNSUPPORTED(0, "phys-data", NOT_RECORDED), \
    OPTION_UNSUPPORTED(0, "code-page-size", NOT_RECORDED), \
    OPTION_UNSUPPORTED(0, "data-page-size", NOT_RECORDED), \
    OPTION_UNSUPPORTED(0, "sample-cpu", NOT_RECORDED), \
    OPTION_UNSUPPORTED(0, "running-time", NOT_RECORDED), \
    OPTION_UNSUPPORTED(0, "transaction", NOT_RECORDED), \
    OPTION_UNSUPPORTED(0, "switch-events", NOT_RECORDED), \
    OPTION_UNSUPPORTED(0, "off-cpu", NOT_RECORDED), \
    OPTION_UNSUPPORTED('S', "snapshot", NOT_RECORDED), \
    OPTION_UNSUPPORTED(0, "aux-sample", NOT_RECORDED), \
    OPTION_UNSUPPORTED(0, "kcore", NOT_RECORDED), \
    OPTION_UNSUPPORTED(0, "group", NOT_RECORDED), \
    OPTION_UNSUPPORTED(0, "filter", NOT_RECORDED), \
    OPTION_UNSUPPORTED('n', "no-samples", NOT_RECORDED), \
    OPTION_UNSUPPORTED('B', "no-buildid", NOT_THIS_WAY), \
    OPTION_UNSUPPORTED(0, "strict-freq", NOT_THIS_WAY), \
    OPTION_UNSUPPORTED(0, "synth", NOT_THIS_WAY), \
    OPTION_UNSUPPORTED('r', "realtime", NOT_THIS_WAY), \
    OPTION_UNSUPPORTED(0, "affinity", NOT_THIS_WAY), \
    OPTION_UNSUPPORTED(0, "aio", NOT_THIS_WAY), \
    OPTION_UNSUPPORTED(0, "mmap-flush", NOT_THIS_WAY), \
    OPTION_UNSUPPORTED(0, "no-buffering", NOT_THIS_WAY), \
    OPTION_UNSUPPORTED(0, "overwrite", NOT_THIS_WAY), \
    OPTION_UNSUPPORTED(0, "switch-output", NOT_THIS_WAY), \
    OPTION_UNSUPPORTED(0, "switch-output-event", NOT_THIS_WAY), \
    OPTION_UNSUPPORTED(0, "switch-max-files", NOT_THIS_WAY), \
    OPTION_UNSUPPORTED(0, "timestamp-boundary", NOT_THIS_WAY), \
    OPTION_UNSUPPORTED(0, "timestamp-filename", NOT_THIS_WAY), \
    OPTION_UNSUPPORTED(0, "control", NOT_THIS_WAY), \
    OPTION_UNSUPPORTED(0, "dry-run", NOT_THIS_WAY), \
    OPTION_UNSUPPORTED(0, "vmlinux", NOT_THIS_WAY), \
    OPTION_UNSUPPORTED(0, "clang-opt", NOT_THIS_WAY), \
    OPTION_UNSUPPORTED(0, "clang-path", NOT_THIS_WAY)
/* clang-format on */
