/* SPDX-License-Identifier: MIT */
#include "record/attach/target_facts.h"

#include "base/files/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define STATUS_BYTES_MAX 65536

/* The text behind "KEY:" and blanks; NULL: no such line. */
static const char *value_of(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && line[length] == ':')
            return line + length + 1 + strspn(line + length + 1, " \t");
    }
    return NULL;
}

static unsigned long number_of(const char *text, const char *key)
{
    const char *value = value_of(text, key);
    return value ? strtoul(value, NULL, 10) : 0;
}

/* Real, effective, saved and file system id. */
static uid_t effective_uid(const char *text)
{
    const char *value = value_of(text, "Uid");
    char *end;
    if (!value)
        return 0;
    (void)strtoul(value, &end, 10);
    return (uid_t)strtoul(end, NULL, 10);
}

struct target_facts target_facts_parse(const char *text)
{
    struct target_facts facts = {.pid = (pid_t)number_of(text, "Tgid"),
                                 .uid = effective_uid(text),
                                 .threads = (uint32_t)number_of(text, "Threads"),
                                 .has_memory = value_of(text, "VmSize") != NULL,
                                 .is_dumpable = true};
    const char *name = value_of(text, "Name"), *state = value_of(text, "State");
    if (name)
        snprintf(facts.name, sizeof(facts.name), "%.*s", (int)strcspn(name, "\n"), name);
    if (state)
        facts.state = state[0];
    return facts;
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
        facts.is_dumpable = directory.st_uid == facts.uid;
    return facts;
}
