/* SPDX-License-Identifier: MIT */
#pragma once

/* Ends with the status of waitpid(), or by the same signal without a second core file. Returns the
 * exit status; 128 + n for a signal without effect here. */
int end_as(int wait_status);
