/* SPDX-License-Identifier: MIT */
/* Names from binaries, names stored in the capture, and captures that moved. */
#include "../symbols/toolbox.h"
#include "story.h"

#include "base/containers/cursor.h"
#include "base/files/io.h"
#include "convert/store/symbol_store.h"
#include "elf/decompress.h"
#include "elf/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/auxv.h>
#include <zlib.h>

/* Where the story's process has its program: not where the file says, and not at a page that would
 * hide a wrong bias. */
#define START 0x7f0000123000

struct program {
    char path[256];
    uint8_t build_id[8];
    /* The pages of its executable segment, from readelf: as the kernel maps them. */
    uint64_t text_offset, text_svma, text_bytes;
};

/* Links sym_cxx.cc, which is compiled once: flags decide where its code lies in file and memory. */
static struct program build(const char *name, const char *flags)
{
    struct program program = {.build_id = {1, 2, 3, 4, 5, 6, 7, 8}};
    if (run("{ test -f cxx.o || g++ -O1 -g -c $S/sym_cxx.cc -o cxx.o; } && "
            "g++ -Wl,--build-id=0x0102030405060708 %s cxx.o -o %s",
            flags, name) != 0)
        fail_msg("cannot build %s", name);
    snprintf(program.path, sizeof(program.path), "%s", in_directory(name));
    char *line = output_of("readelf -lW %s | grep -m1 'LOAD.*R E'", program.path);
    unsigned long long offset, svma, physical, bytes;
    assert_int_equal(sscanf(line, " LOAD %llx %llx %llx %llx", &offset, &svma, &physical, &bytes),
                     4);
    free(line);
    uint64_t into_page = offset % 4096;
    program.text_offset = offset - into_page;
    program.text_svma = svma - into_page;
    program.text_bytes = (bytes + into_page + 4095) / 4096 * 4096;
    return program;
}

static uint64_t avma_of(const struct program *program, const char *symbol)
{
    return address_of(strrchr(program->path, '/') + 1, symbol) - program->text_svma + START;
}

static const char run_symbol[] = "_ZN4shop3runERSt6vectorIiSaIiEE";

/* The program calls run() from main; samples at every third byte of both. */
static struct story tell(const struct program *program)
{
    struct story story = story_begin();
    comm(&story, 10, 10, 0, "app", true);
    mapped_file(&story, 10, 0, START, program->text_bytes, program->text_offset, program->path,
                program->build_id, sizeof(program->build_id));
    uint64_t main_avma = avma_of(program, "main"), run_avma = avma_of(program, run_symbol);
    for (uint64_t i = 0; i < 100; i++)
        SAMPLED(&story, 10, 10, 2000 + i, run_avma + 3 * i, main_avma + 5 + i % 7, START - 99);
    story_finish(&story);
    return story;
}

/* Everything in a profile that depends on names, as text; to be freed. */
static char *described(const struct profile *profile)
{
    struct buffer out = {0};
    for (size_t i = 0; i < profile->frame_count; i++) {
        const struct profile_frame *frame = &profile->frames[i];
        const struct profile_func *func = &profile->funcs[frame->func];
        buffer_printf(&out, "%llx %s %s %s:%u | %s:%u:%u depth %u category %d",
                      (unsigned long long)frame->svma, profile_text(profile, func->name),
                      profile_text(profile, func->system_name), profile_text(profile, func->file),
                      func->line, profile_text(profile, frame->file), frame->line, frame->column,
                      frame->inline_depth, frame->category);
        if (frame->symbol != PROFILE_NONE) {
            const struct profile_symbol *symbol = &profile->symbols[frame->symbol];
            buffer_printf(&out, " symbol %s %llx %llx", profile_text(profile, symbol->name),
                          (unsigned long long)symbol->svma, (unsigned long long)symbol->bytes);
        }
        buffer_text(&out, "\n");
    }
    for (size_t i = 0; i < profile->lib_count; i++) {
        const struct profile_lib *lib = &profile->libs[i];
        buffer_printf(&out, "lib %s base %llx bias %llx has %d%d%d%d\n",
                      profile_text(profile, lib->path), (unsigned long long)lib->base_svma,
                      (unsigned long long)lib->map_bias, lib->has_functions, lib->has_files,
                      lib->has_lines, lib->has_inlines);
    }
    for (size_t i = 0; i < profile->sample_count; i++)
        buffer_printf(&out, "%s\n", names_of(profile, i));
    for (size_t i = 0; i < profile->note_count; i++)
        buffer_printf(&out, "note %s\n", profile_text(profile, profile->notes[i].value));
    buffer_u8(&out, 0);
    assert_false(out.failed);
    return (char *)out.bytes;
}

