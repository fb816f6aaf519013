/* SPDX-License-Identifier: MIT */
/* Each forbidden thing is tried by a confined process, once with root's rights and once without. */
#include "base/sandbox/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { NOBODY = 65534, PAGE = 4096, DONE = 0, NOT_CONFINED = 200 };

static char directory[64];
static int shared_fd; /* of a file, opened for reading and writing */

/* The errno of what failed; DONE: it did not. */
static int outcome(long result)
{
    return result == -1 ? errno : DONE;
}

static int outcome_of_mapping(void *mapping)
{
    return mapping == MAP_FAILED ? errno : DONE;
}

static const char *place(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

/* Runs the attempt in a confined child of this user; its exit status is the outcome. */
static int confined(uid_t uid, int attempt(void))
{
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        struct confine_limits limits = {.memory_bytes = 64 << 20, .cpu_s = 2};
        if (uid != 0 && geteuid() == 0 &&
            (setgroups(0, NULL) != 0 || setresuid(uid, uid, uid) != 0))
            _exit(NOT_CONFINED);
        _exit(confine(&limits, -1, parent) == 0 ? attempt() : NOT_CONFINED);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static const uid_t users[] = {0, NOBODY};

static void expect_of(uid_t uid, const char *what, int attempt(void), int expected)
{
    int found = confined(uid, attempt);
    if (found != expected)
        fail_msg("%s as %d: %s, not %s", what, (int)uid, strerrorname_np(found) ?: "?",
                 strerrorname_np(expected) ?: "?");
}

static void expect(const char *what, int attempt(void), int expected)
{
    for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++)
        expect_of(users[i], what, attempt, expected);
}

#define ATTEMPT(name, expression)   \
    static int name(void)           \
    {                               \
        return outcome(expression); \
    }
#define MAPPING(name, expression)              \
    static int name(void)                      \
    {                                          \
        return outcome_of_mapping(expression); \
    }

ATTEMPT(reads_a_program, open("/usr/bin/env", O_RDONLY))
ATTEMPT(reads_a_temporary_file, open(place("shared"), O_RDONLY))
ATTEMPT(duplicates_above_the_answer, fcntl(shared_fd, F_DUPFD_CLOEXEC, CONFINE_ANSWER_FD + 1))
ATTEMPT(writes_the_answer, write(CONFINE_ANSWER_FD, "x", 1))
MAPPING(maps_privately, mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, shared_fd, 0))
MAPPING(maps_memory, mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))

/* A file is judged by a descriptor without access, and opened through it. */
static int reopens_what_was_judged(void)
{
    char path[64];
    int judged = open("/usr/bin/env", O_PATH | O_NOFOLLOW | O_CLOEXEC);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", judged);
    return outcome(open(path, O_RDONLY | O_CLOEXEC));
}

static void what_parsing_needs_is_allowed(void **state)
{
    (void)state;
    expect("a program", reads_a_program, DONE);
    expect("a judged program", reopens_what_was_judged, DONE);
    setenv("SUDO_UID", "65534", 1);
    setenv("SUDO_GID", "65534", 1);
    expect("a judged program, under sudo", reopens_what_was_judged, DONE);
    unsetenv("SUDO_UID");
    unsetenv("SUDO_GID");
    expect("a file of /tmp", reads_a_temporary_file, DONE);
    expect("a duplicate", duplicates_above_the_answer, DONE);
    expect("the answer", writes_the_answer, DONE);
    expect("a private mapping", maps_privately, DONE);
    expect("memory", maps_memory, DONE);
}

