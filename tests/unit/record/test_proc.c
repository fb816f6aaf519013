/* SPDX-License-Identifier: MIT */
/* What the kernel writes into /proc/PID/maps, and what nobody should. */
#include "base/clock.h"
#include "record/procfs/maps/proc_maps.h"
#include "record/procfs/pidfd_facts.h"
#include "record/procfs/proc.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static struct proc_maps parse(const char *text)
{
    struct proc_maps maps = {0};
    assert_int_equal(proc_maps_parse(&maps, text, strlen(text)), 0);
    return maps;
}

/* As `cat /proc/self/maps` shows it. */
static const char python[] =
    "00400000-00420000 r--p 00000000 fe:01 9011 /usr/bin/python3.11\n"
    "00420000-006c5000 r-xp 00020000 fe:01 9011                               /usr/bin/python3.11\n"
    "01f5e000-0206c000 rw-p 00000000 00:00 0                                  [heap]\n"
    "7f1bd6a00000-7f1bd6a10000 rwxp 00000000 00:00 0 \n"
    "7ffd4c7f6000-7ffd4c7f8000 r-xp 00000000 00:00 0                          [vdso]\n"
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

static void only_executable_mappings_are_kept_with_all_that_is_known(void **state)
{
    (void)state;
    struct proc_maps maps = parse(python);
    assert_int_equal(maps.count, 4);
    const struct proc_mapping *text = &maps.mappings[0];
    assert_true(text->start_avma == 0x420000 && text->end_avma == 0x6c5000);
    assert_int_equal(text->file_offset, 0x20000);
    assert_int_equal(text->inode, 9011);
    assert_int_equal(text->device, makedev(0xfe, 1));
    assert_true(text->is_executable);
    assert_false(text->is_writable);
    assert_string_equal(text->path, "/usr/bin/python3.11");
    assert_string_equal(maps.mappings[1].path, "");
    assert_true(maps.mappings[1].is_writable);
    assert_string_equal(maps.mappings[2].path, "[vdso]");
    assert_true(maps.mappings[3].start_avma == 0xffffffffff600000);
    proc_maps_free(&maps);
}

static void the_path_of(const char *written, const char *expected)
{
    char line[512];
    snprintf(line, sizeof(line), "1000-2000 r-xp 0 08:01 5 %s\n3000-4000 r-xp 0 08:01 6 /next\n",
             written);
    struct proc_maps maps = parse(line);
    assert_int_equal(maps.count, 2);
    assert_string_equal(maps.mappings[0].path, expected);
    assert_string_equal(maps.mappings[1].path, "/next");
    proc_maps_free(&maps);
}

static void strange_names_stay_one_path(void **state)
{
    (void)state;
    the_path_of("/opt/my app/a  b", "/opt/my app/a  b");
    the_path_of("/tmp/ends in a blank ", "/tmp/ends in a blank ");
    /* The kernel writes a newline as \012: it cannot begin a line of its own. */
    the_path_of("/tmp/x\\0129000-a000 r-xp 0 08:01 7 /evil",
                "/tmp/x\\0129000-a000 r-xp 0 08:01 7 /evil");
    the_path_of("/tmp/\x1b[31m\xff\x80", "/tmp/\x1b[31m\xff\x80");
    the_path_of("/tmp/%s%n", "/tmp/%s%n");
}

static void the_mark_of_deleted_files_is_no_part_of_the_name(void **state)
{
    (void)state;
    the_path_of("/tmp/plugin.so (deleted)", "/tmp/plugin.so");
    the_path_of("/memfd:jit (deleted)", "/memfd:jit");
    the_path_of("/tmp/x (deleted) (deleted)", "/tmp/x (deleted)");
    the_path_of("/tmp/(deleted)", "/tmp/(deleted)");
}