/* Loads, resolves and describes a capture; store: keeps the names in it. */
static char *convert(const struct story *story, bool store)
{
    struct profile *profile = story_load(story);
    story_resolve(story, profile);
    struct error error = {{0}};
    if (store && convert_store_names(profile, story->path, &error) != 0)
        fail_msg("%s", error.text);
    char *text = described(profile);
    profile_free(profile);
    return text;
}

/* Position-independent; at a fixed address (svma is not the offset); and by a linker whose segments
 * begin in the middle of a page. */
static const char *const layouts[] = {"", "-no-pie", "-fuse-ld=gold"};
enum { LAYOUTS = sizeof(layouts) / sizeof(layouts[0]) };

static void addresses_get_the_names_that_the_binary_has_for_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAYOUTS; i++) {
        struct program program = build("app", layouts[i]);
        struct story story = tell(&program);
        struct profile *profile = story_load(&story);
        story_resolve(&story, profile);
        assert_string_equal(names_of(profile, 0),
                            "0x7f0000122f9c;main;"
                            "shop::run(std::vector<int, std::allocator<int> >&)");
        const struct profile_lib *lib = &profile->libs[0];
        assert_int_equal(lib->map_bias, START - program.text_svma);
        assert_true(lib->has_functions && lib->has_files && lib->has_lines && lib->has_inlines);
        profile_free(profile);
        unlink(story.path);
    }
}

static void a_moved_capture_converts_to_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAYOUTS; i++) {
        struct program program = build("app", layouts[i]);
        struct story story = tell(&program), bare = tell(&program);
        char *before = convert(&story, true);
        char *again = convert(&story, false);
        assert_string_equal(before, again);
        assert_int_equal(run("mv app away"), 0);
        char *moved = convert(&story, false);
        assert_string_equal(before, moved);
        /* Without the stored names nothing would be known. */
        char *unknown = convert(&bare, false);
        assert_null(strstr(unknown, "shop::run"));
        free(before);
        free(again);
        free(moved);
        free(unknown);
        unlink(story.path);
        unlink(bare.path);
    }
}

static void another_file_at_the_same_path_changes_nothing(void **state)
{
    (void)state;
    struct program program = build("app", "");
    struct story story = tell(&program);
    char *before = convert(&story, true);
    assert_int_equal(run("gcc -g -Wl,--build-id=0xffff $S/sym_c.c -o app"), 0);
    char *moved = convert(&story, false);
    assert_string_equal(before, moved);
    free(before);
    free(moved);
    unlink(story.path);
}

/* Storing again where the files are gone keeps what was stored. */
static void names_survive_being_stored_again(void **state)
{
    (void)state;
    struct program program = build("app", "-no-pie");
    struct story story = tell(&program);
    char *before = convert(&story, true);
    assert_int_equal(run("mv app away"), 0);
    char *moved = convert(&story, true);
    char *twice = convert(&story, false);
    assert_string_equal(before, moved);
    assert_string_equal(before, twice);
    free(before);
    free(moved);
    free(twice);
    unlink(story.path);
}

static void debug_info_that_comes_later_is_used(void **state)
{
    (void)state;
    struct program program = build("app", "");
    assert_int_equal(run("cp app whole && strip -g app"), 0);
    struct story story = tell(&program);
    char *before = convert(&story, true);
    assert_null(strstr(before, "sym_cxx.cc"));
    assert_int_equal(run("mv whole app"), 0);
    char *after = convert(&story, false);
    assert_non_null(strstr(after, "sym_cxx.cc"));
    free(before);
    free(after);
    unlink(story.path);
}

static void count_lookup(void *context, const char *what, size_t done, size_t of)
{
    (void)what;
    (void)done;
    (void)of;
    ++*(size_t *)context;
}

