/* SPDX-License-Identifier: MIT */
/*
 * write_waits FILE: a capture of CPU time and waits, known to the last nanosecond, as rec --off-cpu
 * records it. Times in ms:
 *
 *     main    100  runs 10 in work(), waits 3000 for a join, in three samples end to end
 *     worker  101  waits 2500 for a lock in transfer(), 10 for a processor, runs 5 in transfer()
 *     pool    102, 103: wait 3015 for a condition variable
 *     reader  104  waits 3015 in read(), from the start to the end
 *
 * Functions are mappings with a name in brackets: names without files.
 */
#include "perfdata/writer.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PID = 100, CPU = 0, OFF_CPU = 1, PAGE = 4096, FRAMES_MAX = 4 };

#define BASE_AVMA UINT64_C(0x10000)
#define START_NS UINT64_C(1000000000)
#define MS UINT64_C(1000000)

static const char *const names[] = {"[main]",          "[work]",
                                    "[run]",           "[transfer]",
                                    "[pool]",          "[read]",
                                    "[waiting: join]", "[waiting: lock]",
                                    "[runnable]",      "[waiting: condition variable]",
                                    "[waiting: read]"};

struct step {
    uint32_t tid, event, start_ms, length_ms;
    const char *frames[FRAMES_MAX]; /* innermost first */
};

/* In the order of time. */
static const struct step steps[] = {
    {102, OFF_CPU, 0, 3015, {"[waiting: condition variable]", "[pool]"}},
    {103, OFF_CPU, 0, 3015, {"[waiting: condition variable]", "[pool]"}},
    {104, OFF_CPU, 0, 3015, {"[waiting: read]", "[read]", "[main]"}},
    {101, OFF_CPU, 5, 2500, {"[waiting: lock]", "[transfer]", "[run]"}},
    {100, CPU, 10, 10, {"[work]", "[main]"}},
    {100, OFF_CPU, 10, 1000, {"[waiting: join]", "[main]"}},
    {100, OFF_CPU, 1010, 1500, {"[waiting: join]", "[main]"}},
    {101, OFF_CPU, 2505, 10, {"[runnable]", "[transfer]", "[run]"}},
    {100, OFF_CPU, 2510, 500, {"[waiting: join]", "[main]"}},
    {101, CPU, 2520, 5, {"[transfer]", "[run]"}},
};

static uint64_t avma_of(const char *name)
{
    size_t at = 0;
    while (strcmp(names[at], name) != 0)
        at++;
    return BASE_AVMA + PAGE * at + 8;
}

static int write_tasks(struct perfdata_writer *writer)
{
    static const char *const threads[] = {"app", "worker", "pool", "pool", "reader"};
    int err = 0;
    for (uint32_t i = 0; i < 5 && err == 0; i++) {
        const struct perfdata_task task = {
            .pid = PID, .tid = PID + i, .time_ns = START_NS, .parent_pid = PID, .parent_tid = PID};
        if (i)
            err = perfdata_write_fork(writer, &task);
        if (err == 0)
            err = perfdata_write_comm(writer, &task, threads[i], i == 0);
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && err == 0; i++) {
        const struct perfdata_mapping mapping = {.pid = PID,
                                                 .tid = PID,
                                                 .time_ns = START_NS,
                                                 .start_avma = BASE_AVMA + PAGE * i,
                                                 .bytes = PAGE,
                                                 .protection = PROT_READ | PROT_EXEC,
                                                 .path = names[i]};
        err = perfdata_write_mapping(writer, &mapping);
    }
    return err;
}

static int write_step(struct perfdata_writer *writer, const struct step *step)
{
    uint64_t frames[FRAMES_MAX];
    size_t count = 0;
    for (; count < FRAMES_MAX && step->frames[count]; count++)
        frames[count] = avma_of(step->frames[count]);
    bool is_lock = strcmp(step->frames[0], "[waiting: lock]") == 0; /* held by the reader */
    const struct perfdata_sample sample = {.pid = PID,
                                           .tid = step->tid,
                                           .time_ns = START_NS + step->start_ms * MS,
                                           .event = step->event,
                                           .weight = step->length_ms * MS,
                                           .object_avma = is_lock ? 0x5008 : 0,
                                           .number = is_lock ? 104 : 0,
                                           .frames = frames,
                                           .frame_count = count};
    return perfdata_write_sample(writer, &sample);
}

static int write_end(struct perfdata_writer *writer)
{
    int err = 0;
    for (uint32_t i = 5; i-- > 0 && err == 0;) {
        const struct perfdata_task task = {.pid = PID,
                                           .tid = PID + i,
                                           .time_ns = START_NS + (i == 1 ? 2520 : 3015) * MS,
                                           .parent_pid = 1,
                                           .parent_tid = 1};
        if (i != 4) /* the reader waits at the end of the recording */
            err = perfdata_write_exit(writer, &task);
    }
    return err;
}

int main(int argc, char **argv)
{
    static const char *const command[] = {"./app", NULL};
    const struct perfdata_config config = {
        .start_time_ns = START_NS,
        .start_wall_ns = UINT64_C(1700000000000000000),
        .exclude_kernel = true,
        .events = {{.name = "cpu-clock:u", .period = MS},
                   {.name = "off-cpu", .unit = "ns", .has_object = true}},
        .argv = command};
    struct perfdata_writer *writer = NULL;
    int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    int err = fd < 0 ? -1 : perfdata_writer_open(&writer, fd, &config);
    if (err == 0)
        err = write_tasks(writer);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && err == 0; i++)
        err = write_step(writer, &steps[i]);
    if (err == 0)
        err = write_end(writer);
    if (err == 0)
        err = perfdata_finish(writer);
    perfdata_writer_close(writer);
    return err == 0 ? 0 : 1;
}
