/* SPDX-License-Identifier: MIT */
/*
 * librec-sampler.so: what runs in somebody else's process.
 *
 *     constructor ─▶ start.c    join the session, wait for the verdict
 *                    attach.c   its shared memory;  launcher.c  whether somebody answers
 *     signal ──────▶ handler.c  is it ours? ── no ─▶ sigaction.c  what it would have done without us
 *                       │ yes
 *                       ▼
 *                    walk.c     PC -> row -> caller, …, into the thread's ring
 *                    stack_copy.c     what a walk could not finish
 *     hooks ───────▶ threads.c  pthread_create, thread exit;
 *                    sigaction.c, dispositions.c  sigaction and relatives; syscall_restart.c  what its handler interrupts;
 *                    mask.c  pthread_sigmask and relatives;  sigwait.c  sigwait, sigsuspend, ppoll, …;
 *                    exec.c, spawn.c  what a new program inherits;  modules.c  dlclose;
 *                    clone.c  processes made past fork();  fds.c  who closes ours;
 *                    mlock.c  mlockall;  rlimit.c  setrlimit;  gprof.c  who needs SIGPROF;
 *                    rusage.c  what a child used that has ended;
 *                    seccomp.c, own_call.c  which system calls must not be made;
 *                    syscall.c  syscall();
 *                    signalfd.c  who reads the sampler's signal;  retire.c  the end of sampling
 *
 * The rules of the handler: no system call, no libc, no lock, no allocation, no TLS but initial-exec;
 * at most 1.5 KiB of stack (scratch lives in the thread's state and in the reserved record); reads
 * only the tables, its own state, and stack words between SP - red zone and the end of the thread's
 * stack; whatever does not fit is counted and dropped. Functions that obey them say "Async-signal-safe."
 *
 * The sampler never exits, prints, sleeps (but for the bounded wait of a start) or changes errno.
 */
#pragma once

#include "sampler/arch/arch.h"
#include "sampler/process/attach.h"
#include "sampler/base/identity.h"
#include "sampler/process/launcher.h"
#include "sampler/base/state.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* start.c */
/* A forked child joins as a process of its own. Not async-signal-safe. */
void process_join_after_fork(void);
/* The program needs SIGPROF for itself alone. Not async-signal-safe. */
void process_leave_sigprof(void);

/* clone.c */
/* Whether a bare system call makes a process as fork() does, which returns on a copy of the same stack. Async-signal-safe.
 */
bool clone_is_fork(long number, long flags, long stack);

/* exit_time.c */
/* The program is about to become another one, or not after all. Async-signal-safe (makes system calls). */
void exit_time_note_exec(void);
void exit_time_forget(void);

/* retire.c */
/* Ends the sampling of this process. On return no signal of the sampler is pending in the calling thread or will be,
 * unless the launcher does not answer; the kernel blocks the signal where the program does. Not async-signal-safe. */
void process_retire(void);

/* signalfd.c */
/* Before the system call: ends the sampling if the descriptor is to read the sampler's signal. */
void signalfd_prepare(const sigset_t *mask, size_t mask_bytes);
/* Whether a descriptor that the process inherited reads the sampler's signal. Not async-signal-safe. */
bool signalfd_is_inherited(void);

/* threads.c */
/* A free slot, or NULL. Not async-signal-safe. */
struct thread_state *thread_claim(void);
/* Gives a slot back that never ran. Not async-signal-safe. */
void thread_unclaim(struct thread_state *thread);
/* The same after the thread's last record: the launcher frees the slot. Async-signal-safe. */
void thread_finish(struct thread_state *thread);
/* From now on signals in the calling thread find it. Not async-signal-safe. */
void thread_bind(struct thread_state *thread);
/* The calling thread's CPU timer, when the engine wants one. Not async-signal-safe. */
void thread_start_timer(struct thread_state *thread);
/* Async-signal-safe (makes a system call). */
void thread_stop_timer(struct thread_state *thread);
/* Those of all threads. Not async-signal-safe. */
void threads_stop_timers(void);

/* thread_stack.c */
/* Attributes of the same thread with room for samples; false: the given ones will do. Not async-signal-safe. */
bool thread_stack_enlarge(const pthread_attr_t *attributes, pthread_attr_t *larger);
/* What a thread that is about to be created asks for. Not async-signal-safe. */
void thread_stack_note(struct thread_state *thread, const pthread_attr_t *attributes,
                       uint64_t default_bytes);
/* The part of the calling thread's stack that the walker may read. Not async-signal-safe. */
void thread_stack_set_range(struct thread_state *thread);

/* sigaction.c */
/* Puts the handler in place of the program's action for this signal, which is kept as what the program
 * sees. False when the kernel refuses. Not async-signal-safe. */
