/* SPDX-License-Identifier: MIT */
/*
 * Two threads, two directions. A job owns references to all objects in use, so the process and its
 * entry may end while the job is under way:
 *
 *     collector ── jobs ──────────▶ compiler thread: maps, CFI, machine code   samples wait
 *               ── jobs_for_rows ─▶                  rows of a piece           no sample waits
 *               ◀── done ─────────  finished maps, doorbell
 *               ◀── module->state   atomic: CFI, code and rows are published in place
 *
 * Modules are made, changed and evicted by the compiler thread alone; the collector sees a module
 * through the maps it has received, each a user of its modules.
 */
#include "record/tables/compiler.h"

#include "base/clock.h"
#include "record/tables/maps/map_job.h"
#include "wire/atomic.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum job_kind { JOB_MAP, JOB_CFI, JOB_CODE, JOB_ROWS };

/* Owns all memory needed by the job, so a job taken from the queue cannot fail for memory. */
struct job {
    struct job *next;
    enum job_kind kind;
    struct known_module *module; /* NULL: the map of a process */
    uint32_t piece;              /* of JOB_ROWS */
    struct map_job map;          /* of JOB_MAP */
};

struct job_queue {
    struct job *first, *last;
};

struct compiler {
    struct session *session;
    struct module_cache *store;
    pthread_t thread;
    pthread_mutex_t lock; /* protects everything below */
    pthread_cond_t wakeup;
    bool stops;
    struct job_queue jobs, jobs_for_rows, done;
    uint64_t cpu_ns;          /* atomic */
    uint64_t rows;            /* atomic */
    uint64_t cfi_conflicts;   /* atomic */
    struct left_out left_out; /* atomic each */
    uint32_t modules_read;    /* atomic; CFI or code */
    uint64_t maps;            /* requested; by the thread that requests */
};

/* The link of the last element, or the head, gets the job. */
static void push(struct job_queue *queue, struct job *job)
{
    struct job **place = queue->first ? &queue->last->next : &queue->first;
    *place = queue->last = job;
    job->next = NULL;
}

/* NULL: the queue is empty. */
static struct job *pop(struct job_queue *queue)
{
    struct job *job = queue->first;
    if (job)
        queue->first = job->next;
    return job;
}

static void note_cost(struct compiler *compiler)
{
    store_relaxed(&compiler->cpu_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID));
    store_relaxed(&compiler->rows, module_cache_rows(compiler->store));
    store_relaxed(&compiler->cfi_conflicts, module_cache_cfi_conflicts(compiler->store));
    const struct left_out left_out = module_cache_left_out(compiler->store);
    store_relaxed(&compiler->left_out.files, left_out.files);
    store_relaxed(&compiler->left_out.tables, left_out.tables);
}

