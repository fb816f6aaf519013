/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

/*
 * Stops rec together with the stopped command, as the shell expects, until the command is continued
 * or killed, or rec itself is continued. Returns the pid of the reaped watcher, a possible sender
 * of SIGCONT to rec; 0: no watcher.
 */
pid_t job_control_stop_with(pid_t command);
