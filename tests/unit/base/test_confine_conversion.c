/* SPDX-License-Identifier: MIT */
/* What a confined conversion can do, and what it cannot: each thing is tried in a child. */
#include "base/sandbox/confine_conversion.h"

#include "base/sandbox/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <linux/fs.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

enum { DONE = 0, NOT_CONFINED = 200 };

static char directory[64];

static const char *place(const char *name)
{
    static char paths[2][128];
    static unsigned next;
    char *path = paths[next++ % 2];
    snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
    return path;
}

static int outcome(long result)
{
    return result == -1 ? errno : DONE;
}

/* The errno of the attempt in a child that may write in the directory "out". */
static int confined(int attempt(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        int out = open(place("out"), O_PATH | O_DIRECTORY);
        _exit(out >= 0 && confine_conversion(&out, 1) == 0 ? attempt() : NOT_CONFINED);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void expect(const char *what, int attempt(void), int expected)
{
    int found = confined(attempt);
    if (found != expected)
        fail_msg("%s: %s, not %s", what, strerrorname_np(found) ?: "?",
                 strerrorname_np(expected) ?: "?");
}

#define ATTEMPT(name, expression)   \
    static int name(void)           \
    {                               \
        return outcome(expression); \
    }

/* Independent of the code under test. 444: landlock_create_ruleset(), the same on every machine. */
static bool kernel_has_landlock(void)
{
    return syscall(444, NULL, 0, 1) > 0;
}

/* As out_file.h writes: unnamed, then linked and renamed. */
static int writes_an_output(void)
{
    char link[64];
    int out = open(place("out"), O_PATH | O_DIRECTORY);
    int fd = openat(out, ".", O_TMPFILE | O_WRONLY, 0600);
    if (fd < 0)
        return errno;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    if (write(fd, "x", 1) != 1 || linkat(AT_FDCWD, link, out, "new", AT_SYMLINK_FOLLOW) != 0)
        return errno;
    if (renameat(out, "new", out, "final") != 0)
        return errno;
    return outcome(unlinkat(out, "final", 0));
}

static void answer(void *context, size_t job, struct buffer *out)
{
    (void)context;
    (void)job;
    buffer_text(out, "answer");
}

static void take(void *context, size_t job, const struct buffer *found)
{
    (void)job;
    *(bool *)context = found->size == strlen("answer");
}

static void lose(void *context, size_t job, const char *why)
{
    (void)job;
    (void)why;
    *(bool *)context = false;
}

static int starts_workers(void)
{
    bool has_answer = false;
    struct workers workers = {
        .job_count = 1, .run = answer, .done = take, .failed = lose, .context = &has_answer};
    workers_set_limits(&workers);
    workers_run(&workers);
    return has_answer ? DONE : ECHILD;
}

ATTEMPT(reads_etc, open("/etc/passwd", O_RDONLY))
ATTEMPT(reads_its_own_state, open("/proc/self/status", O_RDONLY))
ATTEMPT(reads_the_width, ioctl(open("/dev/null", O_RDONLY), TIOCGWINSZ, (struct winsize[1]){0}))
ATTEMPT(makes_a_pair, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, (int[2]){0}))

static void what_a_conversion_needs_is_allowed(void **state)
{
    (void)state;
    expect("an output", writes_an_output, DONE);
    expect("workers", starts_workers, DONE);
    expect("/etc", reads_etc, DONE);
    expect("/proc/self", reads_its_own_state, DONE);
    expect("socketpair", makes_a_pair, DONE);
    expect("the width of the terminal", reads_the_width, ENOTTY);
}

/* The descriptor need be no terminal: the system call is refused before. */
ATTEMPT(types_into_the_terminal, ioctl(open("/dev/null", O_RDONLY), TIOCSTI, "x"))
ATTEMPT(types_by_the_console, ioctl(open("/dev/null", O_RDONLY), TIOCLINUX, "\2"))
ATTEMPT(creates_elsewhere, open(place("created"), O_WRONLY | O_CREAT, 0600))
ATTEMPT(writes_elsewhere, open(place("other"), O_WRONLY))
ATTEMPT(truncates_elsewhere, truncate(place("other"), 0))
ATTEMPT(removes_elsewhere, unlink(place("other")))
ATTEMPT(links_elsewhere, symlink("/etc/passwd", place("link")))
ATTEMPT(moves_into_the_output, rename(place("other"), place("out/other")))
ATTEMPT(makes_a_directory, mkdir(place("out/made"), 0700))
ATTEMPT(links_in_the_output, symlink("/etc/passwd", place("out/link")))

static void files_elsewhere_are_not_changed(void **state)
{
    (void)state;
    if (!kernel_has_landlock())
        skip();
    expect("create", creates_elsewhere, EACCES);
    expect("write", writes_elsewhere, EACCES);
    expect("truncate", truncates_elsewhere, EACCES);
    expect("unlink", removes_elsewhere, EACCES);
    expect("symlink", links_elsewhere, EACCES);
    expect("rename", moves_into_the_output, EACCES);
    expect("mkdir in the output", makes_a_directory, EACCES);
    expect("symlink in the output", links_in_the_output, EACCES);
}

ATTEMPT(executes, execl("/bin/true", "true", NULL))
ATTEMPT(makes_a_socket, socket(AF_INET, SOCK_STREAM, 0))
ATTEMPT(makes_a_local_socket, socket(AF_UNIX, SOCK_STREAM, 0))
ATTEMPT(reads_another, syscall(SYS_process_vm_readv, 1, NULL, 0, NULL, 0, 0))
ATTEMPT(changes_mode, chmod(place("other"), 0777))
ATTEMPT(changes_owner, chown(place("other"), 1, 1))
ATTEMPT(changes_mode_by_descriptor, fchmod(open(place("other"), O_RDONLY), 0777))
ATTEMPT(changes_mode_by_a_newer_call, syscall(452, AT_FDCWD, place("other"), 0777, 0))
ATTEMPT(changes_owner_by_descriptor, fchown(open(place("other"), O_RDONLY), 1, 1))
ATTEMPT(gives_to_the_caller_of_sudo, fchown(open(place("other"), O_RDONLY), 7, 8))
ATTEMPT(gives_to_another_group, fchown(open(place("other"), O_RDONLY), 7, 1))
ATTEMPT(changes_flags, ioctl(open(place("other"), O_RDONLY), FS_IOC_SETFLAGS, (long[1]){0}))
ATTEMPT(changes_times, utimes(place("other"), NULL))
ATTEMPT(removes_an_attribute, removexattr(place("other"), "user.x"))
ATTEMPT(sets_the_time, syscall(SYS_settimeofday, -1L, NULL))
ATTEMPT(switches_swap_off, swapoff("/"))
ATTEMPT(changes_a_mount, syscall(SYS_mount_setattr, -1, "/", 0, NULL, 0))
ATTEMPT(mounts, mount("none", place("out"), "tmpfs", 0, NULL))
ATTEMPT(enters_a_namespace, syscall(SYS_unshare, 0x10000000))
ATTEMPT(loads_a_module, syscall(SYS_finit_module, -1, "", 0))
ATTEMPT(makes_a_ring, syscall(SYS_io_uring_setup, 1, NULL))
ATTEMPT(calls_x32, syscall(0x40000000 | SYS_getpid))
#ifndef __SANITIZE_ADDRESS__
ATTEMPT(traces, ptrace(PTRACE_TRACEME, 0, 0, 0))
#endif

static void neither_programs_nor_the_network_nor_the_system_are_reached(void **state)
{
    (void)state;
    expect("execve", executes, EPERM);
    expect("socket", makes_a_socket, EPERM);
    expect("local socket", makes_a_local_socket, EPERM);
    expect("process_vm_readv", reads_another, EPERM);
    expect("chmod", changes_mode, EPERM);
    expect("chown", changes_owner, EPERM);
    expect("fchmod", changes_mode_by_descriptor, EPERM);
    expect("fchmodat2", changes_mode_by_a_newer_call, EPERM);
    expect("fchown", changes_owner_by_descriptor, EPERM);
    expect("FS_IOC_SETFLAGS", changes_flags, EPERM);
    expect("utimes", changes_times, EPERM);
    expect("removexattr", removes_an_attribute, EPERM);
    expect("settimeofday", sets_the_time, EPERM);
    expect("swapoff", switches_swap_off, EPERM);
    expect("mount_setattr", changes_a_mount, EPERM);
    expect("mount", mounts, EPERM);
    expect("unshare", enters_a_namespace, EPERM);
    expect("finit_module", loads_a_module, EPERM);
    expect("io_uring_setup", makes_a_ring, EPERM);
    expect("x32", calls_x32, EPERM);
    expect("TIOCSTI", types_into_the_terminal, EPERM);
    expect("TIOCLINUX", types_by_the_console, EPERM);
#ifndef __SANITIZE_ADDRESS__
    expect("ptrace", traces, EPERM);
#endif
}

static void files_are_given_to_the_caller_of_sudo_only(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    setenv("SUDO_UID", "7", 1);
    setenv("SUDO_GID", "8", 1);
    expect("to the caller", gives_to_the_caller_of_sudo, DONE);
    expect("to another user", changes_owner_by_descriptor, EPERM);
    expect("to another group", gives_to_another_group, EPERM);
    unsetenv("SUDO_UID");
    unsetenv("SUDO_GID");
    expect("without sudo", gives_to_the_caller_of_sudo, EPERM);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/rec-conversion-XXXXXX");
    if (!mkdtemp(directory) || mkdir(place("out"), 0700) != 0)
        return -1;
    int fd = open(place("other"), O_WRONLY | O_CREAT, 0600);
    close(fd);
    return fd < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return system(command) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_conversion_needs_is_allowed),
        cmocka_unit_test(files_elsewhere_are_not_changed),
        cmocka_unit_test(neither_programs_nor_the_network_nor_the_system_are_reached),
        cmocka_unit_test(files_are_given_to_the_caller_of_sudo_only),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
