/* SPDX-License-Identifier: MIT */
#include "cli/waits/waits_report.h"

#include "base/text/log.h"
#include "cli/report/command_text.h"
#include "cli/terminal/format.h"
#include "cli/waits/wait_text.h"

#include <stdio.h>

enum { STACKS_SHOWN = 20, LEAST_PERCENT = 1 };

static void print_header(const struct wait_groups *groups, const char *label)
{
    const struct profile *profile = groups->profile;
    text_print(stdout, "%s: ", label);
    command_text_print(profile);
    printf("%s off CPU in %s, %zu thread%s; %s runnable without a processor",
           format_duration(groups->total_ns + groups->idle_ns).text,
           format_duration(profile->recorded_ns).text, profile->thread_count,
           profile->thread_count == 1 ? "" : "s", format_duration(groups->runnable_ns).text);
    if (groups->idle_ns)
        printf("; %s idle, not in the shares", format_duration(groups->idle_ns).text);
    printf("\n");
}

/* Empty: unknown. */
static struct formatted longest_text(const struct wait_sum *sum)
{
    uint64_t longest_ns = wait_sum_longest_ns(sum);
    return longest_ns ? format_duration(longest_ns) : (struct formatted){""};
}

static void print_reasons(const struct wait_groups *groups)
{
    printf("\n  share        time     waits     longest  reason\n");
    for (size_t i = 0; i < groups->reason_count; i++) {
        const struct wait_reason_sum *reason = &groups->reasons[i];
        if (reason->sum.total_ns == 0)
            continue;
        printf("%7s  %10s  %8s  %10s  ",
               format_percent(reason->sum.total_ns, groups->total_ns).text,
               format_duration(reason->sum.total_ns).text, format_count(reason->sum.waits).text,
               longest_text(&reason->sum).text);
        text_print(stdout, "%s\n", wait_text_reason(&reason->reason));
    }
}

struct members {
    const struct wait_groups *groups;
    size_t first;
};

static uint32_t thread_at(const void *context, size_t index)
{
    const struct members *members = context;
    return members->groups->members[members->first + index].thread;
}

static void print_group(const struct wait_groups *groups, const struct wait_group *group,
                        unsigned columns)
{
    const struct members members = {groups, group->first_member};
    const struct wait_sum *sum = &group->sum;
    printf("\n%7s  ", format_percent(sum->total_ns, groups->total_ns).text);
    text_print(stdout, "%s: ", wait_text_reason(&group->reason));
    printf("%s, %s wait%s, ", format_duration(sum->total_ns).text, format_count(sum->waits).text,
           sum->waits == 1 ? "" : "s");
    if (sum->waits > 1 && wait_sum_longest_ns(sum))
        printf("longest %s, ", longest_text(sum).text);
    wait_text_threads(groups->profile, group->member_count - group->idle_count, thread_at,
                      &members);
    printf("\n");
    wait_text_frames(groups->profile, group->stack, columns);
}

static bool is_shown(const struct wait_groups *groups, const struct wait_group *group)
{
    return group->sum.total_ns > 0 && group->sum.total_ns >= groups->total_ns / 100 * LEAST_PERCENT;
}

static void print_pools(const struct wait_groups *groups)
{
    if (groups->idle_ns == 0)
        return;
    printf("\nIdle: threads that wait at one place only; --idle puts them into the shares\n");
    for (size_t i = 0; i < groups->count; i++) {
        const struct wait_group *group = &groups->groups[i];
        const struct members members = {groups, group->first_member + group->member_count -
                                                    group->idle_count};
        if (group->idle_count == 0)
            continue;
        const char *place = wait_text_place(groups->profile, group->stack);
        printf("  %10s  ", format_duration(group->pool.total_ns).text);
        text_print(stdout, "%s%s%s; ", wait_text_reason(&group->reason), place[0] ? " in " : "",
                   place);
        wait_text_threads(groups->profile, group->idle_count, thread_at, &members);
        printf("\n");
    }
}

void waits_print(const struct wait_groups *groups, const char *label, unsigned columns)
{
    print_header(groups, label);
    if (groups->total_ns)
        print_reasons(groups);
    size_t shown = 0, hidden = 0;
    uint64_t hidden_ns = 0;
    for (size_t i = 0; i < groups->count; i++) {
        const struct wait_group *group = &groups->groups[i];
        if (is_shown(groups, group) && shown++ < STACKS_SHOWN) {
            print_group(groups, group, columns);
        } else if (group->sum.total_ns) {
            hidden++;
            hidden_ns += group->sum.total_ns;
        }
    }
    if (hidden)
        printf("\n%7s  in %s other stack%s; --json has all\n",
               format_percent(hidden_ns, groups->total_ns).text, format_count(hidden).text,
               hidden == 1 ? "" : "s");
    print_pools(groups);
}