static void lines_that_make_no_sense_are_passed_over(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "\n\n",
        "hello",
        "1000",
        "1000-",
        "1000-2000",
        "1000-2000 r-xp",
        "1000-2000 r-xp 0 08:01",
        "2000-1000 r-xp 0 08:01 5 /backwards",
        "1000-1000 r-xp 0 08:01 5 /empty",
        "-2000 r-xp 0 08:01 5 /no-start",
        "1000-2000 rwxprwxprwxp 0 08:01 5 /long-permissions",
        "1000-2000 x 0 08:01 5 /short-permissions",
        "1000-2000 r-xp zzz 08:01 5 /no-offset",
        "ffffffffffffffffffff-ffffffffffffffffffffff r-xp 0 08:01 5 /overflow",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text), "%s\n5000-6000 r-xp 0 08:01 6 /good", lines[i]);
        struct proc_maps maps = parse(text);
        assert_int_equal(maps.count, 1);
        assert_string_equal(maps.mappings[0].path, "/good");
        proc_maps_free(&maps);
    }
}

static void the_last_line_needs_no_newline_and_bytes_behind_the_size_are_not_read(void **state)
{
    (void)state;
    static const char line[] = "1000-2000 r-xp 0 08:01 5 /bin/a";
    size_t size = strlen(line);
    char *exact = malloc(size); /* a sanitizer watches its end */
    assert_non_null(exact);
    memcpy(exact, line, size);
    struct proc_maps maps = {0};
    assert_int_equal(proc_maps_parse(&maps, exact, size), 0);
    assert_int_equal(maps.count, 1);
    assert_string_equal(maps.mappings[0].path, "/bin/a");
    proc_maps_free(&maps);
    /* Cut anywhere, it is the line with a shorter name, or no line. */
    for (size_t cut = 0; cut < size; cut++) {
        assert_int_equal(proc_maps_parse(&maps, exact, cut), 0);
        assert_true(maps.count <= 1);
        if (maps.count)
            assert_memory_equal(maps.mappings[0].path, "/bin/a", strlen(maps.mappings[0].path));
        proc_maps_free(&maps);
    }
    free(exact);
}

static void a_line_longer_than_any_path_is_passed_over(void **state)
{
    (void)state;
    static const char start[] = "1000-2000 r-xp 0 08:01 5 /";
    static const char end[] = "\n3000-4000 r-xp 0 08:01 6 /next\n";
    size_t size = 100000;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'a', size);
    memcpy(text, start, strlen(start));
    memcpy(text + size - strlen(end), end, strlen(end));
    struct proc_maps maps = {0};
    assert_int_equal(proc_maps_parse(&maps, text, size), 0);
    assert_int_equal(maps.count, 1);
    assert_string_equal(maps.mappings[0].path, "/next");
    proc_maps_free(&maps);
    free(text);
}

/* The longest path that the kernel shows has 4095 bytes. */
static void the_longest_path_comes_whole(void **state)
{
    (void)state;
    char text[4400];
    int at = sprintf(text, "7f1bd6a00000-7f1bd6a10000 r-xp 0000000000020000 fe:01 1234567890%*s/",
                     20, "");
    memset(text + at, 'b', 4094);
    text[at + 4094] = '\0';
    struct proc_maps maps = parse(text);
    assert_int_equal(maps.count, 1);
    assert_int_equal(strlen(maps.mappings[0].path), 4095);
    proc_maps_free(&maps);
}

static const struct proc_mapping *mapping_of(const struct proc_maps *maps, const void *address)
{
    for (size_t i = 0; i < maps->count; i++)
        if ((uintptr_t)address >= maps->mappings[i].start_avma &&
            (uintptr_t)address < maps->mappings[i].end_avma)
            return &maps->mappings[i];
    return NULL;
}

