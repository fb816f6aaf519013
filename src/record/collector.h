/* SPDX-License-Identifier: MIT */
/*
 * The collector thread: answers processes, drains rings, finishes misses, settles accounts, and is the
 * only one that writes rec.data.
 *
 *     doorbell or timeout ─▶ round:  answer requests        answers.c
 *                                    take finished maps     maps.c
 *                                    drain every ring       drain.c ──▶ stacks.c ──▶ perfdata writer
 *                                    finish misses          misses.c ─────▲
 *                                    settle ended processes settle.c ─────┘
 *                                    end the file's round   file_round.c
 *     nothing runs ─────▶ wake.c
 *
 * Vocabulary: an image is one program in one process; exec makes a new image of the same pid. An image has
 * a process slot in shared memory for as long as it lives. Everything read from `rings` was written by
 * the target and is checked before it is used.
 */
#pragma once

#include "base/buffer.h"
#include "perfdata/writer.h"
#include "record/arm.h"
#include "record/compiler.h"
#include "record/go_programs.h"
#include "record/record.h"
#include "record/session.h"
#include "record/synthetic.h"
#include "record/ticks.h"
#include "wire/ring.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Of the C library: start_thread, clone3. */
#define THREAD_ROOT_FRAMES 2

/* Of a process or a thread in a pid namespace of its own. */
struct stated_id {
    pid_t here;   /* 0: none yet */
    pid_t stated; /* what it is there */
};

struct image {
    bool in_use;
    bool is_gone;      /* the process could not be watched any more */
    bool follows_exec; /* the process was there before, with another program */
    bool is_detached;  /* no longer a descendant of the command: see tree.c */
    bool has_ended;    /* settled; what remains is the slot, until no map is under way */
    bool has_run;      /* since its children were last looked for */
    pid_t pid, parent_pid;
    pid_t ancestor_pid; /* the nearest one with an image, its parent mostly; 0: none */
    pid_t stated_pid;   /* in its own pid namespace */
    struct stated_id last_child, last_thread; /* that were found by what they state */
    enum engine engine;
    int pid_fd; /* readable when the process has ended; -1 */
    struct armed armed;
    char name[16];
    uint64_t start_ns;
    uint64_t start_cpu_ns;           /* CPU of the pid when this image's sampler started */
    uint64_t seen_ns;                /* weight of this image's samples, lost ones included */
    uint64_t waiting_ns;             /* weight of samples that wait for a map */
    uint64_t last_cpu_ns;            /* CPU of the pid when last looked at */
    uint64_t counted_children_ns;    /* bills of its children that are in detached_ns already */
    uint64_t looked_ns;              /* when that was */
    uint64_t gone_ns;                /* when it was first seen to have ended; 0: not yet */
    uint64_t counted_cpu_ns;         /* the same when its event was read, … */
    uint64_t last_count_ns;          /* … which had counted so much */
    struct proc_maps first_mappings; /* as read at its start; taken by the first request */
    struct image_map *map;           /* NULL until the first one */
    uint64_t mapped_ns;              /* no record is older: its start, then the date of that one */
    uint64_t unmapped_ns; /* the first end of a thread that was told before; 0: none was */
    /* What calls the start routine of each of its threads: return addresses, innermost first; 0: no thread
     * had a sample yet. */
    uint64_t thread_root_avmas[THREAD_ROOT_FRAMES];
    uint32_t map_requests;     /* not answered yet */
    uint32_t waiting_count;    /* samples that wait for a map, or for the CFI of a module */
    uint64_t map_wanted_ns;    /* of the newest request */
    uint32_t unknown_answered; /* its slot's unknown_wanted when last looked at */
    uint64_t map_pause_ns;     /* before the next one: grows while maps bring nothing new */
    uint64_t checked_ns;       /* when tracer and names were last looked at */
    timer_t wake_timer;
    bool has_wake_timer;
    bool is_blind; /* its CPU time grew, its samples did not: see blind.c */
    enum record_blind blind_cause;
    uint32_t blind_sightings;
    uint64_t blind_due_ns;
    uint64_t executable_id;     /* of its file, as far as one number goes; 0: unknown */
    uint32_t strange_sightings; /* how often in a row it seemed to have no sampler */
    uint64_t strange_since_ns, strange_cpu_ns; /* time and its CPU time at the first of them */
};

