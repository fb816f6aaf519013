/* SPDX-License-Identifier: MIT */
/*
 * The parts of the collector. Each part has its own header; only the units of this folder know all
 * parts.
 *
 *     doorbell or timeout ─▶ round:
 *         answer requests         departure, handshake, retirement
 *         take finished maps      process_maps
 *         read every ring         kernel_samples, drain ─▶ pending_stacks ─▶ sample_writer
 *         finish pending samples  pending_stacks ────────────────────────────▲
 *         read kernel rings       outside ─▶ sample_writer
 *         write waits             off_cpu
 *         look at processes       process_watch, untracked_processes ─▶ accounting
 *         end the file's round    finished_round
 *     until the next round ▶ poll_interval       no activity ▶ idle_wakeup
 *
 * The contents of the rings come from targets, and are checked by their readers: ring_reader,
 * handshake, stack_copy.
 */
#pragma once

#include "record/account/accounting.h"
#include "record/collector/collector_config.h"
#include "record/sample/drain.h"
#include "record/sample/file_limit.h"
#include "record/sample/finished_round.h"
#include "record/off_cpu/off_recorder.h"
#include "record/process/departure.h"
#include "record/process/handshake.h"
#include "record/perf_ring/outside.h"
#include "record/sample/pending_stacks.h"
#include "record/namespaces/pid_namespace.h"
#include "record/sample/poll_interval.h"
#include "record/tables/maps/process_maps.h"
#include "record/process/process_table.h"
#include "record/account/process_tree.h"
#include "record/process/process_watch.h"
#include "record/process/retirement.h"
#include "record/round.h"
#include "record/sample/sample_writer.h"
#include "record/account/sampling_gaps.h"
#include "record/tables/thread_table.h"
#include "record/process/untracked/untracked_processes.h"
#include "record/process/untracked/untracked_threads.h"

#include <pthread.h>

struct collector {
    struct collector_config config;
    struct round round;
    struct process_table processes;
    struct thread_table threads;
    struct pid_namespaces namespaces;
    struct frame_list written_frames;
    struct sample_writer samples;
    uint64_t unwound_frames[RECORD_FRAMES_MAX];
    struct pending_stacks pending;
    struct kernel_samples kernel;
    struct drain drain;
    struct deferred_mappings mappings;
    struct process_maps maps;
    struct untracked_threads untracked_threads;
    struct sampling_gaps gaps;
    struct accounting accounting;
    struct process_tree tree;
    struct process_watch watch;
    struct untracked_processes untracked;
    struct handshake handshake;
    struct outside outside;
    struct departures departures;
    bool has_command_outside; /* the tree has no sampler: its root is recorded by perf-ring */
    struct finished_round finished_round;
    struct file_limit file_limit;
    struct poll_interval poll;

    pthread_t thread;
    uint32_t stop;    /* atomic */
    uint32_t full;    /* atomic, enum record_end: the reached limit of the file; 0: none */
    uint32_t running; /* atomic: processes at the end of the last round */
    bool can_idle;    /* idle wake-ups are prepared */
    uint64_t quiet_until_ns;
    uint64_t live_ns; /* CPU time outside the command's rusage when the recording ended */
    uint64_t looked_ns, look_due_ns, look_wait_ns;
    uint64_t last_checkpoint_ns;
    uint64_t last_wrote_ns;   /* the last round that wrote a record */
    uint64_t last_copy_ns;    /* the last round that finished stack copies */
    uint32_t doorbell_before; /* at the start of the round */
    uint64_t misses_before;
    uint64_t foreign_cuts_before; /* stacks cut on a fiber, before the round */
};
