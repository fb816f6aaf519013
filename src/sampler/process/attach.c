/* SPDX-License-Identifier: MIT */
/*
 * The session's shared memory, as the environment names it:
 *
 *     REC_SESSION=TABLES_FD:RINGS_FD:LAUNCHER_PID:TOKEN:FORBIDDEN ─▶ inherited descriptors
 *                                                                └▶ /proc/LAUNCHER_PID/fd, for who closed them
 *
 * and the sampler's own.
 */
#include "sampler/process/attach.h"

#include "sampler/arch/arch.h"
#include "sampler/base/own_call.h"
#include "sampler/base/text.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>

#define PAGE_BYTES 4096u

/* What the environment variable says. */
static struct {
    uint32_t tables_fd, rings_fd, launcher_pid;
    uint64_t token;
} invitation;

static bool space_is_limited; /* when it was attached */

static const char *find_variable(char **environment, const char *name)
{
    for (; environment && *environment; environment++) {
        const char *entry = *environment;
        const char *wanted = name;
        while (*wanted && *entry == *wanted) {
            entry++;
            wanted++;
        }
        if (!*wanted && *entry == '=')
            return entry + 1;
    }
    return NULL;
}

/* Digits up to the separator; false when there are none, or something else. */
static bool parse_number(const char **text, unsigned base, char separator, uint64_t *number)
{
    const char *start = *text;
    *number = 0;
    for (;; (*text)++) {
        unsigned c = (unsigned char)**text;
        unsigned digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
        if (digit >= base)
            break;
        *number = *number * base + digit;
    }
    if (*text == start || **text != separator)
        return false;
    if (separator)
        (*text)++;
    return true;
}

static bool parse_invitation(const char *text)
{
    uint64_t tables_fd, rings_fd, launcher_pid;
    if (!parse_number(&text, 10, ':', &tables_fd) || !parse_number(&text, 10, ':', &rings_fd) ||
        !parse_number(&text, 10, ':', &launcher_pid) ||
        !parse_number(&text, 16, ':', &invitation.token) ||
        !parse_number(&text, 16, '\0', &process.forbidden))
        return false;
    invitation.tables_fd = (uint32_t)tables_fd;
    invitation.rings_fd = (uint32_t)rings_fd;
    invitation.launcher_pid = (uint32_t)launcher_pid;
    return true;
}

/* What mmap() returned: a sparse mapping would grow a core file by all of its size. */
static void *keep_mapping(long result, size_t bytes)
{
    if (raw_failed(result))
        return NULL;
    own_syscall(ADVISE, result, bytes, MADV_DONTDUMP);
    return (void *)result;
}

void session_path(char path[SESSION_PATH_BYTES], uint32_t fd)
{
    char *end = append_number(append_text(path, "/proc/"), invitation.launcher_pid);
    end = append_number(append_text(end, "/fd/"), fd);
    *end = '\0';
}

