/* SPDX-License-Identifier: MIT */
#include "convert/symbolize/debuginfod.h"

#include "base/clock.h"
#include "base/containers/buffer.h"
#include "convert/files/module_segments.h"
#include "convert/symbolize/debuginfod_client.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AT_ONCE = 8, TOTAL_MS = 120000, SPARE_MS = 2000, FILE_SECONDS = 45 };
#define FILE_BYTES UINT64_C(1000000000)
#define TOTAL_BYTES (4 * FILE_BYTES)

void debuginfod_free(struct debuginfod *debuginfod)
{
    for (size_t i = 0; i < debuginfod->count; i++)
        free(debuginfod->files[i].path);
    free(debuginfod->files);
}

const char *debuginfod_find(const struct debuginfod *debuginfod, const uint8_t *build_id,
                            size_t build_id_bytes)
{
    for (size_t i = 0; i < debuginfod->count; i++)
        if (debuginfod->files[i].build_id_bytes == build_id_bytes &&
            memcmp(debuginfod->files[i].build_id, build_id, build_id_bytes) == 0)
            return debuginfod->files[i].path;
    return NULL;
}

/* A number of an environment variable of libdebuginfod. */
static uint64_t setting(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    long long value = text ? atoll(text) : 0;
    return value > 0 ? (uint64_t)value : usual;
}

static uint64_t largest_file_bytes(void)
{
    return setting("DEBUGINFOD_MAXSIZE", FILE_BYTES);
}

/* A larger limit of the user for one file raises the limit of all. */
static uint64_t total_bytes(void)
{
    return largest_file_bytes() > TOTAL_BYTES ? largest_file_bytes() : TOTAL_BYTES;
}

struct running {
    struct debuginfod_file *file; /* NULL: a free place */
    int fd;
    uint64_t reserved_bytes;
    struct buffer reply;
};

struct download {
    struct debuginfod *debuginfod;
    struct running places[AT_ONCE];
    uint64_t reserved_bytes; /* of all running downloads */
    size_t running;
};

/* Room for another file: the total without all files, and without the limits of running downloads.
 * Each running download may take the limit of a file: reserved at its start, replaced by the size
 * of the file at its end. */
static uint64_t room_bytes(const struct download *download)
{
    uint64_t used = download->debuginfod->fetched_bytes + download->reserved_bytes;
    return used < total_bytes() ? total_bytes() - used : 0;
}

static unsigned seconds_left(const struct debuginfod *debuginfod)
{
    int64_t left_ms = debuginfod->until_ms - SPARE_MS - monotonic_ms();
    uint64_t most = setting("DEBUGINFOD_MAXTIME", FILE_SECONDS);
    uint64_t left = left_ms > 0 ? (uint64_t)left_ms / 1000 : 0;
    return (unsigned)(left < most ? left : most);
}

static void start(struct download *download, struct running *place, struct debuginfod_file *file)
{
    struct debuginfod_fetch fetch = {
        .build_id = file->build_id,
        .build_id_bytes = file->build_id_bytes,
        .largest_bytes = largest_file_bytes(),
        .seconds = seconds_left(download->debuginfod),
    };
    int fd = debuginfod_client_request(&fetch);
    if (fd < 0) {
        file->err = fd;
        return;
    }
    *place = (struct running){.file = file, .fd = fd, .reserved_bytes = fetch.largest_bytes};
    download->reserved_bytes += place->reserved_bytes;
    download->running++;
}

/* As many as there are places and room for. Files without time or room fail. */
static void start_more(struct download *download)
{
    struct debuginfod *debuginfod = download->debuginfod;
    for (size_t i = 0; i < AT_ONCE && debuginfod->tried < debuginfod->count; i++) {
        struct debuginfod_file *file = &debuginfod->files[debuginfod->tried];
        bool has_room = room_bytes(download) >= largest_file_bytes();
        if (download->places[i].file || (!has_room && download->running))
            continue;
        debuginfod->tried++;
        if (!has_room)
            file->err = -EDQUOT;
        else if (seconds_left(debuginfod) == 0)
            file->err = DEBUGINFOD_TOO_SLOW;
        else
            start(download, &download->places[i], file);
    }
}

/* Servers send anything; caches keep it. */
static int check_build(const struct debuginfod_file *file, const char *path)
{
    struct elf_file *elf;
    int err = module_file_open(&elf, path, file->build_id, file->build_id_bytes);
    elf_close(elf);
    return err ? DEBUGINFOD_OTHER_BUILD : 0;
}