ATTEMPT(duplicates_onto_stdout, fcntl(CONFINE_ANSWER_FD, F_DUPFD_CLOEXEC, 1))
ATTEMPT(duplicates_onto_the_answer, fcntl(1, F_DUPFD_CLOEXEC, CONFINE_ANSWER_FD))
ATTEMPT(duplicates_without_cloexec, fcntl(1, F_DUPFD, 10))
ATTEMPT(calls_dup, dup(1))
ATTEMPT(calls_dup2, dup2(1, CONFINE_ANSWER_FD))
ATTEMPT(calls_dup3, dup3(1, CONFINE_ANSWER_FD, O_CLOEXEC))
ATTEMPT(writes_to_stdout, write(1, "x", 1))
ATTEMPT(writes_to_a_file, write(shared_fd, "x", 1))
ATTEMPT(writes_at_a_place, pwrite(shared_fd, "x", 1, 0))
ATTEMPT(writes_vectors, syscall(SYS_writev, shared_fd, &(struct iovec){"x", 1}, 1))
ATTEMPT(sets_flags, fcntl(shared_fd, F_SETFL, O_APPEND))
ATTEMPT(truncates_a_descriptor, ftruncate(shared_fd, 0))

static int takes_the_answers_place(void)
{
    close(CONFINE_ANSWER_FD);
    return outcome(fcntl(1, F_DUPFD_CLOEXEC, CONFINE_ANSWER_FD));
}

static void only_the_answer_is_written(void **state)
{
    (void)state;
    expect("dup onto 1", duplicates_onto_stdout, EPERM);
    expect("dup onto the answer", duplicates_onto_the_answer, EPERM);
    expect("dup onto the closed answer", takes_the_answers_place, EPERM);
    expect("F_DUPFD", duplicates_without_cloexec, EPERM);
    expect("dup", calls_dup, EPERM);
    expect("dup2", calls_dup2, EPERM);
    expect("dup3", calls_dup3, EPERM);
    expect("write to 1", writes_to_stdout, EPERM);
    expect("write to a file", writes_to_a_file, EPERM);
    expect("pwrite", writes_at_a_place, EPERM);
    expect("writev", writes_vectors, EPERM);
    expect("F_SETFL", sets_flags, EPERM);
    expect("ftruncate", truncates_a_descriptor, EPERM);
}

MAPPING(shares_writable, mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd, 0))
MAPPING(shares_readable, mmap(NULL, PAGE, PROT_READ, MAP_SHARED, shared_fd, 0))
MAPPING(shares_validated, mmap(NULL, PAGE, PROT_READ, MAP_SHARED_VALIDATE, shared_fd, 0))
MAPPING(maps_executable,
        mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
ATTEMPT(makes_executable,
        mprotect((void *)((uintptr_t)&directory & ~(PAGE - 1ul)), PAGE, PROT_READ | PROT_EXEC))
ATTEMPT(makes_executable_by_key, syscall(SYS_pkey_mprotect, &directory, PAGE, PROT_EXEC, -1))

static void memory_is_neither_shared_nor_executable(void **state)
{
    (void)state;
    expect("shared, writable", shares_writable, EPERM);
    expect("shared, readable", shares_readable, EPERM);
    expect("shared, validated", shares_validated, EPERM);
    expect("executable", maps_executable, EPERM);
    expect("mprotect", makes_executable, EPERM);
    expect("pkey_mprotect", makes_executable_by_key, EPERM);
    char byte;
    assert_int_equal(pread(shared_fd, &byte, 1, 0), 1);
    assert_int_equal(byte, 's');
}

ATTEMPT(opens_for_writing, open(place("shared"), O_WRONLY))
ATTEMPT(opens_for_both, open(place("shared"), O_RDWR))
ATTEMPT(opens_to_truncate, open(place("shared"), O_RDONLY | O_TRUNC))
ATTEMPT(opens_to_create, open(place("new"), O_RDONLY | O_CREAT, 0600))
ATTEMPT(opens_unnamed, open(directory, O_TMPFILE | O_RDWR, 0600))
ATTEMPT(opens_by_openat2, syscall(SYS_openat2, AT_FDCWD, place("shared"), &(uint64_t[3]){0}, 24))
ATTEMPT(removes, unlink(place("shared")))
ATTEMPT(renames, rename(place("shared"), place("other")))
ATTEMPT(links, link("/usr/bin/env", place("link")))
ATTEMPT(makes_a_directory, mkdir(place("made"), 0700))
ATTEMPT(changes_mode, chmod(place("shared"), 0777))
ATTEMPT(changes_owner, fchown(shared_fd, NOBODY, NOBODY))
ATTEMPT(truncates, truncate(place("shared"), 0))

static void no_file_is_changed(void **state)
{
    (void)state;
    expect("O_WRONLY", opens_for_writing, EPERM);
    expect("O_RDWR", opens_for_both, EPERM);
    expect("O_TRUNC", opens_to_truncate, EPERM);
    expect("O_CREAT", opens_to_create, EPERM);
    expect("O_TMPFILE", opens_unnamed, EPERM);
    expect("openat2", opens_by_openat2, EPERM);
    expect("unlink", removes, EPERM);
    expect("rename", renames, EPERM);
    expect("link", links, EPERM);
    expect("mkdir", makes_a_directory, EPERM);
    expect("chmod", changes_mode, EPERM);
    expect("fchown", changes_owner, EPERM);
    expect("truncate", truncates, EPERM);
}

ATTEMPT(reads_etc, open("/etc/passwd", O_RDONLY))
ATTEMPT(reads_proc, open("/proc/self/status", O_RDONLY))
ATTEMPT(reads_memory, open("/proc/self/mem", O_RDONLY))
ATTEMPT(reads_sys, open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY))
ATTEMPT(opens_a_device, open("/dev/null", O_RDONLY))
ATTEMPT(lists_a_directory, open("/usr/bin", O_RDONLY | O_DIRECTORY))
ATTEMPT(reads_entries, syscall(SYS_getdents64, shared_fd, directory, sizeof(directory)))

