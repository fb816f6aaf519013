/* SPDX-License-Identifier: MIT */
#include "record/collector/collector_connect.h"

#include "record/events/event_list.h"
#include "record/recorders/recorders.h"

#include <unistd.h>

/* From the file up to the samples: what drain needs. */
static void connect_samples(struct collector *collector)
{
    const struct collector_config *config = &collector->config;
    const struct round *round = &collector->round;
    uint64_t period_ns = config->session->tables->header.period_ns;
    collector->namespaces = (struct pid_namespaces){
        .session = config->session, .processes = &collector->processes, .round = round};
    collector->samples = (struct sample_writer){.file = config->writer,
                                                .list = &collector->written_frames,
                                                .summary = config->summary,
                                                .round = round,
                                                .mappings = &collector->mappings,
                                                .main_row = event_list_main_row(config->options),
                                                .period_ns = period_ns};
    collector->pending = (struct pending_stacks){
        .processes = &collector->processes,
        .samples = &collector->samples,
        .round = round,
        .compiler = config->compiler,
        .unwinder = {.compiler = config->compiler, .round = round, .jit = &collector->samples.jit},
        .frames = collector->unwound_frames,
    };
    collector->threads.processes = &collector->processes;
    collector->threads.namespaces = &collector->namespaces;
    collector->threads.file = config->writer;
    collector->threads.summary = config->summary;
    collector->threads.round = round;
    collector->drain = (struct drain){.processes = &collector->processes,
                                      .threads = &collector->threads,
                                      .pending = &collector->pending,
                                      .samples = &collector->samples,
                                      .round = round,
                                      .compiler = config->compiler,
                                      .kernel = &collector->kernel};
    collector->kernel = (struct kernel_samples){.processes = &collector->processes,
                                                .pending = &collector->pending,
                                                .samples = &collector->samples,
                                                .round = round};
    collector->mappings = (struct deferred_mappings){
        .file = config->writer, .summary = config->summary, .round = round};
    collector->maps = (struct process_maps){.processes = &collector->processes,
                                            .pending = &collector->pending,
                                            .compiler = config->compiler,
                                            .deferred = &collector->mappings,
                                            .summary = config->summary,
                                            .round = round};
}

static uint64_t kernel_end_ns(const void *records, pid_t pid, uint64_t since_ns)
{
    return off_recorder_end_ns(records, pid, since_ns);
}

/* From the accounts up to the watch. */
static void connect_watch(struct collector *collector)
{
    const struct collector_config *config = &collector->config;
    const struct round *round = &collector->round;
    uint32_t processors = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    collector->untracked_threads.threads = &collector->threads;
    collector->untracked_threads.samples = &collector->samples;
    collector->untracked_threads.round = round;
    collector->untracked_threads.starts_late = config->options->delay_ns != 0;
    collector->gaps = (struct sampling_gaps){.untracked = &collector->untracked_threads,
                                             .round = round,
                                             .period_ns = collector->samples.period_ns};
    collector->accounting = (struct accounting){.processes = &collector->processes,
                                                .samples = &collector->samples,
                                                .gaps = &collector->gaps,
                                                .processors = processors};
    collector->tree.processes = &collector->processes;
    collector->tree.round = round;
    collector->tree.processors = processors;
    collector->tree.command_only = config->options->no_inherit;
    struct process_watch *watch = &collector->watch;
    watch->processes = &collector->processes;
    watch->drain = &collector->drain;
    watch->pending = &collector->pending;
    watch->samples = &collector->samples;
    watch->untracked = &collector->untracked_threads;
    watch->gaps = &collector->gaps;
    watch->accounting = &collector->accounting;
    watch->tree = &collector->tree;
    watch->compiler = config->compiler;
    watch->round = round;
    watch->kernel_end_ns = config->off_cpu ? kernel_end_ns : NULL;
    watch->records = config->off_cpu;
    watch->end_fd = -1;
}

/* What finds and answers processes. */
static void connect_processes(struct collector *collector)
{
    const struct collector_config *config = &collector->config;
    struct untracked_processes *untracked = &collector->untracked;
    struct handshake *handshake = &collector->handshake;
    untracked->processes = &collector->processes;
    untracked->watch = &collector->watch;
    untracked->tree = &collector->tree;
    untracked->samples = &collector->samples;
    untracked->session = config->session;
    untracked->round = &collector->round;
    untracked->command_only = config->options->no_inherit;
    untracked->outside = &collector->outside;
    handshake->session = config->session;
    handshake->processes = &collector->processes;
    handshake->watch = &collector->watch;
    handshake->tree = &collector->tree;
    handshake->namespaces = &collector->namespaces;
    handshake->untracked = untracked;
    handshake->outside = &collector->outside;
    handshake->accounting = &collector->accounting;
    handshake->samples = &collector->samples;
    handshake->round = &collector->round;
    handshake->admission = (struct admission){
        .engine = config->options->engine,
        .may_arm = config->may_arm,
        .event = {.period_ns = collector->samples.period_ns,
                  .request = event_list_injected(config->options),
                  .sig_data = config->session->tables->header.sig_data},
    };
}

static void connect_outside(struct collector *collector)
{
    const struct collector_config *config = &collector->config;
    enum record_engine engine = config->options->engine;
    struct outside *outside = &collector->outside;
    outside->config = (struct ring_source_config){
        .file = config->writer,
        .summary = config->summary,
        .round = &collector->round,
        .open_files = config->open_files,
        .period_ns = collector->samples.period_ns,
        .options = config->options,
        .reach = config->options->no_inherit ? REACH_PROCESS : REACH_CHILDREN,
        .has_kernel_image = config->kernel_pid != 0,
        .shares_files = true};
    outside->is_permitted = engine == RECORD_ENGINE_AUTO || engine == RECORD_ENGINE_PERF_RING;
    outside->takes_fibers =
        outside->is_permitted && !recorders_have_hooks(config->options->recorders);
}

static void connect_departures(struct collector *collector)
{
    collector->departures = (struct departures){.processes = &collector->processes,
                                                .watch = &collector->watch,
                                                .outside = &collector->outside};
}

/* Large parts get their members one by one: the memory is zero, and untouched so far. */
void collector_connect(struct collector *collector)
{
    connect_samples(collector);
    connect_watch(collector);
    connect_processes(collector);
    connect_outside(collector);
    connect_departures(collector);
}