bool signals_install(int signal);
/* Undoes it. Not async-signal-safe. */
void signals_uninstall(void);
/* When the program ignores the signal, so does the kernel from now on: what is executed inherits that. True
 * when something changed: then signals_hide_ignored() puts the handler back. Async-signal-safe. */
bool signals_show_ignored(void);
void signals_hide_ignored(void);
/* The kernel delivers none any more, also of those that are pending. False when it refuses. Async-signal-safe. */
bool signals_ignore(void);
/* And back. Async-signal-safe. */
void signals_heed(void);
/* What this signal would have done without us. Async-signal-safe (makes system calls, as it must). */
void signals_deliver(int signal, siginfo_t *info, void *context);
/* Whether this is a bare system call that shows or sets the program's action, and not the handler's. */
bool signals_are_set_by(long number, int signal, long mask_bytes);
/* It does what it would, to the program's action. Negative errno, as the kernel's answer. */
struct kernel_action;
long signals_set_bare(const struct kernel_action *given, struct kernel_action *old);
/* While the handler runs, all is blocked that is not ignored by now. Async-signal-safe. */
void signals_refresh_mask(void);

/* dispositions.c */
typedef void (*signal_handler)(int);
/* A bit for each signal that does nothing, as far as that is known. Async-signal-safe. */
uint64_t dispositions_ignored(void);
/* As sigaction(); as signal() or __sysv_signal(), the first argument. Async-signal-safe. */
int dispositions_set(int signal, const struct sigaction *action, struct sigaction *old);
signal_handler dispositions_set_simple(signal_handler (*set)(int, signal_handler), int signal,
                                       signal_handler simple);

/* syscall_restart.c */
/* The system call that a signal interrupted, if it waited, ends with EINTR instead of beginning again. Async-signal-safe.
 */
void syscall_restart_cancel(ucontext_t *interrupted);

/* mask.c */
/* From now on the kernel does not block the sampler's signal in the calling thread, but the program reads
 * that it is blocked, if it was. Not async-signal-safe. */
void mask_hide(struct thread_state *thread);
/* And back: true when a block was hidden and is real now. Not async-signal-safe. */
bool mask_unhide(struct thread_state *thread);
/* The same for good, once no signal of the sampler comes any more; removes those that are pending. Not
 * async-signal-safe. */
void mask_retire(struct thread_state *thread);
/* The same for what an exec is to inherit, leaving the thread's state alone; after an exec that failed, if
 * it returned true, the other one. Async-signal-safe. */
bool mask_block_for_exec(void);
void mask_unblock_after_exec(void);
/* Around a call that makes a thread which must not have the sampler's signal. Returns the mask to restore. */
uint64_t mask_block_ours(void);
void mask_restore(uint64_t mask);
/* The program is about to wait with this mask instead of its own: returns the argument of mask_lower(), which follows
 * the wait. Async-signal-safe. */
struct thread_state *mask_lift(const sigset_t *mask, void *frame);
void mask_lower(struct thread_state *thread);
/* After mask_lift(), with its result: delivers a pending foreign signal under this mask. True: the wait is over, with
 * EINTR. Not async-signal-safe. */
bool mask_deliver_pending(struct thread_state *thread, const sigset_t *mask);
/* A signal of the program's own in a thread that it believes to block it: blocks it there and sends it on;
 * false: not blocked. Async-signal-safe (makes system calls, as it must). */
bool mask_defer(int signal, siginfo_t *info, void *context);
/* Whether the program believes to block it there. Async-signal-safe. */
bool mask_hides_block_at(const ucontext_t *interrupted);
/* sigwait.c */
/* rt_sigtimedwait as a bare system call, without the signals of the sampler. As syscall(), with errno. */
long waits_bare(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);

/* handler.c */
/* The handler of the sampler's signal. Async-signal-safe. */
void handler(int signal, siginfo_t *info, void *context);
/* True for a signal of the sampler's own. Async-signal-safe. */
bool handler_is_ours(const siginfo_t *info);
/* Marks our timers' signals: the address is the value they carry. */
extern const char handler_timer_token;

/* rusage.c */
/* CPU time of the children that this process has waited for, whatever it ran. Not async-signal-safe. */
uint64_t rusage_of_children_ns(void);
/* The C library has waited for one by itself, since they had used that much. Not async-signal-safe. */
void rusage_note_waited(uint64_t before_ns);

/* walk.c */
/* Walks the interrupted stack and writes one record; true if it was committed. Async-signal-safe. */
bool walk_record(struct thread_state *thread, const ucontext_t *context, uint64_t ticks,
                 uint64_t weight_ns, uint16_t flags);
