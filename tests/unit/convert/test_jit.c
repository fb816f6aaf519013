/* SPDX-License-Identifier: MIT */
/* Code made at run time: perf maps, jitdumps, and whose code lay where when. */
#include "story.h"

#include "base/budget.h"
#include "convert/jit/jit_code.h"
#include "convert/jit/jit_file.h"

#include <errno.h>
#include <sys/stat.h>

static const char *name_at(struct jit_codes *codes, uint64_t avma, uint64_t time_ns)
{
    const struct jit_code *code = jit_codes_find(codes, avma, time_ns);
    return code ? (const char *)codes->texts.bytes + code->name : "";
}

static void a_perf_map_names_what_its_lines_cover(void **state)
{
    (void)state;
    static const char text[] = "1000 20 first\n"
                               "2000 10 name with blanks; and <signs>\n"
                               "zzzz 10 no number\n"
                               "3000 0 empty\n"
                               "3000 10\n"
                               "-1 10 negative\n"
                               "fffffffffffffff0 ffff wraps\n"
                               "4000 ffffffffffff absurd\n"
                               "11111111111111111111 10 overflows\n"
                               "\n"
                               "1010 10 takes the end of the first\n"
                               "5000 10 cut off";
    struct jit_codes codes = {.room = SIZE_MAX};
    assert_int_equal(perf_map_parse(&codes, text, sizeof(text) - 1), 0);
    assert_int_equal(jit_codes_sort(&codes), 0);
    assert_int_equal(codes.count, 3);
    assert_string_equal(name_at(&codes, 0x100f, 0), "first");
    assert_string_equal(name_at(&codes, 0x1010, 0), "takes the end of the first");
    assert_string_equal(name_at(&codes, 0x1020, 0), "");
    assert_string_equal(name_at(&codes, 0x2000, 9), "name with blanks; and <signs>");
    assert_string_equal(name_at(&codes, 0x0fff, 0), "");
    jit_codes_free(&codes);
}

static const struct jit_counter no_counter;
static const struct jit_counter some_counter = {.multiplier = 1};

static struct buffer dump_begin(void)
{
    struct buffer dump = {0};
    const uint32_t header[] = {0x4a695444, 1, 40, 62, 0, 10};
    buffer_append(&dump, header, sizeof(header));
    buffer_u64(&dump, 5);
    buffer_u64(&dump, 0);
    return dump;
}

static void record(struct buffer *dump, uint32_t kind, uint64_t time_ns, const struct buffer *body)
{
    buffer_u32(dump, kind);
    buffer_u32(dump, (uint32_t)(16 + body->size));
    buffer_u64(dump, time_ns);
    buffer_append(dump, body->bytes, body->size);
}

struct load {
    uint64_t time_ns, vma, code_addr, bytes;
    const char *name;
};

static void put_load(struct buffer *dump, const struct load *load)
{
    struct buffer body = {0};
    buffer_u64(&body, 10);
    buffer_u64(&body, load->vma);
    buffer_u64(&body, load->code_addr);
    buffer_u64(&body, load->bytes);
    buffer_u64(&body, 1);
    buffer_append(&body, load->name, strlen(load->name) + 1);
    buffer_zeros(&body, load->bytes);
    record(dump, 0, load->time_ns, &body);
    buffer_free(&body);
}

static void loaded(struct buffer *dump, uint64_t time_ns, uint64_t avma, uint64_t bytes,
                   const char *name)
{
    put_load(dump, &(struct load){time_ns, avma, avma, bytes, name});
}

static void moved(struct buffer *dump, uint64_t time_ns, uint64_t from, uint64_t to, uint64_t bytes)
{
    struct buffer body = {0};
    buffer_u64(&body, 10);
    buffer_u64(&body, to);
    buffer_u64(&body, from);
    buffer_u64(&body, to);
    buffer_u64(&body, bytes);
    buffer_u64(&body, 1);
    record(dump, 1, time_ns, &body);
    buffer_free(&body);
}

