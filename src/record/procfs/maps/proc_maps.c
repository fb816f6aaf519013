/* SPDX-License-Identifier: MIT */
/*
 * Since Linux 6.11 an ioctl (PROCMAP_QUERY) returns the executable mappings alone, 1.3 us each. The
 * text of all mappings takes 50 us for a small program, a delay of the handshake.
 */
#include "record/procfs/maps/proc_maps.h"

#include "base/budget.h"
#include "base/containers/array.h"
#include "base/files/io.h"
#include "record/procfs/maps/maps_line.h"
#include "record/tables/maps/map_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define MAPS_BYTES_MAX (64u << 20)

/* PROCMAP_QUERY, as in linux/fs.h of later kernels: returns the first mapping at or after an
 * address with all these properties. */
enum {
    QUERY_WRITABLE = 0x02,
    QUERY_EXECUTABLE = 0x04,
    QUERY_SHARED = 0x08,
    QUERY_OR_NEXT = 0x10,
    QUERY_OF_FILE = 0x20,
};
struct map_query {
    uint64_t size;
    uint64_t wanted; /* bits of the above */
    uint64_t address;
    uint64_t start, end;
    uint64_t properties; /* bits of the above */
    uint64_t page_bytes;
    uint64_t offset;
    uint64_t inode;
    uint32_t device_major, device_minor;
    uint32_t name_bytes; /* in: size of the buffer; out: bytes with the NUL; 0: no name */
    uint32_t build_id_bytes;
    uint64_t name; /* address */
    uint64_t build_id;
};
_Static_assert(sizeof(struct map_query) == 104, "the kernel's layout");
#define MAP_QUERY _IOWR('f', 17, struct map_query)

static void note_memfd(struct proc_maps *maps, uint64_t device, uint64_t inode, bool is_shared)
{
    if (maps->memfd_inode && is_shared && inode == maps->memfd_inode &&
        device == maps->memfd_device)
        maps->has_memfd = true;
}

/* Shares the path of the previous mapping if equal: a file is often mapped in several parts. */
static const char *path_of(const struct proc_maps *maps, const char *path, size_t length)
{
    const char *last = maps->count ? maps->mappings[maps->count - 1].path : NULL;
    bool is_last = last && strncmp(last, path, length) == 0 && last[length] == '\0';
    /* Parts of one file stop at the limit, further paths at twice the limit: the program's
     * libraries have the highest addresses. */
    size_t most = (size_t)budget_amount(BUDGET_MAPPINGS);
    if (maps->count >= (is_last ? most : 2 * most))
        return NULL;
    return is_last ? map_path_use(last) : map_path_new(path, length);
}

static int add_mapping(struct proc_maps *maps, struct proc_mapping mapping, const char *path,
                       size_t length)
{
    mapping.path = path_of(maps, path, length);
    if (!mapping.path) {
        maps->left_out++;
        return 0;
    }
    struct proc_mapping *place = ARRAY_PUSH(maps->mappings, maps->count, maps->capacity);
    if (!place) {
        map_path_release(mapping.path);
        return -ENOMEM;
    }
    *place = mapping;
    return 0;
}

static int add_line(struct proc_maps *maps, const char *text)
{
    struct maps_line line;
    if (!maps_line_parse(&line, text))
        return -EBADMSG;
    note_memfd(maps, line.device, line.inode, line.is_shared);
    if (!line.is_executable)
        return 0;
    return add_mapping(maps,
                       (struct proc_mapping){.start_avma = line.start_avma,
                                             .end_avma = line.end_avma,
                                             .file_offset = line.file_offset,
                                             .device = line.device,
                                             .inode = line.inode,
                                             .is_executable = true,
                                             .is_writable = line.is_writable},
                       line.path, line.path_bytes);
}

int proc_maps_parse(struct proc_maps *maps, const char *text, size_t size)
{
    char line[4352];
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t length = newline ? (size_t)(newline - text) - at : size - at;
        if (length < sizeof(line)) {
            memcpy(line, text + at, length);
            line[length] = '\0';
            int err = add_line(maps, line);
            if (err == -ENOMEM)
                return err;
        }
        at += length + 1;
    }
    return 0;
}

static int read_text(struct proc_maps *maps, int fd)
{
    struct buffer text = {0};
    int err = io_read_all(fd, &text, MAPS_BYTES_MAX);
    if (err == 0)
        err = proc_maps_parse(maps, (const char *)text.bytes, text.size);
    buffer_free(&text);
    return err;
}

