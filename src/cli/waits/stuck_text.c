/* SPDX-License-Identifier: MIT */
#include "cli/waits/waits_report.h"

#include "base/text/log.h"
#include "cli/report/command_text.h"
#include "cli/terminal/format.h"
#include "cli/waits/wait_text.h"

#include <stdio.h>

struct members {
    const struct stuck *stuck;
    size_t first;
};

static uint32_t thread_at(const void *context, size_t index)
{
    const struct members *members = context;
    return members->stuck->waits[members->first + index].wait.thread;
}

enum { OBJECTS_SHOWN = 6 };

static void print_objects(const struct stuck *stuck, const struct stuck_group *group)
{
    for (size_t i = 0; i < group->count && i < OBJECTS_SHOWN; i++) {
        const struct stuck_wait *wait = &stuck->waits[group->first + i];
        uint32_t thread = wait->wait.thread;
        struct wait_object_text object = wait_object_text(stuck->profile, wait->object);
        bool is_address = object.text[0] && wait->object->address;
        if (object.text[0])
            text_print(stdout, "  %d %s: %s%s%s\n", (int)stuck->profile->threads[thread].tid,
                       profile_text(stuck->profile, stuck->profile->threads[thread].name),
                       is_address ? wait_text_reason(&group->reason) : "", is_address ? " at " : "",
                       object.text);
    }
}

static void print_group(const struct stuck *stuck, const struct stuck_group *group,
                        unsigned columns)
{
    const struct members members = {stuck, group->first};
    uint64_t most_ns = stuck->waits[group->first].wait.length_ns;
    uint64_t least_ns = stuck->waits[group->first + group->count - 1].wait.length_ns;
    printf("\n%s", format_duration(most_ns).text);
    if (group->count > 1)
        printf(" to %s", format_duration(least_ns).text);
    text_print(stdout, "  %s; ", wait_text_reason(&group->reason));
    wait_text_threads(stuck->profile, group->count, thread_at, &members);
    printf("\n");
    print_objects(stuck, group);
    wait_text_frames(stuck->profile, group->stack, columns);
}

static void print_part(const struct stuck *stuck, bool is_at_end, unsigned columns)
{
    for (size_t i = 0; i < stuck->count; i++)
        if (stuck->groups[i].is_at_end == is_at_end)
            print_group(stuck, &stuck->groups[i], columns);
}

void stuck_print(const struct stuck *stuck, uint64_t after_ns, const char *label, unsigned columns)
{
    size_t before = stuck->wait_count - stuck->at_end;
    struct formatted limit = format_duration(after_ns);
    text_print(stdout, "%s: ", label);
    command_text_print(stuck->profile);
    printf("%s thread%s waiting at the end, for %s or more\n",
           stuck->at_end ? format_count(stuck->at_end).text : "no", stuck->at_end == 1 ? "" : "s",
           limit.text);
    print_part(stuck, true, columns);
    if (before > 0)
        printf("\n%s other thread%s waited for %s or more before the end\n",
               format_count(before).text, before == 1 ? "" : "s", limit.text);
    print_part(stuck, false, columns);
    if (stuck->left_out > 0)
        printf("\n%s of idle pools left out: --idle prints all\n",
               format_number_of(stuck->left_out, "thread").text);
}

int stuck_log(const struct stuck *stuck, int most)
{
    const struct profile *profile = stuck->profile;
    size_t named = 0;
    int lines = 0;
    for (size_t i = 0; i < stuck->count && stuck->groups[i].is_at_end && lines < most; i++) {
        const struct stuck_group *group = &stuck->groups[i];
        const struct profile_wait *wait = &stuck->waits[group->first].wait;
        const struct profile_thread *thread = &profile->threads[wait->thread];
        char others[64] = "", more[80] = "";
        struct wait_object_text object =
            wait_object_text(profile, stuck->waits[group->first].object);
        named += group->count;
        if (group->count > 1)
            snprintf(others, sizeof(others), " and %s more thread%s",
                     format_count(group->count - 1).text, group->count > 2 ? "s" : "");
        if (lines + 1 == most && named < stuck->at_end)
            snprintf(more, sizeof(more), "; %s more: rec report --stuck",
                     format_count(stuck->at_end - named).text);
        const char *place = wait_text_place(profile, group->stack);
        log_info("waiting at the end: %s (%d)%s, for %s: %s%s%s%s%s%s",
                 profile_text(profile, thread->name), (int)thread->tid, others,
                 format_duration(wait->length_ns).text, wait_text_reason(&group->reason),
                 place[0] ? " in " : "", place, object.text[0] ? ", " : "", object.text, more);
        lines++;
    }
    return lines;
}