static void lines(struct buffer *dump, uint64_t avma, uint64_t shift, const char *second_file)
{
    struct buffer body = {0};
    buffer_u64(&body, avma);
    buffer_u64(&body, 2);
    buffer_u64(&body, avma + shift);
    buffer_u32(&body, 7);
    buffer_u32(&body, 0);
    buffer_append(&body, "a.js", 5);
    buffer_u64(&body, avma + shift + 8);
    buffer_u32(&body, 9);
    buffer_u32(&body, 0);
    buffer_append(&body, second_file, strlen(second_file) + 1);
    record(dump, 2, 1, &body);
    buffer_free(&body);
}

static void a_jitdump_tells_what_lay_there_at_the_time(void **state)
{
    (void)state;
    struct buffer dump = dump_begin();
    loaded(&dump, 10, 0x1000, 16, "f");
    loaded(&dump, 20, 0x2000, 16, "g");
    loaded(&dump, 30, 0x1008, 16, "h");
    moved(&dump, 40, 0x2000, 0x3000, 16);
    struct jit_codes codes = {.room = SIZE_MAX};
    assert_int_equal(jit_dump_parse(&codes, &no_counter, dump.bytes, dump.size), 0);
    assert_int_equal(jit_codes_sort(&codes), 0);
    assert_string_equal(name_at(&codes, 0x1008, 9), "");
    assert_string_equal(name_at(&codes, 0x1008, 10), "f");
    assert_string_equal(name_at(&codes, 0x1008, 29), "f");
    assert_string_equal(name_at(&codes, 0x1008, 30), "h");
    assert_string_equal(name_at(&codes, 0x1000, 99), "f");
    assert_string_equal(name_at(&codes, 0x2000, 39), "g");
    assert_string_equal(name_at(&codes, 0x2000, 40), "");
    assert_string_equal(name_at(&codes, 0x300f, 40), "g");
    assert_int_equal(jit_codes_find(&codes, 0x1008, 29)->generation, 1);
    assert_int_equal(jit_codes_find(&codes, 0x1008, 30)->generation, 2);
    assert_int_equal(jit_codes_find(&codes, 0x3000, 99)->generation, 1);
    jit_codes_free(&codes);
    buffer_free(&dump);
}

/* The jitdump of Julia has vma 0. */
static void code_lies_at_code_addr(void **state)
{
    (void)state;
    struct buffer dump = dump_begin();
    put_load(&dump, &(struct load){10, 0, 0x1000, 16, "julia_f"});
    put_load(&dump, &(struct load){10, 0x1020, 0x1010, 16, "g"});
    put_load(&dump, &(struct load){10, 0x2000, 0, 16, "h"});
    struct jit_codes codes = {.room = SIZE_MAX};
    assert_int_equal(jit_dump_parse(&codes, &no_counter, dump.bytes, dump.size), 0);
    assert_int_equal(jit_codes_sort(&codes), 0);
    assert_string_equal(name_at(&codes, 0x8, 20), "");
    assert_string_equal(name_at(&codes, 0x1008, 20), "julia_f");
    assert_string_equal(name_at(&codes, 0x1018, 20), "g");
    assert_string_equal(name_at(&codes, 0x2008, 20), "h");
    jit_codes_free(&codes);
    buffer_free(&dump);
}

/* Of the counter: a record at 5 ticks, 2 ns each, counted from 1000 ns. */
static void times_of_the_counter_are_converted(void **state)
{
    (void)state;
    struct buffer dump = dump_begin();
    dump.bytes[32] = 1; /* JITDUMP_FLAGS_ARCH_TIMESTAMP */
    loaded(&dump, 5, 0x1000, 16, "f");
    loaded(&dump, 50, 0x1000, 16, "h");
    struct jit_codes codes = {.room = SIZE_MAX};
    assert_int_equal(jit_dump_parse(&codes, &no_counter, dump.bytes, dump.size), -ENOTSUP);
    const struct jit_counter counter = {.shift = 10, .multiplier = 2048, .zero_ns = 1000};
    assert_int_equal(jit_dump_parse(&codes, &counter, dump.bytes, dump.size), 0);
    assert_int_equal(jit_codes_sort(&codes), 0);
    assert_string_equal(name_at(&codes, 0x1000, 1009), "");
    assert_string_equal(name_at(&codes, 0x1000, 1010), "f");
    assert_string_equal(name_at(&codes, 0x1000, 1099), "f");
    assert_string_equal(name_at(&codes, 0x1000, 1100), "h");
    jit_codes_free(&codes);
    buffer_free(&dump);
}

