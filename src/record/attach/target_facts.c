/* SPDX-License-Identifier: MIT */
#include "record/attach/target_facts.h"

#include "base/files/io.h"
#include "record/procfs/status_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define STATUS_BYTES_MAX 65536

static struct task_ids ids_of(const char *text, const char *key)
{
    struct task_ids ids = {0};
    const char *value = status_value(text, key);
    uint32_t *const places[] = {&ids.real, &ids.effective, &ids.saved};
    for (size_t i = 0; value && i < sizeof(places) / sizeof(places[0]); i++) {
        char *end;
        *places[i] = (uint32_t)strtoul(value, &end, 10);
        value = end;
    }
    return ids;
}

/* NSpid: the ids from our namespace down to that of the task. */
static pid_t inner_id_of(const char *text)
{
    const char *value = status_value(text, "NSpid");
    size_t length = value ? strcspn(value, "\n") : 0;
    const char *last = value ? memrchr(value, '\t', length) : NULL;
    return last ? (pid_t)strtol(last, NULL, 10) : 0;
}

struct target_facts target_facts_parse(const char *text)
{
    struct target_facts facts = {.pid = (pid_t)status_number(text, "Tgid", 10),
                                 .inner_id = inner_id_of(text),
                                 .uids = ids_of(text, "Uid"),
                                 .gids = ids_of(text, "Gid"),
                                 .capabilities = status_number(text, "CapPrm", 16),
                                 .threads = (uint32_t)status_number(text, "Threads", 10),
                                 .has_memory = status_value(text, "VmSize") != NULL,
                                 .is_dumpable = true};
    const char *name = status_value(text, "Name"), *state = status_value(text, "State");
    if (name)
        snprintf(facts.name, sizeof(facts.name), "%.*s", (int)strcspn(name, "\n"), name);
    if (state)
        facts.state = state[0];
    return facts;
}

/* The map of user ids is readable without the right to trace the process, unlike the link to its
 * namespace. Maps of the own namespace are equal to the own one; the reverse holds for all maps but
 * complete ones, which need root. */
static bool is_in_other_namespace(pid_t id)
{
    struct buffer own = {0}, other = {0};
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)id);
    bool is_read = io_read_file("/proc/self/uid_map", &own, STATUS_BYTES_MAX) == 0 &&
                   io_read_file(path, &other, STATUS_BYTES_MAX) == 0;
    bool is_other =
        is_read && (own.size != other.size || memcmp(own.bytes, other.bytes, own.size) != 0);
    buffer_free(&own);
    buffer_free(&other);
    return is_other;
}

struct target_facts target_facts_read(pid_t id)
{
    char path[64];
    struct buffer text = {0};
    struct stat directory;
    struct target_facts facts = {0};
    snprintf(path, sizeof(path), "/proc/%d/status", (int)id);
    if (io_read_file(path, &text, STATUS_BYTES_MAX) == 0)
        buffer_append(&text, "", 1);
    if (text.size > 1 && !text.failed)
        facts = target_facts_parse((const char *)text.bytes);
    buffer_free(&text);
    /* Files in /proc of a process that is not dumpable belong to root (fs/proc/base.c,
     * task_dump_owner()); those of /proc/ID itself never do. */
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)id);
    if (facts.pid && lstat(path, &directory) == 0)
        facts.is_dumpable = directory.st_uid == facts.uids.effective;
    facts.is_in_other_namespace = facts.pid && is_in_other_namespace(id);
    return facts;
}