/* The collector sleeps on the doorbell; pending stacks wait for maps and CFI. */
static void wake_collector(struct compiler *compiler)
{
    uint32_t *doorbell = &compiler->session->requests->doorbell;
    add_release(doorbell, 1);
    syscall(SYS_futex, doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void run_job(struct compiler *compiler, struct job *job)
{
    switch (job->kind) {
    case JOB_MAP:
        map_job_run(&job->map, compiler->store);
        break;
    case JOB_CFI:
        module_cache_read(compiler->store, job->module);
        add_release(&compiler->modules_read, 1);
        break;
    case JOB_CODE:
        module_cache_read_code(compiler->store, job->module);
        add_release(&compiler->modules_read, 1);
        break;
    case JOB_ROWS:
        module_cache_compile(compiler->store, job->module, job->piece);
        break;
    }
    note_cost(compiler);
}

static void free_job(struct job *job)
{
    if (!job)
        return;
    known_module_release(job->module);
    map_job_free(&job->map);
    free(job);
}

static void free_jobs(struct job_queue *queue)
{
    struct job *job;
    while ((job = pop(queue)))
        free_job(job);
}

/* Frees the job, except for a map, handed to the collector. */
static void end_job(struct compiler *compiler, struct job *job)
{
    bool is_waited_for = job->kind != JOB_ROWS;
    if (job->map.map) {
        pthread_mutex_lock(&compiler->lock);
        push(&compiler->done, job);
        pthread_mutex_unlock(&compiler->lock);
    } else {
        free_job(job);
    }
    if (is_waited_for)
        wake_collector(compiler);
}

/* Rows come last: no sample waits for rows. */
static struct job *next_job(struct compiler *compiler)
{
    struct job *job = pop(&compiler->jobs);
    return job ? job : pop(&compiler->jobs_for_rows);
}

static void *compiler_thread(void *argument)
{
    struct compiler *compiler = argument;
    pthread_mutex_lock(&compiler->lock);
    while (!compiler->stops) {
        struct job *job = next_job(compiler);
        if (!job) {
            pthread_cond_wait(&compiler->wakeup, &compiler->lock);
            continue;
        }
        pthread_mutex_unlock(&compiler->lock);
        run_job(compiler, job);
        end_job(compiler, job);
        pthread_mutex_lock(&compiler->lock);
    }
    pthread_mutex_unlock(&compiler->lock);
    return NULL;
}

int compiler_start(struct compiler **out, struct session *session,
                   struct open_file_cache *open_files, struct error *error)
{
    struct compiler *compiler = calloc(1, sizeof(*compiler));
    int err = compiler ? module_cache_open(&compiler->store, session->tables, open_files) : -ENOMEM;
    if (err == 0) {
        compiler->session = session;
        pthread_mutex_init(&compiler->lock, NULL);
        pthread_cond_init(&compiler->wakeup, NULL);
        err = -pthread_create(&compiler->thread, NULL, compiler_thread, compiler);
    }
    if (err) {
        if (compiler)
            module_cache_close(compiler->store);
        free(compiler);
        return error_set(error, err, "cannot start a thread: %s", strerror(-err));
    }
    *out = compiler;
    return 0;
}

void compiler_stop(struct compiler *compiler)
{
    if (!compiler)
        return;
    pthread_mutex_lock(&compiler->lock);
    compiler->stops = true;
    pthread_cond_signal(&compiler->wakeup);
    pthread_mutex_unlock(&compiler->lock);
    pthread_join(compiler->thread, NULL);
    free_jobs(&compiler->jobs);
    free_jobs(&compiler->jobs_for_rows);
    free_jobs(&compiler->done);
    module_cache_close(compiler->store);
    pthread_mutex_destroy(&compiler->lock);
    pthread_cond_destroy(&compiler->wakeup);
    free(compiler);
}

static void add_job(struct compiler *compiler, struct job_queue *queue, struct job *job)
{
    pthread_mutex_lock(&compiler->lock);
    push(queue, job);
    pthread_cond_signal(&compiler->wakeup);
    pthread_mutex_unlock(&compiler->lock);
}

int compiler_request_map(struct compiler *compiler, const struct map_target *target,
                         struct proc_maps *mappings, uint64_t read_ns)
{
    struct job *job = calloc(1, sizeof(*job));
    struct process_map *map = calloc(1, sizeof(*map));
    if (!job || !map) {
        free(job);
        free(map);
        return -ENOMEM;
    }
    *map = (struct process_map){
        .number = ++compiler->maps, .slot = target->slot, .read_ns = read_ns, .users = 1};
    *job = (struct job){.kind = JOB_MAP,
                        .map = {.map = map,
                                .pid = target->pid,
                                .memory = target->memory ? target_memory_use(target->memory) : NULL,
                                .rights = target->rights}};
    if (mappings) {
        job->map.mappings = *mappings;
        *mappings = (struct proc_maps){0};
    }
    add_job(compiler, &compiler->jobs, job);
    return 0;
}

/* The job is a user of the module: no eviction before the job has run. */
static int request_of_module(struct compiler *compiler, struct known_module *module,
                             enum job_kind kind, uint32_t piece)
{
    struct job *job = calloc(1, sizeof(*job));
    if (!job)
        return -ENOMEM;
    *job = (struct job){.kind = kind, .module = module, .piece = piece};
    known_module_use(module);
    add_job(compiler, kind == JOB_ROWS ? &compiler->jobs_for_rows : &compiler->jobs, job);
    return 0;
}

int compiler_request_cfi(struct compiler *compiler, struct known_module *module)
{
    return request_of_module(compiler, module, JOB_CFI, 0);
}

int compiler_request_code(struct compiler *compiler, struct known_module *module)
{
    return request_of_module(compiler, module, JOB_CODE, 0);
}

int compiler_request_rows(struct compiler *compiler, struct known_module *module, uint32_t piece)
{
    return request_of_module(compiler, module, JOB_ROWS, piece);
}

uint32_t compiler_modules_read(const struct compiler *compiler)
{
    return load_acquire(&compiler->modules_read);
}

struct process_map *compiler_take(struct compiler *compiler)
{
    pthread_mutex_lock(&compiler->lock);
    struct job *job = pop(&compiler->done);
    pthread_mutex_unlock(&compiler->lock);
    if (!job)
        return NULL;
    struct process_map *map = job->map.map;
    job->map.map = NULL;
    free_job(job);
    return map;
}

uint64_t compiler_cpu_ns(const struct compiler *compiler)
{
    return load_relaxed(&compiler->cpu_ns);
}

uint64_t compiler_rows(const struct compiler *compiler)
{
    return load_relaxed(&compiler->rows);
}

uint64_t compiler_cfi_conflicts(const struct compiler *compiler)
{
    return load_relaxed(&compiler->cfi_conflicts);
}

struct left_out compiler_left_out(const struct compiler *compiler)
{
    return (struct left_out){.files = load_relaxed(&compiler->left_out.files),
                             .tables = load_relaxed(&compiler->left_out.tables)};
}
