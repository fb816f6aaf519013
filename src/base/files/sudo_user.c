/* SPDX-License-Identifier: MIT */
#include "base/files/sudo_user.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* UINT32_MAX is no id: system calls take (uid_t)-1 for "unchanged". */
static bool read_id(const char *variable, uint32_t *id)
{
    const char *text = getenv(variable);
    char *end;
    if (!text || !isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    *id = (uint32_t)value;
    return errno == 0 && *end == '\0' && value < UINT32_MAX;
}

struct sudo_user sudo_user_find(void)
{
    uint32_t uid, gid;
    if (geteuid() != 0 || !read_id("SUDO_UID", &uid) || !read_id("SUDO_GID", &gid))
        return (struct sudo_user){0};
    return (struct sudo_user){.is_known = true, .uid = uid, .gid = gid};
}
