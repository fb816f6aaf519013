/* SPDX-License-Identifier: MIT */
#pragma once

/* Makes malloc() use large pages for the first 28 MiB or more of the heap, after 60 KiB of small
 * pages, in all threads, if the system provides large pages. Observed: the first touch of a 4
 * KiB page costs 2.4 us on a virtual machine, a fifth of the time of symbolizing a recording.
 * Copy-on-write after a fork works in units of 4 KiB, each with a fault and an interrupt of
 * other threads, so fork while the heap is small. Call once, before any other allocation. */
void heap_prefer_large_pages(void);

/* Returns free memory to the kernel. Called before a fork, so children do not share free memory,
 * and before the heap grows. */
void heap_give_back(void);

/* For forked workers that run in parallel: small pages, and freed memory returns to the kernel. */
void heap_save_memory(void);
