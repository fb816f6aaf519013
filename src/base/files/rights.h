/* SPDX-License-Identifier: MIT */
/*
 * The file access rights of another user. Root opens a file on behalf of a user with the user's
 * rights: the calling thread has the user's file system ids and groups for the duration of the
 * open.
 *
 * setfsuid(2) from 0 to another id also removes CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH and the other
 * capabilities over files from the thread's effective set; setting 0 again restores them
 * (capabilities(7), "Effect of user ID changes on capabilities"). All other capabilities remain, so
 * links in /proc still lead to their files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Further groups of the user are ignored. */
enum { RIGHTS_GROUPS_MAX = 64 };

struct rights {
    uid_t uid; /* 0: the rights of this process */
    gid_t gid;
    size_t group_count;
    gid_t groups[RIGHTS_GROUPS_MAX];
};

struct rights_loan {
    bool is_taken;
    struct rights own; /* of the thread */
};

/* Gives the calling thread these rights until rights_return(). No effect for NULL, for root's
 * rights, and in a process without root's rights. On failure (negative errno) the thread keeps
 * its own rights; the caller must not open the file. */
int rights_borrow(struct rights_loan *loan, const struct rights *rights);
void rights_return(const struct rights_loan *loan);

/* The requesting user of files named by captures, binaries and debug info;
 * NULL: the process' own user. Set before threads start; the pointer is kept. */
void rights_set_reader(const struct rights *reader);
const struct rights *rights_reader(void);
