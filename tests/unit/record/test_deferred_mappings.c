/* SPDX-License-Identifier: MIT */
/* Libraries enter the file with the first sample inside, dated before it; other mappings with their map. */
#include "record/tables/maps/deferred_mappings.h"

#include "perfdata/reader.h"
#include "record/sample/synthetic.h"
#include "record/summary.h"
#include "record/tables/modules/known_module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { PROGRAM, CODE, LIBRARY, NEXT, MAPPINGS }; /* NEXT begins where LIBRARY ends */
enum { SINCE = 1000, LAST_ROUND = 2000, SAMPLE = 3000 };

struct world {
    int fd;
    struct perfdata_writer *file;
    struct record_summary summary;
    struct round round;
    struct deferred_mappings deferred;
    struct process process;
    struct known_module module;
};

static uint64_t start_of(unsigned mapping)
{
    return UINT64_C(0x10000) * (1 + mapping);
}

/* The first `count` mappings. */
static struct process_map *new_map(struct world *world, size_t count)
{
    struct process_map *map = calloc(1, sizeof(*map));
    map->mappings = calloc(MAPPINGS, sizeof(*map->mappings));
    map->count = count;
    for (unsigned i = 0; i < count; i++)
        map->mappings[i] = (struct process_mapping){.start_avma = start_of(i),
                                                    .end_avma = start_of(i + 1),
                                                    .inode = 1 + i,
                                                    .module = i == CODE ? NULL : &world->module,
                                                    .path = "/lib/a file"};
    return map;
}

static void take(struct world *world, struct process_map *map, uint64_t since_ns, bool is_new)
{
    assert_int_equal(deferred_mappings_add(&world->deferred, &world->process, map, since_ns),
                     is_new);
    world->process.map = map;
}

static void drop(struct process_map *map)
{
    free(map->mappings);
    free(map);
}

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    const struct perfdata_config config = {.events = {{.name = "cpu-clock", .period = 1000000}}};
    world->fd = memfd_create("rec.data", MFD_CLOEXEC);
    if (perfdata_writer_open(&world->file, world->fd, &config) != 0)
        return -1;
    world->round = (struct round){.now_ns = 10 * SAMPLE, .last_ns = LAST_ROUND};
    world->deferred = (struct deferred_mappings){
        .file = world->file, .summary = &world->summary, .round = &world->round};
    world->process.pid = 100;
    take(world, new_map(world, NEXT), SINCE, true);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    drop(world->process.map);
    perfdata_writer_close(world->file);
    close(world->fd);
    free(world);
    return 0;
}

static void use_in(struct world *world, struct process_map *map, uint64_t caller, uint64_t time_ns)
{
    const uint64_t frames[] = {synthetic_avma(SYNTHETIC_KERNEL), caller,
                               synthetic_avma(SYNTHETIC_TRUNCATED)};
    const struct perfdata_sample sample = {.time_ns = time_ns, .frames = frames, .frame_count = 3};
    deferred_mappings_write_used(&world->deferred, &world->process, map, &sample);
}

static void use(struct world *world, uint64_t caller, uint64_t time_ns)
{
    use_in(world, world->process.map, caller, time_ns);
}

struct record {
    unsigned mapping;
    uint64_t time_ns;
};

/* The file has these mappings, in the order of writing. */
static void check(struct world *world, const struct record *expected, size_t count)
{
    struct perfdata_reader *reader;
    struct perfdata_event event;
    struct error error;
    size_t found = 0;
    assert_int_equal(perfdata_checkpoint(world->file), 0);
    assert_int_equal(perfdata_reader_open(&reader, world->fd, "rec.data", &error), 0);
    while (perfdata_next(reader, &event) > 0) {
        if (event.kind != PERFDATA_MAPPING)
            continue;
        assert_true(found < count);
        assert_int_equal(event.start_avma, start_of(expected[found].mapping));
        assert_int_equal(event.time_ns, expected[found].time_ns);
        found++;
    }
    assert_int_equal(found, count);
    perfdata_reader_close(reader);
}
#define CHECK(world, ...)                              \
    check(world, (const struct record[]){__VA_ARGS__}, \
          sizeof((const struct record[]){__VA_ARGS__}) / sizeof(struct record))
#define FIRST         \
    {PROGRAM, SINCE}, \
    {                 \
        CODE, SINCE   \
    }

