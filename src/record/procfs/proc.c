/* SPDX-License-Identifier: MIT */
#include "record/procfs/proc.h"

#include "base/clock.h"
#include "base/containers/array.h"
#include "base/files/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Rights to nothing but what all may read, for files of ended processes. 65534: the overflow id of
 * user namespaces (user_namespaces(7)). */
static const struct rights nobody = {.uid = 65534, .gid = 65534};

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

/* Reads /proc/PID/task/TID/FILE; with tid 0, /proc/PID/FILE. */
static ssize_t read_of(pid_t pid, pid_t tid, const char *file, char *text, size_t size)
{
    char path[64];
    if (tid)
        snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, file);
    else
        snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
    return read_small(path, text, size);
}

int proc_name(pid_t pid, pid_t tid, char name[16])
{
    char text[64];
    /* Every /proc directory on the path costs the kernel time, at the lookup and again when the
     * process ends. */
    if (read_of(pid, tid == pid ? 0 : tid, "comm", text, sizeof(text)) <= 0)
        return -ESRCH;
    text[strcspn(text, "\n")] = '\0';
    snprintf(name, 16, "%.15s", text);
    return 0;
}

static long status_number(const char *text, const char *key)
{
    const char *line = strstr(text, key);
    return line ? strtol(line + strlen(key), NULL, 10) : 0;
}

struct proc_status proc_status_read(pid_t pid)
{
    char text[4096];
    if (read_of(pid, 0, "status", text, sizeof(text)) <= 0)
        return (struct proc_status){0};
    return (struct proc_status){.tracer = (pid_t)status_number(text, "\nTracerPid:"),
                                .threads = (uint32_t)status_number(text, "\nThreads:"),
                                .filters = (uint32_t)status_number(text, "\nSeccomp_filters:")};
}

/* "\nUid:\t" and the real, effective, saved and file system id. */
static bool read_file_system_id(const char *text, const char *key, uint32_t *id)
{
    const char *line = strstr(text, key);
    return line && sscanf(line + strlen(key), "%*u %*u %*u %" SCNu32, id) == 1;
}

static void read_groups(const char *text, struct rights *rights)
{
    static const char key[] = "\nGroups:\t";
    const char *at = strstr(text, key);
    at = at ? at + strlen(key) : "";
    rights->group_count = 0;
    while (*at >= '0' && *at <= '9' && rights->group_count < RIGHTS_GROUPS_MAX) {
        char *end;
        rights->groups[rights->group_count++] = (gid_t)strtoul(at, &end, 10);
        at = end + (*end == ' ');
    }
}

int proc_rights_read(struct rights *rights, pid_t pid)
{
    char text[4096];
    if (read_of(pid, 0, "status", text, sizeof(text)) <= 0 ||
        !read_file_system_id(text, "\nUid:\t", &rights->uid) ||
        !read_file_system_id(text, "\nGid:\t", &rights->gid))
        return -ESRCH;
    read_groups(text, rights);
    return 0;
}

struct rights proc_rights_of(pid_t pid)
{
    struct rights rights = {0};
    if (pid != 0 && geteuid() == 0 && proc_rights_read(&rights, pid) != 0)
        return nobody;
    return rights;
}

static int read_owner(struct rights *rights, pid_t pid)
{
    char path[32];
    struct stat status;
    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    if (stat(path, &status) != 0)
        return -errno;
    *rights = (struct rights){.uid = status.st_uid, .gid = status.st_gid};
    return 0;
}

struct rights proc_rights_of_owner(pid_t pid)
{
    struct rights rights = {0};
    if (geteuid() == 0 && read_owner(&rights, pid) != 0)
        return nobody;
    return rights;
}

void proc_rights_lower(struct rights *rights, pid_t pid)
{
    struct rights now;
    if (geteuid() == 0 && rights->uid == 0 && read_owner(&now, pid) == 0)
        *rights = now;
}

uint32_t proc_namespace(pid_t pid)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
    return stat(path, &status) == 0 ? (uint32_t)status.st_ino : 0;
}

pid_t *proc_list(const char *path, size_t *count)
{
    pid_t *ids = NULL;
    size_t capacity = 0;
    *count = 0;
    DIR *entries = opendir(path);
    if (!entries)
        return NULL;
    for (const struct dirent *entry; (entry = readdir(entries));) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        pid_t *place = ARRAY_PUSH(ids, *count, capacity);
        if (!place)
            break;
        *place = (pid_t)strtol(entry->d_name, NULL, 10);
    }
    closedir(entries);
    return ids;
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

