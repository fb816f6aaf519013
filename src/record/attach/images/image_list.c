/* SPDX-License-Identifier: MIT */
#include "record/attach/images/image_list.h"

#include "base/time_limited.h"
#include "record/attach/images/image_file.h"
#include "record/attach/images/image_header.h"
#include "record/attach/snapshot/snapshot_refusal.h"
#include "record/procfs/living_task.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <sys/uio.h>

struct read_task {
    struct image_list *list;
    pid_t pid;
};

static bool read_memory(void *context, uint64_t avma, void *bytes, size_t size)
{
    const struct read_task *task = context;
    struct iovec local = {bytes, size}, remote = {(void *)(uintptr_t)avma, size};
    return process_vm_readv(task->pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* A part of a module that is mapped a second time. */
static bool is_copy(const struct image_list *list, const struct image_run *run)
{
    bool is_known = false;
    for (size_t i = 0; run->first.file_offset && i < list->count && !is_known; i++)
        is_known = strcmp(list->images[i].path, run->first.path) == 0;
    return is_known;
}

/* Files without code are no modules. */
static void finish(struct read_task *task, const struct image_run *run)
{
    struct image_list *list = task->list;
    if (!run->code_avma || is_copy(list, run))
        return;
    if (list->count == IMAGES_MAX) {
        list->left_out++;
        return;
    }
    struct image *image = &list->images[list->count];
    memcpy(image->path, run->first.path, sizeof(image->path));
    image->start_avma = run->first.start_avma;
    image->end_avma = run->end_avma;
    if (run->first.file_offset == 0)
        (void)image_header_read(image, image->start_avma, run->code_avma, run->code_offset,
                                read_memory, task);
    image_file_inspect(image, run, task->pid);
    list->count++;
}

static bool can_be_image(const struct image_part *part)
{
    return part->path[0] == '/' || strcmp(part->path, "[vdso]") == 0;
}

/* 0, or the errno of the first read of the process's memory: its rule is that of all others. */
static int check_memory(pid_t pid, uint64_t avma)
{
    char byte;
    struct iovec local = {&byte, 1}, remote = {(void *)(uintptr_t)avma, 1};
    return process_vm_readv(pid, &local, 1, &remote, 1, 0) < 0 && errno != EFAULT ? -errno : 0;
}

static int read_images(void *context)
{
    struct read_task *task = context;
    char path[64], *line = NULL;
    size_t room = 0;
    struct image_run run = {0};
    struct image_part part;
    int err = 0;
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)task->pid);
    FILE *maps = fopen(path, "re");
    if (!maps)
        return -errno;
    for (bool is_first = true; err == 0 && getline(&line, &room, maps) > 0;) {
        if (!image_part_parse(&part, line) || !can_be_image(&part))
            continue;
        err = is_first ? check_memory(task->pid, part.start_avma) : 0;
        is_first = false;
        if (image_run_takes(&run, &part)) {
            image_run_add(&run, &part);
            continue;
        }
        finish(task, &run);
        image_run_begin(&run, &part);
    }
    if (err == 0)
        finish(task, &run);
    free(line);
    fclose(maps);
    return err;
}

struct image_list *image_list_take(pid_t pid, uint64_t limit_ns, struct error *error)
{
    struct target_facts facts = target_facts_read(pid);
    if (snapshot_refusal_check(&facts, getpid(), pid, error) != 0)
        return NULL;
    /* Shared with the forked reader of time_limited_run(): a file system of the target may hang. */
    void *memory = mmap(NULL, sizeof(struct image_list), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        error_set(error, -ENOMEM, "out of memory");
        return NULL;
    }
    struct read_task task = {.list = memory, .pid = living_task_find(pid)};
    memcpy(task.list->name, facts.name, sizeof(task.list->name));
    task.list->inner_pid = facts.inner_id;
    int err = time_limited_run(read_images, &task, limit_ns);
    if (err == 0)
        return task.list;
    struct own_rights own = own_rights_read();
    snapshot_refusal_explain(&facts, &own, pid, err, error);
    image_list_free(task.list);
    return NULL;
}

void image_list_free(struct image_list *list)
{
    if (list)
        munmap(list, sizeof(*list));
}
