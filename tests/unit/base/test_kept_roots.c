/* SPDX-License-Identifier: MIT */
#include "base/files/kept_roots.h"

#include "base/files/io.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A child with another root directory. */
static pid_t start(const char *root)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (chroot(root) != 0)
            _exit(1);
        (void)!write(ready[1], "r", 1);
        pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void a_held_root_outlives_its_process(void **state)
{
    (void)state;
    char root[] = "/tmp/rec-test-XXXXXX", path[64];
    if (geteuid() != 0)
        skip();
    assert_non_null(mkdtemp(root));
    snprintf(path, sizeof(path), "%s/file", root);
    assert_true(close(open(path, O_CREAT | O_WRONLY, 0600)) == 0);
    pid_t pids[] = {start(root), start(root)};
    for (int i = 0; i < 2; i++)
        kept_roots_hold(pids[i], NULL);
    assert_true(kept_roots_find(pids[0]) >= 0);
    assert_int_equal(kept_roots_find(pids[1]), kept_roots_find(pids[0])); /* one descriptor */
    for (int i = 0; i < 2; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    int fd = io_open_in_root_of(pids[1], "/file", O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(io_open_in_root_of(pids[1], "/proc", O_RDONLY), -ENOENT);
    close(fd);
    unlink(path);
    rmdir(root);
}

static void the_own_root_is_not_held(void **state)
{
    (void)state;
    kept_roots_hold(getpid(), NULL);
    kept_roots_hold(getppid(), NULL);
    kept_roots_hold(1 << 30, NULL);
    assert_int_equal(kept_roots_find(getpid()), -1);
    assert_int_equal(kept_roots_find(1 << 30), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_held_root_outlives_its_process),
        cmocka_unit_test(the_own_root_is_not_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
