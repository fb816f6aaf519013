/* SPDX-License-Identifier: MIT */
/*
 * The rings as a hostile program may write them. The input is the head, the thread slot, and the bytes
 * of one ring; the collector's steps run on them. What the input says is all that changes from one run
 * to the next: the process is there already, and has no map.
 */
#include "record/collector_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct session session;
static struct record_options options;
static struct record_summary summary;
static struct open_file_cache kept;
static struct compiler *compiler;
static struct collector *collector;

static void prepare(void)
{
    struct session_config config = {.period_ns = 1000000, .kernel_interval_ns = 20000000};
    struct error error;
    if (session_open(&session, &config, &error) != 0 ||
        compiler_start(&compiler, &session, &kept, &error) != 0)
        abort();
}

/* A known process without a map, and a collector and a file of its own for each run. */
static void begin(FILE *file)
{
    struct perfdata_config config = {.events = {{.name = "cpu-clock", .period = 1000000}}};
    const struct process process = {.pid = 1, .pid_fd = -1, .engine = ENGINE_TIMER};
    struct collector_config parts = {
        .session = &session, .compiler = compiler, .options = &options, .summary = &summary};
    collector = calloc(1, sizeof(*collector));
    if (!collector || perfdata_writer_open(&parts.writer, fileno(file), &config) != 0 ||
        collector_init(collector, &parts) != 0)
        abort();
    process_table_add(&collector->processes, 0, &process);
}

static void end(void)
{
    struct perfdata_writer *writer = collector->config.writer;
    collector_free(collector);
    perfdata_writer_close(writer);
}

static size_t take(void *to, size_t wanted, const uint8_t **data, size_t *size)
{
    size_t bytes = wanted < *size ? wanted : *size;
    memcpy(to, *data, bytes);
    *data += bytes;
    *size -= bytes;
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *file = tmpfile();
    if (!compiler)
        prepare();
    if (!file)
        return 0;
    begin(file);
    struct rings *rings = session.rings;
    take(&rings->controls[0].head, 8, &data, &size);
    take(&rings->threads[0], sizeof(rings->threads[0]), &data, &size);
    rings->threads[0].process %= 2; /* mostly ours */
    rings->threads[0].pid %= 2;
    take(rings->data[0], SESSION_RING_BYTES, &data, &size);
    rings->header.threads_started++;
    drain_all(&collector->drain);
    drain_all(&collector->drain);
    pending_finish(&collector->pending, true);
    process_end_program(&collector->watch, &collector->processes.processes[0]);
    thread_table_release_claimed(&collector->threads, 0, 1);
    memset(rings->threads, 0, sizeof(rings->threads[0]));
    end();
    fclose(file);
    return 0;
}
