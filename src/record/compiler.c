/* SPDX-License-Identifier: MIT */
#include "record/compiler.h"

#include "base/array.h"
#include "record/proc.h"
#include "record/ticks.h"
#include "wire/atomic.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* While new modules are compiled, what is there is published this often. */
#define PUBLISH_INTERVAL_NS 3000000

struct job {
    pid_t pid;
    uint32_t slot;
    char *path; /* a file to compile ahead; NULL: a process */
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
    uint64_t cpu_ns; /* atomic */
    uint64_t rows;   /* atomic */
};

void image_map_free(struct image_map *map)
{
    if (!map)
        return;
    for (size_t i = 0; i < map->count; i++)
        free(map->mappings[i].path);
    free(map->mappings);
    free(map->offline);
    free(map);
}

/* The rows of one mapping; false: nothing may be said of it (its PCs are copied instead). */
static bool describe_mapping(const struct image_mapping *mapping, struct wire_module *wire)
{
    const struct known_module *module = mapping->module;
    *wire = (struct wire_module){.start_avma = mapping->start_avma, .end_avma = mapping->end_avma};
    if (!module)
        return true;
    wire->rows_first = module->rows_first;
    wire->rows_count = module->rows_count;
    wire->base_avma = mapping->bias + module->base_svma;
    return module->has_rows;
}

/* Fills the map that is not in use and makes it current. */
static void publish(struct compiler *compiler, const struct image_map *map)
{
    struct process_verdict *verdict = &compiler->session->tables->verdicts[map->slot];
    uint64_t next = verdict->generation + 1;
    struct wire_module *modules = compiler->session->tables->maps[map->slot][next % 2].modules;
    uint32_t count = 0;
    for (size_t i = 0; i < map->count && count < SESSION_MODULES; i++)
        if (describe_mapping(&map->mappings[i], &modules[count]))
            count++;
    store_relaxed(&verdict->counts[next % 2], count);
    store_release(&verdict->unload_count, map->unload_count);
    store_release(&verdict->generation, next); /* publishes the map and its count */
}

static int add_mapping(struct compiler *compiler, struct image_map *map, pid_t pid,
                       struct proc_mapping *from, bool *is_new)
{
    struct image_mapping *mapping = ARRAY_PUSH(map->mappings, map->count, map->capacity);
    if (!mapping)
        return -ENOMEM;
    mapping->start_avma = from->start_avma;
    mapping->end_avma = from->end_avma;
    mapping->file_offset = from->file_offset;
    mapping->path = from->path;
    from->path = NULL;
    *is_new = false;
    bool is_file = mapping->path[0] == '/' && strncmp(mapping->path, "//", 2) != 0;
    if (!is_file && strcmp(mapping->path, "[vdso]") != 0)
        return 0;
    struct known_module *module =
        module_store_get(compiler->store, pid, mapping->path, from->inode, is_new);
    if (!module)
        return -ENOMEM;
    if (module->elf && elf_load_bias(module->elf, mapping->start_avma, mapping->file_offset,
                                     &mapping->bias) == 0)
        mapping->module = module;
    return 0;
}

static int make_offline(struct image_map *map)
{
    map->offline = calloc(map->count ? map->count : 1, sizeof(*map->offline));
    if (!map->offline)
        return -ENOMEM;
    for (size_t i = 0; i < map->count; i++)
        map->offline[i] = (struct offline_mapping){
            .start_avma = map->mappings[i].start_avma,
            .end_avma = map->mappings[i].end_avma,
            .bias = map->mappings[i].bias,
            .module = map->mappings[i].module ? map->mappings[i].module->unwind : NULL,
        };
    return 0;
}

static int fill_map(struct compiler *compiler, struct image_map *map, pid_t pid)
{
    struct proc_maps maps = {0};
    int err = proc_maps_read(&maps, pid);
    map->is_gone = err != 0 || maps.count == 0;
    uint64_t published_ns = monotonic_ns();
    for (size_t i = 0; err == 0 && i < maps.count; i++) {
        bool is_new;
        err = add_mapping(compiler, map, pid, &maps.mappings[i], &is_new);
        if (err == 0 && is_new && monotonic_ns() - published_ns > PUBLISH_INTERVAL_NS) {
            publish(compiler, map);
            published_ns = monotonic_ns();
        }
    }
    proc_maps_free(&maps);
    return err ? err : make_offline(map);
}

static struct image_map *make_map(struct compiler *compiler, const struct job *job)
{
    struct image_map *map = calloc(1, sizeof(*map));
    if (!map)
        return NULL;
    map->slot = job->slot;
    map->read_ns = monotonic_ns();
    map->unload_count = load_acquire(&compiler->session->rings->processes[job->slot].unload_count);
    if (fill_map(compiler, map, job->pid) != 0)
        map->is_gone = true;
    if (!map->is_gone)
        publish(compiler, map);
    map->ready_ns = monotonic_ns();
    return map;
}

static void prepare_file(struct compiler *compiler, const char *path)
{
    struct stat status;
    bool is_new;
    char *real = realpath(path, NULL);
    if (real && stat(real, &status) == 0)
        module_store_get(compiler->store, getpid(), real, status.st_ino, &is_new);
    free(real);
}

static void run_job(struct compiler *compiler, struct job *job)
{
    struct image_map *map = NULL;
    if (job->path)
        prepare_file(compiler, job->path);
    else
        map = make_map(compiler, job);
    struct timespec cpu;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    store_relaxed(&compiler->cpu_ns, (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec);
    store_relaxed(&compiler->rows, module_store_rows(compiler->store));
    if (!map)
        return;
    pthread_mutex_lock(&compiler->lock);
    struct image_map **place =
        ARRAY_PUSH(compiler->done, compiler->done_count, compiler->done_capacity);
    if (place)
        *place = map;
    else
        image_map_free(map);
    pthread_mutex_unlock(&compiler->lock);
    /* The collector sleeps on the doorbell; misses wait for this map. */
    uint32_t *doorbell = &compiler->session->rings->header.doorbell;
    add_release(doorbell, 1);
    syscall(SYS_futex, doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
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
        free(job.path);
        pthread_mutex_lock(&compiler->lock);
    }
    pthread_mutex_unlock(&compiler->lock);
    return NULL;
}

int compiler_start(struct compiler **out, struct session *session, struct error *error)
{
    struct compiler *compiler = calloc(1, sizeof(*compiler));
    int err = compiler ? module_store_open(&compiler->store, session->tables) : -ENOMEM;
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
        free(compiler->jobs[i].path);
    free(compiler->jobs);
    for (size_t i = 0; i < compiler->done_count; i++)
        image_map_free(compiler->done[i]);
    free(compiler->done);
    module_store_close(compiler->store);
    pthread_mutex_destroy(&compiler->lock);
    pthread_cond_destroy(&compiler->wakeup);
    free(compiler);
}

static void add_job(struct compiler *compiler, const struct job *job)
{
    pthread_mutex_lock(&compiler->lock);
    struct job *place = ARRAY_PUSH(compiler->jobs, compiler->job_count, compiler->job_capacity);
    if (place)
        *place = *job;
    else
        free(job->path);
    pthread_cond_signal(&compiler->wakeup);
    pthread_mutex_unlock(&compiler->lock);
}

void compiler_request(struct compiler *compiler, pid_t pid, uint32_t slot)
{
    add_job(compiler, &(struct job){.pid = pid, .slot = slot});
}

void compiler_prepare(struct compiler *compiler, const char *path)
{
    add_job(compiler, &(struct job){.path = strdup(path)});
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
