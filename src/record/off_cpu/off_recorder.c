/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/off_recorder.h"

#include "base/clock.h"
#include "record/off_cpu/off_attach.h"
#include "record/off_cpu/off_poll.h"
#include "record/off_cpu/off_records.h"
#include "record/off_cpu/off_rings.h"
#include "record/off_cpu/time/switch_storm.h"
#include "record/off_cpu/time/tick_pace.h"
#include "record/procfs/kernel_image.h"
#include "record/procfs/proc.h"
#include "record/procfs/processors.h"
#include "wire/atomic.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* Short waits share their sum this often, at the earliest. */
#define WINDOW_NS UINT64_C(1000000000)
enum { WINDOW_TICKS = 4 };
/* Without a record for so many ticks, the program is idle. With more threads than WAKE_THREADS_MAX,
 * switching their events on and off costs more than ticks: then one of QUIET_STEP ticks is left. */
enum { IDLE_TICKS = 2, WAKE_THREADS_MAX = 64, QUIET_TICKS = 16, QUIET_STEP = 4 };
/* A long wait has so many samples of a tick each, fewer in programs with many threads. */
enum { SINGLE_CUTS_MAX = 256, SINGLE_CUTS_MIN = 16, SINGLE_CUTS_OF_ALL = 16384 };
/* Of threads that are runnable in a long wait, in a window. */
enum { CHECKS_MAX = 64 };
/* Records are read again after so many looks and accounts: the rings must not fill. */
enum { READS_AT_ONCE = 32, TRIES_MAX = 4 };
/* A look that has not returned after this time hangs in the kernel. */
enum { STUCK_SECONDS = 2 };

struct off_recorder {
    struct off_rings rings;
    struct off_tasks tasks;
    struct off_waits waits;
    struct off_looks looks;
    struct off_records records;
    struct off_poll poll;
    bool is_polled;    /* no switch records: the kernel refuses the events */
    uint32_t root_pid; /* atomic: of the polled tree; 0: does not run yet */
    struct off_queue queue;
    struct off_writer writer; /* of the writer's thread */
    pthread_t thread;
    bool has_thread;
    int wake_fd;
    uint32_t stop;     /* atomic */
    uint64_t begin_ns; /* atomic: end of the delay before sampling; 0: not yet */
    uint64_t next_tick, flush_due_ns;
    struct tick_pace pace;
    uint64_t longest_ns; /* interval of ticks */
    struct switch_storm window;
    uint64_t storm;     /* switches a second that have ended the records; 0: none */
    uint64_t record_ns; /* the latest look that has found a record */
    uint64_t cpu_ns;    /* of the thread, when it has ended */
};

static uint64_t window_ns(const struct off_recorder *recorder)
{
    uint64_t ticks_ns = WINDOW_TICKS * recorder->waits.ticks.interval_ns;
    return ticks_ns > WINDOW_NS ? ticks_ns : WINDOW_NS;
}

uint64_t off_recorder_age_ns(const struct off_recorder *recorder)
{
    return 2 * window_ns(recorder) + OFF_RECORDER_WRITE_NS;
}

static uint64_t seed(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 32;
}

/* Refused by the user's rights, a seccomp filter, or a kernel without perf events. */
static bool is_refusal(int err)
{
    return err == -EACCES || err == -EPERM || err == -ENOSYS || err == -ENOENT;
}

/* A wait may end on any processor. */
static int list_processors(struct off_recorder *recorder, const char *processors)
{
    uint32_t *list = processors ? calloc(PROCESSORS_MAX, sizeof(*list)) : NULL;
    bool *is_listed = processors ? calloc(PROCESSORS_MAX, sizeof(*is_listed)) : NULL;
    size_t count = list && is_listed ? processors_list(processors, list, PROCESSORS_MAX) : 0;
    for (size_t i = 0; i < count; i++)
        if (list[i] < PROCESSORS_MAX)
            is_listed[list[i]] = true;
    recorder->records.is_listed = is_listed;
    int err = processors && (!list || !is_listed) ? -ENOMEM : 0;
    free(list);
    return err;
}

