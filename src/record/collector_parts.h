/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the collector share, one file each.
 *
 *     doorbell or timeout ─▶ round:  answer requests        answers.c
 *                                    take finished maps     maps.c
 *                                    drain every ring       drain.c ──▶ stacks.c ──▶ perfdata writer
 *                                    finish misses          misses.c ─────▲
 *                                    settle ended processes settle.c ─────┘
 *                                    end the file's round   file_round.c
 *     until the next one ▶ pace.c     nothing runs ─────▶ wake.c
 *
 * Everything read from `rings` was written by the target and is checked before it is used.
 */
#pragma once

#include "base/buffer.h"
#include "record/collector.h"
#include "record/go_programs.h"
#include "record/image.h"
#include "record/synthetic.h"
#include "record/ticks.h"
#include "wire/ring.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

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
    uint64_t last_ns;           /* of its latest record */
    bool has_exited;            /* by a last record, which says when */
    uint64_t skipped_ns;        /* its CPU time when sampling began, if it was there before */
    struct thread_slot counted; /* counters already in the summary */
};

#define UNANNOUNCED_MAX 256

/* A thread that the sampler does not know of: see unannounced.c. */
struct unannounced {
    const struct image *image;
    pid_t tid;
    bool is_introduced; /* in rec.data */
    uint64_t told_kernel_ns, told_user_ns;
    uint64_t first_ns, look_ns; /* the first look and the latest that saw it */
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

/* See pace.c. */
struct pace {
    uint64_t wait_ns, longest_ns;
    bool may_idle;
    uint32_t doorbell_before; /* the round */
    uint64_t misses_before;
};

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

    struct unannounced unannounced[UNANNOUNCED_MAX];
    size_t unannounced_count;

    struct miss *misses;
    size_t miss_count, miss_capacity;
    struct buffer miss_bytes;
    struct buffer stack_room; /* of the copied stack that is looked at */
    uint32_t modules_read;    /* of the compiler's, by the last look */

    uint64_t round_ns, last_round_ns; /* time of this round, and of the one before */
    uint64_t look_due_ns, look_wait_ns;
    uint64_t last_checkpoint_ns;
    struct pace pace;
    uint64_t fullest_bytes; /* what the fullest ring of this round held */
    uint64_t last_wrote_ns; /* a round that brought something */
    /* Bytes of the file, and time, at the end of its last round. */
    uint64_t file_round_begin, file_round_ns;
    uint64_t handler_ticks[HANDLER_BUCKETS];
    uint64_t handler_max_ticks;
    uint8_t *scratch; /* one record, copied out of shared memory */
};

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
/* Why it runs unsampled: it waited in vain. */
extern const char answers_came_late[];
/* Reads what a process has mapped, for proc_maps_free() in any case: whether our rings are part of it. */
bool answers_map_of_member(const struct collector *collector, pid_t pid,
                           struct proc_maps *mappings);

/* strangers.c */
void strangers_look(struct collector *collector);
/* As long as that, or less to look at them in time. */
uint64_t strangers_wait_ns(const struct collector *collector, uint64_t wait_ns);
/* What stat() says of the file that it runs; false: nothing. */
bool strangers_note_executable(struct image *image, struct stat *file);
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
/* The end of a process or thread that is this much longer than its periods should have had samples. */
#define END_MAX_NS 100000000
void stack_count_end(struct collector *collector, uint64_t weight_ns, uint64_t periods_ns);
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

/* pace.c */
#define ROUND_MIN_NS 1000000
void pace_start(struct collector *collector);
void pace_begin_round(struct collector *collector);
/* After a round: how long to sleep, unless somebody rings. */
uint64_t pace_wait_ns(struct collector *collector);

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
/* CPU time that no sample stands for yet. */
uint64_t blind_gap_ns(const struct image *image);
/* What its threads may have used since their last samples. */
uint64_t blind_periods_ns(const struct collector *collector, const struct image *image);
void blind_check(struct collector *collector, struct image *image);
/* False: it never was; the rest is what every ending program has. */
bool blind_settle(struct collector *collector, struct image *image, uint64_t rest_ns,
                  uint64_t time_ns);

/* unannounced.c */
/* Tells what they used since the last look. */
void unannounced_look(struct collector *collector, struct image *image);
/* Some are known, and may be looked at again. */
bool unannounced_are_due(const struct collector *collector, const struct image *image);
void unannounced_end(struct collector *collector, const struct image *image);

/* settle.c */
/* Whether the bill of a process that has ended is known. */
bool settle_has_bill(const struct collector *collector, const struct image *image);
/* before: the program that it replaced, or NULL; earlier_ns: CPU time before that was told otherwise. */
void settle_start(struct collector *collector, struct image *image, struct image *before,
                  uint64_t earlier_ns);
void settle_end(struct collector *collector, struct image *image, uint64_t end_ns);
