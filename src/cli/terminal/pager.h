/* SPDX-License-Identifier: MIT */
/* Standard output through $PAGER (default less), if it is a terminal. */
#pragma once

#include <stdbool.h>

/* Call before the process is confined: a child waits for the first output and then executes the
 * pager. An empty PAGER, or TERM=dumb: no pager. */
void pager_start(void);

/* Ends the output and waits for the pager. Without a pager nothing happens. */
void pager_finish(void);

/* Whether standard output is a terminal, directly or through the pager. */
bool pager_is_terminal(void);

/* The terminal's width, at least 80; in a file or pipe there is room. */
unsigned pager_columns(void);
