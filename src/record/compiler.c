/* SPDX-License-Identifier: MIT */
#include "record/compiler.h"

#include "base/array.h"
#include "record/ticks.h"
#include "wire/atomic.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct job {
    struct known_module *module; /* NULL: the map of a process */
    bool wants_rows;             /* of a piece of it; else its CFI */
    uint32_t piece;
    pid_t pid;
    uint32_t slot;
    struct proc_maps mappings; /* empty: to be read */
    uint64_t read_ns;
};

struct compiler {
    struct session *session;
    struct module_store *store;
    pthread_t thread;
    pthread_mutex_t lock; /* over everything below */
    pthread_cond_t wakeup;
    bool stops;
    struct job *jobs;
    size_t job_count, job_capacity;
    struct image_map **done;
    size_t done_count, done_capacity;
    uint64_t cpu_ns;       /* atomic */
    uint64_t rows;         /* atomic */
    uint32_t modules_read; /* atomic */
};

void image_map_release(struct image_map *map)
{
    if (!map || --map->users > 0)
        return;
    for (size_t i = 0; i < map->count; i++) {
        known_module_release(map->mappings[i].module);
        free(map->mappings[i].path);
    }
    free(map->mappings);
    free(map);
}

static int add_mapping(struct image_map *map, struct proc_mapping *from)
{
    struct image_mapping *mapping = ARRAY_PUSH(map->mappings, map->count, map->capacity);
    if (!mapping)
        return -ENOMEM;
    mapping->start_avma = from->start_avma;
    mapping->end_avma = from->end_avma;
    mapping->file_offset = from->file_offset;
    mapping->inode = from->inode;
    mapping->path = from->path;
    from->path = NULL;
    mapping->is_file = (mapping->path[0] == '/' && strncmp(mapping->path, "//", 2) != 0) ||
                       strcmp(mapping->path, "[vdso]") == 0;
    return 0;
}

/* Finds or opens the module behind a mapping. */
static int resolve_mapping(struct compiler *compiler, struct image_mapping *mapping, pid_t pid)
{
    const struct mapped_file file = {.pid = pid,
                                     .path = mapping->path,
                                     .inode = mapping->inode,
                                     .start_avma = mapping->start_avma,
                                     .end_avma = mapping->end_avma};
    struct known_module *module = module_store_get(compiler->store, &file);
    if (!module)
        return -ENOMEM;
    if (module->elf &&
        elf_load_bias(module->elf, mapping->start_avma, mapping->file_offset, &mapping->bias) == 0)
        mapping->module = module;
    else
        known_module_release(module);
    return 0;
}

/* Every frame of every sample is held against it. */
static void note_sampler(struct image_map *map)
{
    for (size_t i = 0; i < map->count; i++) {
        const struct image_mapping *mapping = &map->mappings[i];
        if (!mapping->module || !mapping->module->is_sampler)
            continue;
        map->sampler_start_avma = mapping->start_avma;
        map->sampler_end_avma = mapping->end_avma;
    }
}

