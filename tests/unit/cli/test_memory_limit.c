/* SPDX-License-Identifier: MIT */
#include "cli/files/memory_limit.h"

#include "base/budget.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

static uint64_t limit_of(const char *path)
{
    memory_limit_begin(path, 0);
    budget_lift_memory();
    return budget_amount(BUDGET_MEMORY_BYTES);
}

/* Holes are free for the author of a capture. */
static void sparse_files_do_not_raise_the_limit(void **state)
{
    (void)state;
    char directory[] = "/tmp/rec-test-limit.XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/data", directory);
    int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)(100 * 1024 * MIB)), 0);
    assert_int_equal(limit_of(path), 480 * MIB);
    assert_int_equal(limit_of(directory), 480 * MIB);
    assert_int_equal(posix_fallocate(fd, 0, (off_t)(11 * MIB)), 0);
    assert_true(limit_of(path) >= 496 * MIB && limit_of(path) < 600 * MIB);
    assert_int_equal(limit_of(directory), limit_of(path));
    close(fd);
    unlink(path);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sparse_files_do_not_raise_the_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
