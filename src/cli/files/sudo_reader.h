/* SPDX-License-Identifier: MIT */
/* Under sudo, files named by captures, binaries and debug info are read with the rights of the sudo
 * user. */
#pragma once

/* Call before the first thread starts. */
void sudo_reader_set(void);
