/* SPDX-License-Identifier: MIT */
/* The layers of confine.h that have a file of their own. All return 0 or a negative errno. */
#pragma once

#include "base/confine.h"

/* With the process' privileges fixed (PR_SET_NO_NEW_PRIVS). */
int confine_files(int landlock_abi, const char *const directories[CONFINE_DIRECTORIES]);
int confine_calls(void);

int confine_files_abi(void);         /* 1 and more, or a negative errno */
int confine_calls_are_missing(void); /* 0: the kernel takes filters */
