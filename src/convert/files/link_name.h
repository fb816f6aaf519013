/* SPDX-License-Identifier: MIT */
/*
 * The name of a program that was executed by a symbolic link: the kernel maps and records the file
 * (redis-check-rdb), and names the thread after the link (redis-server), which is the name that
 * users know.
 */
#pragma once

#include <stdbool.h>

/* Whether `name`, of a thread after its exec, is a symbolic link in the file's directory that leads
 * to the file. The kernel cuts names off behind 15 bytes: a name as long as this is never taken for
 * a link. */
bool link_name_leads_to(const char *name, const char *path);
