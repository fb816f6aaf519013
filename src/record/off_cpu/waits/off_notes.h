/* SPDX-License-Identifier: MIT */
/*
 * The accounts that threads have noted of themselves (struct account_note): the kernel's copy is
 * gone when the parent has seen the end of a process, and with the end of a thread.
 */
#pragma once

#include "record/procfs/blocked/blocked_call.h"
#include "wire/session.h"

#include <stdbool.h>
#include <sys/types.h>

struct off_notes {
    struct account_note *notes; /* SESSION_ACCOUNTS; mapped; NULL: none */
};

/* fd: of struct requests; negative: without notes. Without memory there are none, either. */
void off_notes_open(struct off_notes *notes, int fd);
void off_notes_close(struct off_notes *notes);

/* The latest account of a thread. Any process may have written it: a time until now, and numbers
 * without overflow in sums. False: none. */
bool off_notes_read(const struct off_notes *notes, pid_t tid, struct run_account *account);
/* The thread has ended, or another one begins. */
void off_notes_drop(const struct off_notes *notes, pid_t tid);