static void lines_are_those_of_their_piece(void **state)
{
    (void)state;
    for (uint64_t shift = 0; shift <= 64; shift += 64) {
        struct buffer dump = dump_begin();
        lines(&dump, 0x1000, shift, shift ? "\xff" : "\x01garbage");
        loaded(&dump, 10, 0x1000, 16, "f");
        loaded(&dump, 10, 0x2000, 16, "g");
        struct jit_codes codes = {.room = SIZE_MAX};
        assert_int_equal(jit_dump_parse(&codes, &no_counter, dump.bytes, dump.size), 0);
        assert_int_equal(jit_codes_sort(&codes), 0);
        const struct jit_code *code = jit_codes_find(&codes, 0x1007, 10);
        const struct jit_line *line = jit_codes_line(&codes, code, 0x1007);
        assert_int_equal(line->line, 7);
        assert_string_equal((char *)codes.texts.bytes + line->file, "a.js");
        line = jit_codes_line(&codes, code, 0x1008);
        assert_int_equal(line->line, 9);
        assert_string_equal((char *)codes.texts.bytes + line->file, shift ? "a.js" : "");
        assert_null(jit_codes_line(&codes, jit_codes_find(&codes, 0x2000, 10), 0x2000));
        jit_codes_free(&codes);
        buffer_free(&dump);
    }
}

/* Cut at every byte, and with every byte changed: nothing worse than fewer names. */
static void damaged_jitdumps_do_no_harm(void **state)
{
    (void)state;
    struct buffer dump = dump_begin();
    lines(&dump, 0x1000, 0, "b.js");
    loaded(&dump, 10, 0x1000, 16, "f");
    moved(&dump, 40, 0x1000, 0x3000, 16);
    for (size_t i = 0; i < dump.size; i++) {
        struct jit_codes codes = {.room = SIZE_MAX};
        int err = jit_dump_parse(&codes, &some_counter, dump.bytes, i);
        assert_true(err == 0 || err == -EBADMSG);
        assert_int_equal(jit_codes_sort(&codes), 0);
        jit_codes_free(&codes);
        codes.room = SIZE_MAX;
        dump.bytes[i] ^= 0xff;
        err = jit_dump_parse(&codes, &some_counter, dump.bytes, dump.size);
        assert_true(err == 0 || err == -EBADMSG);
        assert_int_equal(jit_codes_sort(&codes), 0);
        (void)jit_codes_find(&codes, 0x1000, 50);
        jit_codes_free(&codes);
        dump.bytes[i] ^= 0xff;
    }
    buffer_free(&dump);
}

/* A million pieces that all overlap take no longer than a million that do not. */
static void pieces_that_all_overlap_are_no_trap(void **state)
{
    (void)state;
    struct jit_codes codes = {.room = SIZE_MAX};
    size_t name = jit_codes_text(&codes, "f", 1);
    for (size_t i = 0; i < 200000; i++)
        *jit_codes_add(&codes) = (struct jit_code){
            .since_ns = i, .avma = 0x1000 + i, .bytes = 1 << 29, .name = name, .generation = 1};
    assert_int_equal(jit_codes_sort(&codes), 0);
    for (size_t i = 0; i < 1000; i++)
        (void)jit_codes_find(&codes, 0x100000 + i, UINT64_MAX);
    jit_codes_free(&codes);
}

