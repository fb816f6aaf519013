/* SPDX-License-Identifier: MIT */
#include "record/account/ended_children.h"

void ended_children_note(struct ended_children *children, const struct ended_child *child)
{
    children->items[children->next++ % ENDED_CHILDREN_MAX] = *child;
}

void ended_children_set_rusage(struct ended_children *children, const struct ended_child *child)
{
    for (size_t i = 0; i < ENDED_CHILDREN_MAX; i++) {
        struct ended_child *item = &children->items[i];
        if (item->pid == child->pid && item->parent_pid == child->parent_pid)
            item->rusage_ns = child->rusage_ns;
    }
}

bool ended_children_take(struct ended_children *children, pid_t parent_pid, pid_t pid)
{
    for (size_t i = 0; i < ENDED_CHILDREN_MAX; i++) {
        struct ended_child *child = &children->items[i];
        bool is_child = child->pid != 0 && child->parent_pid == parent_pid;
        if (!is_child || (pid != 0 && child->pid != pid))
            continue;
        *child = (struct ended_child){0};
        return true;
    }
    return false;
}

uint64_t ended_children_orphan(struct ended_children *children, pid_t parent_pid)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < ENDED_CHILDREN_MAX; i++) {
        struct ended_child *child = &children->items[i];
        if (child->parent_pid != parent_pid)
            continue;
        sum_ns += child->rusage_ns;
        *child = (struct ended_child){0};
    }
    return sum_ns;
}

bool ended_children_has_parent(const struct ended_children *children, pid_t parent_pid)
{
    for (size_t i = 0; i < ENDED_CHILDREN_MAX; i++)
        if (children->items[i].parent_pid == parent_pid)
            return true;
    return false;
}

void ended_children_add_unmet(struct ended_children *children, const struct unmet_child *child)
{
    if (children->unmet_count < UNMET_CHILDREN_MAX)
        children->unmet[children->unmet_count++] = *child;
}
