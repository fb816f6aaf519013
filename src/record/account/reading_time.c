/* SPDX-License-Identifier: MIT */
#include "record/account/reading_time.h"

static struct reading_user *find(struct reading_time *time, uid_t uid)
{
    for (size_t i = 0; i < time->count; i++)
        if (time->users[i].uid == uid)
            return &time->users[i];
    return time->count == READING_USERS_MAX ? &time->users[READING_USERS_MAX - 1] : NULL;
}

static struct reading_user *add(struct reading_time *time, uid_t uid, uint64_t now_ns)
{
    struct reading_user *user = &time->users[time->count++];
    *user = (struct reading_user){uid, READING_START_NS, now_ns};
    return user;
}

bool reading_time_is_left(struct reading_time *time, uid_t uid, uint64_t now_ns)
{
    struct reading_user *user = find(time, uid);
    if (!user)
        user = add(time, uid, now_ns);
    uint64_t passed_ns = now_ns > user->filled_ns ? now_ns - user->filled_ns : 0;
    uint64_t more_ns = passed_ns * READING_PERCENT / 100;
    uint64_t room_ns = (uint64_t)(READING_START_NS - user->left_ns);
    user->left_ns += (int64_t)(more_ns < room_ns ? more_ns : room_ns);
    user->filled_ns = now_ns;
    return user->left_ns > 0;
}

void reading_time_spend(struct reading_time *time, uid_t uid, uint64_t cpu_ns)
{
    struct reading_user *user = find(time, uid);
    if (user)
        user->left_ns -= (int64_t)cpu_ns;
}