/* A FIFO left there by another test would hold the open. */
static void put_file(const char *path, const char *text)
{
    (void)unlink(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* No process has such an id. */
enum { NO_PID = 2000000001, OTHER_PID };

#define DUMP_PATH "/tmp/jit-2000000001.dump"

/* Frees the dump. */
static void put_dump(struct buffer *dump)
{
    FILE *file = fopen(DUMP_PATH, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(dump->bytes, dump->size, 1, file), 1);
    fclose(file);
    buffer_free(dump);
}

/* A process that mapped the dump and has code at [0x400000, 0x401000). */
static struct story begin_with_dump(void)
{
    struct story story = story_begin();
    comm(&story, NO_PID, NO_PID, 1000, "app", true);
    mapped(&story, NO_PID, 1000, 0x700000, 0x1000, DUMP_PATH);
    mapped(&story, NO_PID, 1000, 0x400000, 0x1000, "//anon");
    return story;
}

static void code_belongs_to_its_process(void **state)
{
    (void)state;
    char map[64];
    snprintf(map, sizeof(map), "/tmp/perf-%d.map", NO_PID);
    put_file(map, "400000 100 ours\n");
    struct story story = story_begin();
    comm(&story, NO_PID, NO_PID, 1000, "app", true);
    comm(&story, OTHER_PID, OTHER_PID, 1000, "app", true);
    mapped(&story, NO_PID, 1000, 0x400000, 0x1000, "//anon");
    mapped(&story, OTHER_PID, 1000, 0x400000, 0x1000, "//anon");
    SAMPLED(&story, NO_PID, NO_PID, 2000, 0x400010);
    SAMPLED(&story, OTHER_PID, OTHER_PID, 2001, 0x400010);
    SAMPLED(&story, NO_PID, NO_PID, 2002, 0x400500);
    struct profile *profile = story_end(&story);
    unlink(map);
    assert_string_equal(names_of(profile, 0), "ours");
    assert_string_equal(addresses_of(profile, 0), "[JIT] tid 2000000001+0x400010");
    assert_string_equal(names_of(profile, 1), "[anon 0x400000]");
    assert_string_equal(addresses_of(profile, 1), "[JIT] tid 2000000002+0x400010");
    assert_string_equal(names_of(profile, 2), "[anon 0x400000]");
    profile_free(profile);
}

/* The first one's mapping is not the second one's, although pid and address are the same. */
static void two_processes_of_one_pid_share_no_code(void **state)
{
    (void)state;
    struct story story = story_begin();
    comm(&story, NO_PID, NO_PID, 1000, "app", true);
    mapped(&story, NO_PID, 1000, 0x400000, 0x1000, "//anon");
    SAMPLED(&story, NO_PID, NO_PID, 2000, 0x400010);
    exited(&story, NO_PID, NO_PID, 2500);
    forked(&story, 1, NO_PID, NO_PID, 3000);
    comm(&story, NO_PID, NO_PID, 3000, "other", true);
    mapped(&story, NO_PID, 3000, 0x3ff000, 0x2000, "//anon");
    SAMPLED(&story, NO_PID, NO_PID, 4000, 0x400010);
    struct profile *profile = story_end(&story);
    assert_string_equal(names_of(profile, 0), "[anon 0x400000]");
    assert_string_equal(addresses_of(profile, 0), "[JIT] tid 2000000001+0x400010");
    assert_string_equal(names_of(profile, 1), "[anon 0x3ff000]");
    assert_string_equal(addresses_of(profile, 1), "[JIT] tid 2000000001.1+0x400010");
    profile_free(profile);
}

/* perf record -g of node, which has no frame pointers, before it maps its dump. */
static void a_dump_is_read_although_a_stack_led_nowhere_before(void **state)
{
    (void)state;
    struct buffer dump = dump_begin();
    loaded(&dump, 10, 0x400000, 16, "f");
    put_dump(&dump);
    struct story story = story_begin();
    comm(&story, NO_PID, NO_PID, 1000, "app", true);
    SAMPLED(&story, NO_PID, NO_PID, 1001, 0x999990);
    mapped(&story, NO_PID, 1002, 0x700000, 0x1000, DUMP_PATH);
    mapped(&story, NO_PID, 1003, 0x400000, 0x1000, "//anon");
    SAMPLED(&story, NO_PID, NO_PID, 2000, 0x400008);
    struct profile *profile = story_end(&story);
    unlink(DUMP_PATH);
    assert_string_equal(names_of(profile, 0), "0x999990");
    assert_string_equal(names_of(profile, 1), "f");
    profile_free(profile);
}

static void a_dump_with_times_of_an_unknown_counter_is_refused(void **state)
{
    (void)state;
    struct buffer dump = dump_begin();
    dump.bytes[32] = 1;
    loaded(&dump, 10, 0x400000, 16, "f");
    put_dump(&dump);
    struct story story = begin_with_dump();
    SAMPLED(&story, NO_PID, NO_PID, 2000, 0x400008);
    struct profile *profile = story_end(&story);
    unlink(DUMP_PATH);
    assert_string_equal(names_of(profile, 0), "[anon 0x400000]");
    bool is_said = false;
    for (size_t i = 0; i < profile->note_count; i++)
        is_said |= strstr(profile_text(profile, profile->notes[i].value), "counter") != NULL;
    assert_true(is_said);
    profile_free(profile);
}

/* The dump is gone when the capture is looked at again; times still tell f from h. */
static void stored_names_know_the_time_too(void **state)
{
    (void)state;
    struct buffer dump = dump_begin();
    lines(&dump, 0x400000, 0, "b.js");
    loaded(&dump, 10, 0x400000, 16, "f");
    loaded(&dump, 3000, 0x400000, 16, "h");
    put_dump(&dump);
    struct story story = begin_with_dump();
    SAMPLED(&story, NO_PID, NO_PID, 2000, 0x400008);
    SAMPLED(&story, NO_PID, NO_PID, 4000, 0x400008);
    story_finish(&story);
    for (int round = 0; round < 3; round++) {
        struct profile *profile = story_load(&story);
        struct error error;
        story_resolve(&story, profile);
        assert_string_equal(names_of(profile, 0), "f");
        assert_string_equal(names_of(profile, 1), "h");
        const struct profile_address *first =
            &profile->addresses[profile->calls[sample_at(profile, 0).call].address];
        const struct profile_frame *frame = &profile->frames[first->first_frame];
        assert_int_equal(frame->line, 9);
        assert_string_equal(profile_text(profile, frame->file), "b.js");
        assert_int_equal(convert_store_names(profile, story.path, &error), 0);
        profile_free(profile);
        unlink(DUMP_PATH);
    }
    unlink(story.path);
}

static void files_of_others_are_not_read(void **state)
{
    (void)state;
    char map[64], target[64];
    snprintf(map, sizeof(map), "/tmp/perf-%d.map", NO_PID);
    snprintf(target, sizeof(target), "/tmp/perf-%d.target", NO_PID);
    struct jit_sources sources = {0};
    struct jit_source *known = NULL;
    struct jit_file_place place = {.pid = NO_PID, .owner = geteuid(), .sources = &sources};
    struct buffer out = {0};
    assert_non_null(jit_sources_add(&sources));
    put_file(target, "400000 100 ours\n");
    assert_int_equal(symlink(target, map), 0);
    assert_int_equal(jit_file_read_map(&place, &out, &known), -ELOOP);
    unlink(map);
    assert_int_equal(mkfifo(map, 0600), 0);
    assert_int_equal(jit_file_read_map(&place, &out, &known), -EPERM);
    unlink(map);
    assert_int_equal(rename(target, map), 0);
    place.since_wall_ns = UINT64_MAX / 2;
    assert_int_equal(jit_file_read_map(&place, &out, &known), -ESTALE);
    place.since_wall_ns = 0;
    if (geteuid() == 0) {
        assert_int_equal(chown(map, 12345, 12345), 0);
        assert_int_equal(jit_file_read_map(&place, &out, &known), -EPERM);
        place.owner = 12345;
    }
    assert_int_equal(jit_file_read_map(&place, &out, &known), 0);
    assert_int_equal(out.size, strlen("400000 100 ours\n"));
    assert_null(known);
    buffer_free(&out);
    unlink(map);
    jit_sources_free(&sources);
}

/* The second process finds what the first one read, until the file is another. */
static void a_file_of_two_processes_is_read_once(void **state)
{
    (void)state;
    char map[64];
    snprintf(map, sizeof(map), "/tmp/perf-%d.map", NO_PID);
    struct jit_sources sources = {0};
    struct jit_source *known = NULL, *first = jit_sources_add(&sources);
    struct jit_file_place place = {.pid = NO_PID, .owner = geteuid(), .sources = &sources};
    struct buffer out = {0};
    put_file(map, "400000 100 ours\n");
    assert_int_equal(jit_file_read_map(&place, &out, &known), 0);
    assert_int_equal(perf_map_parse(&first->codes, out.bytes, out.size), 0);
    jit_sources_finish(&sources, 0);
    assert_int_equal(sources.pieces, 1);
    assert_non_null(jit_sources_add(&sources));
    assert_int_equal(jit_file_read_map(&place, &out, &known), 1);
    assert_ptr_equal(known, first);
    put_file(map, "400000 100 others\n");
    buffer_clear(&out);
    assert_int_equal(jit_file_read_map(&place, &out, &known), 0);
    buffer_free(&out);
    unlink(map);
    jit_sources_free(&sources);
}

static void files_beyond_the_budget_are_left_out(void **state)
{
    (void)state;
    struct jit_sources sources = {0};
    struct jit_source *known;
    const struct stat half = {.st_ino = 1,
                              .st_size = (off_t)(budget_amount(BUDGET_JIT_BYTES) / 2 + 1)};
    struct stat other = half;
    other.st_ino = 2;
    assert_non_null(jit_sources_add(&sources));
    assert_int_equal(jit_sources_admit(&sources, &half, false, &known), 0);
    jit_sources_finish(&sources, 0);
    assert_false(sources.is_exceeded);
    assert_non_null(jit_sources_add(&sources));
    assert_int_equal(jit_sources_admit(&sources, &half, false, &known), 1);
    assert_int_equal(jit_sources_admit(&sources, &other, false, &known), -EFBIG);
    assert_true(sources.is_exceeded);
    jit_sources_free(&sources);
}

static void pieces_beyond_the_budget_are_left_out(void **state)
{
    (void)state;
    struct jit_sources sources = {.pieces = (size_t)budget_amount(BUDGET_JIT_PIECES) - 1};
    struct jit_source *source = jit_sources_add(&sources);
    assert_int_equal(perf_map_parse(&source->codes, "10 1 a\n20 1 b\n", 14), 0);
    jit_sources_finish(&sources, 0);
    assert_true(sources.is_exceeded);
    assert_string_equal(name_at(&source->codes, 0x10, 0), "a");
    assert_null(jit_codes_find(&source->codes, 0x20, 0));
    jit_sources_free(&sources);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_perf_map_names_what_its_lines_cover),
        cmocka_unit_test(a_jitdump_tells_what_lay_there_at_the_time),
        cmocka_unit_test(code_lies_at_code_addr),
        cmocka_unit_test(times_of_the_counter_are_converted),
        cmocka_unit_test(lines_are_those_of_their_piece),
        cmocka_unit_test(two_processes_of_one_pid_share_no_code),
        cmocka_unit_test(a_dump_is_read_although_a_stack_led_nowhere_before),
        cmocka_unit_test(a_dump_with_times_of_an_unknown_counter_is_refused),
        cmocka_unit_test(damaged_jitdumps_do_no_harm),
        cmocka_unit_test(pieces_that_all_overlap_are_no_trap),
        cmocka_unit_test(code_belongs_to_its_process),
        cmocka_unit_test(stored_names_know_the_time_too),
        cmocka_unit_test(a_file_of_two_processes_is_read_once),
        cmocka_unit_test(files_beyond_the_budget_are_left_out),
        cmocka_unit_test(pieces_beyond_the_budget_are_left_out),
        cmocka_unit_test(files_of_others_are_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