/* Independent of the code under test. 444: landlock_create_ruleset(), the same on every machine. */
static bool kernel_has_landlock(void)
{
    return syscall(444, NULL, 0, 1) > 0;
}

static void devices_and_the_system_are_out_of_reach(void **state)
{
    (void)state;
    expect("getdents64", reads_entries, EPERM);
    if (!kernel_has_landlock())
        return;
    expect("/etc", reads_etc, EACCES);
    expect("/proc/self/status", reads_proc, EACCES);
    expect("/proc/self/mem", reads_memory, EACCES);
    expect("/sys", reads_sys, EACCES);
    expect("/dev/null", opens_a_device, EACCES);
    expect("a directory", lists_a_directory, EACCES);
}

ATTEMPT(makes_a_socket, socket(AF_UNIX, SOCK_STREAM, 0))
ATTEMPT(makes_an_inet_socket, socket(AF_INET, SOCK_DGRAM, 0))
ATTEMPT(makes_a_pair, socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0}))
ATTEMPT(forks, syscall(SYS_fork))
ATTEMPT(clones, syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0))
ATTEMPT(executes, execl("/bin/true", "true", NULL))
ATTEMPT(kills, kill(getpid(), 0))
ATTEMPT(traces, ptrace(PTRACE_ATTACH, 1, 0, 0))
ATTEMPT(reads_another, process_vm_readv(1, NULL, 0, NULL, 0, 0))
ATTEMPT(becomes_root, setuid(0))
ATTEMPT(calls_prctl, prctl(PR_SET_DUMPABLE, 1))
ATTEMPT(calls_ioctl, ioctl(0, TIOCSTI, "x"))
ATTEMPT(changes_directory, chdir("/"))
ATTEMPT(sets_limits, syscall(SYS_prlimit64, 0, 0, NULL, NULL))
ATTEMPT(makes_a_memfd, memfd_create("x", 0))

