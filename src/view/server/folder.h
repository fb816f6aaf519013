/* SPDX-License-Identifier: MIT */
/* Files of a viewer, below a folder of this machine: its page, scripts, fonts. */
#pragma once

#include "base/text/error.h"
#include "view/http/http.h"

/* Opens a folder with index.html. Returns a descriptor or a negative errno. what: of the viewer, in
 * the message. */
int folder_open(const char *path, const char *what, struct error *error);

/* The same for an open folder, which is closed on failure. path: in the message. */
int folder_check(int folder, const char *path, const char *what, struct error *error);

/* Replies with the file at a path below the folder ("" or "/": index.html). No link is followed;
 * the path cannot leave the folder. False: no such file. */
bool folder_reply(int folder, const char *path, struct http_reply *reply);
