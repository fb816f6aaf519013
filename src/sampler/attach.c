/* SPDX-License-Identifier: MIT */
/*
 * The session's shared memory, as the environment names it:
 *
 *     REC_SESSION=TABLES_FD:RINGS_FD:LAUNCHER_PID:TOKEN ─▶ inherited descriptors
 *                                                      └▶ /proc/LAUNCHER_PID/fd, for who closed them
 *
 * and the sampler's own.
 */
#include "sampler/raw.h"
#include "sampler/sampler.h"
#include "sampler/text.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PAGE_BYTES 4096u

static uint32_t never_alive;
uint32_t *process_alive = &never_alive;

/* What the environment variable says. */
struct invitation {
    uint32_t tables_fd, rings_fd, launcher_pid;
    uint64_t token;
};

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

static bool parse_invitation(const char *text, struct invitation *invitation)
{
    uint64_t tables_fd, rings_fd, launcher_pid;
    if (!parse_number(&text, 10, ':', &tables_fd) || !parse_number(&text, 10, ':', &rings_fd) ||
        !parse_number(&text, 10, ':', &launcher_pid) ||
        !parse_number(&text, 16, '\0', &invitation->token))
        return false;
    invitation->tables_fd = (uint32_t)tables_fd;
    invitation->rings_fd = (uint32_t)rings_fd;
    invitation->launcher_pid = (uint32_t)launcher_pid;
    return true;
}

static void *map(long fd, size_t bytes, int protection, int flags)
{
    long result = raw_syscall(SYS_mmap, 0, bytes, protection, flags, fd, 0);
    if (raw_failed(result))
        return NULL;
    /* A sparse mapping would grow a core file by all of its size. */
    raw_syscall(SYS_madvise, result, bytes, MADV_DONTDUMP);
    return (void *)result;
}

/* The launcher's own descriptor, for processes that closed the inherited one. */
static long open_from_launcher(uint32_t pid, uint32_t fd, int mode)
{
    char path[48];
    char *end = append_number(append_text(path, "/proc/"), pid);
    end = append_number(append_text(end, "/fd/"), fd);
    *end = '\0';
    /* Another process may have the pid by now, with a pipe or a terminal there. */
    return raw_syscall(SYS_openat, AT_FDCWD, path, mode | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
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
static void *map_file(long fd, size_t bytes, int protection)
{
    struct stat status;
    if (raw_failed(fd) || raw_failed(raw_syscall(SYS_fstat, fd, &status)) ||
        !S_ISREG(status.st_mode) || status.st_size != (off_t)bytes)
        return NULL;
    return map(fd, bytes, protection, MAP_SHARED);
}

static bool attach_from(long tables_fd, long rings_fd, uint64_t token)
{
    struct tables *tables = map_file(tables_fd, sizeof(*tables), PROT_READ);
    struct rings *rings = map_file(rings_fd, sizeof(*rings), PROT_READ | PROT_WRITE);
    if (tables && rings && is_tables(tables, token) && is_rings(rings, token)) {
        process.tables = tables;
        process.rings = rings;
        return true;
    }
    if (tables)
        raw_syscall(SYS_munmap, tables, sizeof(*tables));
    if (rings)
        raw_syscall(SYS_munmap, rings, sizeof(*rings));
    return false;
}

static bool attach_to(const struct invitation *invitation)
{
    if (attach_from(invitation->tables_fd, invitation->rings_fd, invitation->token))
        return true;
    long tables_fd = open_from_launcher(invitation->launcher_pid, invitation->tables_fd, O_RDONLY);
    long rings_fd = open_from_launcher(invitation->launcher_pid, invitation->rings_fd, O_RDWR);
    bool attached = attach_from(tables_fd, rings_fd, invitation->token);
    if (!raw_failed(tables_fd))
        raw_syscall(SYS_close, tables_fd);
    if (!raw_failed(rings_fd))
        raw_syscall(SYS_close, rings_fd);
    return attached;
}

/* What is large, and hardly touched. */
struct private_memory {
    uint32_t wiped[PAGE_BYTES / sizeof(uint32_t)]; /* by fork */
    struct thread_state threads[SESSION_THREADS];
    char *lent[SAMPLER_LENT_BYTES / sizeof(char *)];
};

static bool make_private_memory(void)
{
    struct private_memory *memory = map(-1, sizeof(*memory), PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (!memory ||
        raw_failed(raw_syscall(SYS_madvise, memory->wiped, sizeof(memory->wiped), MADV_WIPEONFORK)))
        return false;
    process_alive = memory->wiped;
    process.threads = memory->threads;
    process.lent = memory->lent;
    return true;
}

bool session_attach(char **environment)
{
    const char *text = find_variable(environment, SESSION_VARIABLE);
    struct invitation invitation;
    return text && parse_invitation(text, &invitation) && attach_to(&invitation) &&
           make_private_memory();
}
