/* SPDX-License-Identifier: MIT */
/* The mapped files of a running process that are not at their paths: deleted, replaced, or in
 * another mount namespace. Held open for their names. */
#pragma once

#include "convert/options.h"
#include "record/tables/files/open_file_cache.h"

#include <sys/types.h>

struct gone_files {
    struct open_file_cache files;
    int descriptors[OPEN_FILES_MAX];
};

void gone_files_open(struct gone_files *gone, pid_t pid);
/* Sets the options that lead the conversion to the files; *gone must outlive the conversion. */
void gone_files_use(struct gone_files *gone, struct convert_options *options);
void gone_files_close(struct gone_files *gone);