static int open_rings(struct off_recorder *recorder, const struct off_recorder_config *config)
{
    recorder->poll = (struct off_poll){.tasks = &recorder->tasks,
                                       .waits = &recorder->waits,
                                       .records = &recorder->records,
                                       .has_children = config->reach == REACH_CHILDREN};
    int err = list_processors(recorder, config->processors);
    if (err == 0)
        err = off_rings_open(&recorder->rings, config->reach);
    recorder->is_polled = is_refusal(err);
    return recorder->is_polled ? 0 : err;
}

int off_recorder_open(struct off_recorder **out, const struct off_recorder_config *config)
{
    struct off_recorder *recorder = calloc(1, sizeof(*recorder));
    *out = NULL;
    if (!recorder)
        return -ENOMEM;
    off_queue_open(&recorder->queue);
    recorder->waits = (struct off_waits){.ticks = {config->interval_ns, seed(), SINGLE_CUTS_MAX},
                                         .queue = &recorder->queue,
                                         .is_quiet = config->is_quiet,
                                         .read_account = thread_account_read};
    recorder->pace.asked_ns = recorder->longest_ns = config->interval_ns;
    recorder->looks.tasks = &recorder->tasks;
    recorder->looks.queue = &recorder->queue;
    recorder->looks.waits = &recorder->waits;
    recorder->records = (struct off_records){.tasks = &recorder->tasks, .waits = &recorder->waits};
    recorder->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool has_kernel_stacks = config->with_kernel_stacks && kernel_stacks_are_permitted();
    if (has_kernel_stacks && !config->has_kernel_image)
        kernel_image_write(config->file, 0);
    int err = recorder->wake_fd < 0 ? -errno : 0;
    if (err == 0)
        err = open_rings(recorder, config);
    if (err == 0)
        err = off_looks_open(&recorder->looks, config->open_files, has_kernel_stacks);
    if (err) {
        off_recorder_free(recorder);
        return err;
    }
    off_writer_open(&recorder->writer, config->file);
    recorder->writer.meet = config->meet;
    recorder->writer.meet_context = config->meet_context;
    *out = recorder;
    return 0;
}

int off_recorder_await_exec(struct off_recorder *recorder, pid_t pid)
{
    if (recorder->is_polled)
        return 0;
    int err = off_rings_await_exec(&recorder->rings, pid);
    recorder->is_polled = is_refusal(err);
    return recorder->is_polled ? 0 : err;
}

void off_recorder_set_root(struct off_recorder *recorder, pid_t pid)
{
    store_release(&recorder->root_pid, (uint32_t)pid);
}

int off_recorder_attach(struct off_recorder *recorder, pid_t pid, const pid_t *tids,
                        size_t tid_count)
{
    if (recorder->is_polled)
        return -EACCES;
    return off_attach(&recorder->rings, &recorder->tasks, &recorder->waits, pid, tids, tid_count);
}

int off_recorder_record_system(struct off_recorder *recorder, const char *cgroup, int cgroup_fd)
{
    recorder->records.is_system = true;
    int err = recorder->is_polled ? -EACCES : off_rings_record_system(&recorder->rings, cgroup_fd);
    if (err == 0)
        off_attach_system(&recorder->records, cgroup);
    return err;
}

static uint64_t read_records(struct off_recorder *recorder)
{
    struct ring_record record;
    uint64_t until_ns = off_rings_look(&recorder->rings);
    pid_t root = (pid_t)load_acquire(&recorder->root_pid);
    if (recorder->is_polled && root)
        off_poll_round(&recorder->poll, root, until_ns);
    while (off_rings_next(&recorder->rings, until_ns, &record)) {
        recorder->record_ns = until_ns;
        if (record.time_ns)
            off_records_take(&recorder->records, &record);
    }
    return until_ns;
}

static bool may_wait(const struct off_thread *thread)
{
    return thread->run.state == RUN_BLOCKED || thread->run.state == RUN_UNSEEN;
}

/* At the threads that wait since before the tick. The others keep their place in the list, and
 * their account is read, as that of running threads: an ended thread has none. */
