/* SPDX-License-Identifier: MIT */
/* The results of a recording: counters, losses by cause, processes without samples. */
#pragma once

#include "base/containers/buffer.h"
#include "record/namespaces/namespace_ids.h"
#include "record/options.h"
#include "record/procfs/kernel/kernel_symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Why samples are not in the file; counted in samples. */
enum record_loss {
    RECORD_LOST_RING_FULL,
    RECORD_LOST_BUSY,      /* the handler interrupted itself */
    RECORD_LOST_NO_THREAD, /* the thread never got a slot */
    RECORD_LOST_AWAY,      /* the launcher was stopped */
    RECORD_LOST_OTHER,     /* crash in progress, damaged record */
    RECORD_LOSSES,
};
const char *record_loss_name(enum record_loss loss);

/* Causes of CPU time without any samples, lost samples included. */
enum record_blind {
    RECORD_BLIND_BLOCKED,   /* the sampler's signal: by a function without a hook, or by a foreign
                           * signal */
    RECORD_BLIND_UNHANDLED, /* the sampler's handler was removed in the same way */
    RECORD_BLIND_UNKNOWN_THREAD, /* a thread without a slot, or made by clone() */
    RECORD_BLIND_NO_TIMER,       /* the kernel refused the thread's timers */
    RECORD_BLIND_ELSEWHERE,      /* another rec records the program since its exec */
    RECORD_BLIND_OTHER,
    RECORD_BLINDS,
};
const char *record_blind_name(enum record_blind blind);

/* Why a stack is not complete. */
enum record_cut {
    RECORD_CUT_NO_CFI,     /* code without unwind data and without a frame pointer */
    RECORD_CUT_UNMAPPED,   /* a PC outside of every file */
    RECORD_CUT_STACK_COPY, /* the stack is larger than the copied bytes */
    RECORD_CUT_STACK_PAGE, /* the copy ended at a page of the stack without memory: stack_pages.h */
    RECORD_CUT_FOREIGN,    /* SP outside of the thread's known stacks */
    RECORD_CUT_DEEP,       /* too many frames: both ends are in the file */
    RECORD_CUT_GUESS,      /* code without unwind data, and no more than a guess at the caller */
    RECORD_CUT_NO_FP,      /* JIT code that sets up no frame pointer: callers may be missing */
    RECORD_CUT_ROOT,       /* ended, but neither in the entry function nor in the thread start */
    RECORD_CUT_SIGNAL, /* a handler on an alternate stack: the interrupted stack is not copied */
    RECORD_CUTS,
};
const char *record_cut_name(enum record_cut cut);

struct record_process {
    pid_t pid;
    char name[64];
    const char *reason; /* static text; NULL: none */
    uint64_t cpu_ns;    /* CPU time without samples; 0: none, or unknown */
};

/* Lists the first RECORD_PROCESSES_MAX processes of a kind, and counts the rest: a run of hours may
 * have any number. */
#define RECORD_PROCESSES_MAX 256
struct record_processes {
    struct record_process *items; /* owned; freed by record_summary_free() */
    size_t count, capacity;
    uint64_t more; /* not listed */
    uint64_t more_cpu_ns;
};
void record_processes_add(struct record_processes *processes, pid_t pid, const char *name,
                          const char *reason);
/* Compares reasons by their addresses. */
bool record_processes_have(const struct record_processes *processes, pid_t pid, const char *reason);
/* Adds to the latest entry of this pid, or to the unlisted processes. */
void record_processes_add_cpu(struct record_processes *processes, pid_t pid, uint64_t cpu_ns);

enum record_end {
    RECORD_END_COMMAND,  /* the command has ended (with wait_all: every process of the tree) */
    RECORD_END_DURATION, /* the requested time has passed */
    RECORD_END_SIZE,     /* the file has reached --max-size */
    RECORD_END_SPACE,    /* the file system has little free space left */
    RECORD_END_SIGNAL,   /* a signal ended a recording of running processes */
};
const char *record_end_name(enum record_end end);

