/* SPDX-License-Identifier: MIT */
#include "convert/symbolize/symbolize_time.h"

#include "base/clock.h"
#include "base/containers/buffer.h"
#include "base/files/io.h"
#include "convert/files/symfs.h"
#include "symbols/files/debug_path.h"

#include <stdio.h>
#include <sys/stat.h>

#define SPARE_NS UINT64_C(5000000000)
#define MIB_NS UINT64_C(60000000)

static void count_file(struct symbolize_time *time, const char *path)
{
    struct stat status;
    if (!time->inodes)
        time->inodes = intern_new();
    if (!time->inodes || stat(path, &status) != 0)
        return;
    const uint64_t key[] = {status.st_dev, status.st_ino};
    const uint32_t known = intern_count(time->inodes);
    if (intern_add(time->inodes, key, sizeof(key)) == known)
        time->file_bytes += io_stored_bytes(&status);
}

void symbolize_time_add(struct symbolize_time *time, const struct profile *profile,
                        const struct convert_options *options, uint32_t lib)
{
    const struct profile_lib *of = &profile->libs[lib];
    const char *path = profile_text(profile, of->path);
    struct buffer debug = {0};
    count_file(time, symfs_path_of(options, path, of->build_id, of->build_id_bytes).text);
    if (options->debug_directory &&
        debug_path_of_build_id(&debug, options->debug_directory, of->build_id, of->build_id_bytes))
        count_file(time, (const char *)debug.bytes);
    buffer_free(&debug);
}

void symbolize_time_begin(struct symbolize_time *time)
{
    time->start_cpu_ns = children_cpu_ns();
}

bool symbolize_time_is_over(struct symbolize_time *time, size_t files)
{
    const uint64_t limit_ns = SPARE_NS + (time->file_bytes >> 10) * (MIB_NS >> 10);
    if (children_cpu_ns() - time->start_cpu_ns <= CPU_TIME_FACTOR * limit_ns)
        return false;
    time->left_out += files;
    return true;
}

void symbolize_time_add_note(const struct symbolize_time *time, struct profile *profile)
{
    char text[96];
    if (time->left_out == 0)
        return;
    snprintf(text, sizeof(text), "reading all files takes too much time: %zu have no names",
             time->left_out);
    profile_add_note(profile, "no_names", text);
}

void symbolize_time_free(struct symbolize_time *time)
{
    if (time->inodes)
        intern_free(time->inodes);
    *time = (struct symbolize_time){0};
}
