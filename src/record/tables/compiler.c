/* SPDX-License-Identifier: MIT */
#include "record/tables/compiler.h"

#include "base/clock.h"
#include "base/containers/array.h"
#include "record/procfs/proc.h"
#include "record/sample/tsc_clock.h"
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
    struct process_map *map;     /* to be filled in */
    pid_t pid;
    struct target_memory *memory; /* of the process; NULL: none */
    struct rights rights;         /* of the process at its handshake; refreshed when the job runs */
    struct proc_maps mappings;    /* empty: to be read */
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
    uint64_t cpu_ns;         /* atomic */
    uint64_t rows;           /* atomic */
    uint64_t cfi_conflicts;  /* atomic */
    uint64_t files_left_out; /* atomic */
    uint32_t modules_read;   /* atomic; CFI or code */
    uint64_t maps;           /* requested; by the thread that requests */
};

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

static int add_mapping(struct process_map *map, struct proc_mapping *from)
{
    struct process_mapping *mapping = ARRAY_PUSH(map->mappings, map->count, map->capacity);
    if (!mapping)
        return -ENOMEM;
    mapping->start_avma = from->start_avma;
    mapping->end_avma = from->end_avma;
    mapping->file_offset = from->file_offset;
    mapping->device = from->device;
    mapping->inode = from->inode;
    mapping->path = from->path;
    from->path = NULL;
    mapping->is_file = (mapping->path[0] == '/' && strncmp(mapping->path, "//", 2) != 0) ||
                       strcmp(mapping->path, "[vdso]") == 0;
    return 0;
}

/* Finds or opens the module behind a mapping. */
static int resolve_mapping(struct compiler *compiler, struct process_mapping *mapping,
                           const struct job *job)
{
    const struct mapped_file file = {.pid = job->pid,
                                     .path = mapping->path,
                                     .device = mapping->device,
                                     .inode = mapping->inode,
                                     .start_avma = mapping->start_avma,
                                     .end_avma = mapping->end_avma,
                                     .rights = &job->rights};
    struct known_module *module = module_cache_get(compiler->store, &file);
    if (!module)
        return -ENOMEM;
    if (module->elf &&
        elf_load_bias(module->elf, mapping->start_avma, mapping->file_offset, &mapping->bias) == 0)
        mapping->module = module;
    else
        known_module_release(module);
    return 0;
}

/* Every frame of every sample is compared with this range. */
static void note_sampler(struct process_map *map)
{
    for (size_t i = 0; i < map->count; i++) {
        const struct process_mapping *mapping = &map->mappings[i];
        if (!mapping->module || !mapping->module->is_sampler)
            continue;
        map->sampler_start_avma = mapping->start_avma;
        map->sampler_end_avma = mapping->end_avma;
    }
}

/* Wakes the process, which may be blocked in dlclose() until this read. */
static int read_mappings(struct job *job)
{
    if (!job->memory)
        return proc_maps_read(&job->mappings, job->pid);
    struct process_slot *slot = &job->memory->shared->process;
    uint32_t unknown_count = load_acquire(&slot->unknown_count);
    int err = proc_maps_read(&job->mappings, job->pid);
    store_release(&slot->unknown_seen, unknown_count);
    syscall(SYS_futex, &slot->unknown_seen, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return err;
}

/* A process without root's rights changes them by exec alone, and joins again after the exec. A
 * process with root's rights may have dropped them since the handshake, as daemons do. */
static void update_rights(struct job *job)
{
    struct rights now;
    if (geteuid() != 0 || proc_rights_read(&now, job->pid) != 0)
        return;
    if (job->rights.uid == 0 || job->rights.uid == now.uid)
        job->rights = now;
}

/* The rights are read before and after: a process that drops root's rights may map what other
 * users made, and may then execute a set-user-id program. */
static int resolve(struct compiler *compiler, struct process_map *map, struct job *job)
{
    update_rights(job);
    int err = job->mappings.count ? 0 : read_mappings(job);
    if (job->rights.uid == 0)
        update_rights(job);
    map->left_out = job->mappings.left_out;
    map->is_gone = err != 0 || job->mappings.count == 0;
    for (size_t i = 0; err == 0 && i < job->mappings.count; i++)
        err = add_mapping(map, &job->mappings.mappings[i]);
    for (size_t i = 0; err == 0 && i < map->count; i++)
        if (map->mappings[i].is_file)
            err = resolve_mapping(compiler, &map->mappings[i], job);
    note_sampler(map);
    for (size_t i = 0; i < map->count; i++)
        process_map_note_jit(map, &map->mappings[i]);
    return err;
}

static void fill_map(struct compiler *compiler, struct job *job)
{
    uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    struct process_map *map = job->map;
    if (job->mappings.count == 0)
        map->read_ns = monotonic_ns();
    if (job->memory)
        map->unload_count = load_acquire(&job->memory->shared->process.unload_count);
    if (resolve(compiler, map, job) != 0)
        map->is_gone = true;
    map->cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
}

static void note_cost(struct compiler *compiler)
{
    store_relaxed(&compiler->cpu_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID));
    store_relaxed(&compiler->rows, module_cache_rows(compiler->store));
    store_relaxed(&compiler->cfi_conflicts, module_cache_cfi_conflicts(compiler->store));
    store_relaxed(&compiler->files_left_out, module_cache_files_left_out(compiler->store));
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
        fill_map(compiler, job);
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
    process_map_release(job->map);
    target_memory_release(job->memory);
    proc_maps_free(&job->mappings);
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
    if (job->map) {
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
                        .map = map,
                        .pid = target->pid,
                        .memory = target->memory ? target_memory_use(target->memory) : NULL,
                        .rights = target->rights};
    if (mappings) {
        job->mappings = *mappings;
        *mappings = (struct proc_maps){0};
    }
    add_job(compiler, &compiler->jobs, job);
    return 0;
}

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
    struct process_map *map = job->map;
    job->map = NULL;
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

uint64_t compiler_files_left_out(const struct compiler *compiler)
{
    return load_relaxed(&compiler->files_left_out);
}
