/* SPDX-License-Identifier: MIT */
/* The command line of `rec stacks` and `rec threads`. */
#pragma once

#include "base/text/error.h"
#include "cli/options/target_list.h"
#include "cli/tables/command_spec.h"
#include "convert/options.h"

#include <stdbool.h>
#include <stdint.h>

struct snapshot_options {
    struct target_list targets;
    struct convert_options from;
    const char *core;       /* NULL: running processes */
    const char *executable; /* of the core; NULL: as in the core */
    uint64_t interval_ns;
    uint64_t count; /* UINT64_MAX: until a signal */
    uint64_t limit_ns;
    bool kernel_stacks; /* of waiting threads, where rec may read them */
    bool json, short_names, is_stopping, help;
};

/* To be freed by snapshot_options_free(), also after an error. 0, or -EINVAL and a sentence. */
int snapshot_options_parse(struct snapshot_options *parsed, char *const *words,
                           const struct command_spec *command, struct error *error);
void snapshot_options_free(struct snapshot_options *parsed);
