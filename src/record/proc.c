/* SPDX-License-Identifier: MIT */
#include "record/proc.h"

#include "base/array.h"
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The number that starts here, and what must come behind it; then *at is behind that. */
static uint64_t take_number(const char **at, int base, char behind, bool *is_bad)
{
    char *end;
    uint64_t number = strtoull(*at, &end, base);
    *is_bad |= end == *at || *end != behind;
    *at = *is_bad ? "" : end + 1;
    return number;
}

/* start-end perms offset dev inode   path */
static int parse_line(struct proc_maps *maps, const char *line)
{
    const char *at = line;
    bool is_bad = false;
    uint64_t start = take_number(&at, 16, '-', &is_bad);
    uint64_t end = take_number(&at, 16, ' ', &is_bad);
    const char *permissions = at;
    is_bad |= strlen(permissions) < 5;
    at += is_bad ? 0 : 5;
    uint64_t offset = take_number(&at, 16, ' ', &is_bad);
    take_number(&at, 16, ':', &is_bad);
    take_number(&at, 16, ' ', &is_bad);
    uint64_t inode = take_number(&at, 10, ' ', &is_bad);
    if (is_bad || end <= start)
        return -EBADMSG;
    const char *path = at + strspn(at, " ");
    if (inode == maps->memfd_inode && strncmp(path, "/memfd:", 7) == 0)
        maps->has_memfd = true;
    if (permissions[2] != 'x')
        return 0;
    struct proc_mapping *mapping = ARRAY_PUSH(maps->mappings, maps->count, maps->capacity);
    if (!mapping)
        return -ENOMEM;
    *mapping = (struct proc_mapping){.start_avma = start,
                                     .end_avma = end,
                                     .file_offset = offset,
                                     .inode = inode,
                                     .is_executable = true,
                                     .is_writable = permissions[1] == 'w',
                                     .path = strdup(path)};
    if (!mapping->path)
        return -ENOMEM;
    static const char deleted[] = " (deleted)";
    size_t length = strlen(mapping->path);
    size_t suffix = sizeof(deleted) - 1;
    if (length > suffix && strcmp(mapping->path + length - suffix, deleted) == 0)
        mapping->path[length - suffix] = '\0';
    return 0;
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
            int err = parse_line(maps, line);
            if (err == -ENOMEM)
                return err;
        }
        at += length + 1;
    }
    return 0;
}

int proc_maps_read(struct proc_maps *maps, pid_t pid)
{
    char path[64];
    struct buffer text = {0};
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    int err = io_read_file(path, &text, 64u << 20);
    if (err == 0)
        err = proc_maps_parse(maps, (const char *)text.bytes, text.size);
    buffer_free(&text);
    return err;
}

void proc_maps_free(struct proc_maps *maps)
{
    for (size_t i = 0; i < maps->count; i++)
        free(maps->mappings[i].path);
    free(maps->mappings);
    *maps = (struct proc_maps){0};
}

static ssize_t read_small(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t length = read(fd, text, size - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    return length;
}

int proc_name(pid_t pid, pid_t tid, char name[16])
{
    char path[64];
    char text[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)(tid ? tid : pid));
    if (read_small(path, text, sizeof(text)) <= 0)
        return -ESRCH;
    text[strcspn(text, "\n")] = '\0';
    snprintf(name, 16, "%.15s", text);
    return 0;
}

pid_t proc_tracer(pid_t pid)
{
    char path[64];
    char text[2048];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    if (read_small(path, text, sizeof(text)) <= 0)
        return 0;
    const char *line = strstr(text, "\nTracerPid:");
    return line ? (pid_t)strtol(line + strlen("\nTracerPid:"), NULL, 10) : 0;
}

int proc_executable(pid_t pid, char *path, size_t size)
{
    char link[64];
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(link, path, size - 1);
    if (length < 0)
        return -errno;
    path[length] = '\0';
    return 0;
}

/* PID (NAME) STATE PPID, nine more, utime stime cutime cstime …; the name may hold anything. */
int proc_stat_parse(struct proc_stat *stat, const char *text)
{
    const char *behind_name = strrchr(text, ')');
    int parent;
    unsigned long long user, system;
    if (!behind_name ||
        sscanf(behind_name + 1, " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu",
               &stat->state, &parent, &user, &system) != 4)
        return -EBADMSG;
    stat->parent = parent;
    stat->children_cpu_ns =
        (uint64_t)(user + system) * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
    return 0;
}

int proc_stat_read(struct proc_stat *stat, pid_t pid)
{
    char path[64];
    char text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    return read_small(path, text, sizeof(text)) <= 0 ? -ESRCH : proc_stat_parse(stat, text);
}

static size_t children_of_thread(pid_t pid, const char *tid, pid_t *pids, size_t room)
{
    char path[512];
    struct buffer text = {0};
    size_t count = 0;
    snprintf(path, sizeof(path), "/proc/%d/task/%s/children", (int)pid, tid);
    if (io_read_file(path, &text, 1u << 20) == 0) {
        buffer_append(&text, "", 1);
        const char *at = text.failed ? "" : (const char *)text.bytes;
        char *end;
        for (long child; count < room && (child = strtol(at, &end, 10)) > 0; at = end)
            pids[count++] = (pid_t)child;
    }
    buffer_free(&text);
    return count;
}

size_t proc_children(pid_t pid, pid_t *pids, size_t room)
{
    char path[64];
    size_t count = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return 0;
    for (const struct dirent *task; count < room && (task = readdir(tasks));)
        if (task->d_name[0] != '.')
            count += children_of_thread(pid, task->d_name, pids + count, room - count);
    closedir(tasks);
    return count;
}

static bool blocks(pid_t pid, const char *tid, int number)
{
    char path[512];
    char text[4096];
    snprintf(path, sizeof(path), "/proc/%d/task/%s/status", (int)pid, tid);
    if (read_small(path, text, sizeof(text)) <= 0)
        return false;
    const char *line = strstr(text, "\nSigBlk:");
    uint64_t mask = line ? strtoull(line + strlen("\nSigBlk:"), NULL, 16) : 0;
    return mask >> (number - 1) & 1;
}

struct proc_threads proc_look_at_threads(pid_t pid, int number, size_t most)
{
    char path[64];
    struct proc_threads threads = {0};
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return threads;
    for (const struct dirent *task; threads.count < most && (task = readdir(tasks));) {
        if (task->d_name[0] == '.')
            continue;
        threads.count++;
        threads.blocking += blocks(pid, task->d_name, number);
    }
    closedir(tasks);
    return threads;
}

bool proc_has_timers(pid_t pid)
{
    char path[64];
    char text[16];
    snprintf(path, sizeof(path), "/proc/%d/timers", (int)pid);
    return read_small(path, text, sizeof(text)) != 0;
}

uint64_t proc_thread_cpu_ns(pid_t pid, pid_t tid)
{
    char path[64];
    char text[128];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
    return read_small(path, text, sizeof(text)) > 0 ? strtoull(text, NULL, 10) : 0;
}

uint64_t proc_cpu_ns(pid_t pid)
{
    /* The kernel's encoding of "CPU clock of this process", scheduler resolution. */
    clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | 2u);
    struct timespec cpu;
    if (clock_gettime(clock, &cpu) != 0)
        return 0;
    return (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
}
