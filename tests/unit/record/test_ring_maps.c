/* SPDX-License-Identifier: MIT */
/* Files of another user that were put off for lack of time are read once there is time. */
#include "record/tables/modules/module_cache.c"

#include "record/perf_ring/maps/ring_maps.h"
#include "record/procfs/blocked/map_lookup.h"
#include "record/summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { OTHER = 65534 };

struct fixture {
    int fd; /* of the capture */
    struct open_file_cache open_files;
    struct ring_modules modules;
    struct record_summary summary;
    struct round round;
    struct ring_maps maps;
    struct ring_process process;
};

static void set_up(struct fixture *f)
{
    const struct perfdata_config config = {.events = {{.name = "cpu-clock", .period = 1000000}}};
    *f = (struct fixture){
        .round = {.now_ns = monotonic_ns()},
        .process.process = {.pid = getpid(), .rights = {.uid = OTHER, .gid = OTHER}}};
    f->maps =
        (struct ring_maps){.modules = &f->modules, .summary = &f->summary, .round = &f->round};
    assert_int_equal(ring_modules_open(&f->modules, &f->open_files), 0);
    f->fd = memfd_create("rec.data", MFD_CLOEXEC);
    assert_int_equal(perfdata_writer_open(&f->maps.file, f->fd, &config), 0);
}

static void tear_down(struct fixture *f)
{
    process_map_release(f->process.process.map);
    ring_modules_close(&f->modules);
    open_file_cache_free(&f->open_files);
    perfdata_writer_close(f->maps.file);
    close(f->fd);
}

static void set_time_left(struct fixture *f, int64_t left_ns)
{
    struct reading_time *time = &f->modules.cache->budget.time;
    (void)reading_time_is_left(time, OTHER, monotonic_ns());
    time->users[0].left_ns = left_ns;
}

/* The pause of files is over, and nothing else. */
static void wait_for_files(struct fixture *f)
{
    f->round.now_ns = f->process.files_due_ns;
    for (size_t i = 0; i < f->modules.cache->set.count; i++)
        f->modules.cache->set.modules[i]->pause_end_ns = 0;
    ring_maps_read_files(&f->maps, &f->process, 1);
}

static const struct process_mapping *mapping_of_libc(const struct fixture *f)
{
    return process_map_find(f->process.process.map, (uint64_t)(uintptr_t)getpid);
}

static bool libc_has_cfi(struct fixture *f)
{
    struct offline_mapping found;
    struct map_lookup lookup = {.cache = f->modules.cache, .map = f->process.process.map};
    assert_true(map_lookup_mapping(&lookup, (uint64_t)(uintptr_t)getpid, &found));
    if (lookup.is_put_off)
        ring_process_put_off_files(&f->process, f->round.now_ns);
    return found.module;
}

static bool libc_has_code(struct fixture *f)
{
    struct code_place place;
    struct map_lookup lookup = {.cache = f->modules.cache, .map = f->process.process.map};
    assert_true(map_lookup_code(&lookup, (uint64_t)(uintptr_t)getpid, &place));
    if (lookup.is_put_off)
        ring_process_put_off_files(&f->process, f->round.now_ns);
    return place.image;
}

static void a_file_is_opened_and_read_once_there_is_time(void **state)
{
    (void)state;
    struct fixture f;
    if (geteuid() != 0)
        skip(); /* the user's own files have no limit */
    set_up(&f);
    set_time_left(&f, -1000 * READING_START_NS);
    assert_true(ring_maps_read(&f.maps, &f.process, 1));
    assert_null(mapping_of_libc(&f)->module);
    wait_for_files(&f); /* still no time */
    assert_false(libc_has_cfi(&f));
    assert_null(mapping_of_libc(&f)->module);
    set_time_left(&f, READING_START_NS);
    ring_maps_read_files(&f.maps, &f.process, 1); /* not yet due */
    assert_null(mapping_of_libc(&f)->module);
    wait_for_files(&f);
    assert_non_null(mapping_of_libc(&f)->module);
    assert_int_equal(f.process.files_due_ns, 0);

    set_time_left(&f, -1000 * READING_START_NS);
    assert_false(libc_has_cfi(&f));
    wait_for_files(&f);
    assert_false(libc_has_cfi(&f));
    set_time_left(&f, READING_START_NS);
    const uint64_t generation = f.process.map_generation;
    wait_for_files(&f);
    assert_true(libc_has_cfi(&f));
    assert_true(f.process.map_generation > generation); /* rules are found anew */
    assert_int_equal(f.process.files_due_ns, 0);

    set_time_left(&f, -1000 * READING_START_NS);
    assert_false(libc_has_code(&f));
    wait_for_files(&f);
    assert_false(libc_has_code(&f));
    set_time_left(&f, READING_START_NS);
    wait_for_files(&f);
    assert_true(libc_has_code(&f));
    assert_int_equal(f.process.files_due_ns, 0);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_opened_and_read_once_there_is_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
