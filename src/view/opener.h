/* SPDX-License-Identifier: MIT */
/*
 * Opens the browser. The process that serves is confined and executes nothing, so a child is
 * forked before, which waits for the URL.
 */
#pragma once

#include <stdbool.h>

struct opener {
    int fd; /* -1: none */
};

/* Whether a browser can be expected: a display or $BROWSER, and not under sudo. */
bool opener_has_display(void);

void opener_start(struct opener *opener);

/* Opens the URL once its server accepts connections, in at most 15 s. */
void opener_open(struct opener *opener, const char *url);
void opener_close(struct opener *opener);
