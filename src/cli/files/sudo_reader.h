/* SPDX-License-Identifier: MIT */
/* Under sudo, files named by captures, binaries and debug info are read with the rights of the sudo user, the owner of the
 * outputs. */
#pragma once

/* Before there are threads. */
void sudo_reader_set(void);