static void our_own_mappings_are_what_we_made(void **state)
{
    (void)state;
    int fd = memfd_create("two\nlines", 0);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 8192), 0);
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 4096);
    assert_ptr_not_equal(code, MAP_FAILED);
    struct proc_maps maps = {0};
    assert_int_equal(proc_maps_read(&maps, getpid()), 0);
    const struct proc_mapping *found = mapping_of(&maps, code);
    assert_non_null(found);
    assert_int_equal(found->file_offset, 4096);
    assert_string_equal(found->path, "/memfd:two\\012lines");
    const struct proc_mapping *own = mapping_of(&maps, (const void *)(uintptr_t)&parse);
    char executable[4096];
    assert_int_equal(proc_executable(getpid(), executable, sizeof(executable)), 0);
    assert_non_null(own);
    assert_string_equal(own->path, executable);
    proc_maps_free(&maps);
    munmap(code, 4096);
    close(fd);
}

static void assert_same_maps(const struct proc_maps *a, const struct proc_maps *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const struct proc_mapping *one = &a->mappings[i], *other = &b->mappings[i];
        assert_true(one->start_avma == other->start_avma && one->end_avma == other->end_avma);
        assert_true(one->file_offset == other->file_offset && one->inode == other->inode &&
                    one->device == other->device);
        assert_int_equal(one->is_writable, other->is_writable);
        assert_string_equal(one->path, other->path);
    }
    assert_int_equal(a->has_memfd, b->has_memfd);
}

/* All but the one that no process has for itself. */
static struct proc_maps read_own_text(struct proc_maps maps)
{
    static char text[1 << 20];
    FILE *file = fopen("/proc/self/maps", "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    char *vsyscall = strstr(text, "ffffffffff600000-");
    if (vsyscall)
        *vsyscall = '\0';
    assert_int_equal(proc_maps_parse(&maps, text, strlen(text)), 0);
    return maps;
}

/* The name of a mapping may be any, as may the number of a file on another device. */
static void a_memfd_is_known_by_device_and_inode(void **state)
{
    (void)state;
    static const char lines[] = "1000-2000 rw-s 0 00:01 77 /memfd:other (deleted)\n"
                                "2000-3000 rw-p 0 00:01 78 /memfd:rec-rings (deleted)\n"
                                "3000-4000 rw-s 0 fe:01 78 /memfd:rec-rings (deleted)\n"
                                "4000-5000 rw-p 0 00:00 0 \n"
                                "5000-6000 rw-s 0 00:01 79 /dev/zero (deleted)\n";
    static const struct {
        uint64_t inode;
        bool has_memfd;
    } cases[] = {{77, true}, {78, false}, {79, true}, {1, false}, {0, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct proc_maps maps = {.memfd_device = makedev(0, 1), .memfd_inode = cases[i].inode};
        assert_int_equal(proc_maps_parse(&maps, lines, sizeof(lines) - 1), 0);
        assert_int_equal(maps.has_memfd, cases[i].has_memfd);
        proc_maps_free(&maps);
    }
}

static void what_is_read_of_a_process_is_what_the_text_says(void **state)
{
    (void)state;
    struct stat status;
    int fd = memfd_create("rings", 0);
    assert_true(fd >= 0 && ftruncate(fd, 4096) == 0 && fstat(fd, &status) == 0);
    void *code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    void *rings = NULL;
    assert_true(code != MAP_FAILED && shared != MAP_FAILED);
    for (int is_mapped = 0; is_mapped < 2; is_mapped++) {
        if (is_mapped)
            rings = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        struct proc_maps read = {.memfd_device = status.st_dev,
                                 .memfd_inode = status.st_ino,
                                 .memfd_from_avma = (uint64_t)(uintptr_t)rings};
        struct proc_maps text = read_own_text(read), looked = read;
        assert_int_equal(proc_maps_look(&looked, getpid()), 0);
        assert_int_equal(looked.has_memfd, is_mapped);
        assert_int_equal(looked.count, 0);
        assert_int_equal(proc_maps_read(&read, getpid()), 0);
        assert_same_maps(&read, &text);
        assert_int_equal(read.has_memfd, is_mapped);
        proc_maps_free(&read);
        proc_maps_free(&text);
    }
    munmap(rings, 4096);
    munmap(shared, 4096);
    munmap(code, 4096);
    close(fd);
}

static void names_are_cut_at_fifteen_bytes(void **state)
{
    (void)state;
    char name[16];
    assert_int_equal(prctl(PR_SET_NAME, "a (strange) nam"), 0);
    assert_int_equal(proc_name(getpid(), 0, name), 0);
    assert_string_equal(name, "a (strange) nam");
    assert_int_equal(proc_name(getpid(), gettid(), name), 0);
    assert_string_equal(name, "a (strange) nam");
    assert_true(proc_name(0x3fffff, 0x3fffff, name) < 0);
}

static void nobody_traces_us_and_our_time_passes(void **state)
{
    (void)state;
    assert_int_equal(proc_status_read(getpid()).tracer, 0);
    assert_int_equal(proc_status_read(getpid()).threads, 1);
    uint64_t before = proc_cpu_ns(getpid());
    struct timespec start, now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < 20000000);
    uint64_t used = proc_cpu_ns(getpid()) - before;
    assert_in_range(used, 20000000, 1000000000);
    assert_int_equal(proc_cpu_ns(0x3fffff), 0);
}

static void a_name_of_any_kind_does_not_hide_what_follows_it(void **state)
{
    (void)state;
    struct proc_stat stat;
    uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
    assert_int_equal(
        proc_stat_parse(&stat, "7 (a) R 1 2 (b c) S 42 7 7 0 -1 4194304 1 2 3 4 10 20 5 6 20 0"),
        0);
    assert_int_equal(stat.state, 'S');
    assert_int_equal(stat.parent, 42);
    assert_int_equal(stat.user_ns, 10 * tick_ns);
    assert_int_equal(stat.kernel_ns, 20 * tick_ns);
    assert_int_equal(stat.children_cpu_ns, 11 * tick_ns);
    assert_false(stat.is_of_io_uring);
    assert_int_equal(proc_stat_parse(&stat, "8 (iou-sqp-7) R 42 7 7 0 -1 4210768 0 0 0 0 0 3 0 0"),
                     0);
    assert_true(stat.is_of_io_uring);
    static const char *const damaged[] = {"", "7", "7 (a", "7 (a)", "7 (a) R", "7 (a) R 1 2 3"};
    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++)
        assert_true(proc_stat_parse(&stat, damaged[i]) < 0);
}