static void look_at_waiting(struct off_recorder *recorder, uint64_t tick_ns)
{
    struct off_waits *waits = &recorder->waits;
    struct off_thread *thread, *again = NULL;
    for (int reads = 1; (thread = off_waits_next(waits)); reads++) {
        bool is_due = may_wait(thread) && !thread->look.stack;
        if (is_due && thread->run.since_ns <= tick_ns && thread->look.tries < TRIES_MAX) {
            off_look(&recorder->looks, thread);
            if (thread->look.stack) /* no record of an attached thread yet: it waits since then */
                thread->run.state = RUN_BLOCKED;
        } else {
            off_waits_read_account(waits, thread);
        }
        if (is_due && !thread->look.stack && thread->look.tries < TRIES_MAX) {
            thread->is_to_look = true; /* not freed when it ends */
            thread->next_to_look = again;
            again = thread;
        }
        if (reads % READS_AT_ONCE == 0 && !recorder->is_polled)
            read_records(recorder);
    }
    off_looks_pause(&recorder->looks);
    while ((thread = again)) {
        again = thread->next_to_look;
        thread->is_to_look = false;
        if (thread->has_ended)
            off_thread_free(thread);
        else
            off_waits_look_again(waits, thread);
    }
}

static bool is_runnable(pid_t pid, pid_t tid)
{
    struct proc_stat stat;
    return proc_stat_read(&stat, pid, tid) == 0 && stat.state == 'R';
}

static uint64_t single_cuts(size_t threads)
{
    uint64_t share = SINGLE_CUTS_OF_ALL / (threads + 1);
    return share > SINGLE_CUTS_MAX   ? SINGLE_CUTS_MAX
           : share < SINGLE_CUTS_MIN ? SINGLE_CUTS_MIN
                                     : share;
}

/* schedstat takes the place of the records. Of the tree of a command: the processes of other
 * recordings cannot be listed. */
static void end_records(struct off_recorder *recorder, uint64_t storm)
{
    off_rings_end(&recorder->rings);
    uint64_t now_ns = read_records(recorder);
    recorder->is_polled = true;
    recorder->storm = storm;
    off_poll_adopt(&recorder->poll, now_ns);
}

/* Looks that cost too much become rarer. */
static void change_ticks(struct off_recorder *recorder, uint64_t now_ns)
{
    struct off_waits *waits = &recorder->waits;
    uint64_t interval_ns = tick_pace_next(&recorder->pace, waits->ticks.interval_ns);
    if (interval_ns == waits->ticks.interval_ns)
        return;
    waits->ticks.interval_ns = interval_ns;
    if (interval_ns > recorder->longest_ns)
        recorder->longest_ns = interval_ns;
    for (size_t i = 0; i < recorder->tasks.count; i++)
        off_waits_change_ticks(waits, recorder->tasks.threads[i]);
    recorder->next_tick = wait_tick_from(&waits->ticks, now_ns + 1);
}

/* Woken threads without a processor exist where more threads are runnable than processors. */
static void flush(struct off_recorder *recorder, uint64_t until_ns)
{
    bool is_crowded = proc_runnable() > recorder->rings.records.count;
    recorder->waits.is_runnable = is_crowded ? is_runnable : NULL;
    recorder->waits.checks_left = CHECKS_MAX;
    recorder->waits.ticks.single_cuts = single_cuts(recorder->tasks.count);
    for (size_t i = 0; i < recorder->tasks.count; i++)
        off_waits_flush(&recorder->waits, recorder->tasks.threads[i], until_ns);
    change_ticks(recorder, until_ns);
    recorder->flush_due_ns = until_ns + window_ns(recorder);
    uint64_t storm = switch_storm_find(&recorder->window, until_ns,
                                       recorder->records.switches + recorder->records.lost,
                                       recorder->waits.sums.on_ns);
    if (storm && !recorder->is_polled && load_acquire(&recorder->root_pid))
        end_records(recorder, storm);
}

static void begin(struct off_recorder *recorder, uint64_t begin_ns)
{
    recorder->waits.is_quiet = false;
    for (size_t i = 0; i < recorder->tasks.count; i++)
        off_waits_restart(&recorder->waits, recorder->tasks.threads[i], begin_ns);
}

