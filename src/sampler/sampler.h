/* SPDX-License-Identifier: MIT */
/*
 * librec-sampler.so, the part of rec in the recorded process. This header is an overview, without
 * declarations; each file has a header of its own.
 *
 *     constructor ─▶ process/start    join the recording: attach, handshake, handler, main thread
 *
 *     signal ─▶ signals/handler ─ by the sampler? ─ no ─▶ signals/deliver: the program's action
 *                   │ yes
 *                   ▼
 *               sample/sample ─▶ thread, weight
 *               sample/walk ─▶ PC, row, caller PC, … into the thread's ring
 *               sample/stack_copy ─▶ registers and stack bytes of an unfinished walk
 *
 *     hooks ─▶ threads/   a slot, a ring and a timer for each thread
 *              signals/   masks, actions and waits without the sampler's signal
 *              exec/      environment, mask and action of a new program
 *              seccomp/   system calls that a filter of the program forbids
 *              process/   rusage of children, unloaded libraries, limits, the end of sampling
 *     base/   state, own system calls, the C library's functions behind the hooks
 *     arch/   everything that depends on the processor
 *
 * Rules of the handler: no system call, no C library, no lock, no allocation, no TLS except
 * initial-exec; at most 1.5 KiB of stack (larger data lives in the thread's state and in the
 * reserved record). The handler reads only the tables, its own state, and stack words between SP
 * minus the red zone and the end of the thread's stack. Data without room is counted and dropped.
 * Functions under these rules carry the mark "Async-signal-safe."
 *
 * The sampler never exits, prints or changes errno, and sleeps only in the bounded wait of a start.
 */
#pragma once