/* How many files were read for names. */
static size_t lookups_of(const struct story *story, const char *debug_directory, bool store)
{
    size_t count = 0;
    struct convert_options options = {
        .debug_directory = debug_directory, .progress = count_lookup, .progress_context = &count};
    struct error error = {{0}};
    struct profile *profile = story_load(story);
    story_resolve_with(story, profile, &options);
    if (store && convert_store_names(profile, story->path, &error) != 0)
        fail_msg("%s", error.text);
    profile_free(profile);
    return count;
}

/* One address in a function, one behind all of them. */
static struct story tell_of_gap(const struct program *program)
{
    struct story story = story_begin();
    comm(&story, 10, 10, 0, "app", true);
    mapped_file(&story, 10, 0, START, program->text_bytes, program->text_offset, program->path,
                program->build_id, sizeof(program->build_id));
    SAMPLED(&story, 10, 10, 2000, START + program->text_bytes - 8, avma_of(program, "main") + 5);
    story_finish(&story);
    return story;
}

static void what_has_no_name_is_looked_up_once(void **state)
{
    (void)state;
    struct program program = build("app", "");
    struct story story = tell_of_gap(&program);
    assert_int_equal(lookups_of(&story, NULL, true), 1);
    assert_int_equal(lookups_of(&story, NULL, false), 0);
    assert_int_equal(lookups_of(&story, "/nonexistent", false), 1); /* who asks, hopes */
    unlink(story.path);
}

static void names_without_lines_are_looked_up_again_where_debug_info_is(void **state)
{
    (void)state;
    struct program program = build("app", "");
    struct story story = tell_of_gap(&program);
    assert_int_equal(run("cp app whole && objcopy --only-keep-debug app app.debug && strip app && "
                         "objcopy --add-gnu-debuglink=app.debug app && mv app.debug away"),
                     0);
    assert_int_equal(lookups_of(&story, NULL, true), 1);
    assert_int_equal(lookups_of(&story, NULL, false), 0);
    assert_int_equal(run("mv away app.debug"), 0);
    assert_int_equal(lookups_of(&story, NULL, false), 1);
    char *after = convert(&story, false);
    assert_non_null(strstr(after, "sym_cxx.cc"));
    free(after);
    assert_int_equal(run("rm app.debug"), 0);
    assert_int_equal(lookups_of(&story, NULL, false), 0);
    assert_int_equal(
        run("mkdir -p debug/.build-id/01 && mv whole debug/.build-id/01/02030405060708.debug"), 0);
    assert_int_equal(lookups_of(&story, in_directory("debug"), false), 1);
    unlink(story.path);
}

static void a_binary_with_another_build_id_gives_no_names_and_a_note(void **state)
{
    (void)state;
    struct program program = build("app", "");
    program.build_id[7] ^= 1;
    struct story story = tell(&program);
    struct profile *profile = story_load(&story);
    story_resolve(&story, profile);
    assert_null(strstr(names_of(profile, 0), "run"));
    assert_non_null(strstr(profile_note(profile, "no_names"), program.path));
    profile_free(profile);
    unlink(story.path);
}

/* Unless it was written after the recording, which ended in January 1970. */
static void a_capture_without_a_build_id_takes_the_file_that_was_there(void **state)
{
    (void)state;
    struct program program = build("app", "");
    const struct timespec at_the_time[2] = {{.tv_sec = 4}, {.tv_sec = 4}};
    struct story story = story_begin();
    comm(&story, 10, 10, 0, "app", true);
    mapped_file(&story, 10, 0, START, program.text_bytes, program.text_offset, program.path, NULL,
                0);
    SAMPLED(&story, 10, 10, 2000, avma_of(&program, "main"));
    story_finish(&story);
    struct profile *profile = story_load(&story);
    story_resolve(&story, profile);
    assert_string_not_equal(names_of(profile, 0), "main");
    assert_non_null(strstr(profile_note(profile, "no_names"), "written after the recording"));
    profile_free(profile);
    assert_int_equal(utimensat(AT_FDCWD, program.path, at_the_time, 0), 0);
    profile = story_load(&story);
    story_resolve(&story, profile);
    assert_string_equal(names_of(profile, 0), "main");
    profile_free(profile);
    unlink(story.path);
}

