/* SPDX-License-Identifier: MIT */
/* The layers of confine.h with a file each. All return 0 or a negative errno. */
#pragma once

#include "base/sandbox/confine.h"

#include <stddef.h>

/* A descriptor of the rules. */
int confine_files_rules(int landlock_abi, const struct confine_limits *limits);

/* The same for confine_conversion(): writing in these directories alone. */
int confine_files_output_rules(int landlock_abi, const int *directories, size_t count);

/* With the process' privileges fixed (PR_SET_NO_NEW_PRIVS). The descriptor is closed. */
int confine_files(int rules_fd);
int confine_calls(void);

int confine_rights_are_refused(void); /* 0: confine_rights() can succeed */
int confine_files_abi(void);          /* 1 and more, or a negative errno */
int confine_calls_are_missing(void);  /* 0: the kernel takes filters */