/* Tells the process, which may be waiting to unload some of its code, that its mappings are known. */
static int read_mappings(struct compiler *compiler, struct job *job)
{
    struct process_slot *slot = &compiler->session->rings->processes[job->slot];
    uint32_t unknown_count = load_acquire(&slot->unknown_count);
    int err = proc_maps_read(&job->mappings, job->pid);
    store_release(&slot->unknown_seen, unknown_count);
    syscall(SYS_futex, &slot->unknown_seen, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return err;
}

static int fill_map(struct compiler *compiler, struct image_map *map, struct job *job)
{
    int err = job->mappings.count ? 0 : read_mappings(compiler, job);
    map->is_gone = err != 0 || job->mappings.count == 0;
    for (size_t i = 0; err == 0 && i < job->mappings.count; i++)
        err = add_mapping(map, &job->mappings.mappings[i]);
    for (size_t i = 0; err == 0 && i < map->count; i++)
        if (map->mappings[i].is_file)
            err = resolve_mapping(compiler, &map->mappings[i], job->pid);
    note_sampler(map);
    return err;
}

static struct image_map *make_map(struct compiler *compiler, struct job *job)
{
    struct image_map *map = calloc(1, sizeof(*map));
    if (!map)
        return NULL;
    map->users = 1;
    map->slot = job->slot;
    map->read_ns = job->mappings.count ? job->read_ns : monotonic_ns();
    map->unload_count = load_acquire(&compiler->session->rings->processes[job->slot].unload_count);
    if (fill_map(compiler, map, job) != 0)
        map->is_gone = true;
    return map;
}

static void finish_map(struct compiler *compiler, struct image_map *map)
{
    pthread_mutex_lock(&compiler->lock);
    struct image_map **place =
        ARRAY_PUSH(compiler->done, compiler->done_count, compiler->done_capacity);
    if (place)
        *place = map;
    else
        image_map_release(map);
    pthread_mutex_unlock(&compiler->lock);
}

static void note_cost(struct compiler *compiler)
{
    struct timespec cpu;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    store_relaxed(&compiler->cpu_ns, (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec);
    store_relaxed(&compiler->rows, module_store_rows(compiler->store));
}

/* The collector sleeps on the doorbell; misses wait for maps and CFI. */
static void wake_collector(struct compiler *compiler)
{
    uint32_t *doorbell = &compiler->session->rings->header.doorbell;
    add_release(doorbell, 1);
    syscall(SYS_futex, doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void run_job(struct compiler *compiler, struct job *job)
{
    if (job->wants_rows) {
        module_store_compile(compiler->store, job->module, job->piece);
    } else if (job->module) {
        module_store_read(compiler->store, job->module);
        add_release(&compiler->modules_read, 1);
    } else {
        struct image_map *map = make_map(compiler, job);
        if (map)
            finish_map(compiler, map);
    }
    note_cost(compiler);
    if (!job->wants_rows)
        wake_collector(compiler);
}

static void free_job(struct job *job)
{
    known_module_release(job->module);
    proc_maps_free(&job->mappings);
}

static void *compiler_thread(void *argument)
{
    struct compiler *compiler = argument;
    pthread_mutex_lock(&compiler->lock);
    for (;;) {
        while (!compiler->stops && compiler->job_count == 0)
            pthread_cond_wait(&compiler->wakeup, &compiler->lock);
        if (compiler->stops)
            break;
        struct job job = compiler->jobs[0];
        compiler->job_count--;
        memmove(compiler->jobs, compiler->jobs + 1, compiler->job_count * sizeof(job));
        pthread_mutex_unlock(&compiler->lock);
        run_job(compiler, &job);
        free_job(&job);
        pthread_mutex_lock(&compiler->lock);
    }
    pthread_mutex_unlock(&compiler->lock);
    return NULL;
}

int compiler_start(struct compiler **out, struct session *session, struct kept_files *kept,
                   struct error *error)
{
    struct compiler *compiler = calloc(1, sizeof(*compiler));
    int err = compiler ? module_store_open(&compiler->store, session->tables, kept) : -ENOMEM;
    if (err == 0) {
        compiler->session = session;
        pthread_mutex_init(&compiler->lock, NULL);
        pthread_cond_init(&compiler->wakeup, NULL);
        err = -pthread_create(&compiler->thread, NULL, compiler_thread, compiler);
    }
    if (err) {
        if (compiler)
            module_store_close(compiler->store);
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
    for (size_t i = 0; i < compiler->job_count; i++)
        free_job(&compiler->jobs[i]);
    free(compiler->jobs);
    for (size_t i = 0; i < compiler->done_count; i++)
        image_map_release(compiler->done[i]);
    free(compiler->done);
    module_store_close(compiler->store);
    pthread_mutex_destroy(&compiler->lock);
    pthread_cond_destroy(&compiler->wakeup);
    free(compiler);
}

/* Rows come last: nobody waits for them. */
static void add_job(struct compiler *compiler, struct job *job)
{
    pthread_mutex_lock(&compiler->lock);
    struct job *end = ARRAY_PUSH(compiler->jobs, compiler->job_count, compiler->job_capacity);
    for (; end && end > compiler->jobs && !job->wants_rows && end[-1].wants_rows; end--)
        *end = end[-1];
    if (end)
        *end = *job;
    else
        free_job(job);
    pthread_cond_signal(&compiler->wakeup);
    pthread_mutex_unlock(&compiler->lock);
}

void compiler_request(struct compiler *compiler, pid_t pid, uint32_t slot,
                      struct proc_maps *mappings, uint64_t read_ns)
{
    struct job job = {.pid = pid, .slot = slot, .read_ns = read_ns};
    if (mappings) {
        job.mappings = *mappings;
        *mappings = (struct proc_maps){0};
    }
    add_job(compiler, &job);
}

void compiler_want_cfi(struct compiler *compiler, struct known_module *module)
{
    struct job job = {.module = module};
    known_module_use(module);
    add_job(compiler, &job);
}

void compiler_want_rows(struct compiler *compiler, struct known_module *module, uint32_t piece)
{
    struct job job = {.module = module, .wants_rows = true, .piece = piece};
    known_module_use(module);
    add_job(compiler, &job);
}

uint32_t compiler_modules_read(const struct compiler *compiler)
{
    return load_acquire(&compiler->modules_read);
}

struct image_map *compiler_take(struct compiler *compiler)
{
    struct image_map *map = NULL;
    pthread_mutex_lock(&compiler->lock);
    if (compiler->done_count > 0) {
        map = compiler->done[0];
        compiler->done_count--;
        memmove(compiler->done, compiler->done + 1, compiler->done_count * sizeof(map));
    }
    pthread_mutex_unlock(&compiler->lock);
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
