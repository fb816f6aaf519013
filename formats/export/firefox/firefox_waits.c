/* SPDX-License-Identifier: MIT */
/* Off-CPU time: categories by the leaf of a stack, and long waits as markers of their thread. */
#include "export/firefox/firefox.h"

#include "profile/wait_objects.h"
#include "profile/walk.h"

#include <errno.h>
#include <stdlib.h>

enum { LONG_WAIT_NS = 10000000, LONG_WAITS_MAX = 1000 /* of a thread, at most */ };

static const char type[] = "Wait";

int firefox_classify_waits(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    uint64_t share_ns = profile->recorded_ns / LONG_WAITS_MAX;
    firefox->long_wait_ns = share_ns > LONG_WAIT_NS ? share_ns : LONG_WAIT_NS;
    firefox->wait_kinds = calloc(profile->lib_count + 1, sizeof(*firefox->wait_kinds));
    for (uint32_t i = 0; firefox->wait_kinds && i < profile->lib_count; i++)
        if (wait_reason_is_lib(profile, i))
            firefox->wait_kinds[i] =
                (uint8_t)(1 +
                          wait_reason_of_name(profile_text(profile, profile->libs[i].name)).kind);
    return firefox->wait_kinds ? 0 : -ENOMEM;
}

static uint32_t leaf_lib(const struct firefox *firefox, uint32_t call)
{
    const struct profile *profile = firefox->profile;
    return call == PROFILE_NONE ? PROFILE_NONE
                                : profile->addresses[profile->calls[call].address].lib;
}

bool firefox_is_wait(const struct firefox *firefox, uint32_t call)
{
    uint32_t lib = leaf_lib(firefox, call);
    return lib != PROFILE_NONE && firefox->wait_kinds[lib];
}

enum firefox_category firefox_wait_category(const struct firefox *firefox, uint32_t lib,
                                            enum firefox_category otherwise)
{
    uint8_t kind = lib == PROFILE_NONE ? 0 : firefox->wait_kinds[lib];
    return kind == 0                      ? otherwise
           : kind == 1 + PROFILE_RUNNABLE ? FIREFOX_RUNNABLE
                                          : FIREFOX_WAITING;
}

enum firefox_category firefox_category_of_wait(const struct firefox *firefox,
                                               const struct profile_wait *wait)
{
    return firefox_wait_category(firefox, leaf_lib(firefox, wait->call), FIREFOX_WAITING);
}

bool firefox_is_sum(const struct firefox *firefox, const struct profile_wait *wait)
{
    const struct profile *profile = firefox->profile;
    return wait_reason_of_call(profile, wait->call).kind == PROFILE_SHORT_WAITS ||
           profile_wait_intervals(profile, wait) > 1;
}

/* A share of a sum starts where a short wait did, and may be longer than the wait: the next
 * measured start ends the share. */
static void end_before_next(const struct firefox *firefox, struct profile_waits waits,
                            struct profile_wait *wait)
{
    struct profile_wait next;
    while (profile_waits_next(&waits, &next) && next.start_ns < profile_wait_end(wait))
        if (!firefox_is_sum(firefox, &next)) {
            wait->length_ns = next.start_ns - wait->start_ns;
            return;
        }
}

bool firefox_next_long_wait(const struct firefox *firefox, struct profile_waits *waits,
                            struct profile_wait *wait)
{
    while (profile_waits_next(waits, wait)) {
        if (wait->length_ns < firefox->long_wait_ns || firefox_is_sum(firefox, wait))
            continue;
        end_before_next(firefox, *waits, wait);
        if (wait->length_ns >= firefox->long_wait_ns)
            return true;
    }
    return false;
}

uint32_t firefox_wait_name(struct firefox *firefox, const struct profile_wait *wait)
{
    bool is_runnable = firefox_category_of_wait(firefox, wait) == FIREFOX_RUNNABLE;
    return text_table_add(&firefox->texts, is_runnable ? "Runnable" : "Waiting");
}

void firefox_write_wait(struct firefox *firefox, const struct profile_wait *wait)
{
    uint32_t stack = profile_stack_of(firefox->profile, wait->call);
    json_open(firefox->out, '{');
    json_member_string(firefox->out, "type", type);
    json_member_string(firefox->out, "reason",
                       wait_reason_of_call(firefox->profile, wait->call).text);
    struct wait_object_text object =
        wait_object_text(firefox->profile, wait_object_of(firefox->profile, wait));
    if (object.text[0])
        json_member_string(firefox->out, "object", object.text);
    if (stack != PROFILE_NONE) {
        json_key(firefox->out, "cause");
        json_open(firefox->out, '{');
        firefox_member_time(firefox, "time", wait->start_ns);
        json_member_unsigned(firefox->out, "stack", stack);
        json_close(firefox->out, '}');
    }
    json_close(firefox->out, '}');
}

void firefox_write_wait_schema(struct firefox *firefox)
{
    static const char schema[] =
        "{\"name\":\"Wait\","
        "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
        "\"tooltipLabel\":\"{marker.name}: {marker.data.reason}\","
        "\"chartLabel\":\"{marker.data.reason}\",\"tableLabel\":\"{marker.data.reason}\","
        "\"fields\":[{\"key\":\"reason\",\"label\":\"Reason\",\"format\":\"string\"},"
        "{\"key\":\"object\",\"label\":\"Object\",\"format\":\"string\"}]}";
    json_spelled(firefox->out, schema, sizeof(schema) - 1);
}