static void *fork_one(void *child)
{
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    __atomic_store_n((pid_t *)child, pid, __ATOMIC_RELEASE);
    pause();
    return NULL;
}

static void the_children_of_other_threads_are_found(void **state)
{
    (void)state;
    pthread_t thread;
    pid_t pids[8], child = 0;
    assert_int_equal(pthread_create(&thread, NULL, fork_one, &child), 0);
    while (__atomic_load_n(&child, __ATOMIC_ACQUIRE) == 0)
        usleep(1000);
    size_t count = proc_children(getpid(), pids, 8);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(count, 1);
    assert_int_equal(pids[0], child);
}

static void a_child_is_found_and_then_its_bill_is_its_parents(void **state)
{
    (void)state;
    struct proc_stat stat;
    pid_t pids[8];
    pid_t child = fork();
    if (child == 0) {
        while (clock() < CLOCKS_PER_SEC / 20)
            ;
        _exit(0);
    }
    size_t count = proc_children(getpid(), pids, 8);
    assert_int_equal(count, 1);
    assert_int_equal(pids[0], child);
    assert_int_equal(proc_children(getpid(), pids, 0), 0);
    assert_int_equal(proc_stat_read(&stat, child, 0), 0);
    assert_int_equal(stat.parent, getpid());
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(proc_stat_read(&stat, getpid(), 0), 0);
    assert_true(stat.children_cpu_ns >= 30000000);
    assert_true(proc_stat_read(&stat, child, 0) < 0);
}