/* Incomplete stacks by cause, and by the module of the outermost frame. */
enum { RECORD_CUT_MODULES_MAX = 16 };
struct record_cut_module {
    char path[256]; /* of the mapping; not of a file: code generated at run time */
    enum record_cut cut;
    uint64_t samples;
};

/* Off-CPU time. */
struct record_off_cpu {
    const char *method; /* static text: "switch-records"; NULL: not recorded */
    uint64_t interval_ns;
    uint64_t longest_interval_ns;              /* longer for a while, if looks cost too much */
    uint64_t waiting_ns, runnable_ns, lost_ns; /* of all threads; lost: records are missing */
    uint64_t filled_ns;                        /* records are missing, schedstat has the sums */
    /* Parts of waiting_ns: with a stack; shorter than two ticks, and met by none; not seen. */
    uint64_t with_stack_ns, short_ns, unseen_ns;
    uint64_t samples;
    uint64_t switches, lost_records;          /* of the kernel */
    uint64_t looks;                           /* at stacks, of these: */
    uint64_t torn;                            /* the thread ran meanwhile */
    uint64_t running;                         /* the thread did not wait any more */
    uint64_t refused;                         /* no right to trace the process */
    uint64_t refused_programs;                /* with such looks, 1 or more each */
    uint64_t hanging;                         /* the process hangs in the kernel */
    uint64_t hanging_programs;                /* with such looks, 1 or more each */
    uint64_t failed;                          /* for another reason: the thread had ended, mostly */
    uint64_t stackless;                       /* threads without a user stack */
    uint64_t incomplete;                      /* stacks without a root */
    uint64_t inferred;                        /* stacks with an inferred frame pointer */
    uint64_t guessed;                         /* stacks that end at a guess: incomplete */
    uint64_t mappings_left_out;               /* beyond the budget: code there has no symbols */
    uint64_t files_left_out, tables_left_out; /* of looks, as below */
    uint64_t cpu_ns;                          /* cost in rec */
    uint64_t storm, start_storm; /* switches and started threads a second at which the records
                                  * have ended; 0: none */
    bool is_stuck;               /* a read of a process did not return: all sums are 0 */
    bool without_kernel_threads; /* all tasks were recorded but these */
    /* What descriptors of waits lead to; owned, freed by record_summary_free(). */
    struct record_wait_object {
        char *text;
        uint64_t waited_ns;
    } * objects;
    size_t object_count;
    struct kernel_ranges kernel; /* functions on kernel stacks; freed as the objects */
};

enum { RECORD_TARGET_BYTES = 128 };

