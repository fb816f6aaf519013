/* SPDX-License-Identifier: MIT */
/*
 * The profile model, read by every exporter and the report. No I/O, no ELF, no file format.
 *
 * The profile is built in two passes, because names are resolved once for each distinct address,
 * not for each sample:
 *
 *     load      samples ──▶ calls (parent, address) ──▶ addresses (lib, svma)          unnamed
 *     resolve   each address ──▶ 1..n frames, outermost first (inlined calls)          named
 *               each call    ──▶ stack (parent, frame), one node a frame
 *
 *     sample ─▶ stack ─▶ parent ─▶ … ─▶ root          struct profile_stack: parent is always an
 *                 │                                   earlier index, or PROFILE_NONE
 *               frame ─▶ func ─▶ name, file, line of its definition
 *                 └────▶ lib, svma, line, symbol, inline depth
 *
 * All tables are dense arrays; indices are uint32_t, PROFILE_NONE means "none". Strings are ids of
 * one interner. Times are CLOCK_MONOTONIC ns, in the sum of several profiles (merge.h)
 * CLOCK_REALTIME ns; the event defines the unit of weights. Not thread-safe.
 *
 * Samples are kept in lists ordered by time (samples.h), one for each event in each thread; walk.h
 * reads the lists. Weights of different events cannot be added: formats with a single value show
 * the main event, other formats iterate over the event table.
 */
#pragma once

#include "base/containers/intern.h"
#include "profile/samples.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_NONE UINT32_MAX

enum profile_category {
    PROFILE_USER,
    PROFILE_KERNEL,
    PROFILE_LIBRARY,   /* code of shared libraries */
    PROFILE_JIT,       /* code outside of every file */
    PROFILE_SYNTHETIC, /* [exec and dynamic linking], [exit], [truncated]: no code at all */
    PROFILE_CATEGORIES,
};

struct profile_lib {
    uint32_t path; /* string; "[kernel]", "[exit]" … for libs without a file */
    uint32_t name; /* string; the path's last component */
    uint8_t build_id[20];
    uint8_t build_id_bytes;
    enum profile_category category; /* of all its frames */
    bool is_synthetic;              /* bracketed name: no file, the frames carry the name */
    bool has_functions;             /* set while resolving: some address got a name, … */
    bool has_files;                 /* … a file, … */
    bool has_lines;                 /* … a line, */
    bool has_inlines;
    /* Address of the first PT_LOAD (page aligned), for the kernel of its mapping; 0: unknown. */
    uint64_t base_svma;
    /* One mapping of the lib, for formats with runtime addresses. */
    uint64_t map_start_avma, map_end_avma, map_file_offset, map_bias;
};

struct profile_address { /* unique; callers' addresses are already decremented */
    uint32_t lib;        /* PROFILE_NONE: outside of every mapping, svma is then the avma */
    bool is_nameless;    /* after resolving: the file was read, but has no symbol here */
    uint64_t svma;
    /* After resolving: frames[first_frame .. + frame_count), outermost first. */
    uint32_t first_frame, frame_count;
};

struct profile_call { /* a node of the unnamed call tree; key: the first two members */
    uint32_t parent;
    uint32_t address;
    uint32_t path_hash; /* private */
    uint32_t stack;     /* after resolving: the innermost stack node */
};

struct profile_func {
    uint32_t name;        /* demangled */
    uint32_t system_name; /* as in the symbol table; equals name if not mangled */
    uint32_t lib;
    uint32_t file; /* string or PROFILE_NONE */
    uint32_t line; /* of the definition, 0: unknown */
};

struct profile_symbol { /* a piece of machine code with a name */
    uint32_t lib;
    uint32_t name;
    uint64_t svma;
    uint64_t bytes;    /* 0: unknown */
    uint64_t since_ns; /* code made at run time: when; else 0 */
};

struct profile_frame {
    uint32_t func;
    uint32_t lib;
    uint64_t svma;
    uint32_t file;   /* of the line; string or PROFILE_NONE */
    uint32_t line;   /* being executed, or of the call into the next inner frame; 0: unknown */
    uint32_t column; /* 0: unknown */
    uint32_t symbol; /* PROFILE_NONE: unknown */
    /* 0: the function itself; 1: the first function inlined into it, … */
    uint32_t inline_depth;
    enum profile_category category;
};

struct profile_stack { /* unique: calls do not share stacks, addresses do not share frames */
    uint32_t parent;
    uint32_t frame;
};