static void end_tick(struct off_recorder *recorder, uint64_t now_ns)
{
    uint64_t due_ns = tick_pace_take(&recorder->pace, now_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID));
    recorder->next_tick =
        wait_tick_from(&recorder->waits.ticks, due_ns > now_ns ? due_ns : now_ns + 1);
}

static void run_once(struct off_recorder *recorder)
{
    const struct wait_ticks *ticks = &recorder->waits.ticks;
    uint64_t now_ns = read_records(recorder), begin_ns = load_acquire(&recorder->begin_ns);
    if (recorder->waits.is_quiet && begin_ns)
        begin(recorder, now_ns);
    uint64_t tick_ns = wait_tick_ns(ticks, recorder->next_tick);
    if (now_ns >= tick_ns && !recorder->waits.is_quiet) {
        uint64_t following = wait_tick_from(ticks, now_ns + 1);
        /* a wait that polling has found now began at a time unknown */
        look_at_waiting(recorder,
                        recorder->is_polled ? UINT64_MAX : wait_tick_ns(ticks, following - 1));
    }
    if (now_ns >= tick_ns)
        end_tick(recorder, now_ns);
    if (now_ns >= recorder->flush_due_ns)
        flush(recorder, now_ns);
}

/* All threads wait, and their stacks are known: ticks have no work until the next record. */
static bool is_idle(const struct off_recorder *recorder, uint64_t now_ns, unsigned ticks)
{
    uint64_t idle_ns = ticks * recorder->waits.ticks.interval_ns;
    return !recorder->is_polled && !recorder->waits.to_look &&
           now_ns - recorder->record_ns > idle_ns;
}

/* A record may come before the events are switched on. */
static bool go_idle(struct off_recorder *recorder)
{
    bool is_on = off_rings_wake(&recorder->rings, true);
    read_records(recorder);
    return is_on && is_idle(recorder, monotonic_ns(), IDLE_TICKS);
}

static void wait_for_work(struct off_recorder *recorder)
{
    uint64_t due_ns = wait_tick_ns(&recorder->waits.ticks, recorder->next_tick);
    uint64_t now_ns = monotonic_ns();
    bool has_few = recorder->tasks.count <= WAKE_THREADS_MAX;
    bool stays_idle = has_few && is_idle(recorder, now_ns, IDLE_TICKS) && go_idle(recorder);
    if (!stays_idle)
        off_rings_wake(&recorder->rings, false);
    if (stays_idle || due_ns > recorder->flush_due_ns) /* else ticks rest */
        due_ns = recorder->flush_due_ns;
    if (!has_few && is_idle(recorder, now_ns, QUIET_TICKS))
        due_ns += (QUIET_STEP - 1) * recorder->waits.ticks.interval_ns;
    if (due_ns > now_ns)
        off_rings_wait(&recorder->rings, recorder->wake_fd, due_ns - now_ns);
}

static void finish(struct off_recorder *recorder)
{
    uint64_t end_ns = read_records(recorder);
    while (recorder->tasks.count > 0)
        off_records_end_thread(&recorder->records, recorder->tasks.threads[0], end_ns);
    while (off_waits_next(&recorder->waits))
        ;
}