static void a_library_is_written_with_its_first_sample(void **state)
{
    CHECK(*state, FIRST);
    use(*state, start_of(PROGRAM) + 8, SAMPLE);
    CHECK(*state, FIRST);
    use(*state, start_of(LIBRARY) + 8, SAMPLE);
    use(*state, start_of(LIBRARY) + 8, SAMPLE + 1);
    CHECK(*state, FIRST, {LIBRARY, LAST_ROUND});
}

/* A second thread's ring may have older samples; a record of the round before is old enough. */
static void an_older_sample_has_its_mapping_as_well(void **state)
{
    use(*state, start_of(LIBRARY) + 8, SAMPLE);
    use(*state, start_of(LIBRARY) + 8, LAST_ROUND);
    CHECK(*state, FIRST, {LIBRARY, LAST_ROUND});
    use(*state, start_of(LIBRARY) + 8, LAST_ROUND - 1);
    CHECK(*state, FIRST, {LIBRARY, LAST_ROUND}, {LIBRARY, LAST_ROUND - 1});
}

/* The mapping before may have been at the same place. */
static void no_record_is_older_than_its_mapping(void **state)
{
    struct world *world = *state;
    struct process_map *before = world->process.map;
    take(world, new_map(world, MAPPINGS), LAST_ROUND + 10, true);
    use(world, start_of(NEXT) + 8, SAMPLE);
    CHECK(world, FIRST, {NEXT, LAST_ROUND + 10});
    drop(before);
}

/* A call at the end of a mapping returns to the start of the next one. */
static void both_mappings_around_a_return_address_are_written(void **state)
{
    struct world *world = *state;
    struct process_map *before = world->process.map;
    take(world, new_map(world, MAPPINGS), SINCE, true);
    use(world, start_of(NEXT), SAMPLE);
    CHECK(world, FIRST, {NEXT, LAST_ROUND}, {LIBRARY, LAST_ROUND});
    drop(before);
}

static void a_newer_map_keeps_what_is_written(void **state)
{
    struct world *world = *state;
    struct process_map *before = world->process.map;
    use(world, start_of(LIBRARY) + 8, SAMPLE);
    take(world, new_map(world, NEXT), SAMPLE, false);
    use(world, start_of(LIBRARY) + 8, SAMPLE);
    /* A sample that waited for this map. */
    use_in(world, before, start_of(LIBRARY) + 8, SAMPLE);
    CHECK(world, FIRST, {LIBRARY, LAST_ROUND});
    drop(before);
}

/* The sample was written before the map came: later ones would be too late. */
static void mappings_of_a_written_sample_are_written_at_once(void **state)
{
    struct world *world = *state;
    struct process_map *before = world->process.map;
    use(world, start_of(NEXT) + 8, SAMPLE);
    CHECK(world, FIRST);
    take(world, new_map(world, MAPPINGS), SAMPLE - 1, true);
    CHECK(world, FIRST, {NEXT, SAMPLE - 1});
    drop(before);
}

static void a_process_without_a_map_has_all_its_mappings(void **state)
{
    struct world *world = *state;
    struct process_map *before = world->process.map;
    world->process.map = NULL;
    use(world, synthetic_avma(SYNTHETIC_EXIT), SAMPLE);
    take(world, new_map(world, NEXT), SINCE + 1, true); /* no frame had an address */
    CHECK(world, FIRST, {PROGRAM, SINCE + 1}, {CODE, SINCE + 1});
    drop(world->process.map);
    world->process.map = NULL;
    use(world, start_of(LIBRARY) + 8, SAMPLE);
    take(world, new_map(world, NEXT), SINCE + 2, true);
    CHECK(world, FIRST, {PROGRAM, SINCE + 1}, {CODE, SINCE + 1}, {PROGRAM, SINCE + 2},
          {CODE, SINCE + 2}, {LIBRARY, SINCE + 2});
    drop(before);
}

/* Maps of kernel rings: their records are in the file already. */
static void other_maps_are_left_alone(void **state)
{
    struct world *world = *state;
    struct process_map *map = new_map(world, NEXT);
    use_in(world, map, start_of(LIBRARY) + 8, SAMPLE);
    CHECK(world, FIRST);
    drop(map);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_library_is_written_with_its_first_sample),
        TEST(an_older_sample_has_its_mapping_as_well),
        TEST(no_record_is_older_than_its_mapping),
        TEST(both_mappings_around_a_return_address_are_written),
        TEST(a_newer_map_keeps_what_is_written),
        TEST(mappings_of_a_written_sample_are_written_at_once),
        TEST(a_process_without_a_map_has_all_its_mappings),
        TEST(other_maps_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