/* The launcher's own descriptor, for processes that closed the inherited one. */
static long open_from_launcher(uint32_t fd, int mode)
{
    char path[SESSION_PATH_BYTES];
    session_path(path, fd);
    /* Another process may have the pid by now, with a pipe or a terminal there. */
    return own_syscall(OPEN, AT_FDCWD, path, mode | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* Both shared mappings begin with magic, version, …, and hold the token. */
static bool is_tables(const struct tables *tables, uint64_t token)
{
    return tables->header.magic == SESSION_MAGIC && tables->header.version == SESSION_VERSION &&
           tables->header.token == token;
}

static bool is_rings(const struct rings *rings, uint64_t token)
{
    return rings->header.magic == SESSION_MAGIC && rings->header.version == SESSION_VERSION &&
           rings->header.token == token;
}

/* A descriptor may be anything by now, and somebody else's: only a file of our size is looked into, and
 * its position is left alone. */
static bool is_file_of(long fd, size_t bytes, uint64_t *inode)
{
    struct stat status;
    if (raw_failed(fd) || raw_failed(own_syscall(STAT_FD, fd, &status)))
        return false;
    *inode = status.st_ino;
    return S_ISREG(status.st_mode) && status.st_size == (off_t)bytes;
}

static struct tables *map_tables(long fd, uint64_t *inode)
{
    size_t bytes = sizeof(struct tables);
    if (!is_file_of(fd, bytes, inode))
        return NULL;
    return keep_mapping(own_syscall(MAP_TABLES, 0, bytes, PROT_READ, MAP_SHARED, fd), bytes);
}

static uint64_t space_limit(void)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    own_syscall(SPACE_LIMIT, 0, RLIMIT_AS, 0, &limit);
    return limit.rlim_cur;
}

/* Who is inside another program will not be recorded, and maps no room for records: valgrind warns of mappings as large
 * as that, and its check for leaks would read, and so allocate, all of it. */
static size_t rings_bytes(void)
{
    return process.vdso_avma && !space_is_limited ? sizeof(struct rings)
                                                  : offsetof(struct rings, data);
}

static struct rings *map_rings(long fd, size_t bytes, uint64_t *inode)
{
    if (!is_file_of(fd, sizeof(struct rings), inode))
        return NULL;
    return keep_mapping(own_syscall(MAP_RINGS, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd),
                        bytes);
}

/* The mapping that holds them all, if there is one. */
static void *all_rings(void)
{
    uint8_t *records = (uint8_t *)process.records;
    return records ? records - offsetof(struct rings, data) : NULL;
}

bool session_has_records(void)
{
    return process.records || process.apart;
}

bool session_map_records(void)
{
    if (session_has_records())
        return true;
    struct rings *again = keep_mapping(
        own_syscall(MAP_AGAIN, process.rings, 0, sizeof(*again), MREMAP_MAYMOVE), sizeof(*again));
    process.records = again ? again->data : NULL;
    return again != NULL;
}

static uint8_t *map_ring(long fd, uint32_t index)
{
    uint64_t inode;
    size_t offset = offsetof(struct rings, data) + index * SESSION_RING_BYTES;
    if (!is_file_of(fd, sizeof(struct rings), &inode))
        return NULL;
    return keep_mapping(own_syscall(MAP_RING, 0, SESSION_RING_BYTES, PROT_READ | PROT_WRITE,
                                    MAP_SHARED, fd, offset),
                        SESSION_RING_BYTES);
}

bool session_is_still(const struct inherited *inherited)
{
    struct stat status;
    return inherited->inode != 0 && !raw_failed(own_syscall(STAT_FD, inherited->fd, &status)) &&
           status.st_ino == inherited->inode;
}

static uint8_t *map_ring_apart(uint32_t index)
{
    const struct inherited *inherited = &process.inherited[1];
    if (session_is_still(inherited))
        return map_ring(inherited->fd, index);
    long fd = open_from_launcher(invitation.rings_fd, O_RDWR);
    uint8_t *data = map_ring(fd, index);
    if (!raw_failed(fd))
        own_syscall(CLOSE, fd);
    return data;
}

uint8_t *session_ring_data(uint32_t index)
{
    if (process.records)
        return process.records[index];
    if (process.apart && !process.apart[index])
        process.apart[index] = map_ring_apart(index);
    return process.apart ? process.apart[index] : NULL;
}

/* inodes: of tables and rings. */
static bool attach_from(long tables_fd, long rings_fd, uint64_t token, uint64_t inodes[2])
{
    struct tables *tables = map_tables(tables_fd, &inodes[0]);
    size_t bytes = rings_bytes();
    struct rings *rings = map_rings(rings_fd, bytes, &inodes[1]);
    if (tables && rings && is_tables(tables, token) && is_rings(rings, token)) {
        process.tables = tables;
        process.rings = rings;
        process.records = bytes == sizeof(*rings) ? rings->data : NULL;
        return true;
    }
    if (tables)
        own_syscall(UNMAP, tables, sizeof(*tables));
    if (rings)
        own_syscall(UNMAP, rings, bytes);
    return false;
}

static bool attach_to_rings(void)
{
    uint64_t inodes[2];
    if (attach_from(invitation.tables_fd, invitation.rings_fd, invitation.token, inodes)) {
        process.inherited[0] = (struct inherited){invitation.tables_fd, inodes[0]};
        process.inherited[1] = (struct inherited){invitation.rings_fd, inodes[1]};
        return true;
    }
    long tables_fd = open_from_launcher(invitation.tables_fd, O_RDONLY);
    long rings_fd = open_from_launcher(invitation.rings_fd, O_RDWR);
    bool attached = attach_from(tables_fd, rings_fd, invitation.token, inodes);
    if (!raw_failed(tables_fd))
        own_syscall(CLOSE, tables_fd);
    if (!raw_failed(rings_fd))
        own_syscall(CLOSE, rings_fd);
    return attached;
}

/* What is large, and hardly touched. */
struct private_memory {
    uint32_t wiped[PAGE_BYTES / sizeof(uint32_t)]; /* by fork */
    struct thread_state threads[SESSION_THREADS];
    uint8_t *apart[SESSION_THREADS];
};

static bool make_private_memory(void)
{
    struct private_memory *memory =
        keep_mapping(own_syscall(MAP_PRIVATE, 0, sizeof(*memory), PROT_READ | PROT_WRITE,
                                 SECCOMP_MAP_PRIVATE, -1),
                     sizeof(*memory));
    if (!memory ||
        raw_failed(own_syscall(ADVISE, memory->wiped, sizeof(memory->wiped), MADV_WIPEONFORK)))
        return false;
    process_alive = memory->wiped;
    process.mark = (struct process_mark *)(void *)(memory->wiped + WIPED_MARK);
    process.threads = memory->threads;
    process.apart = space_is_limited ? memory->apart : NULL;
    return true;
}

void session_make_room(void)
{
    struct private_memory *memory = (struct private_memory *)(void *)process_alive;
    uint8_t *all = all_rings();
    if (!all || !__libc_single_threaded || !process_is_followed() || !thread_self)
        return;
    uint32_t index = thread_self->index;
    uint8_t *first = process.records[0], *own = process.records[index];
    memory->apart[index] = own;
    process.apart = memory->apart;
    process.records = NULL;
    own_syscall(UNMAP, first, (size_t)(own - first));
    own_syscall(UNMAP, own + SESSION_RING_BYTES,
                (size_t)(SESSION_THREADS - 1 - index) * SESSION_RING_BYTES);
}

static bool lies_in(uint64_t start_avma, uint64_t end_avma, const void *memory, size_t bytes)
{
    uint64_t avma = (uint64_t)(uintptr_t)memory;
    return memory && start_avma >= avma && end_avma <= avma + bytes;
}

bool session_has_mapped(uint64_t start_avma, uint64_t end_avma)
{
    bool is_ours = lies_in(start_avma, end_avma, process.tables, sizeof(struct tables)) ||
                   lies_in(start_avma, end_avma, process.rings, offsetof(struct rings, data)) ||
                   lies_in(start_avma, end_avma, all_rings(), sizeof(struct rings)) ||
                   lies_in(start_avma, end_avma, process_alive, sizeof(struct private_memory));
    for (uint32_t i = 0; process.apart && i < SESSION_THREADS; i++)
        is_ours |= lies_in(start_avma, end_avma, process.apart[i], SESSION_RING_BYTES);
    return is_ours;
}

bool session_find(char **environment)
{
    const char *text = find_variable(environment, SESSION_VARIABLE);
    return text && parse_invitation(text);
}

bool session_attach(void)
{
    uint64_t limit_bytes = space_limit();
    space_is_limited = limit_bytes != RLIM_INFINITY;
    return !seccomp_forbids(CALLS_OF_START) && limit_bytes >= SESSION_LEAST_SPACE_BYTES &&
           attach_to_rings() && make_private_memory();
}