/* A process that runs without a sampler: see strangers.c. */
#define STRANGERS_MAX 64
struct stranger {
    struct image image; /* pid, name, CPU times; it has no slot */
    uint64_t parents_executable_id;
    bool is_announced; /* it is in the file, and in the summary */
};

struct thread_view {
    bool in_use;
    struct image *image;
    pid_t tid;
    uint64_t tail; /* ours; the one in shared memory is only for the producer */
    char name[16];
    uint64_t name_due_ns, name_wait_ns;
    uint64_t start_ns;
    uint64_t skipped_ns;        /* its CPU time when sampling began, if it was there before */
    struct thread_slot counted; /* counters already in the summary */
};

/* A record that waits for a map, then for the CFI of modules. */
struct miss {
    struct image_map *map; /* the one that it waited for; NULL: it still does */
    uint32_t image;        /* index */
    pid_t tid;
    uint64_t time_ns;
    uint64_t weight_ns;
    size_t record_offset; /* in the collector's miss_bytes */
    size_t record_bytes;
    /* Newer than itself: code was unloaded since the last, or it ended at an unknown PC. */
    bool wants_map;
    bool needs_cfi; /* of a module that the compiler is asked for */
};

/* Of the processes that ended last: their pids may be other processes' soon. */
#define LAST_ENDS 64

struct collector {
    struct session *session;
    struct compiler *compiler;
    struct perfdata_writer *writer;
    struct record_summary *summary;
    const struct record_options *options;
    uint64_t period_ns;
    uint32_t processors;
    bool may_arm; /* perf-trap is wanted and this user may */
    struct ticks_clock clock;
    pthread_t thread;
    uint32_t stop;       /* atomic */
    int end_fd;          /* epoll: every image's pid_fd */
    bool waits_for_bill; /* of a process that was gone in this round */
    uint32_t doorbell;   /* last value seen */
    uint32_t threads_started;

    uint32_t starting_pids[SESSION_PROCESSES]; /* by slot, when last looked at; 0: nobody's */
    uint64_t abandoned_due_ns;

    bool is_quiet; /* the delay before sampling is not over */
    uint64_t quiet_until_ns;
    uint32_t is_full;     /* atomic: the file has the size that was asked for */
    uint32_t running;     /* atomic: processes, at the end of the last round */
    pid_t root_pid;       /* atomic: the command's */
    bool has_root;        /* it joined, or is in the file as a stranger */
    bool is_root_silent;  /* nobody knew of it until it had ended */
    uint64_t detached_ns; /* CPU time of processes that ended detached */
    uint64_t live_ns;     /* of all that is not in the command's bill, when the recording ended */
    struct image images[SESSION_PROCESSES]; /* index = process slot */
    uint32_t live[SESSION_PROCESSES];       /* indices of images in use */
    size_t live_count;
    struct {
        pid_t pid;
        uint64_t end_ns;
    } last_ends[LAST_ENDS]; /* a ring */
    size_t end_count;
    struct go_programs go_programs;
    struct stranger strangers[STRANGERS_MAX];
    size_t stranger_count;
    size_t strangers_next; /* counts on: whose children are looked at in the next look */
    uint64_t strangers_due_ns, strangers_search_ns;
    struct thread_view threads[SESSION_THREADS];
    bool has_inner_pids;   /* of processes in pid namespaces of their own */
    uint32_t made_up_tids; /* of threads that were gone before it was known who they were here */
    uint32_t active[SESSION_THREADS]; /* indices of threads in use */
    size_t active_count;

    struct miss *misses;
    size_t miss_count, miss_capacity;
    struct buffer miss_bytes;
    uint32_t modules_done; /* of the compiler's, by the last look */

