/* SPDX-License-Identifier: MIT */
/*
 * Writes a capture of any size, of a program without a run:
 *
 *     make_recording OUTPUT FILE SAMPLES [STACKS [THREADS]]
 *
 * Threads take turns of a millisecond, each with own stacks. The stacks are paths of a random tree,
 * 8 to 24 calls deep, of 20000 places in FILE's code. Equal arguments give equal captures.
 */
#include "elf/elf_file.h"
#include "perfdata/writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DEEPEST = 24, SHALLOWEST = 8, PLACES = 20000, PID = 1000, ROUND_SAMPLES = 1000 };

static const uint64_t START_AVMA = 0x10000000, PERIOD_NS = 1000000;

static uint64_t random_state = 88172645463325252u;

/* xorshift: equal numbers on all machines. */
static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

struct stacks {
    uint64_t (*frames)[DEEPEST]; /* innermost first */
    size_t *depths;
    size_t count;
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* Half of the calls of a stack are calls of the previous stack: a tree, as in programs. */
static struct stacks make_stacks(size_t count, uint64_t code_bytes)
{
    struct stacks stacks = {calloc(count, sizeof(*stacks.frames)),
                            calloc(count, sizeof(*stacks.depths)), count};
    if (!stacks.frames || !stacks.depths)
        die("memory");
    static uint64_t places[PLACES];
    for (size_t i = 0; i < PLACES; i++)
        places[i] = START_AVMA + random_below(code_bytes);
    uint64_t path[DEEPEST];
    for (size_t i = 0; i < DEEPEST; i++)
        path[i] = places[random_below(PLACES)];
    for (size_t i = 0; i < count; i++) {
        size_t depth = SHALLOWEST + random_below(DEEPEST - SHALLOWEST);
        for (size_t level = depth / 2; level < depth; level++)
            path[level] = places[random_below(PLACES)];
        stacks.depths[i] = depth;
        for (size_t level = 0; level < depth; level++)
            stacks.frames[i][depth - 1 - level] = path[level];
    }
    return stacks;
}

/* The code of FILE, mapped; its size. */
static uint64_t write_mapping(struct perfdata_writer *writer, const char *path)
{
    struct elf_file *elf;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || elf_open(&elf, fd, NULL) != 0)
        die(path);
    struct perfdata_mapping mapping = {.pid = PID,
                                       .tid = PID,
                                       .time_ns = 2, /* after the exec, the end of all maps */
                                       .start_avma = START_AVMA,
                                       .protection = PROT_READ | PROT_EXEC,
                                       .path = path};
    mapping.build_id_bytes = elf_build_id(elf, mapping.build_id);
    for (size_t i = 0; i < elf_segment_count(elf); i++) {
        const struct elf_segment *segment = elf_segment(elf, i);
        bool is_code = segment->type == 1 && (segment->flags & 1); /* PT_LOAD, PF_X */
        if (!is_code || segment->file_bytes < mapping.bytes)
            continue;
        mapping.file_offset = segment->offset & ~UINT64_C(4095);
        mapping.bytes = segment->file_bytes & ~UINT64_C(4095);
    }
    elf_close(elf);
    close(fd);
    perfdata_write_mapping(writer, &mapping);
    return mapping.bytes;
}

static void write_threads(struct perfdata_writer *writer, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct perfdata_task task = {
            .pid = PID, .tid = PID + i, .parent_pid = PID, .parent_tid = PID, .time_ns = 1};
        char name[24];
        snprintf(name, sizeof(name), "worker-%u", i);
        if (i)
            perfdata_write_fork(writer, &task);
        perfdata_write_comm(writer, &task, i ? name : "program", i == 0);
    }
}

static void write_samples(struct perfdata_writer *writer, const struct stacks *stacks, size_t count,
                          uint32_t threads)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t thread = (uint32_t)(i % threads);
        size_t stack = (random_below(stacks->count / threads) * threads + thread) % stacks->count;
        struct perfdata_sample sample = {.pid = PID,
                                         .tid = PID + thread,
                                         .time_ns = PERIOD_NS * (1 + i / threads) + thread * 1013,
                                         .weight = PERIOD_NS,
                                         .frames = stacks->frames[stack],
                                         .frame_count = stacks->depths[stack]};
        perfdata_write_sample(writer, &sample);
        if (i % ROUND_SAMPLES == ROUND_SAMPLES - 1)
            perfdata_write_round(writer);
    }
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    size_t samples = strtoull(argv[3], NULL, 10);
    size_t stack_count = argc > 4 ? strtoull(argv[4], NULL, 10) : 100000;
    uint32_t threads = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 64;
    int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    struct perfdata_config config = {.start_time_ns = PERIOD_NS,
                                     .events = {{.name = "cpu-clock:u", .period = PERIOD_NS}}};
    struct perfdata_writer *writer = NULL;
    if (fd < 0 || perfdata_writer_open(&writer, fd, &config) != 0)
        die(argv[1]);
    write_threads(writer, threads);
    struct stacks stacks = make_stacks(stack_count, write_mapping(writer, argv[2]));
    write_samples(writer, &stacks, samples, threads);
    int err = perfdata_finish(writer);
    perfdata_writer_close(writer);
    return err ? 1 : 0;
}
