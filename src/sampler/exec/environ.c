/* SPDX-License-Identifier: MIT */
/*
 * The environment of a new program, made from the environment of the exec call:
 *
 *     A=1  LD_PRELOAD=theirs  B=2   ─▶   A=1  LD_PRELOAD=sampler:theirs  B=2  REC_SESSION=…
 *
 * The program sees both variables and usually passes them on. They are added for `env -i`, sudo,
 * cron and Python's subprocess with env=, which replace the environment. They are removed for
 * programs disturbed by the variables, and where the dynamic linker lists libraries instead of
 * running the program (ldd). An environment with the REC_SESSION of another recording is passed
 * on unchanged.
 */
#include "sampler/exec/environ.h"

#include "sampler/base/memory.h"
#include "sampler/base/own_call.h"
#include "sampler/base/text.h"

#include <unistd.h>

#define PRELOAD "LD_PRELOAD="
#define SESSION SESSION_VARIABLE "="
#define LISTS_LIBRARIES "LD_TRACE_LOADED_OBJECTS="
#define ENVIRON_BYTES_MAX 8192
#define STACK_PARTS 8
#define FORBIDDEN_DIGITS 16

#define SESSION_BYTES_MAX (SESSION_ENTRY_BYTES + FORBIDDEN_DIGITS)

static char *const none[] = {NULL};

/* The entries of the launcher: its session without the forbidden calls, whose number may grow, and
 * the path of the sampler for an environment without LD_PRELOAD. */
#define SESSION_ENTRY (process.tables->header.session)
#define PRELOAD_ENTRY (process.tables->header.preload)
#define SAMPLER_PATH (PRELOAD_ENTRY + sizeof(PRELOAD) - 1)

/* A part of a text. */
struct span {
    size_t start, end;
};

static bool is_separator(char byte)
{
    return byte == ':' || byte == ' ';
}

/* The first library of a preload list at or behind `start`. */
static struct span next_library(const char *list, size_t start)
{
    while (is_separator(list[start]))
        start++;
    size_t end = start;
    while (list[end] && !is_separator(list[end]))
        end++;
    return (struct span){start, end};
}

static bool is_sampler(const char *list, struct span library)
{
    const char *behind = text_behind(list + library.start, SAMPLER_PATH);
    return behind == list + library.end;
}

/* Where the sampler is in a preload list; empty: nowhere. */
static struct span find_sampler(const char *list)
{
    struct span library = next_library(list, 0);
    while (library.end > library.start && !is_sampler(list, library))
        library = next_library(list, library.end);
    return library;
}

/* The removed part for a list without the sampler: its path and a separator. */
static struct span sampler_and_separator(const char *list)
{
    struct span found = find_sampler(list);
    if (found.end == found.start)
        return found;
    if (list[found.end])
        found.end++;
    else if (found.start > 0)
        found.start--;
    return found;
}

/* Whether the list has nothing else: the program had no such variable. A separator at the start
 * stands for an empty list of the program. */
static bool is_alone(const char *list, struct span gone)
{
    return gone.start == 0 && gone.end > 0 && !list[gone.end] && !is_separator(list[gone.end - 1]);
}

/* In another root directory, or for another user, the sampler may be out of reach: the loader
 * would report the missing file on the program's stderr. */
static bool sampler_is_reachable(void)
{
    return !raw_failed(own_syscall(ACCESS, AT_FDCWD, SAMPLER_PATH, R_OK));
}

static bool is_recording(void)
{
    return process.tables && !load_relaxed(&process.tables->header.stop) &&
           !seccomp_forbids(CALLS_OF_START) && sampler_is_reachable();
}

bool environ_wants_children(void)
{
    return is_recording() && !process.tables->header.no_inherit;
}

/* A child between vfork and exec shares this memory, but is another process. */
bool environ_wants_successor(void)
{
    if (!is_recording())
        return false;
    bool is_alone = process.tables->header.no_inherit;
    return !is_alone || (process.pid && process.pid == (uint32_t)own_syscall(GETPID));
}

/* True if the entry is readable up to its end. */
static bool entry_is_readable(const char *entry, uintptr_t *known_page)
{
    do {
        if (!memory_is_readable(entry, 1, known_page))
            return false;
        while (*entry && (uintptr_t)(entry + 1) % MEMORY_PAGE_BYTES != 0)
            entry++;
    } while (*entry++);
    return true;
}

static bool is_all_readable(char *const *environment)
{
    uintptr_t array_page = MEMORY_NO_PAGE, text_page = MEMORY_NO_PAGE;
    do {
        if (!memory_is_readable(environment, sizeof(*environment), &array_page))
            return false;
        if (*environment && !entry_is_readable(*environment, &text_page))
            return false;
    } while (*environment++);
    return true;
}

/* A part of the rest of the stack; a fixed size on an unknown stack. */
static size_t most_bytes(void)
{
    const struct thread_state *thread = thread_self;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (!thread || here <= thread->stack_start_avma || here > thread->stack_end_avma)
        return ENVIRON_BYTES_MAX;
    size_t part = (here - thread->stack_start_avma) / STACK_PARTS;
    return part > ENVIRON_BYTES_MAX ? part : ENVIRON_BYTES_MAX;
}