/* Ids are -1 if unknown to the recorder: the kernel had already released the task. */
struct profile_process {
    int32_t pid;
    uint32_t number; /* counts the processes with the same pid, from 0 */
    int32_t parent_pid;
    int32_t namespace_pid;     /* in its own pid namespace; 0: the same */
    uint32_t name;             /* of the main thread, after exec */
    uint32_t jit_dump;         /* string, the path of a mapped jitdump; PROFILE_NONE: none */
    uint64_t start_ns, end_ns; /* end 0: still running at the end */
};

struct profile_thread {
    uint32_t process;
    int32_t tid;
    int32_t namespace_tid; /* in the pid namespace of the process; 0: the same */
    uint32_t name;
    uint32_t cgroup; /* string, the last recorded cgroup; PROFILE_NONE: not recorded */
    bool is_main;
    uint64_t start_ns, end_ns;
    uint64_t lifetime_ns; /* by switch records, without gaps; 0: unknown */
    uint32_t first_list;  /* index in lists plus one; 0: no samples */
    uint32_t recent_list; /* private: the list of the last sample */
};

struct profile_list { /* samples of one event in a thread; key: the first two members */
    uint32_t thread;
    uint32_t event;
    uint32_t next; /* next list of the thread, plus one; 0: none */
    struct sample_list samples;
};

enum profile_unit { PROFILE_NANOSECONDS, PROFILE_COUNT };

struct profile_event { /* a counted event */
    uint32_t name;     /* "cpu-clock:u" */
    enum profile_unit unit;
    bool is_off_cpu; /* ns off CPU, see waits.h */
    bool is_wall;    /* CPU and off-CPU time, see metric.h */
    uint64_t period; /* nominal weight of a sample; 0: none */
};

static inline bool profile_is_cpu_time(const struct profile_event *event)
{
    return event->unit == PROFILE_NANOSECONDS && !event->is_off_cpu && !event->is_wall;
}

/* A change in a thread's life, besides its start and end. */
enum profile_life {
    PROFILE_THREAD_CREATED,
    PROFILE_THREAD_NAMED,
    PROFILE_THREAD_JOINED,
    PROFILE_THREAD_DETACHED,
    PROFILE_PROCESS_EXECUTED, /* a new program: all other threads of the process are gone */
    PROFILE_LIVES,
};

struct profile_life_event { /* in the order of time */
    enum profile_life kind;
    bool is_detached; /* CREATED: neither a join nor a detach follows */
    uint64_t time_ns;
    uint32_t thread; /* index; PROFILE_NONE: not recorded */
    uint32_t by;     /* creator, joiner, …: index; of a name or program PROFILE_NONE */
    uint32_t call;   /* of `by`, if there is one */
    uint32_t name;   /* NAMED */
};

struct profile_note { /* the recording's summary: key and value, in order */
    uint32_t key, value;
};

struct profile {
    struct intern *strings;

    struct profile_lib *libs;
    size_t lib_count, lib_capacity;
    struct profile_address *addresses;
    size_t address_count, address_capacity;
    size_t address_limit;      /* further addresses become PROFILE_TOO_MANY; 0: unlimited */
    uint32_t overflow_address; /* the PROFILE_TOO_MANY address */
    uint64_t overflow_count;   /* lookups of PROFILE_TOO_MANY */
    struct profile_call *calls;
    size_t call_count, call_capacity;
    struct profile_func *funcs;
    size_t func_count, func_capacity;
    struct profile_symbol *symbols;
    size_t symbol_count, symbol_capacity;
    struct profile_frame *frames;
    size_t frame_count, frame_capacity;
    struct profile_stack *stacks;
    size_t stack_count, stack_capacity;
    struct profile_process *processes;
    size_t process_count, process_capacity;
    struct profile_thread *threads;
    size_t thread_count, thread_capacity;
    struct profile_life_event *life_events; /* of recordings with thread-lifecycle */
    size_t life_event_count, life_event_capacity;
    bool has_life_events;                     /* recorded, possibly none */
    struct profile_wait_object *wait_objects; /* see wait_objects.h */
    size_t wait_object_count, wait_object_capacity;
    struct profile_event *events;
    size_t event_count, event_capacity;
    uint32_t main_event; /* index in events */
    struct profile_list *lists;
    size_t list_count, list_capacity;
    size_t sample_count;    /* of all lists */
    bool adds_samples_up;   /* set before the first sample; drops times */
    bool has_callless;      /* some sample has no call */
    uint32_t no_stack_call; /* valid after linking, if has_callless */
    struct profile_note *notes;
    size_t note_count, note_capacity;
    uint64_t notes_left_out; /* beyond the limits */

