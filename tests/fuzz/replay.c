/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target over every file of a directory, without libFuzzer:  replay_NAME DIRECTORY */
#include "base/containers/buffer.h"
#include "base/files/io.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { INPUT_BYTES_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The name of a failing input precedes the report of a sanitizer or signal. */
static int replay(const char *directory, const char *name)
{
    char path[4096];
    struct buffer input = {0};
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    fprintf(stderr, "%s\n", path);
    int err = io_read_file(path, &input, INPUT_BYTES_MAX);
    if (err)
        fprintf(stderr, "cannot read it: %s\n", strerror(-err));
    else
        LLVMFuzzerTestOneInput(input.bytes, input.size);
    buffer_free(&input);
    return err;
}

int main(int argc, char **argv)
{
    DIR *directory = argc == 2 ? opendir(argv[1]) : NULL;
    size_t count = 0;
    int err = 0;
    if (!directory) {
        fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    for (struct dirent *entry; !err && (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        err = replay(argv[1], entry->d_name);
        count++;
    }
    closedir(directory);
    return err || count == 0;
}
