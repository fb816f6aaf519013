/* SPDX-License-Identifier: MIT */
/*
 * Bounds the CPU time of the launcher for the files mapped by processes of other users: each user
 * starts with READING_START_NS, and gets READING_PERCENT of a processor. Malformed files may be
 * expensive, and a process may map any number of files. Arithmetic only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define READING_START_NS INT64_C(2000000000)
enum { READING_PERCENT = 25, READING_USERS_MAX = 16 };

/* All zero is empty. */
struct reading_time {
    struct reading_user {
        uid_t uid;
        int64_t left_ns; /* negative: the last file took longer than was left */
        uint64_t filled_ns;
    } users[READING_USERS_MAX]; /* the last one stands for all further users */
    size_t count;
};

bool reading_time_is_left(struct reading_time *time, uid_t uid, uint64_t now_ns);
/* After reading_time_is_left() for the user. */
void reading_time_spend(struct reading_time *time, uid_t uid, uint64_t cpu_ns);
