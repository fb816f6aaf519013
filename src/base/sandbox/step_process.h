/* SPDX-License-Identifier: MIT */
/*
 * A step of the program in a process of its own, with this process' memory and descriptors: a
 * sandbox is permanent, and a crash ends the step alone.
 */
#pragma once

enum { STEP_PROCESS_SIGNAL = 256 };

/* Runs step(context) in a child, which is killed if this process ends. Returns the step's result (0
 * to 255), STEP_PROCESS_SIGNAL + the signal that ended the child, or a negative errno: the step has
 * not run. */
int step_process_run(int step(void *context), void *context);
