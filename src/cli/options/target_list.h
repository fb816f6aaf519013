/* SPDX-License-Identifier: MIT */
/* The values of -p and -t: ids of processes or threads, "123,456". */
#pragma once

#include "base/text/error.h"

#include <stddef.h>
#include <sys/types.h>

struct target_list {
    pid_t *ids; /* each once; owned */
    size_t count, capacity;
};

/* Appends the ids; option: "-p", for the message. 0 or a negative errno. */
int target_list_add(struct target_list *list, const char *option, const char *value,
                    struct error *error);
/* Adds all processes of a user, by name or id, except for rec. -EINVAL: no such user; -ESRCH: no
 * process. */
int target_list_add_user(struct target_list *list, const char *user, struct error *error);
void target_list_free(struct target_list *list);