    uint64_t round_ns, last_round_ns; /* time of this round, and of the one before */
    uint64_t look_due_ns, look_wait_ns;
    uint64_t last_checkpoint_ns;
    uint64_t fullest_bytes; /* what the fullest ring of this round held */
    uint64_t last_wrote_ns; /* a round that brought something */
    /* Bytes of the file, and time, at the end of its last round. */
    uint64_t file_round_begin, file_round_ns;
    uint64_t handler_ticks[HANDLER_BUCKETS];
    uint64_t handler_max_ticks;
    uint8_t *scratch; /* one record, copied out of shared memory */
};

int collector_start(struct collector **out, struct session *session, struct compiler *compiler,
                    struct perfdata_writer *writer, const struct record_options *options,
                    struct record_summary *summary, bool may_arm, struct error *error);
/* The command's pid, once known. */
void collector_set_root(struct collector *collector, pid_t pid);
/* The file has the size that was asked for: the recording should end. */
bool collector_is_full(const struct collector *collector);
/* How many processes were there at the end of the last round, as far as they had been met. */
uint32_t collector_running(const struct collector *collector);
/* Ends the thread after a last round that drains everything. The command is dead but not yet reaped, or
 * still runs. */
void collector_stop(struct collector *collector, bool command_runs);
/* billed_ns: what the kernel bills the tree. */
void collector_settle_tree(struct collector *collector, uint64_t billed_ns, uint64_t end_ns);
void collector_free(struct collector *collector);

/* When something in a ring says that it happened: not before the recording and not after now. */
uint64_t collector_time_ns(const struct collector *collector, uint64_t ticks);

/* file_round.c */
/* Ends a round of the file when one is due. */
void file_round_end(struct collector *collector);

/* answers.c */
/* True when somebody had rung. */
bool answers_give(struct collector *collector);
/* A process that is killed while it starts leaves its slot as it was. That is seen twice: a pid that nobody has here
 * may be somebody's in a pid namespace, who is just starting. */
void answers_take_abandoned(struct collector *collector);
/* Reads what a process has mapped, for proc_maps_free() in any case: whether our rings are part of it. */
bool answers_map_of_member(const struct collector *collector, pid_t pid,
                           struct proc_maps *mappings);

/* images.c */
/* The shared memory that an image's process writes. */
struct process_slot *image_slot(const struct collector *collector, const struct image *image);
void images_check(struct collector *collector);
void images_find_ended(struct collector *collector);
/* A command that never joined gets its name and the synthetic mappings, for what is said of it. */
void images_start_silent(struct collector *collector, pid_t pid, const char *program);
/* The program is over: by exec, which settles with its successor's start, … */
void image_end(struct collector *collector, struct image *image);
/* … or because its process ended, or the recording. */
void image_settle_and_end(struct collector *collector, struct image *image);
/* … and the file says so. */
void image_end_process(struct collector *collector, struct image *image);
/* A process takes the time of its start before we hear of it: by then we may have dated the end of the
 * one that had its pid, and later. */
uint64_t images_after_end_ns(const struct collector *collector, pid_t pid, uint64_t start_ns);
void image_want_map(struct collector *collector, struct image *image);
/* The first map of a process that proved worth it: it ran for a while, or has a sample. */
void image_want_first_map(struct collector *collector, struct image *image);
struct image *image_of_pid(struct collector *collector, pid_t pid);
void images_add_not_followed(struct collector *collector, pid_t pid, const char *name,
                             const char *reason);
void images_add_cpu_not_followed(struct collector *collector, pid_t pid, uint64_t cpu_ns);
/* FORK unless it is_exec, COMM, the synthetic mappings; EXIT. */
void images_write_start(struct collector *collector, struct image *image, bool is_exec);
void images_write_exit(struct collector *collector, const struct image *image);
/* From now on something runs in it that has no sampler. */
void images_turn_stranger(struct collector *collector, struct image *image, const char *reason);

/* strangers.c */
void strangers_look(struct collector *collector);
/* As long as that, or less to look at them in time. */
uint64_t strangers_wait_ns(const struct collector *collector, uint64_t wait_ns);
void strangers_note_executable(struct image *image);
/* It got a sampler after all: true if it is in the file already, with its CPU time until then. */
bool strangers_take(struct collector *collector, pid_t pid, uint64_t *cpu_ns);
/* Sampling begins: what they used until now does not count. */
void strangers_begin(struct collector *collector);
/* The recording ends. Returns the CPU time that is not in the command's bill. */
uint64_t strangers_finish(struct collector *collector, bool command_runs);

