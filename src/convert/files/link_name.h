/* SPDX-License-Identifier: MIT */
/*
 * The name of a program executed by a symbolic link: the kernel maps and records the file
 * (redis-check-rdb), but names the thread after the link (redis-server), the name familiar to
 * users.
 */
#pragma once

#include <stdbool.h>

/* Whether `name`, of a thread after its exec, is a symbolic link in the file's directory to the
 * file. The kernel cuts names after 15 bytes: a name of this length never counts as a link. */
bool link_name_leads_to(const char *name, const char *path);