/* The oracle is nm on a copy of the image. */
static void the_vdso_is_named_when_it_is_this_kernels(void **state)
{
    (void)state;
    const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);
    if (!image)
        skip();
    const Elf64_Ehdr *header = image;
    size_t bytes = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    struct elf_file *elf;
    struct error error;
    uint8_t build_id[20];
    assert_int_equal(elf_open_memory(&elf, image, bytes, &error), 0);
    size_t build_id_bytes = elf_build_id(elf, build_id);
    elf_close(elf);
    FILE *copy = fopen(in_directory("vdso"), "w");
    assert_non_null(copy);
    assert_int_equal(fwrite(image, bytes, 1, copy), 1);
    fclose(copy);
    char *text = output_of("nm -D %s/vdso | awk '/__vdso_time/ { print $1 }'", test_directory);
    uint64_t svma = strtoull(text, NULL, 16);
    free(text);
    for (int is_other = 0; is_other < 2; is_other++) {
        build_id[0] ^= (uint8_t)is_other;
        struct story story = story_begin();
        mapped_file(&story, 10, 0, START, 0x2000, 0, "[vdso]", build_id, build_id_bytes);
        SAMPLED(&story, 10, 10, 2000, START + svma);
        struct profile *profile = story_end(&story);
        bool is_named = strcmp(names_of(profile, 0), "__vdso_time") == 0 ||
                        strcmp(names_of(profile, 0), "time") == 0;
        assert_int_equal(is_named, !is_other);
        profile_free(profile);
    }
}

/* The names of a resolved story: the section of a capture, or not compressed. */
static struct buffer written_names(bool is_plain)
{
    struct program program = build("app", "");
    struct story story = tell(&program);
    struct profile *profile = story_load(&story);
    story_resolve(&story, profile);
    struct buffer out = {0};
    assert_int_equal(is_plain ? symbol_store_write_plain(profile, &out)
                              : symbol_store_write(profile, NULL, &out),
                     0);
    profile_free(profile);
    unlink(story.path);
    return out;
}

static struct buffer stored_names(void)
{
    return written_names(false);
}

static void a_changed_byte_or_a_missing_end_is_noticed(void **state)
{
    (void)state;
    struct buffer bytes = stored_names();
    struct symbol_store *store;
    assert_int_equal(symbol_store_parse(&store, bytes.bytes, bytes.size), 0);
    symbol_store_free(store);
    for (size_t i = 0; i < bytes.size; i++) {
        bytes.bytes[i] ^= 0x10;
        assert_int_equal(symbol_store_parse(&store, bytes.bytes, bytes.size), -EBADMSG);
        bytes.bytes[i] ^= 0x10;
        assert_int_equal(symbol_store_parse(&store, bytes.bytes, i), -EBADMSG);
    }
    buffer_free(&bytes);
}

static void seal(struct buffer *bytes)
{
    uint32_t checksum = (uint32_t)crc32_z(0, bytes->bytes + SYMBOL_STORE_HEADER_BYTES,
                                          bytes->size - SYMBOL_STORE_HEADER_BYTES);
    buffer_set_u32(bytes, SYMBOL_STORE_HEADER_BYTES - 4, checksum);
}

/* Version 1: the same tables, not compressed. */
static struct buffer plain_names(void)
{
    struct buffer packed = stored_names(), plain = {0};
    struct cursor c = cursor_of(packed.bytes, packed.size);
    cursor_skip(&c, SYMBOL_STORE_HEADER_BYTES);
    uint64_t size = cursor_uleb128(&c);
    buffer_append(&plain, packed.bytes, SYMBOL_STORE_HEADER_BYTES);
    assert_int_equal(decompress_zlib(packed.bytes + c.at, packed.size - c.at, size, &plain), 0);
    assert_true(plain.size > packed.size);
    buffer_set_u32(&plain, strlen(SYMBOL_STORE_MAGIC), SYMBOL_STORE_PLAIN);
    seal(&plain);
    buffer_free(&packed);
    return plain;
}

