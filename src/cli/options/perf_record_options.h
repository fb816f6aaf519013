/* SPDX-License-Identifier: MIT */
/*
 * Options of perf record without effect in rec, as rows of the table in record_options.c: accepted
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
#define PERF_RECORD_OPTIONS(AS_IT_IS, REFUSED) \
    {AS_IT_IS, 'P', "period", OPTION_ALONE, NULL}, \
    {AS_IT_IS, 'T', "timestamp", OPTION_ALONE, NULL}, \
    {AS_IT_IS, 'N', "no-buildid-cache", OPTION_ALONE, NULL}, \
    {AS_IT_IS, 0, "buildid-all", OPTION_ALONE, NULL}, \
    {AS_IT_IS, 0, "buildid-mmap", OPTION_ALONE, NULL}, \
    {AS_IT_IS, 0, "exclude-perf", OPTION_ALONE, NULL}, \
    {AS_IT_IS, 0, "no-bpf-event", OPTION_ALONE, NULL}, \
    {AS_IT_IS, 0, "sample-identifier", OPTION_ALONE, NULL}, \
    {AS_IT_IS, 0, "tail-synthesize", OPTION_ALONE, NULL}, \
    {AS_IT_IS, 0, "user-callchains", OPTION_ALONE, NULL}, \
    {AS_IT_IS, 'm', "mmap-pages", OPTION_VALUE, NULL}, \
    {AS_IT_IS, 0, "num-thread-synthesize", OPTION_VALUE, NULL}, \
    {AS_IT_IS, 0, "proc-map-timeout", OPTION_VALUE, NULL}, \
    {REFUSED, 'G', "cgroup", OPTION_REFUSED, NOT_THE_SYSTEM}, \
    {REFUSED, 'u', "uid", OPTION_REFUSED, NOT_THE_SYSTEM}, \
    {REFUSED, 0, "per-thread", OPTION_REFUSED, NOT_THE_SYSTEM}, \
    {REFUSED, 0, "namespaces", OPTION_REFUSED, NOT_THE_SYSTEM}, \
    {REFUSED, 0, "all-cgroups", OPTION_REFUSED, NOT_THE_SYSTEM}, \
    {REFUSED, 'b', "branch-any", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 'j', "branch-filter", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 'd', "data", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 'I', "intr-regs", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 'R', "raw-samples", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 's', "stat", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 'W', "weight", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 0, "user-regs", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 0, "phys-data", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 0, "code-page-size", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 0, "data-page-size", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 0, "sample-cpu", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 0, "running-time", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 0, "transaction", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 0, "switch-events", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 0, "off-cpu", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 'S', "snapshot", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 0, "aux-sample", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 0, "kcore", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 0, "kernel-callchains", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 0, "all-kernel", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 0, "all-user", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 0, "group", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 0, "filter", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 'n', "no-samples", OPTION_REFUSED, NOT_RECORDED}, \
    {REFUSED, 'B', "no-buildid", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 'k', "clockid", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 0, "strict-freq", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 0, "synth", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 'r', "realtime", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 0, "affinity", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 0, "aio", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 0, "mmap-flush", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 0, "no-buffering", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 0, "overwrite", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 0, "switch-output", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 0, "switch-output-event", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 0, "switch-max-files", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 0, "timestamp-boundary", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 0, "timestamp-filename", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 0, "control", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 0, "dry-run", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 0, "vmlinux", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 0, "clang-opt", OPTION_REFUSED, NOT_THIS_WAY}, \
    {REFUSED, 0, "clang-path", OPTION_REFUSED, NOT_THIS_WAY},
/* clang-format on */