/* The thread sanitizer adds a thread with its own signal mask, and handles signals. */
static void skip_with_foreign_threads(void)
{
#ifdef __SANITIZE_THREAD__
    skip();
#endif
}

static void threads_of_one_namespace_are_listed(void **state)
{
    (void)state;
    skip_with_foreign_threads();
    size_t count;
    assert_int_equal(proc_namespace(getpid()), proc_namespace(getppid()));
    pid_t *tids = proc_list("/proc/self/task", &count);
    assert_int_equal(count, 1);
    assert_int_equal(tids[0], gettid());
    free(tids);
}

static void threads_that_block_a_signal_are_counted(void **state)
{
    (void)state;
    skip_with_foreign_threads();
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    struct proc_threads threads = proc_look_at_threads(getpid(), SIGPROF, 8);
    assert_true(threads.count == 1 && threads.blocking == 0);
    sigprocmask(SIG_BLOCK, &set, NULL);
    threads = proc_look_at_threads(getpid(), SIGPROF, 8);
    assert_true(threads.count == 1 && threads.blocking == 1);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void ignore(int number)
{
    (void)number;
}

static void a_process_without_a_handler_of_a_signal_is_noticed(void **state)
{
    (void)state;
    skip_with_foreign_threads();
    assert_true(proc_look_at_threads(getpid(), SIGPROF, 8).is_unhandled);
    signal(SIGPROF, ignore);
    assert_false(proc_look_at_threads(getpid(), SIGPROF, 8).is_unhandled);
    signal(SIGPROF, SIG_IGN);
    struct proc_threads threads = proc_look_at_threads(getpid(), SIGPROF, 8);
    assert_true(threads.is_unhandled && threads.blocking == 0);
    signal(SIGPROF, SIG_DFL);
    assert_false(proc_look_at_threads(-1, SIGPROF, 8).is_unhandled);
}

static void timers_are_counted_once(void **state)
{
    (void)state;
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    timer_t timers[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timers[i]), 0);
    assert_int_equal(proc_count_timers(getpid()), 2);
    for (int i = 0; i < 2; i++)
        timer_delete(timers[i]);
}

static pid_t start_as(uid_t uid, gid_t gid, const gid_t *groups, size_t count)
{
    int ends[2];
    char ready;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        bool is_set = setgroups(count, groups) == 0 && setgid(gid) == 0 && setuid(uid) == 0;
        prctl(PR_SET_DUMPABLE, 0);
        if (is_set && write(ends[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &ready, 1), 1);
    close(ends[0]);
    return pid;
}

static void the_rights_of_an_undumpable_process_are_those_of_its_user(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    const gid_t groups[] = {7, 101, 65000};
    pid_t pid = start_as(1234, 4321, groups, 3);
    struct rights rights = proc_rights_of(pid), owner = proc_rights_of_owner(pid);
    struct rights root = {0}, dropped = {0}, other = {.uid = 77};
    proc_rights_lower(&root, getpid());
    proc_rights_lower(&dropped, pid);
    proc_rights_lower(&other, pid);
    int pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pidfd_facts facts = pidfd_facts_read(pid_fd);
    close(pid_fd);
    assert_true(!facts.is_known || (facts.uid == 1234 && facts.gid == 4321));
    assert_true(root.uid == 0 && dropped.uid == 1234 && dropped.gid == 4321 && other.uid == 77);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_true(rights.uid == 1234 && rights.gid == 4321 && rights.group_count == 3);
    assert_memory_equal(rights.groups, groups, sizeof(groups));
    assert_true(owner.uid == 1234 && owner.gid == 4321 && owner.group_count == 0);
    assert_int_equal(proc_rights_of(pid).uid, 65534);
    assert_int_equal(proc_rights_of_owner(pid).uid, 65534);
    assert_int_equal(proc_rights_read(&rights, pid), -ESRCH);
    assert_int_equal(proc_rights_of(0).uid, 0);
    proc_rights_lower(&root, pid);
    assert_int_equal(root.uid, 0); /* nothing is known of an ended process */
}

static void idle_and_stolen_time_is_no_cpu_time(void **state)
{
    (void)state;
    uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
    assert_int_equal(proc_busy_parse_ns("cpu  1 20 300 4000 50000 600000 7000000 8 9 10\ncpu0 1\n"),
                     7600321 * tick_ns);
    static const char *const damaged[] = {"", "cpu", "cpu 1 2 3", "cpu0 1 2 3 4 5 6 7 8 9 10", "x"};
    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++)
        assert_int_equal(proc_busy_parse_ns(damaged[i]), 0);
    assert_true(proc_busy_ns() > 0);
    assert_int_equal(proc_runnable_parse("0.20 0.18 0.12 3/80 11206\n"), 3);
    assert_int_equal(proc_runnable_parse("0.20 0.18"), 0);
    assert_int_equal(proc_runnable_parse(""), 0);
    assert_true(proc_runnable() > 0);
}