/* The same tables without segments, which only a capture keeps. */
static void names_from_workers_are_not_compressed(void **state)
{
    (void)state;
    struct buffer bytes[2] = {stored_names(), written_names(true)};
    struct symbol_store *stores[2];
    struct cursor version = cursor_of(bytes[1].bytes, bytes[1].size);
    cursor_skip(&version, strlen(SYMBOL_STORE_MAGIC));
    assert_int_equal(cursor_u32(&version), SYMBOL_STORE_PLAIN);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(symbol_store_parse(&stores[i], bytes[i].bytes, bytes[i].size), 0);
    assert_int_equal(stores[0]->lib_count, stores[1]->lib_count);
    assert_int_equal(stores[0]->address_count, stores[1]->address_count);
    assert_int_equal(stores[0]->frame_count, stores[1]->frame_count);
    for (size_t i = 0; i < stores[0]->frame_count; i++)
        assert_string_equal(stores[0]->frames[i].name, stores[1]->frames[i].name);
    for (size_t i = 0; i < stores[0]->address_count; i++)
        assert_int_equal(stores[0]->addresses[i].svma, stores[1]->addresses[i].svma);
    size_t known = 0;
    for (size_t i = 0; i < stores[0]->lib_count; i++) {
        known += stores[0]->libs[i].segments.is_known;
        assert_false(stores[1]->libs[i].segments.is_known);
    }
    assert_true(known > 0);
    for (size_t i = 0; i < 2; i++) {
        symbol_store_free(stores[i]);
        buffer_free(&bytes[i]);
    }
}

static void names_of_earlier_captures_are_read(void **state)
{
    (void)state;
    struct buffer packed = stored_names(), plain = plain_names();
    struct symbol_store *stores[2];
    assert_int_equal(symbol_store_parse(&stores[0], packed.bytes, packed.size), 0);
    assert_int_equal(symbol_store_parse(&stores[1], plain.bytes, plain.size), 0);
    assert_true(stores[0]->address_count > 0);
    assert_int_equal(stores[0]->address_count, stores[1]->address_count);
    assert_int_equal(stores[0]->frame_count, stores[1]->frame_count);
    for (size_t i = 0; i < stores[0]->frame_count; i++)
        assert_string_equal(stores[0]->frames[i].name, stores[1]->frames[i].name);
    for (size_t i = 0; i < 2; i++)
        symbol_store_free(stores[i]);
    buffer_free(&packed);
    buffer_free(&plain);
}

/* A size that no stream of these bytes has. */
static void wrong_sizes_are_refused(void **state)
{
    (void)state;
    static const uint8_t sizes[][10] = {
        {0x00}, {0x7f}, {0xff, 0xff, 0xff, 0xff, 0x0f}, {[0 ... 8] = 0xff, [9] = 0x01}};
    struct buffer packed = stored_names();
    struct cursor c = cursor_of(packed.bytes, packed.size);
    cursor_skip(&c, SYMBOL_STORE_HEADER_BYTES);
    cursor_uleb128(&c);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct buffer bytes = {0};
        struct symbol_store *store;
        size_t length = 1;
        while (sizes[i][length - 1] & 0x80)
            length++;
        buffer_append(&bytes, packed.bytes, SYMBOL_STORE_HEADER_BYTES);
        buffer_append(&bytes, sizes[i], length);
        buffer_append(&bytes, packed.bytes + c.at, packed.size - c.at);
        seal(&bytes);
        assert_int_equal(symbol_store_parse(&store, bytes.bytes, bytes.size), -EBADMSG);
        buffer_free(&bytes);
    }
    buffer_free(&packed);
}

/* Each lib of a profile is compared with all of them. */
static void too_many_files_are_refused(void **state)
{
    (void)state;
    enum { MOST = 1 << 16, NUMBERS_OF_FILE = 6 };
    for (size_t count = MOST; count <= MOST + 1; count++) {
        struct buffer bytes = {0};
        struct symbol_store *store = NULL;
        buffer_text(&bytes, SYMBOL_STORE_MAGIC);
        buffer_u32(&bytes, SYMBOL_STORE_PLAIN);
        buffer_u32(&bytes, 0);
        buffer_append(&bytes, (const uint8_t[]){1, 1, 'a', 0}, 4); /* a string, no function */
        const uint8_t number[] = {(uint8_t)(0x80 | count), (uint8_t)(0x80 | count >> 7),
                                  (uint8_t)(count >> 14)};
        buffer_append(&bytes, number, sizeof(number));
        for (size_t i = 0; i < NUMBERS_OF_FILE * count; i++)
            buffer_u8(&bytes, 0);
        seal(&bytes);
        const int err = symbol_store_parse(&store, bytes.bytes, bytes.size);
        assert_int_equal(err, count > MOST ? -EBADMSG : 0);
        if (err == 0)
            symbol_store_free(store);
        buffer_free(&bytes);
    }
}