static void no_process_and_no_network_is_reached(void **state)
{
    (void)state;
    expect("socket", makes_a_socket, EPERM);
    expect("inet socket", makes_an_inet_socket, EPERM);
    expect("socketpair", makes_a_pair, EPERM);
    expect("fork", forks, EPERM);
    expect("clone", clones, EPERM);
    expect("execve", executes, EPERM);
    expect("kill", kills, EPERM);
    expect("ptrace", traces, EPERM);
    expect("process_vm_readv", reads_another, EPERM);
    expect("setuid", becomes_root, EPERM);
    expect("prctl", calls_prctl, EPERM);
    expect("ioctl", calls_ioctl, EPERM);
    expect("chdir", changes_directory, EPERM);
    expect("prlimit", sets_limits, EPERM);
    expect("memfd_create", makes_a_memfd, EPERM);
}

/* ---- rights: these need root, as the tests of a whole checkout have it ---- */

/* In a child, since rights do not come back. Returns its exit status. */
static int in_child(int attempt(void))
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(attempt());
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static bool has_capabilities(uint32_t low, uint32_t high)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];
    return syscall(SYS_capget, &header, sets) == 0 && sets[0].permitted == low &&
           sets[0].effective == low && sets[1].permitted == high && sets[1].effective == high;
}

static bool is_user(uid_t uid, gid_t gid)
{
    uid_t uids[3];
    gid_t gids[3];
    getresuid(&uids[0], &uids[1], &uids[2]);
    getresgid(&gids[0], &gids[1], &gids[2]);
    for (size_t i = 0; i < 3; i++)
        if (uids[i] != uid || gids[i] != gid)
            return false;
    return true;
}

static int becomes_the_sudo_user(void)
{
    gid_t group;
    setgroups(1, &(gid_t){4});
    setenv("SUDO_UID", "65534", 1);
    setenv("SUDO_GID", "65533", 1);
    if (confine_rights() != 0 || !is_user(65534, 65533) || getgroups(1, &group) != 0 ||
        !has_capabilities(0, 0))
        return 1;
    if (setuid(0) == 0 || prctl(PR_GET_DUMPABLE) != 0)
        return 2;
    return open(place("private"), O_RDONLY) >= 0 || errno != EACCES ? 3 : 0;
}

static int stays_root(void)
{
    unsetenv("SUDO_UID");
    setenv("SUDO_GID", "65533", 1);
    if (confine_rights() != 0 || !is_user(0, 0))
        return 1;
    if (!has_capabilities(1u << CAP_DAC_READ_SEARCH, 0))
        return 2;
    if (open(place("private"), O_RDONLY) < 0 || open(place("foreign"), O_RDONLY) < 0)
        return 3;
    return open(place("foreign"), O_WRONLY) >= 0 || chown(directory, 1, 1) == 0 ? 4 : 0;
}

static int stays_root_of_a_root_that_used_sudo(void)
{
    setenv("SUDO_UID", "0", 1);
    setenv("SUDO_GID", "0", 1);
    return confine_rights() == 0 && is_user(0, 0) && has_capabilities(1u << CAP_DAC_READ_SEARCH, 0)
               ? 0
               : 1;
}

static int ignores_what_is_no_number(void)
{
    setenv("SUDO_UID", "65534x", 1);
    setenv("SUDO_GID", "65534", 1);
    return confine_rights() == 0 && is_user(0, 0) ? 0 : 1;
}

static int keeps_no_capability_of_a_user(void)
{
    prctl(PR_SET_KEEPCAPS, 1);
    setenv("SUDO_UID", "1", 1); /* of another user's environment */
    setenv("SUDO_GID", "1", 1);
    if (setresuid(NOBODY, NOBODY, NOBODY) != 0 || confine_rights() != 0)
        return 1;
    return has_capabilities(0, 0) && getuid() == NOBODY ? 0 : 2;
}

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return is_written;
}

