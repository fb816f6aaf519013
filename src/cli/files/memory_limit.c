/* SPDX-License-Identifier: MIT */
#include "cli/files/memory_limit.h"

#include "base/budget.h"
#include "base/files/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

/* A capture may be a directory of files (perf record --threads). */
static uint64_t directory_bytes(const char *path)
{
    uint64_t bytes = 0;
    DIR *directory = opendir(path);
    if (!directory)
        return 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        struct stat status;
        if (fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode))
            bytes += io_stored_bytes(&status);
    }
    closedir(directory);
    return bytes;
}

static uint64_t input_bytes(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return 0;
    return S_ISDIR(status.st_mode) ? directory_bytes(path) : io_stored_bytes(&status);
}

void memory_limit_begin(const char *path, uint64_t bytes)
{
    budget_begin_conversion(input_bytes(path), bytes);
}

int memory_limit_explain(const char *path, struct error *error)
{
    return error_set(error, -ENOMEM,
                     "%s: the conversion needs more memory than the limit of %" PRIu64
                     " MiB; raise the limit with %s=SIZE",
                     path, budget_amount(BUDGET_MEMORY_BYTES) >> 20,
                     budget_option(BUDGET_MEMORY_BYTES));
}
