/* SPDX-License-Identifier: MIT */
/* What lies behind a descriptor of another process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* "/var/log/x", "pipe", "eventfd", "unix socket /run/x.sock", "tcp socket 127.0.0.1:6379 to
 * 127.0.0.1:40112"; "" if unreadable. Text of the process: not escaped. */
void wait_object_describe(pid_t pid, int descriptor, char *text, size_t size);

/* The two halves: the target of the link in /proc ("socket:[1234]", the same for all descriptors of
 * an object), and its description. False: unreadable. */
bool wait_object_link(pid_t pid, int descriptor, char *target, size_t size);
void wait_object_describe_link(pid_t pid, const char *target, char *text, size_t size);

/* The description of a socket by its line in /proc/net/tcp, tcp6, udp, udp6 or unix; false: another
 * socket's line. protocol: the name of the file. */
bool wait_object_parse_socket(const char *line, const char *protocol, unsigned long inode,
                              char *text, size_t size);
