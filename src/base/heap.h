/* SPDX-License-Identifier: MIT */
#pragma once

/* From now on malloc() takes its first HEAP_BYTES in large pages, where the system has some to give, for all threads
 * and for what is forked from this process. A page of 4 KiB that is touched first costs 2.4 us on a virtual machine: a
 * fifth of the time of naming a recording. To be called once, first of all. */
void heap_prefer_large_pages(void);