struct record_summary {
    enum record_engine engine;
    const char *engine_reason;        /* why not perf-trap; NULL */
    bool lacks_sampler;               /* the sampler cannot record the command, or not its events */
    char target[RECORD_TARGET_BYTES]; /* of a recording from outside; empty: a command */
    bool has_several_targets;
    const char *event; /* of the samples, borrowed from the options; NULL: CPU time */
    bool off_cpu_only; /* samples were not requested */
    uint32_t frequency_requested;
    uint32_t frequency_limit; /* kernel.perf_event_max_sample_rate if below the request; else 0 */
    bool has_exited; /* the command, by itself; else it was killed, goes on, or is not ours */
    uint64_t wall_ns;
    uint64_t cpu_billed_ns;   /* rusage of the tree */
    uint64_t cpu_seen_ns;     /* sum of all weights */
    uint64_t cpu_complete_ns; /* of these: samples with a complete stack */
    /* Of cpu_seen_ns: synthetic weight before, between and after the samples of a process or
     * thread. */
    uint64_t cpu_ends_ns;
    uint64_t cpu_kernel_ns;           /* of cpu_seen_ns: in the kernel, without its functions */
    uint64_t cpu_unsampled_kernel_ns; /* of these: unsampled threads */
    uint64_t produced;      /* records made by handlers, with or without room in the ring */
    uint64_t samples;       /* taken by signal; synthetic samples not counted */
    uint64_t other_samples; /* of the events of -e besides the main one */
    uint64_t complete;
    uint64_t fibers; /* of these, up to the start of a coroutine on a stack made by the program */
    uint64_t cut[RECORD_CUTS];
    struct record_cut_module cut_modules[RECORD_CUT_MODULES_MAX]; /* the first ones */
    size_t cut_module_count;
    uint64_t lost[RECORD_LOSSES];
    uint64_t lost_events[RECORD_LOSSES]; /* of recorders other than cpu */
    /* Of each kernel ring, where the locked memory of the user has no room for larger ones; else
     * 0. */
    uint64_t short_ring_bytes;
    uint32_t short_rings;
    uint64_t merged; /* signals with the weight added to the next sample */
    uint64_t misses; /* samples finished by the launcher */
    /* frames found by their call instructions, in code without CFI: calls of this function, and
     * callers of unknown target at the place given by the prologue */
    uint64_t callers_verified, callers_plausible;
    uint64_t checked, check_differed; /* self-check */
    uint32_t processes, threads;
    uint64_t mappings_left_out;       /* beyond the budget: code in these mappings has no symbols */
    uint64_t files_left_out;          /* of other users: reading_budget.h */
    uint64_t tables_left_out;         /* files without unwind tables, beyond the budget */
    bool has_locked_tables;           /* a program called mlockall() */
    uint32_t threads_without_slot;    /* not sampled: too many threads */
    uint64_t blind_ns[RECORD_BLINDS]; /* CPU time */
    struct record_processes not_followed;
    struct namespace_ids namespace_ids;       /* of recorded tasks */
    struct record_processes earlier_children; /* of attached processes, and not attached */
    struct record_processes left_running; /* recorded until the command ended, and still running */
    enum record_end end;
    uint64_t delay_ns;      /* before sampling began; 0: sampling began at once */
    uint64_t cpu_before_ns; /* CPU time of the tree during the delay; not in any other number */
    struct {
        char path[256];
        uint64_t misses;
    } worst_module; /* the module with the most misses */
    uint64_t handler_p50_ns, handler_p99_ns, handler_max_ns;
    uint64_t
        /* from the start of a program to the first rows requested by its samples */
        tables_ready_ns;
    uint64_t compile_ns; /* CPU spent compiling rows */
    uint64_t rows;
    uint64_t cfi_conflicts; /* functions without rows: unwind data and code give other frames */
    struct record_off_cpu off_cpu;
    uint64_t launcher_cpu_ns; /* of rec itself, while recording */
    uint64_t file_bytes;
};
/* Counts an incomplete stack. path: of the mapping of the outermost frame; NULL: unknown. */
void record_cut_add(struct record_summary *summary, enum record_cut cut, const char *path);

/* The cause and module of most incomplete stacks; NULL: none. */
const struct record_cut_module *record_cut_worst(const struct record_summary *summary);

void record_summary_free(struct record_summary *summary);

/* A reason: the process's reply came too late. */
extern const char record_started_late[];
/* Adds a process of the tree without samples, and the reason; once for record_started_late. */
/* Lost samples of all causes. */
uint64_t record_lost(const struct record_summary *summary);
/* Of samples and of looks, mostly the same files. */
uint64_t record_files_left_out(const struct record_summary *summary);
uint64_t record_tables_left_out(const struct record_summary *summary);
/* Events lost by recorders other than cpu, of all causes. */
uint64_t record_lost_events(const struct record_summary *summary);
/* Samples of all events, lost ones included. */
uint64_t record_taken(const struct record_summary *summary);

void record_add_not_followed(struct record_summary *summary, pid_t pid, const char *name,
                             const char *reason);

/*
 * The summary as stored in rec.data: lines "key=value", the first "version=1". The meaning of a key
 * never changes; new keys may come at any time. A value is a number or a line of text, with control
 * characters and backslashes as \xHH (in not_followed.N=PID NAME REASON also the blanks of NAME).
 */
void record_summary_text(const struct record_summary *summary, struct buffer *out);
