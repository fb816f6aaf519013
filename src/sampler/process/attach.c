/* SPDX-License-Identifier: MIT */
/*
 * The session's shared memory, as the environment names it:
 *
 *     REC_SESSION=TABLES_FD:REQUESTS_FD:LAUNCHER_PID:TOKEN:FORBIDDEN
 *         ├─▶ inherited descriptors
 *         └─▶ /proc/LAUNCHER_PID/fd, if the program has closed the inherited descriptors
 */
#include "sampler/process/attach.h"

#include "sampler/arch/arch.h"
#include "sampler/base/own_call.h"
#include "sampler/base/text.h"

#include <sys/stat.h>

#define PAGE_BYTES 4096u

/* The content of the environment variable. */
static struct {
    uint32_t tables_fd, requests_fd, launcher_pid;
    uint64_t token;
} invitation;

/* Digits up to the separator; false: none, or other characters. */
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
    uint64_t tables_fd, requests_fd, launcher_pid;
    if (!parse_number(&text, 10, ':', &tables_fd) || !parse_number(&text, 10, ':', &requests_fd) ||
        !parse_number(&text, 10, ':', &launcher_pid) ||
        !parse_number(&text, 16, ':', &invitation.token) ||
        !parse_number(&text, 16, '\0', &process.forbidden))
        return false;
    invitation.tables_fd = (uint32_t)tables_fd;
    invitation.requests_fd = (uint32_t)requests_fd;
    invitation.launcher_pid = (uint32_t)launcher_pid;
    return true;
}

/* The result of mmap(). A sparse mapping would grow a core file by all of its size. */
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

/* The launcher's own descriptor. */
static long open_from_launcher(uint32_t fd, int mode)
{
    char path[SESSION_PATH_BYTES];
    session_path(path, fd);
    /* Another process may have the pid by now, with a pipe or a terminal there. */
    return own_syscall(OPEN, AT_FDCWD, path, mode | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* The token is in both. */
static bool is_tables(const struct tables *tables, uint64_t token)
{
    return tables->header.magic == SESSION_MAGIC && tables->header.version == SESSION_VERSION &&
           tables->header.token == token;
}

static bool is_requests(const struct requests *requests, uint64_t token)
{
    return requests->magic == SESSION_MAGIC && requests->version == SESSION_VERSION &&
           requests->token == token;
}

/* The descriptor may be of any file by now: only a file of this size is read, by mmap(), which
 * leaves the position alone. */
static bool is_file_of(long fd, size_t bytes, uint64_t *inode)
{
    struct stat status;
    if (raw_failed(fd) || raw_failed(own_syscall(STAT_FD, fd, &status)))
        return false;
    *inode = status.st_ino;
    return S_ISREG(status.st_mode) && status.st_size == (off_t)bytes;
}

static void *map(long fd, size_t bytes, bool is_written, uint64_t *inode)
{
    if (!is_file_of(fd, bytes, inode))
        return NULL;
    long mapped = is_written
                      ? own_syscall(MAP_MEMORY, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd)
                      : own_syscall(MAP_TABLES, 0, bytes, PROT_READ, MAP_SHARED, fd);
    return keep_mapping(mapped, bytes);
}

bool session_is_still(const struct inherited *inherited)
{
    struct stat status;
    return inherited->inode != 0 && !raw_failed(own_syscall(STAT_FD, inherited->fd, &status)) &&
           status.st_ino == inherited->inode;
}

/* inodes: of tables and requests. */
static bool attach_from(long tables_fd, long requests_fd, uint64_t inodes[2])
{
    struct tables *tables = map(tables_fd, sizeof(*tables), false, &inodes[0]);
    struct requests *requests = map(requests_fd, sizeof(*requests), true, &inodes[1]);
    if (tables && requests && is_tables(tables, invitation.token) &&
        is_requests(requests, invitation.token)) {
        process.tables = tables;
        process.requests = requests;
        return true;
    }
    if (tables)
        own_syscall(UNMAP, tables, sizeof(*tables));
    if (requests)
        own_syscall(UNMAP, requests, sizeof(*requests));
    return false;
}

static bool attach_to_session(void)
{
    uint64_t inodes[2];
    if (attach_from(invitation.tables_fd, invitation.requests_fd, inodes)) {
        process.inherited[0] = (struct inherited){invitation.tables_fd, inodes[0]};
        process.inherited[1] = (struct inherited){invitation.requests_fd, inodes[1]};
        return true;
    }
    long tables_fd = open_from_launcher(invitation.tables_fd, O_RDONLY);
    long requests_fd = open_from_launcher(invitation.requests_fd, O_RDWR);
    bool attached = attach_from(tables_fd, requests_fd, inodes);
    if (!raw_failed(tables_fd))
        own_syscall(CLOSE, tables_fd);
    if (!raw_failed(requests_fd))
        own_syscall(CLOSE, requests_fd);
    return attached;
}

struct wiped_memory { /* by fork */
    uint32_t words[PAGE_BYTES / sizeof(uint32_t)];
    uint8_t *later_rings[SESSION_THREADS];
};
_Static_assert(sizeof(struct wiped_memory) % PAGE_BYTES == 0, "whole pages");

static bool make_wiped_memory(void)
{
    long mapped = own_syscall(MAP_PRIVATE, 0, sizeof(struct wiped_memory), PROT_READ | PROT_WRITE,
                              SECCOMP_MAP_PRIVATE, -1);
    struct wiped_memory *memory = (struct wiped_memory *)mapped;
    if (raw_failed(mapped) ||
        raw_failed(own_syscall(ADVISE, memory, sizeof(*memory), MADV_WIPEONFORK)))
        return false;
    process_alive = memory->words;
    process.later_rings = memory->later_rings;
    return true;
}

bool session_find(char **environment)
{
    for (; environment && *environment; environment++) {
        const char *text = text_behind(*environment, SESSION_VARIABLE "=");
        if (text)
            return parse_invitation(text);
    }
    return false;
}

static uint64_t space_limit(void)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    own_syscall(SPACE_LIMIT, 0, RLIMIT_AS, 0, &limit);
    return limit.rlim_cur;
}

bool session_attach(void)
{
    return !seccomp_forbids(CALLS_OF_START) && space_limit() >= SESSION_LEAST_SPACE_BYTES &&
           attach_to_session() && make_wiped_memory();
}