static void finish(struct download *download, struct running *place, int err)
{
    struct stat status;
    struct debuginfod_file *file = place->file;
    const char *path = NULL;
    close(place->fd);
    if (!err)
        err = debuginfod_client_take_reply(&place->reply);
    if (!err)
        path = (const char *)place->reply.bytes;
    if (path && stat(path, &status) == 0)
        download->debuginfod->fetched_bytes += (uint64_t)status.st_size;
    file->err = err ? err : check_build(file, path);
    if (file->err)
        buffer_free(&place->reply);
    else
        file->path = (char *)place->reply.bytes;
    download->reserved_bytes -= place->reserved_bytes;
    download->running--;
    place->file = NULL;
}

/* True: end of the reply. */
static bool receive(struct running *place)
{
    char bytes[PATH_MAX];
    ssize_t n = read(place->fd, bytes, sizeof(bytes));
    if (n > 0 && place->reply.size + (size_t)n < PATH_MAX)
        buffer_append(&place->reply, bytes, (size_t)n);
    return n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
}

/* Waits until a download has written or the time is over. */
static void wait_for(struct download *download)
{
    struct pollfd polled[AT_ONCE];
    for (size_t i = 0; i < AT_ONCE; i++) {
        const struct running *place = &download->places[i];
        polled[i] = (struct pollfd){.fd = place->file ? place->fd : -1, .events = POLLIN};
    }
    int64_t left_ms = download->debuginfod->until_ms - monotonic_ms();
    bool is_late = left_ms <= 0 || poll(polled, AT_ONCE, (int)left_ms) == 0;
    for (size_t i = 0; i < AT_ONCE; i++) {
        struct running *place = &download->places[i];
        if (!place->file || (!is_late && polled[i].revents == 0))
            continue;
        if (is_late)
            finish(download, place, DEBUGINFOD_TOO_SLOW);
        else if (receive(place))
            finish(download, place, 0);
    }
}

static void download_all(struct debuginfod *debuginfod)
{
    struct download download = {.debuginfod = debuginfod};
    const struct convert_options *options = debuginfod->options;
    for (;;) {
        start_more(&download);
        if (options->progress)
            options->progress(options->progress_context, "fetching debug info",
                              debuginfod->tried - download.running, debuginfod->count);
        if (download.running)
            wait_for(&download);
        else if (debuginfod->tried == debuginfod->count)
            return;
    }
}

static void describe(const struct debuginfod_file *file, char text[160])
{
    if (file->err == DEBUGINFOD_TOO_LARGE)
        snprintf(text, 160, "larger than %" PRIu64 " MB (DEBUGINFOD_MAXSIZE)",
                 largest_file_bytes() / 1000000);
    else if (file->err == -EDQUOT)
        snprintf(text, 160, "all files together are larger than %" PRIu64 " MB",
                 total_bytes() / 1000000);
    else if (file->err == DEBUGINFOD_TOO_SLOW)
        snprintf(text, 160,
                 "no complete reply in %" PRIu64 " s (DEBUGINFOD_MAXTIME), or %d s for all files",
                 setting("DEBUGINFOD_MAXTIME", FILE_SECONDS), TOTAL_MS / 1000);
    else if (file->err == DEBUGINFOD_OTHER_BUILD)
        snprintf(text, 160, "the reply is not an ELF file with this build-id");
    else
        snprintf(text, 160, "%s", strerror(-file->err));
}

/* One sentence for all files since the first. A file unknown to the servers is no failure. */
static const char *explain(struct debuginfod *debuginfod, size_t first)
{
    const struct debuginfod_file *example = NULL;
    char reason[160], id[2 * sizeof(example->build_id) + 1] = "";
    size_t failed = 0;
    for (size_t i = first; i < debuginfod->count; i++) {
        const struct debuginfod_file *file = &debuginfod->files[i];
        if (file->err == DEBUGINFOD_NO_LIBRARY)
            return "--debuginfod: libdebuginfod.so.1 is not installed (Debian: libdebuginfod1)";
        if (file->err == 0 || file->err == -ENOENT)
            continue;
        example = example ?: file;
        failed++;
    }
    if (!example)
        return NULL;
    for (size_t i = 0; i < example->build_id_bytes; i++)
        snprintf(id + 2 * i, 3, "%02x", example->build_id[i]);
    describe(example, reason);
    snprintf(debuginfod->reason, sizeof(debuginfod->reason),
             "--debuginfod: %zu of %zu downloads failed, build-id %s: %s", failed,
             debuginfod->count - first, id, reason);
    return debuginfod->reason;
}

const char *debuginfod_run(struct debuginfod *debuginfod)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    size_t first = debuginfod->tried;
    if (first == debuginfod->count)
        return NULL;
    if (!urls || urls[0] == '\0')
        return "--debuginfod: no servers configured: set DEBUGINFOD_URLS";
    if (debuginfod->until_ms == 0)
        debuginfod->until_ms = monotonic_ms() + TOTAL_MS;
    download_all(debuginfod);
    return explain(debuginfod, first);
}
