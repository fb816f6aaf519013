/* SPDX-License-Identifier: MIT */
#include "cli/options/target_list.h"

#include "base/containers/array.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

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

void target_list_free(struct target_list *list)
{
    free(list->ids);
    *list = (struct target_list){0};
}