/* Linux before 6.13 has no such facts. */
static void a_pidfd_has_the_facts_of_proc(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    int pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pidfd_facts facts = pidfd_facts_read(pid_fd);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    if (!facts.is_known)
        skip();
    assert_int_equal(facts.parent, getpid());
    assert_int_equal(facts.uid, geteuid());
    assert_int_equal(facts.gid, getegid());
    assert_false(pidfd_facts_read(pid_fd).is_known);
    close(pid_fd);
    assert_false(pidfd_facts_read(-1).is_known);
}

/* In ticks, rounded down. */
static void a_process_existed_since_its_start(void **state)
{
    (void)state;
    const uint64_t now_ns = monotonic_ns();
    assert_true(proc_existed_at(getpid(), now_ns));
    assert_false(proc_existed_at(-1, now_ns));
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    assert_true(proc_existed_at(pid, monotonic_ns()));
    assert_false(proc_existed_at(pid, now_ns - 20000000));
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_false(proc_existed_at(pid, monotonic_ns()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_existed_since_its_start),
        cmocka_unit_test(a_pidfd_has_the_facts_of_proc),
        cmocka_unit_test(only_executable_mappings_are_kept_with_all_that_is_known),
        cmocka_unit_test(strange_names_stay_one_path),
        cmocka_unit_test(the_mark_of_deleted_files_is_no_part_of_the_name),
        cmocka_unit_test(lines_that_make_no_sense_are_passed_over),
        cmocka_unit_test(the_last_line_needs_no_newline_and_bytes_behind_the_size_are_not_read),
        cmocka_unit_test(a_line_longer_than_any_path_is_passed_over),
        cmocka_unit_test(the_longest_path_comes_whole),
        cmocka_unit_test(our_own_mappings_are_what_we_made),
        cmocka_unit_test(a_memfd_is_known_by_device_and_inode),
        cmocka_unit_test(what_is_read_of_a_process_is_what_the_text_says),
        cmocka_unit_test(names_are_cut_at_fifteen_bytes),
        cmocka_unit_test(nobody_traces_us_and_our_time_passes),
        cmocka_unit_test(a_name_of_any_kind_does_not_hide_what_follows_it),
        cmocka_unit_test(a_child_is_found_and_then_its_bill_is_its_parents),
        cmocka_unit_test(the_children_of_other_threads_are_found),
        cmocka_unit_test(threads_of_one_namespace_are_listed),
        cmocka_unit_test(threads_that_block_a_signal_are_counted),
        cmocka_unit_test(a_process_without_a_handler_of_a_signal_is_noticed),
        cmocka_unit_test(the_rights_of_an_undumpable_process_are_those_of_its_user),
        cmocka_unit_test(timers_are_counted_once),
        cmocka_unit_test(idle_and_stolen_time_is_no_cpu_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