/* maps.c */
void maps_take(struct collector *collector);
/* Processes hear of the rows that were compiled since. */
void maps_publish_rows(struct collector *collector);
void maps_answer(struct collector *collector);
/* What a child has mapped that was just forked: all that its parent had, unless that is not known, or code was
 * unloaded since it was read. False: it has to be read. */
bool maps_inherit(const struct collector *collector, const struct image *parent,
                  struct proc_maps *mappings);
void maps_write_synthetic(struct collector *collector, const struct image *image);
const struct image_mapping *map_find(const struct image_map *map, uint64_t avma);

/* drain.c */
void drain_all(struct collector *collector);
/* All threads of one image, also those that nobody has seen yet. */
void drain_image(struct collector *collector, const struct image *image);
/* Gives back the slots that a dead process claimed and never used. */
void drain_release_threads(struct collector *collector, uint32_t process, uint32_t pid);

/* stacks.c */
struct decoded {
    struct image *image;
    const struct image_map *map; /* of its time; NULL: none is known */
    pid_t tid;
    uint64_t time_ns;
    uint64_t weight_ns;
    const uint64_t *frames;
    uint32_t frame_count;
    uint32_t dropped;
    uint32_t flags;
    bool is_complete;    /* the walk reached a root */
    enum record_cut cut; /* when it is not */
};
void stack_write(struct collector *collector, const struct decoded *sample);
/* A RECORD_STACK or RECORD_CHECK as it came from the ring. */
void stack_take(struct collector *collector, struct image *image, const struct image_map *map,
                pid_t tid, uint64_t time_ns, const uint8_t *record, size_t bytes);
/* The end of a process or thread that is longer than that should have had samples. */
#define END_MAX_NS 100000000
void stack_count_end(struct collector *collector, uint64_t weight_ns);
void stack_write_synthetic(struct collector *collector, struct image *image, pid_t tid,
                           enum synthetic kind, uint64_t weight_ns, uint64_t time_ns);

/* misses.c */
void miss_add(struct collector *collector, struct image *image, pid_t tid, uint64_t time_ns,
              const uint8_t *record, size_t bytes);
/* Finishes those whose image has a map that is new enough, or gets no other, when the CFI of all modules that they
 * lead through has been read; all when `force`. */
void misses_finish(struct collector *collector, bool force);
/* Unwinds a RECORD_CHECK again and compares. */
void miss_check(struct collector *collector, const struct image *image, const uint8_t *record,
                size_t bytes);

/* wake.c; for the collector thread only */
bool wake_prepare(struct collector *collector);
/* From now on a process that uses CPU time wakes the collector. False: not all of them do. */
bool wake_arm(struct collector *collector);
void wake_forget(struct image *image);

/* tree.c */
/* Whether a process that is new belongs to the command's bill. */
void tree_place(struct collector *collector, struct image *image);
/* A process has ended: its bill if nobody else has it, and its children's new place. */
void tree_take_end(struct collector *collector, const struct image *ended);
/* CPU time that is not in the command's bill; all of the tree's while the command runs. */
uint64_t tree_live_ns(const struct collector *collector, bool command_runs);

/* blind.c */
void blind_check(struct collector *collector, struct image *image);
/* False: it never was; the rest is what every ending program has. */
bool blind_settle(struct collector *collector, struct image *image, uint64_t rest_ns,
                  uint64_t time_ns);

/* settle.c */
/* Whether the bill of a process that has ended is known. */
bool settle_has_bill(const struct collector *collector, const struct image *image);
/* before: the program that it replaced, or NULL; earlier_ns: CPU time before that was told otherwise. */
void settle_start(struct collector *collector, struct image *image, struct image *before,
                  uint64_t earlier_ns);
void settle_end(struct collector *collector, struct image *image, uint64_t end_ns);
