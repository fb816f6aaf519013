/* SPDX-License-Identifier: MIT */
/*
 * Owners and groups of files in a user namespace. The kernel shows every user without a mapping
 * as the overflow id, usually 65534 (user_namespaces(7), "Unmapped user and group IDs"). Two files
 * with this owner may belong to different users, and this process may be a third user.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Whether the id may stand for an unmapped user. */
bool owner_is_unmapped(uid_t uid);

/* Whether files of this owner certainly belong to the effective user of this process. */
bool owner_is_self(uid_t uid);

/* Whether files of this group certainly belong to the effective group of this process. */
bool group_is_self(gid_t gid);

/* Whether the group is root's. Group 0 of a namespace may be a group of several users outside:
 * `unshare --map-root-user` maps the group of the user. */
bool group_is_of_root(gid_t gid);
