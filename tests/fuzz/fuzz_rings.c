/* SPDX-License-Identifier: MIT */
/*
 * The rings as a hostile program may write them. The input is the head, the thread slot, and the
 * bytes of one ring, in the memory of a known process without a map; the collector's steps run on
 * them.
 */
#include "record/collector/collector_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct session session;
static struct record_options options;
static struct record_summary summary;
static struct open_file_cache kept;
static struct compiler *compiler;
static struct collector *collector;
static struct process_memory *shared; /* as the program maps it */
static int memory_fd;

static void prepare(void)
{
    struct session_config config = {.period_ns = 1000000, .kernel_interval_ns = 20000000};
    struct error error;
    if (session_open(&session, &config, &error) != 0 ||
        compiler_start(&compiler, &session, &kept, &error) != 0)
        abort();
    memory_fd = memfd_create(SESSION_MEMORY_NAME, MFD_ALLOW_SEALING);
    if (ftruncate(memory_fd, sizeof(*shared)) != 0 ||
        fcntl(memory_fd, F_ADD_SEALS, SESSION_MEMORY_SEALS) != 0)
        abort();
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
    if (shared == MAP_FAILED)
        abort();
}

/* As the launcher maps the memory after the handshake. */
static struct target_memory *map_memory(void)
{
    struct stat status;
    struct target_memory *memory = NULL;
    if (fstat(memory_fd, &status) != 0)
        abort();
    const struct join_request request = {.memory_fd = (uint32_t)memory_fd,
                                         .memory_inode = status.st_ino};
    int fd = target_memory_find(&session, getpid(), &request);
    if (fd < 0 || target_memory_map(&memory, fd) != 0)
        abort();
    close(fd);
    return memory;
}

/* A known process without a map, and a collector and a file of its own for each run. */
static void begin(FILE *file)
{
    struct perfdata_config config = {.events = {{.name = "cpu-clock", .period = 1000000}}};
    const struct process process = {
        .pid = 1, .pid_fd = -1, .memory = map_memory(), .engine = ENGINE_TIMER};
    struct collector_config parts = {
        .session = &session, .compiler = compiler, .options = &options, .summary = &summary};
    collector = collector_new();
    if (!collector || perfdata_writer_open(&parts.writer, fileno(file), &config) != 0 ||
        collector_init(collector, &parts) != 0)
        abort();
    process_table_add(&collector->processes, &process);
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
    take(&shared->threads[0].control.head, 8, &data, &size);
    take(&shared->threads[0].slot, sizeof(shared->threads[0].slot), &data, &size);
    take(shared->rings[0], SESSION_RING_BYTES, &data, &size);
    shared->process.threads_used = 1;
    shared->process.threads_started++;
    drain_all(&collector->drain);
    drain_all(&collector->drain);
    pending_finish(&collector->pending, true);
    process_end_program(&collector->watch, &collector->processes.processes[0]);
    memset(&shared->threads[0].slot, 0, sizeof(shared->threads[0].slot));
    end();
    fclose(file);
    return 0;
}