    uint64_t start_ns; /* CLOCK_MONOTONIC of the start */
    uint64_t end_ns;
    uint64_t recorded_ns;      /* from start to end; of several profiles: their sum */
    uint64_t start_wall_ns;    /* CLOCK_REALTIME of start_ns; 0: unknown */
    bool is_wall_time_of_file; /* about: by when the file was written */
    uint32_t product;          /* string: the program's name */
    bool is_product_executed;  /* product is the executed name of the recorded command */
    uint32_t command_line;     /* string or PROFILE_NONE */
    uint32_t os;               /* "Linux 6.1.0 x86_64" or PROFILE_NONE */
    uint32_t cpu;              /* model or PROFILE_NONE */
    uint32_t cpus_online;      /* 0: unknown */

    struct profile_index *index; /* private: the hash tables behind the profile_*_id() calls */
    bool failed;                 /* memory ran out: incomplete */
};

struct profile *profile_new(void);
void profile_free(struct profile *profile);

uint32_t profile_string(struct profile *profile, const char *text);
const char *profile_text(const struct profile *profile, uint32_t string); /* "" for PROFILE_NONE */

/*
 * Each function returns the index of an equal element, and adds the element if new; PROFILE_NONE,
 * with `failed` set, when out of memory.
 *
 * A lib with a bracketed name becomes synthetic, except "[vdso]"; the caller fills in the other
 * members, initially zero.
 */
uint32_t profile_lib_id(struct profile *profile, const char *path, const uint8_t *build_id,
                        size_t build_id_bytes);
uint32_t profile_address_id(struct profile *profile, uint32_t lib, uint64_t svma);
/* Adds an address without a lookup; the caller guarantees uniqueness. A profile uses either this
 * function or profile_address_id() for all addresses. */
uint32_t profile_add_address(struct profile *profile, uint32_t lib, uint64_t svma);
/* Gives the address a single frame with this name, in the address's lib. */
void profile_name_synthetic(struct profile *profile, uint32_t address, const char *text);
uint32_t profile_call_id(struct profile *profile, uint32_t parent, uint32_t address);
uint32_t profile_func_id(struct profile *profile, const struct profile_func *func);
uint32_t profile_symbol_id(struct profile *profile, const struct profile_symbol *symbol);

/* Frees the lookup tables of addresses and calls. Later calls of the id functions always add. */
void profile_end_calls(struct profile *profile);

/* The same of functions and symbols. */
void profile_end_names(struct profile *profile);

/* Prefetches the calls of these addresses (innermost first), in parallel, ahead of the lookups.
 * Each call is the child of the call before. */
void profile_expect_path(const struct profile *profile, uint32_t parent, const uint32_t *addresses,
                         size_t count);

/* Adds a frame, unconditionally (addresses are resolved once each). */
uint32_t profile_add_frame(struct profile *profile, const struct profile_frame *frame);

/* Adds to the list of an existing thread. 0 or -ENOMEM. */
int profile_add_sample(struct profile *profile, const struct profile_sample *sample);
/* NULL: the thread has no sample of the event. */
const struct profile_list *profile_list_of(const struct profile *profile, uint32_t thread,
                                           uint32_t event);

/* Call after the last sample: sorts by time, or completes the sums. 0 or -ENOMEM. */
int profile_finish_samples(struct profile *profile);

#define PROFILE_NO_STACK "[no stack]"
#define PROFILE_TOO_MANY "[too many addresses]"

/*
 * Call after every address has its frames: fills calls[].stack. Samples without a call get a call
 * with the single frame "[no stack]", so every sample has a stack.
 */
void profile_link_stacks(struct profile *profile);

/* A recording has up to 1200 notes. Each note is compared with all of them, so hostile summaries,
 * of several captures together, would take minutes. */
enum { PROFILE_NOTES_MAX = 8192 };
/* Repeated notes are dropped; notes beyond PROFILE_NOTES_MAX are counted. */
void profile_add_note(struct profile *profile, const char *key, const char *value);
/* The value of a note, or NULL. */
const char *profile_note(const struct profile *profile, const char *key);

/* The index of a new event; PROFILE_NONE (and failed) once memory has run out. */
uint32_t profile_add_event(struct profile *profile, const struct profile_event *event);
/* The main event; while the table is empty, an unnamed event in ns. */
struct profile_event profile_main_event(const struct profile *profile);
static inline bool profile_is_main(const struct profile *profile,
                                   const struct profile_sample *sample)
{
    return sample->event == profile->main_event;
}

/* Sum of the main event's weights. */
uint64_t profile_total(const struct profile *profile);
