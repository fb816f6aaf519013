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
static struct kept_files kept;
static struct collector *collector;

static void prepare(void)
{
    struct session_config config = {.period_ns = 1000000, .kernel_interval_ns = 20000000};
    struct error error;
    collector = calloc(1, sizeof(*collector));
    if (!collector || session_open(&session, &config, &error) != 0 ||
        compiler_start(&collector->compiler, &session, &kept, &error) != 0)
        abort();
    collector->session = &session;
    collector->options = &options;
    collector->summary = &summary;
    collector->scratch = malloc(SESSION_RING_BYTES);
    ticks_clock_start(&collector->clock);
    collector->end_fd = -1;
}

/* A process that says no more than that it is there, and a file of its own for each run. */
static void begin(FILE *file)
{
    struct perfdata_config config = {.period_ns = 1000000, .event_name = "cpu-clock"};
    if (perfdata_writer_open(&collector->writer, fileno(file), &config) != 0)
        abort();
    collector->round_ns = ticks_clock_advance(&collector->clock);
    collector->images[0] =
        (struct image){.in_use = true, .pid = 1, .pid_fd = -1, .engine = ENGINE_TIMER};
    collector->live[0] = 0;
    collector->live_count = 1;
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
    if (!collector)
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
    drain_all(collector);
    drain_all(collector);
    misses_finish(collector, true);
    image_end(collector, &collector->images[0]);
    drain_release_threads(collector, 0, 1);
    memset(rings->threads, 0, sizeof(rings->threads[0]));
    perfdata_writer_close(collector->writer);
    fclose(file);
    return 0;
}
