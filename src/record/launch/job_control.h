/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

/*
 * The command is stopped, and so is rec, for the shell to see: until the command goes on or is killed,
 * or somebody continues rec. Returns who may have sent SIGCONT to rec for that, a process that is no
 * more; 0: nobody.
 */
pid_t job_control_stop_with(pid_t command);
