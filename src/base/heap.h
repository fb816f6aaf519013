/* SPDX-License-Identifier: MIT */
#pragma once

/* From now on malloc() takes its first 28 MiB or more in large pages, after 60 KiB in small ones, where the system has
 * some to give, for all threads. A page of 4 KiB that is touched first costs 2.4 us on a virtual machine: a fifth of the
 * time of naming a recording. What two processes share after a fork is copied when it is written, a large page 4 KiB at a
 * time, each with a fault and an interrupt of other threads: who forks does so while there is little. To be called once,
 * first of all. */
void heap_prefer_large_pages(void);

/* What is free goes back to the kernel: before processes are forked that would have it, too, and before there is more. */
void heap_give_back(void);

/* In a process forked from it, of which there are several at once: its pages are small again, and what is freed goes back
 * to the kernel. */
void heap_save_memory(void);