/* As root of a user namespace without the user of sudo. */
static int cannot_become_an_unmapped_user(void)
{
    struct confine_limits limits = {.memory_bytes = 64 << 20, .cpu_s = 2};
    struct error message;
    bool is_refused = false;
    if (unshare(CLONE_NEWUSER) != 0 || !write_file("/proc/self/setgroups", "deny") ||
        !write_file("/proc/self/uid_map", "0 0 1") || !write_file("/proc/self/gid_map", "0 0 1"))
        return 1;
    setenv("SUDO_UID", "1000", 1);
    setenv("SUDO_GID", "1000", 1);
    if (confine_support().rights_err == 0 || !confine_gap(&message, &is_refused) || !is_refused)
        return 2;
    if (!strstr(message.text, "1000") || !strstr(message.text, "SUDO_UID"))
        return 3;
    return confine_rights() == 0 ? 4 : confine(&limits, -1, getppid()) == 0 ? 5 : 0;
}

static int refusal_is_probed_without_effect(void)
{
    setenv("SUDO_UID", "65534", 1);
    setenv("SUDO_GID", "65533", 1);
    if (confine_support().rights_err != 0)
        return 1;
    return is_user(0, 0) && open(place("private"), O_RDWR) >= 0 ? 0 : 2;
}

static void root_is_given_up(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(in_child(becomes_the_sudo_user), 0);
    assert_int_equal(in_child(stays_root), 0);
    assert_int_equal(in_child(stays_root_of_a_root_that_used_sudo), 0);
    assert_int_equal(in_child(ignores_what_is_no_number), 0);
    assert_int_equal(in_child(keeps_no_capability_of_a_user), 0);
    assert_int_equal(in_child(refusal_is_probed_without_effect), 0);
    assert_int_equal(in_child(cannot_become_an_unmapped_user), 0);
}

/* Also when the user has changed, which takes the signal of the parent's death away. */
static void it_ends_with_its_parent(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    setenv("SUDO_UID", "65534", 1);
    setenv("SUDO_GID", "65534", 1);
    pid_t middle = fork();
    if (middle == 0) {
        close(ends[0]);
        if (fork() == 0) {
            struct confine_limits limits = {.memory_bytes = 64 << 20, .cpu_s = 60};
            bool is_confined = confine(&limits, -1, getppid()) == 0;
            while (is_confined)
                (void)getpid();
            _exit(1);
        }
        usleep(50000);
        _exit(0);
    }
    unsetenv("SUDO_UID");
    unsetenv("SUDO_GID");
    close(ends[1]);
    assert_int_equal(waitpid(middle, NULL, 0), middle);
    char byte;
    alarm(10);
    assert_int_equal(read(ends[0], &byte, 1), 0); /* all writers have ended */
    alarm(0);
    close(ends[0]);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/rec-confine-XXXXXX");
    if (!mkdtemp(directory) || chmod(directory, 0755) != 0)
        return -1;
    int private_fd = open(place("private"), O_RDWR | O_CREAT, 0600);
    int foreign_fd = open(place("foreign"), O_RDWR | O_CREAT, 0600);
    if (geteuid() == 0 && fchown(foreign_fd, 1000, 1000) != 0)
        return -1;
    close(private_fd);
    close(foreign_fd);
    shared_fd = open(place("shared"), O_RDWR | O_CREAT, 0644);
    int null = open("/dev/null", O_WRONLY);
    if (ftruncate(shared_fd, PAGE) != 0 || pwrite(shared_fd, "s", 1, 0) != 1)
        return -1;
    shared_fd = fcntl(shared_fd, F_DUPFD, 20);
    return dup2(null, CONFINE_ANSWER_FD) == CONFINE_ANSWER_FD ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"private", "foreign", "shared", "new",
                                        "other",   "link",    "made"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        (void)remove(place(names[i]));
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_parsing_needs_is_allowed),
        cmocka_unit_test(only_the_answer_is_written),
        cmocka_unit_test(memory_is_neither_shared_nor_executable),
        cmocka_unit_test(no_file_is_changed),
        cmocka_unit_test(devices_and_the_system_are_out_of_reach),
        cmocka_unit_test(no_process_and_no_network_is_reached),
        cmocka_unit_test(root_is_given_up),
        cmocka_unit_test(it_ends_with_its_parent),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