static uint64_t device_of(const struct map_query *mapping)
{
    return makedev(mapping->device_major, mapping->device_minor);
}

static int query_one(int fd, struct map_query *mapping)
{
    mapping->size = sizeof(*mapping);
    return ioctl(fd, MAP_QUERY, mapping) == 0 ? 0 : -errno;
}

/* Returns the next mapping at or after the address, with its name ("": none). -ENOENT: no further
 * mapping. -EILSEQ for a name with a newline: /proc/PID/maps escapes newlines. */
static int query(int fd, struct map_query *mapping, uint64_t properties, uint64_t address,
                 char name[PATH_BYTES])
{
    *mapping = (struct map_query){.wanted = properties | QUERY_OR_NEXT,
                                  .address = address,
                                  .name_bytes = PATH_BYTES,
                                  .name = (uintptr_t)name};
    name[0] = '\0';
    int err = query_one(fd, mapping);
    return err == 0 && strchr(name, '\n') ? -EILSEQ : err;
}

static int query_memfd(struct proc_maps *maps, int fd)
{
    struct map_query found = {.end = maps->memfd_from_avma};
    int err = 0;
    while (err == 0 && !maps->has_memfd) {
        found = (struct map_query){.wanted = QUERY_OF_FILE | QUERY_SHARED | QUERY_OR_NEXT,
                                   .address = found.end};
        err = query_one(fd, &found);
        if (err == 0)
            note_memfd(maps, device_of(&found), found.inode, found.properties & QUERY_SHARED);
    }
    return err == -ENOENT ? 0 : err;
}

static int query_executable(struct proc_maps *maps, int fd)
{
    struct map_query found = {0};
    char name[PATH_BYTES];
    int err = 0;
    while ((err = query(fd, &found, QUERY_EXECUTABLE, found.end, name)) == 0) {
        struct proc_mapping mapping = {.start_avma = found.start,
                                       .end_avma = found.end,
                                       .file_offset = found.offset,
                                       .device = device_of(&found),
                                       .inode = found.inode,
                                       .is_executable = true,
                                       .is_writable = found.properties & QUERY_WRITABLE};
        err = add_mapping(maps, mapping, name, maps_path_bytes(name));
        if (err)
            break;
    }
    return err == -ENOENT ? 0 : err;
}

/* Mappings found by queries are dropped, as the text has all of them. */
static void begin_again(struct proc_maps *maps)
{
    struct proc_maps fresh = {.memfd_device = maps->memfd_device,
                              .memfd_inode = maps->memfd_inode,
                              .memfd_from_avma = maps->memfd_from_avma};
    proc_maps_free(maps);
    *maps = fresh;
}

static int read_maps(struct proc_maps *maps, pid_t pid, bool wants_list)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int err = wants_list ? query_executable(maps, fd) : 0;
    if (err == 0)
        err = maps->memfd_inode ? query_memfd(maps, fd) : 0;
    if (err && err != -ENOMEM) { /* an older kernel, or a newline in a path */
        begin_again(maps);
        err = read_text(maps, fd);
    }
    close(fd);
    return err;
}

int proc_maps_read(struct proc_maps *maps, pid_t pid)
{
    return read_maps(maps, pid, true);
}

int proc_maps_look(struct proc_maps *maps, pid_t pid)
{
    return read_maps(maps, pid, false);
}

void proc_maps_free(struct proc_maps *maps)
{
    for (size_t i = 0; i < maps->count; i++)
        map_path_release(maps->mappings[i].path);
    free(maps->mappings);
    *maps = (struct proc_maps){0};
}

static uint64_t start_in_text(int fd, uint64_t avma)
{
    struct buffer text = {0};
    uint64_t start = 0;
    bool is_bad = io_read_all(fd, &text, MAPS_BYTES_MAX) != 0;
    buffer_u8(&text, 0);
    const char *at = text.failed ? "" : (const char *)text.bytes;
    struct maps_line line;
    while (start == 0 && !is_bad && maps_line_parse(&line, at)) {
        start = line.start_avma <= avma && avma < line.end_avma ? line.start_avma : 0;
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    buffer_free(&text);
    return start;
}

uint64_t proc_maps_start(pid_t pid, uint64_t avma)
{
    struct map_query found = {.address = avma};
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    int err = query_one(fd, &found);
    uint64_t start = err == -ENOTTY ? start_in_text(fd, avma) : err ? 0 : found.start;
    close(fd);
    return start;
}