/* From linux/sched.h. io_uring workers are threads of their process since Linux 5.12. */
#define PF_IO_WORKER 0x10u
#define PF_KTHREAD 0x200000u

/* PID (NAME) STATE PPID, four more, flags, four more, utime stime cutime cstime, four more,
 * starttime …; NAME may hold any character. */
int proc_stat_parse(struct proc_stat *stat, const char *text)
{
    const char *behind_name = strrchr(text, ')');
    int parent;
    unsigned flags;
    unsigned long long user, kernel, children_user, children_kernel, start = 0, stack_start = 0;
    if (!behind_name || sscanf(behind_name + 1,
                               " %c %d %*s %*s %*s %*s %u %*s %*s %*s %*s %llu %llu %llu %llu"
                               " %*s %*s %*s %*s %llu %*s %*s %*s %*s %*s %llu",
                               &stat->state, &parent, &flags, &user, &kernel, &children_user,
                               &children_kernel, &start, &stack_start) < 7)
        return -EBADMSG;
    uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
    stat->parent = parent;
    stat->is_of_kernel = flags & PF_KTHREAD;
    stat->is_of_io_uring = flags & PF_IO_WORKER;
    stat->user_ns = user * tick_ns;
    stat->kernel_ns = kernel * tick_ns;
    stat->start_ns = start * tick_ns;
    stat->stack_start_avma = stack_start;
    stat->children_cpu_ns = (children_user + children_kernel) * tick_ns;
    return 0;
}

int proc_stat_read(struct proc_stat *stat, pid_t pid, pid_t tid)
{
    char text[1024];
    return read_of(pid, tid, "stat", text, sizeof(text)) <= 0 ? -ESRCH
                                                              : proc_stat_parse(stat, text);
}

/* CLOCK_BOOTTIME is ahead by the suspended time, which only grows. */
bool proc_existed_at(pid_t pid, uint64_t time_ns)
{
    struct proc_stat stat;
    const uint64_t now_ns = monotonic_ns(), suspended_ns = clock_ns(CLOCK_BOOTTIME) - now_ns;
    return proc_stat_read(&stat, pid, 0) == 0 && stat.start_ns <= time_ns + suspended_ns;
}

/* Link count of /proc/PID/task with one thread: two of the directory, one of the thread's. */
#define LINKS_OF_ONE_THREAD 3

static size_t parse_children(struct buffer *text, pid_t *pids, size_t room)
{
    size_t count = 0;
    buffer_append(text, "", 1);
    const char *at = text->failed ? "" : (const char *)text->bytes;
    char *end;
    for (long child; count < room && (child = strtol(at, &end, 10)) > 0; at = end)
        pids[count++] = (pid_t)child;
    return count;
}

/* Of a thousand threads, most have none: an empty file costs little. */
static size_t children_of_thread(int directory, const char *path, pid_t *pids, size_t room)
{
    char first[256];
    struct buffer text = {0};
    size_t count = 0;
    int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, first, sizeof(first));
    if (got > 0) {
        buffer_append(&text, first, (size_t)got);
        (void)io_read_all(fd, &text, 1u << 20);
        count = parse_children(&text, pids, room);
    }
    buffer_free(&text);
    close(fd);
    return count;
}

size_t proc_children(pid_t pid, pid_t *pids, size_t room)
{
    char path[64], only[64], children[300];
    struct stat status;
    size_t count = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    snprintf(only, sizeof(only), "/proc/%d/task/%d/children", (int)pid, (int)pid);
    if (stat(path, &status) == 0 && status.st_nlink == LINKS_OF_ONE_THREAD)
        return children_of_thread(AT_FDCWD, only, pids, room);
    DIR *tasks = opendir(path);
    if (!tasks)
        return 0;
    for (const struct dirent *task; count < room && (task = readdir(tasks));) {
        if (task->d_name[0] == '.')
            continue;
        snprintf(children, sizeof(children), "%s/children", task->d_name);
        count += children_of_thread(dirfd(tasks), children, pids + count, room - count);
    }
    closedir(tasks);
    return count;
}

