/* SPDX-License-Identifier: MIT */
/* write_demo DIRECTORY SOURCE_DIRECTORY: the hand-made profile in every format, demo.SUFFIX. */
#include "base/files/io.h"
#include "export/export.h"
#include "profile.h"

#include <stdlib.h>

static int write_file(const struct exporter *exporter, const struct profile *profile,
                      const char *directory, const char *suffix)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/demo%s", directory, suffix);
    bool compress;
    if (exporter_by_path(path, &compress) != exporter)
        return -1;
    struct error error;
    struct buffer content = {0};
    const struct export_options options = {.embed_source = true};
    int err = export_to_buffer(exporter, profile, &options, compress, &content, &error);
    FILE *file = err == 0 ? fopen(path, "wb") : NULL;
    if (!file || fwrite(content.bytes, 1, content.size, file) != content.size)
        err = -1;
    if (file && fclose(file) != 0)
        err = -1;
    buffer_free(&content);
    return err;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: write_demo DIRECTORY SOURCE_DIRECTORY\n");
        return 2;
    }
    struct profile *profile = demo_profile(argv[2]);
    int err = profile ? 0 : -1;
    for (size_t i = 0; exporters[i] && err == 0; i++) {
        for (size_t j = 0; exporters[i]->suffixes[j] && err == 0; j++)
            err = write_file(exporters[i], profile, argv[1], exporters[i]->suffixes[j]);
    }
    profile_free(profile);
    if (err != 0)
        fprintf(stderr, "write_demo: cannot write the files\n");
    return err == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
