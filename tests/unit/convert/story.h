/* SPDX-License-Identifier: MIT */
/* Captures written by hand, one record a line, and what became of them. */
#pragma once

#include "base/containers/buffer.h"
#include "convert/convert.h"
#include "convert/store/capture.h"
#include "perfdata/writer.h"
#include "../profile/sample_at.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct story {
    char path[64];
    int fd;
    struct perfdata_writer *writer;
};

/* `more`: an event beside cpu-clock:u, row 1; NULL: none. */
/* NULL: without this event. */
static inline struct story story_begin_of(const struct perfdata_event_row *first,
                                          const struct perfdata_event_row *more)
{
    struct story story = {.path = "/tmp/rec-story-XXXXXX"};
    static const char *const argv[] = {"./app", "--fast", NULL};
    struct perfdata_config config = {
        .start_time_ns = 1000, .start_wall_ns = 5000001000, .exclude_kernel = true, .argv = argv};
    if (first)
        config.events[0] = *first;
    if (more)
        config.events[1] = *more;
    story.fd = mkstemp(story.path);
    assert_true(story.fd >= 0);
    assert_int_equal(perfdata_writer_open(&story.writer, story.fd, &config), 0);
    return story;
}

static inline struct story story_begin_with(const struct perfdata_event_row *more)
{
    static const struct perfdata_event_row clock = {.name = "cpu-clock:u", .period = 1000000};
    return story_begin_of(&clock, more);
}

static inline struct story story_begin(void)
{
    return story_begin_with(NULL);
}

static inline void story_finish(struct story *story)
{
    assert_int_equal(perfdata_finish(story->writer), 0);
    perfdata_writer_close(story->writer);
    close(story->fd);
}

static inline struct profile *story_load(const struct story *story)
{
    struct profile *profile;
    struct error error = {{0}};
    if (convert_load(&profile, story->path, NULL, &error) != 0)
        fail_msg("%s", error.text);
    return profile;
}

static inline void story_resolve_with(const struct story *story, struct profile *profile,
                                      const struct convert_options *options)
{
    struct capture capture;
    struct error error = {{0}};
    if (capture_open(&capture, story->path, story->path, &error) != 0 ||
        convert_resolve(profile, &capture, options, &error) != 0)
        fail_msg("%s", error.text);
    capture_close(&capture);
}

static inline void story_resolve(const struct story *story, struct profile *profile)
{
    const struct convert_options options = {.debug_directory = "/nonexistent"};
    story_resolve_with(story, profile, &options);
}

/* Ends the capture and gives its profile, loaded and resolved. */
static inline struct profile *story_end(struct story *story)
{
    story_finish(story);
    struct profile *profile = story_load(story);
    story_resolve(story, profile);
    unlink(story->path);
    return profile;
}

static inline void comm(struct story *story, uint32_t pid, uint32_t tid, uint64_t time_ns,
                        const char *name, bool is_exec)
{
    struct perfdata_task task = {.pid = pid, .tid = tid, .time_ns = time_ns};
    assert_int_equal(perfdata_write_comm(story->writer, &task, name, is_exec), 0);
}

static inline void forked(struct story *story, uint32_t parent, uint32_t pid, uint32_t tid,
                          uint64_t time_ns)
{
    struct perfdata_task task = {
        .pid = pid, .tid = tid, .parent_pid = parent, .parent_tid = parent, .time_ns = time_ns};
    assert_int_equal(perfdata_write_fork(story->writer, &task), 0);
}

static inline void exited(struct story *story, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
    struct perfdata_task task = {
        .pid = pid, .tid = tid, .parent_pid = 1, .parent_tid = 1, .time_ns = time_ns};
    assert_int_equal(perfdata_write_exit(story->writer, &task), 0);
}

static inline void mapped_file(struct story *story, uint32_t pid, uint64_t time_ns, uint64_t start,
                               uint64_t bytes, uint64_t offset, const char *path,
                               const uint8_t *build_id, size_t build_id_bytes)
{
    struct perfdata_mapping mapping = {.pid = pid,
                                       .tid = pid,
                                       .time_ns = time_ns,
                                       .start_avma = start,
                                       .bytes = bytes,
                                       .file_offset = offset,
                                       .protection = PROT_READ | PROT_EXEC,
                                       .path = path,
                                       .build_id_bytes = build_id_bytes};
    if (build_id_bytes)
        memcpy(mapping.build_id, build_id, build_id_bytes);
    assert_int_equal(perfdata_write_mapping(story->writer, &mapping), 0);
}

static inline void mapped(struct story *story, uint32_t pid, uint64_t time_ns, uint64_t start,
                          uint64_t bytes, const char *path)
{
    mapped_file(story, pid, time_ns, start, bytes, 0, path, NULL, 0);
}

static inline void sampled(struct story *story, uint32_t pid, uint32_t tid, uint64_t time_ns,
                           const uint64_t *frames, size_t frame_count)
{
    struct perfdata_sample sample = {.pid = pid,
                                     .tid = tid,
                                     .time_ns = time_ns,
                                     .weight = 7,
                                     .frames = frames,
                                     .frame_count = frame_count};
    assert_int_equal(perfdata_write_sample(story->writer, &sample), 0);
}

/* A sample with the given frames, innermost first. */
#define SAMPLED(story, pid, tid, time_ns, ...)                         \
    sampled(story, pid, tid, time_ns, (const uint64_t[]){__VA_ARGS__}, \
            sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static inline void append_calls(const struct profile *profile, uint32_t call, struct buffer *out)
{
    if (call == PROFILE_NONE)
        return;
    append_calls(profile, profile->calls[call].parent, out);
    const struct profile_address *address = &profile->addresses[profile->calls[call].address];
    const char *lib = address->lib == PROFILE_NONE
                          ? "?"
                          : profile_text(profile, profile->libs[address->lib].name);
    buffer_printf(out, "%s%s+0x%llx", out->size ? ";" : "", lib, (unsigned long long)address->svma);
}

/* The stack of a sample as "lib+svma;lib+svma", outermost first. Valid until the next call. */
static inline const char *addresses_of(const struct profile *profile, size_t sample)
{
    static struct buffer text;
    buffer_clear(&text);
    append_calls(profile, sample_at(profile, sample).call, &text);
    buffer_u8(&text, 0);
    return (char *)text.bytes;
}

static inline void append_frames(const struct profile *profile, uint32_t stack, struct buffer *out)
{
    if (stack == PROFILE_NONE)
        return;
    append_frames(profile, profile->stacks[stack].parent, out);
    const struct profile_frame *frame = &profile->frames[profile->stacks[stack].frame];
    buffer_printf(out, "%s%s", out->size ? ";" : "",
                  profile_text(profile, profile->funcs[frame->func].name));
}

/* The names of a sample's frames, outermost first. Valid until the next call. */
static inline const char *names_of(const struct profile *profile, size_t sample)
{
    static struct buffer text;
    buffer_clear(&text);
    append_frames(profile, sample_at(profile, sample).stack, &text);
    buffer_u8(&text, 0);
    return (char *)text.bytes;
}

static inline const struct profile_process *process_of(const struct profile *profile, size_t sample)
{
    return &profile->processes[profile->threads[sample_at(profile, sample).thread].process];
}

static inline const char *thread_name_of(const struct profile *profile, size_t sample)
{
    return profile_text(profile, profile->threads[sample_at(profile, sample).thread].name);
}