static uint64_t status_mask(const char *text, const char *key)
{
    const char *line = strstr(text, key);
    return line ? strtoull(line + strlen(key), NULL, 16) : 0;
}

bool proc_thread_blocks(pid_t pid, pid_t tid, int number)
{
    char text[4096];
    if (read_of(pid, tid, "status", text, sizeof(text)) <= 0)
        return false;
    uint64_t mask = status_mask(text, "\nSigBlk:") | status_mask(text, "\nSigIgn:");
    return mask >> (number - 1) & 1;
}

/* A look at a thread. The mask is the thread's own, the handlers are the process's. */
static void look_at_signal(struct proc_threads *threads, pid_t pid, pid_t tid, int number)
{
    char text[4096];
    if (read_of(pid, tid, "status", text, sizeof(text)) <= 0)
        return;
    threads->blocking += status_mask(text, "\nSigBlk:") >> (number - 1) & 1;
    if (strstr(text, "\nSigCgt:"))
        threads->is_unhandled = !(status_mask(text, "\nSigCgt:") >> (number - 1) & 1);
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
        struct proc_stat stat;
        pid_t tid = (pid_t)strtol(task->d_name, NULL, 10);
        if (tid == 0 || (proc_stat_read(&stat, pid, tid) == 0 && stat.is_of_io_uring))
            continue;
        threads.count++;
        look_at_signal(&threads, pid, tid, number);
    }
    closedir(tasks);
    return threads;
}

size_t proc_count_timers(pid_t pid)
{
    char path[64];
    struct buffer text = {0};
    snprintf(path, sizeof(path), "/proc/%d/timers", (int)pid);
    bool is_read = io_read_file(path, &text, 1u << 20) == 0;
    size_t count = is_read ? 0 : SIZE_MAX;
    for (size_t i = 0; is_read && i + 3 <= text.size; i++)
        count += memcmp(text.bytes + i, "ID:", 3) == 0 && (i == 0 || text.bytes[i - 1] == '\n');
    buffer_free(&text);
    return count;
}

uint64_t proc_thread_cpu_ns(pid_t pid, pid_t tid)
{
    char text[128];
    return read_of(pid, tid, "schedstat", text, sizeof(text)) > 0 ? strtoull(text, NULL, 10) : 0;
}

/* Two lookups: /proc/TID alone also exists for threads of other processes. */
bool proc_has_thread(pid_t pid, pid_t tid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
    return access(path, F_OK) == 0;
}

uint64_t proc_cpu_ns(pid_t pid)
{
    /* The kernel's encoding of "CPU clock of this process", scheduler resolution. */
    return clock_ns((clockid_t)(~(unsigned)pid << 3 | 2u));
}

/* "cpu  user nice system idle iowait irq softirq steal …": proc_stat(5). */
uint64_t proc_busy_parse_ns(const char *text)
{
    enum { IDLE = 3, IOWAIT = 4, FIELDS = 7 };
    uint64_t sum = 0;
    char *at = NULL;
    if (strncmp(text, "cpu ", 4) != 0)
        return 0;
    text += 4;
    for (int field = 0; field < FIELDS; field++, text = at) {
        uint64_t ticks = strtoull(text, &at, 10);
        if (at == text)
            return 0;
        sum += field == IDLE || field == IOWAIT ? 0 : ticks;
    }
    return sum * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

uint64_t proc_busy_ns(void)
{
    struct buffer text = {0};
    uint64_t busy_ns = 0;
    if (io_read_file("/proc/stat", &text, 1 << 20) == 0)
        buffer_append(&text, "", 1);
    if (text.size && !text.failed)
        busy_ns = proc_busy_parse_ns((const char *)text.bytes);
    buffer_free(&text);
    return busy_ns;
}

/* "0.20 0.18 0.12 3/80 11206" */
uint32_t proc_runnable_parse(const char *text)
{
    unsigned running;
    return sscanf(text, "%*s %*s %*s %u/", &running) == 1 ? running : 0;
}

uint32_t proc_runnable(void)
{
    struct buffer text = {0};
    uint32_t running = 0;
    if (io_read_file("/proc/loadavg", &text, 4096) == 0)
        buffer_append(&text, "", 1);
    if (text.size && !text.failed)
        running = proc_runnable_parse((const char *)text.bytes);
    buffer_free(&text);
    return running;
}