/* With the checksum made right again, the content has to be checked itself. */
static void hostile_content_does_no_harm(void **state)
{
    (void)state;
    struct buffer bytes = plain_names();
    uint8_t *copy = malloc(bytes.size);
    assert_non_null(copy);
    srandom(1);
    unsigned accepted = 0, refused = 0;
    for (int round = 0; round < 3000; round++) {
        memcpy(copy, bytes.bytes, bytes.size);
        for (long changes = random() % 4; changes >= 0; changes--)
            copy[SYMBOL_STORE_HEADER_BYTES +
                 (size_t)random() % (bytes.size - SYMBOL_STORE_HEADER_BYTES)] =
                (uint8_t)(random() % 3 ? random() : 0xff);
        uint32_t checksum = (uint32_t)crc32_z(0, copy + SYMBOL_STORE_HEADER_BYTES,
                                              bytes.size - SYMBOL_STORE_HEADER_BYTES);
        memcpy(copy + SYMBOL_STORE_HEADER_BYTES - 4, &checksum, 4);
        struct symbol_store *store;
        int err = symbol_store_parse(&store, copy, bytes.size);
        if (err == 0)
            for (size_t i = 0; i < store->address_count; i++) {
                struct symbol_result result;
                if (symbol_store_find(store, &store->libs[0], store->addresses[i].svma, &result))
                    for (size_t j = 0; j < result.frame_count; j++)
                        assert_non_null(result.frames[j].name);
            }
        accepted += err == 0;
        refused += err == -EBADMSG;
        symbol_store_free(err == 0 ? store : NULL);
    }
    assert_int_equal(accepted + refused, 3000);
    assert_true(accepted > 0 && refused > 0);
    free(copy);
    buffer_free(&bytes);
}

static void names_that_cannot_be_used_are_looked_up_anew(void **state)
{
    (void)state;
    struct program program = build("app", "");
    struct story story = tell(&program);
    free(convert(&story, false));
    struct error error;
    int fd = open(story.path, O_RDWR);
    assert_int_equal(perfdata_replace_feature(fd, PERFDATA_FEATURE_SYMBOLS, "nonsense", 8, &error),
                     0);
    close(fd);
    struct profile *profile = story_load(&story);
    story_resolve(&story, profile);
    assert_non_null(strstr(names_of(profile, 0), "shop::run"));
    assert_non_null(profile_note(profile, "stored_names"));
    profile_free(profile);
    unlink(story.path);
}

int main(void)
{
    if (system("g++ --version >/dev/null 2>&1") != 0) {
        printf("skipped: g++ is not installed\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_get_the_names_that_the_binary_has_for_them),
        cmocka_unit_test(a_moved_capture_converts_to_the_same),
        cmocka_unit_test(another_file_at_the_same_path_changes_nothing),
        cmocka_unit_test(names_survive_being_stored_again),
        cmocka_unit_test(debug_info_that_comes_later_is_used),
        cmocka_unit_test(what_has_no_name_is_looked_up_once),
        cmocka_unit_test(names_without_lines_are_looked_up_again_where_debug_info_is),
        cmocka_unit_test(a_binary_with_another_build_id_gives_no_names_and_a_note),
        cmocka_unit_test(a_capture_without_a_build_id_takes_the_file_that_was_there),
        cmocka_unit_test(the_vdso_is_named_when_it_is_this_kernels),
        cmocka_unit_test(a_changed_byte_or_a_missing_end_is_noticed),
        cmocka_unit_test(names_from_workers_are_not_compressed),
        cmocka_unit_test(names_of_earlier_captures_are_read),
        cmocka_unit_test(wrong_sizes_are_refused),
        cmocka_unit_test(too_many_files_are_refused),
        cmocka_unit_test(hostile_content_does_no_harm),
        cmocka_unit_test(names_that_cannot_be_used_are_looked_up_anew),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
