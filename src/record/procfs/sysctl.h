/* SPDX-License-Identifier: MIT */
/* Numbers of /proc/sys/kernel. */
#pragma once

/* unknown: the result where the file cannot be read. */
int sysctl_kernel_read(const char *name, int unknown);
