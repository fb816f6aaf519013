/* SPDX-License-Identifier: MIT */
#include "cli/options/target_list.h"

#include "base/containers/array.h"

#include "record/attach/target_facts.h"
#include "record/procfs/proc.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

static int add(struct target_list *list, pid_t id)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->ids[i] == id)
            return 0;
    pid_t *place = ARRAY_PUSH(list->ids, list->count, list->capacity);
    if (!place)
        return -ENOMEM;
    *place = id;
    return 0;
}

/* The number at *at, moved behind the comma; 0: none. */
static pid_t next_id(const char **at)
{
    char *end;
    if (**at < '0' || **at > '9')
        return 0;
    unsigned long id = strtoul(*at, &end, 10);
    if (id > INT_MAX || (*end != ',' && *end != '\0') || (*end == ',' && end[1] == '\0'))
        return 0;
    *at = *end ? end + 1 : end;
    return (pid_t)id;
}

int target_list_add(struct target_list *list, const char *option, const char *value,
                    struct error *error)
{
    const char *at = value;
    do {
        pid_t id = next_id(&at);
        if (id == 0)
            return error_set(error, -EINVAL, "%s takes ids as in 123,456, not '%s'", option, value);
        if (add(list, id) != 0)
            return error_set(error, -ENOMEM, "out of memory");
    } while (*at);
    return 0;
}

/* A name, else a number. */
static bool find_user(const char *text, uid_t *uid)
{
    const struct passwd *user = getpwnam(text);
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    *uid = user ? user->pw_uid : (uid_t)number;
    return user || (*text >= '0' && *text <= '9' && *end == '\0' && number < UINT_MAX);
}

static bool has_user(pid_t pid, uid_t uid)
{
    struct target_facts facts = target_facts_read(pid);
    return facts.pid == pid && facts.uids.effective == uid && facts.has_memory && pid != getpid();
}

int target_list_add_user(struct target_list *list, const char *user, struct error *error)
{
    uid_t uid;
    size_t count = 0, before = list->count;
    if (!find_user(user, &uid))
        return error_set(error, -EINVAL, "-u takes a user's name or id: no user '%s'", user);
    pid_t *pids = proc_list("/proc", &count);
    int err = pids ? 0 : -ENOMEM;
    for (size_t i = 0; err == 0 && i < count; i++)
        if (has_user(pids[i], uid))
            err = add(list, pids[i]);
    free(pids);
    if (err)
        return error_set(error, err, "out of memory");
    return list->count == before ? error_set(error, -ESRCH, "no process of user %s to record", user)
                                 : 0;
}

void target_list_free(struct target_list *list)
{
    free(list->ids);
    *list = (struct target_list){0};
}