static void *off_recorder_thread(void *argument)
{
    struct off_recorder *recorder = argument;
    uint64_t now_ns = monotonic_ns();
    recorder->next_tick = wait_tick_from(&recorder->waits.ticks, now_ns);
    recorder->flush_due_ns = now_ns + window_ns(recorder);
    recorder->record_ns = recorder->window.begin_ns = now_ns;
    while (!load_acquire(&recorder->stop)) {
        run_once(recorder);
        wait_for_work(recorder);
    }
    finish(recorder);
    recorder->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

int off_recorder_start(struct off_recorder *recorder)
{
    int err = -pthread_create(&recorder->thread, NULL, off_recorder_thread, recorder);
    recorder->has_thread = err == 0;
    return err;
}

static void wake(const struct off_recorder *recorder)
{
    const uint64_t one = 1;
    while (write(recorder->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        continue;
}

void off_recorder_begin(struct off_recorder *recorder, uint64_t now_ns)
{
    store_release(&recorder->begin_ns, now_ns);
    wake(recorder);
}

void off_recorder_write(struct off_recorder *recorder, uint64_t now_ns)
{
    off_writer_round(&recorder->writer, &recorder->queue, now_ns, false);
}

/* False: the thread hangs in the kernel, at the memory of a process. */
static bool join(struct off_recorder *recorder)
{
    struct timespec limit;
    store_release(&recorder->stop, 1);
    wake(recorder);
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += STUCK_SECONDS;
    return pthread_timedjoin_np(recorder->thread, NULL, &limit) == 0;
}

static void add_totals(const struct off_recorder *recorder, struct record_off_cpu *summary)
{
    const struct look_counts *looks = &recorder->looks.counts;
    const struct off_sums *sums = &recorder->waits.sums;
    summary->waiting_ns = sums->waiting_ns;
    summary->runnable_ns = sums->runnable_ns;
    summary->lost_ns = sums->lost_ns;
    summary->filled_ns = sums->filled_ns;
    summary->with_stack_ns = sums->with_stack_ns;
    summary->short_ns = sums->short_ns;
    summary->unseen_ns = sums->unseen_ns;
    summary->samples = recorder->writer.samples;
    summary->switches = recorder->records.switches;
    summary->lost_records = recorder->records.lost;
    summary->looks = looks->looks;
    summary->torn = looks->torn;
    summary->running = looks->running;
    summary->refused = looks->refused;
    summary->refused_programs = looks->refused_programs;
    summary->failed = looks->failed;
    summary->stackless = looks->stackless;
    summary->incomplete = looks->incomplete;
    summary->inferred = looks->inferred;
    summary->guessed = looks->guessed;
    summary->cpu_ns = recorder->cpu_ns;
    summary->storm = recorder->storm;
    summary->longest_interval_ns = recorder->longest_ns;
}

/* Moves the texts into the summary. */
static void move_objects(struct off_objects *objects, struct record_off_cpu *summary)
{
    summary->objects = calloc(objects->count + 1, sizeof(*summary->objects));
    for (size_t i = 0; summary->objects && i < objects->count; i++) {
        struct off_object *object = &objects->objects[i];
        if (!object->text)
            break;
        summary->objects[i] = (struct record_wait_object){object->text, object->waited_ns};
        summary->object_count++;
        object->text = NULL;
    }
}

static void move_kernel_ranges(struct kernel_symbols *symbols, struct record_off_cpu *summary)
{
    summary->kernel = symbols->found;
    symbols->found = (struct kernel_ranges){0};
}

void off_recorder_stop(struct off_recorder *recorder, struct record_off_cpu *summary)
{
    *summary =
        (struct record_off_cpu){.method = recorder->is_polled ? "schedstat" : "switch-records",
                                .interval_ns = recorder->pace.asked_ns,
                                .without_kernel_threads = recorder->records.is_system,
                                .is_stuck = recorder->has_thread && !join(recorder)};
    off_writer_round(&recorder->writer, &recorder->queue, monotonic_ns(), true);
    summary->mappings_left_out = recorder->writer.mappings_left_out;
    if (summary->is_stuck)
        return;
    recorder->has_thread = false;
    add_totals(recorder, summary);
    move_objects(&recorder->waits.objects, summary);
    move_kernel_ranges(&recorder->looks.kernel.symbols, summary);
}

void off_recorder_free(struct off_recorder *recorder)
{
    /* A hanging thread uses the memory when it returns: it stays until the end of rec. */
    if (!recorder || recorder->has_thread)
        return;
    off_writer_close(&recorder->writer);
    off_tasks_free(&recorder->tasks);
    off_looks_close(&recorder->looks);
    off_objects_free(&recorder->waits.objects);
    off_rings_close(&recorder->rings);
    free((void *)recorder->records.is_listed);
    off_queue_close(&recorder->queue);
    if (recorder->wake_fd >= 0)
        close(recorder->wake_fd);
    free(recorder);
}
