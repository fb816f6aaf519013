/* SPDX-License-Identifier: MIT */
/* Tests that run in an empty directory of their own. Include cmocka.h before. */
#pragma once

#include "base/containers/buffer.h"
#include "base/files/io.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[64];

static int enter_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/rec-test-base.XXXXXX");
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave_directory(void **state)
{
    (void)state;
    DIR *listing = opendir(".");
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        unlink(entry->d_name);
    closedir(listing);
    return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static inline void write_file(const char *path, const char *text)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    assert_true(fd >= 0);
    assert_int_equal(io_write(fd, text, strlen(text)), 0);
    close(fd);
}

static inline void assert_content(const char *path, const char *text)
{
    struct buffer buffer = {0};
    assert_int_equal(io_read_file(path, &buffer, 1000), 0);
    assert_int_equal(buffer.size, strlen(text));
    assert_memory_equal(buffer.bytes, text, buffer.size);
    buffer_free(&buffer);
}