static bool names_other_session(char *const *environment)
{
    while (*environment &&
           (!text_behind(*environment, SESSION) || text_behind(*environment, SESSION_ENTRY)))
        environment++;
    return *environment != NULL;
}

bool environ_is_of_other(char *const *environment)
{
    return process.tables && environment && is_all_readable(environment) &&
           names_other_session(environment);
}

size_t environ_bytes(char *const *environment)
{
    size_t count = 0;
    size_t preload_bytes = 0;
    if (!process.tables)
        return 0;
    if (!environment)
        environment = none;
    if (!is_all_readable(environment) || names_other_session(environment))
        return 0;
    for (; environment[count]; count++) {
        const char *preload = text_behind(environment[count], PRELOAD);
        if (preload && preload_bytes == 0)
            preload_bytes = text_length(PRELOAD_ENTRY) + 1 + text_length(preload) + 1;
    }
    size_t bytes = (count + 3) * sizeof(char *) + preload_bytes + SESSION_BYTES_MAX;
    return bytes <= most_bytes() ? bytes : 0;
}

/* FORBIDDEN, in hexadecimal. */
static void write_forbidden(char digits[FORBIDDEN_DIGITS])
{
    uint64_t forbidden = load_relaxed(&process.forbidden);
    for (int i = FORBIDDEN_DIGITS - 1; i >= 0; i--, forbidden >>= 4)
        digits[i] = "0123456789abcdef"[forbidden & 15];
}

static void append_session(char *out)
{
    char *digits = append_text(out, SESSION_ENTRY);
    write_forbidden(digits);
    digits[FORBIDDEN_DIGITS] = '\0';
}

/* "LD_PRELOAD=", the sampler if requested, and the program's libraries; returns the end. Empty
 * without a library. */
static char *append_list(char *text, const char *list, bool takes_sampler)
{
    struct span gone = sampler_and_separator(list);
    bool has_theirs = !is_alone(list, gone);
    if (!takes_sampler && !has_theirs)
        return text;
    text = append_text(text, PRELOAD);
    if (takes_sampler)
        text = append_text(append_text(text, SAMPLER_PATH), has_theirs ? ":" : "");
    for (size_t i = 0; i < gone.start; i++)
        *text++ = list[i];
    text = append_text(text, list + gone.end);
    *text = '\0';
    return text + 1;
}

char **environ_into(void *memory, char *const *environment, bool takes_variables)
{
    char **out = memory;
    char **next = out;
    size_t count = 0;
    if (!environment)
        environment = none;
    for (; environment[count]; count++)
        if (text_behind(environment[count], LISTS_LIBRARIES))
            takes_variables = false;
    char *text = (char *)(out + count + 3);
    bool has_preload = false;
    for (size_t i = 0; i < count; i++) {
        const char *preload = text_behind(environment[i], PRELOAD);
        if (text_behind(environment[i], SESSION))
            continue;
        *next = environment[i];
        if (preload && !has_preload) {
            has_preload = true;
            *next = text;
            text = append_list(text, preload, takes_variables);
            if (text == *next)
                continue;
        }
        next++;
    }
    if (takes_variables && !has_preload)
        *next++ = (char *)(uintptr_t)PRELOAD_ENTRY;
    if (takes_variables) {
        *next++ = text;
        append_session(text);
    }
    *next = NULL;
    return out;
}

/* Takes the sampler out of the entry, in place. False: the entry lists no other library. */
static bool keeps_libraries(char *entry)
{
    char *list = entry + sizeof(PRELOAD) - 1;
    struct span gone = sampler_and_separator(list);
    if (is_alone(list, gone))
        return false;
    if (gone.end > gone.start)
        *append_text(list + gone.start, list + gone.end) = '\0';
    return true;
}

static void remove_variables(char **environment)
{
    char **kept = environment;
    for (char **entry = environment; *entry; entry++) {
        bool is_kept =
            text_behind(*entry, PRELOAD) ? keeps_libraries(*entry) : !text_behind(*entry, SESSION);
        if (is_kept)
            *kept++ = *entry;
    }
    *kept = NULL;
}

static void update_session(char **environment)
{
    for (; *environment; environment++) {
        const char *digits = text_behind(*environment, SESSION_ENTRY);
        if (digits && text_length(digits) == FORBIDDEN_DIGITS)
            write_forbidden(*environment + (digits - *environment));
    }
}

/* Changes the program's own memory, like setenv(). Two threads at once would lose entries, so
 * the second thread returns. */
void environ_refresh(void)
{
    if (!process.tables || !environ || exchange_acquire(process_alive + WIPED_ENVIRON_LOCK, 1))
        return;
    if (is_all_readable(environ) && !names_other_session(environ)) {
        if (environ_wants_children())
            update_session(environ);
        else
            remove_variables(environ);
    }
    store_release(process_alive + WIPED_ENVIRON_LOCK, 0);
}
