/* SPDX-License-Identifier: MIT */
#include "record/attach/snapshot/thread_facts.h"

#include "base/files/io.h"
#include "record/procfs/blocked/blocked_call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_BYTES_MAX 65536

/* Numbers of fields in proc(5); the name is field 2 and may hold any character. */
enum { FIELD_STATE = 3, FIELD_USER = 14, FIELD_KERNEL = 15, FIELD_PROCESSOR = 39 };

static const char *field(const char *text, int number)
{
    const char *at = strrchr(text, ')');
    for (int i = FIELD_STATE - 1; at && i < number; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at ? at : "";
}

bool thread_facts_parse_stat(struct thread_facts *facts, const char *text)
{
    const uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open || *field(text, FIELD_PROCESSOR) == '\0')
        return false;
    snprintf(facts->name, sizeof(facts->name), "%.*s", (int)(close - open - 1), open + 1);
    facts->state = *field(text, FIELD_STATE);
    facts->user_ns = strtoull(field(text, FIELD_USER), NULL, 10) * tick_ns;
    facts->kernel_ns = strtoull(field(text, FIELD_KERNEL), NULL, 10) * tick_ns;
    facts->processor = (int)strtol(field(text, FIELD_PROCESSOR), NULL, 10);
    return true;
}

static uint64_t status_number(const char *text, const char *key)
{
    const char *line = strstr(text, key);
    return line ? strtoull(line + strlen(key), NULL, 10) : 0;
}

void thread_facts_parse_status(struct thread_facts *facts, const char *text)
{
    facts->voluntary = status_number(text, "\nvoluntary_ctxt_switches:");
    facts->involuntary = status_number(text, "\nnonvoluntary_ctxt_switches:");
}

/* The text with a terminating zero; false: unreadable. */
static bool read_text(struct buffer *text, pid_t pid, pid_t tid, const char *name)
{
    char path[64];
    buffer_clear(text);
    snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
    bool is_read = io_read_file(path, text, TEXT_BYTES_MAX) == 0;
    buffer_u8(text, 0);
    return is_read && !text->failed;
}

int thread_facts_read(struct thread_facts *facts, pid_t pid, pid_t tid)
{
    struct buffer text = {0};
    struct run_account account = {0};
    *facts = (struct thread_facts){.processor = -1};
    bool is_there = read_text(&text, pid, tid, "stat") &&
                    thread_facts_parse_stat(facts, (const char *)text.bytes);
    if (is_there && read_text(&text, pid, tid, "status"))
        thread_facts_parse_status(facts, (const char *)text.bytes);
    if (is_there && read_text(&text, pid, tid, "schedstat"))
        run_account_parse(&account, (const char *)text.bytes);
    facts->cpu_ns = account.cpu_ns;
    facts->delay_ns = account.delay_ns;
    buffer_free(&text);
    return is_there ? 0 : -ESRCH;
}
