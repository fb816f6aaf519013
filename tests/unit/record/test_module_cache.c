/* SPDX-License-Identifier: MIT */
/*
 * What of a module is in the shared memory, and whose goes for it. That is filled by modules that are made up; the one
 * that needs room is a real one.
 */
#include "record/tables/modules/module_cache.c"

#include "base/budget.h"

#include <elf.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define PROGRAM TARGETS_DIR "/shares"

struct fixture {
    struct tables *tables;
    struct open_file_cache kept;
    struct module_cache *store;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    fixture->tables = mmap(NULL, sizeof(*fixture->tables), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(fixture->tables, MAP_FAILED);
    assert_int_equal(module_cache_open(&fixture->store, fixture->tables, &fixture->kept), 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    module_cache_close(fixture->store);
    open_file_cache_free(&fixture->kept);
    munmap(fixture->tables, sizeof(*fixture->tables));
    free(fixture);
    return 0;
}

static struct known_module *add(struct fixture *fixture, size_t cells, uint32_t users)
{
    struct module_cache *store = fixture->store;
    struct known_module *module = calloc(1, sizeof(*module));
    assert_non_null(module);
    module->path = strdup("/made/up");
    assert_int_equal(module_set_add(&store->set, module), 0);
    assert_int_equal(row_allocator_take(&store->room, &module->blocks, cells, &module->index_first),
                     0);
    module->users = users;
    module->last_use = ++store->set.uses;
    module->state = MODULE_READ;
    return module;
}

static struct known_module *get(struct fixture *fixture, const char *path, uid_t uid)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    const struct rights rights = {.uid = uid, .gid = uid};
    const struct mapped_file file = {.pid = getpid(),
                                     .path = path,
                                     .device = status.st_dev,
                                     .inode = status.st_ino,
                                     .rights = &rights};
    struct known_module *module = module_cache_get(fixture->store, &file);
    assert_non_null(module);
    return module;
}

static struct known_module *read_file(struct fixture *fixture, const char *path)
{
    struct known_module *module = get(fixture, path, 0);
    if (module->state == MODULE_UNREAD)
        module_cache_read(fixture->store, module);
    return module;
}

static struct known_module *read_program(struct fixture *fixture)
{
    return read_file(fixture, PROGRAM);
}

/* What a sampler finds at an address of the program. */
static bool find_row(const struct fixture *fixture, const struct known_module *module,
                     uint64_t svma, uint32_t *rule)
{
    const struct row *rows = fixture->tables->rows;
    const struct row_table table = {
        .rows = rows,
        .row_count = SESSION_ROWS,
        .buckets = (const uint64_t *)(const void *)(rows + module->index_first),
        .bucket_count = module->buckets.count,
        .bucket_shift = module->buckets.shift};
    return unwind_find_in_table(&table, (uint32_t)(svma - module->base_svma), rule);
}

static bool find_entry(const struct fixture *fixture, const struct known_module *module,
                       uint32_t *rule)
{
    return find_row(fixture, module, elf_entry_svma(module->elf), rule);
}

static void a_module_that_was_read_has_an_index_and_rows_when_they_are_compiled(void **state)
{
    struct fixture *fixture = *state;
    uint32_t rule;
    struct known_module *module = read_program(fixture);
    assert_int_equal(module->state, MODULE_READ);
    assert_int_equal(module->piece_count, 1);
    assert_false(find_entry(fixture, module, &rule));
    assert_int_equal(module_cache_rows(fixture->store), 0);
    module_cache_compile(fixture->store, module, 0);
    assert_int_equal(module->state, MODULE_READ);
    assert_true(find_entry(fixture, module, &rule));
    assert_int_equal(row_kind(rule), ROW_END);
    assert_in_range(module_cache_rows(fixture->store), 3, 4000);
    assert_int_equal(module->blocks.cells,
                     module->buckets.count + module_cache_rows(fixture->store));
}

static void code_without_cfi_has_rows_when_it_was_read(void **state)
{
    struct fixture *fixture = *state;
    uint32_t rule;
    struct known_module *module = read_file(fixture, TARGETS_DIR "/by_hand");
    module->is_requested[0] = true;
    module_cache_compile(fixture->store, module, 0);
    uint64_t before = module_cache_rows(fixture->store);
    assert_null(module->code);
    module_cache_read_code(fixture->store, module);
    assert_non_null(module->code);
    assert_true(module_cache_rows(fixture->store) > before);
    const struct code_name name = code_name_of("hand_pushes");
    uint64_t svma = code_image_find(module->code, &name);
    assert_true(find_row(fixture, module, svma + 1, &rule));
    assert_int_equal(rule, row_rule(ROW_SP, ROW_FP_SAME, 2));
    assert_int_equal(module_cache_cfi_conflicts(fixture->store), 1);
    uint64_t filled = module_cache_rows(fixture->store);
    module_cache_compile(fixture->store, module, 0); /* requested before the code was read */
    assert_int_equal(module_cache_rows(fixture->store), filled);
}

/* A test suite of large programs, each run once, fills it within minutes. */
static void what_nobody_uses_makes_room_the_oldest_first(void **state)
{
    struct fixture *fixture = *state;
    add(fixture, 100, 1);
    add(fixture, SESSION_ROWS / 2, 0);
    const struct known_module *newer = add(fixture, SESSION_ROWS / 2 - ROW_BLOCK_CELLS, 0);
    const struct known_module *module = read_program(fixture);
    assert_int_equal(module->state, MODULE_READ);
    assert_int_equal(module->index_first, ROW_BLOCK_CELLS);
    assert_int_equal(fixture->store->set.count, 3);
    assert_ptr_equal(fixture->store->set.modules[1], module);
    assert_ptr_equal(fixture->store->set.modules[2], newer);
}

/* A program may load a thousand plugins, and unload them. */
static void a_crowd_that_was_in_use_does_not_stay(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < 3 * MODULES_KEPT; i++)
        add(fixture, 1, 1);
    read_program(fixture);
    assert_int_equal(fixture->store->set.count, 3 * MODULES_KEPT + 1);
    for (size_t i = 0; i < 3 * MODULES_KEPT; i++)
        known_module_release(fixture->store->set.modules[i]);
    const struct rights own = {0};
    const struct mapped_file another = {
        .pid = getpid(), .path = "/nowhere", .inode = 1, .rights = &own};
    assert_non_null(module_cache_get(fixture->store, &another));
    assert_int_equal(fixture->store->set.count, MODULES_KEPT);
}

static void what_is_in_use_stays(void **state)
{
    struct fixture *fixture = *state;
    add(fixture, SESSION_ROWS, 1);
    const struct known_module *module = read_program(fixture);
    assert_int_equal(module->state, MODULE_NO_ROOM);
    assert_non_null(module->unwind); /* the launcher can walk through it all the same */
    assert_int_equal(fixture->store->set.count, 2);
}

/* Not before the pause is over. */
static void assert_may_be_requested_again(const struct known_module *module, bool is_requested)
{
    assert_false(is_requested);
    assert_in_range(module->pause_end_ns, monotonic_ns() + NO_ROOM_PAUSE_NS / 2,
                    monotonic_ns() + NO_ROOM_PAUSE_NS);
}

static void an_index_that_found_no_room_is_there_when_it_is_asked_for_again(void **state)
{
    struct fixture *fixture = *state;
    struct known_module *other = add(fixture, SESSION_ROWS, 1);
    struct known_module *module = read_program(fixture);
    const struct unwind_module *unwind = module->unwind;
    for (int i = 0; i < 2; i++) {
        module->is_cfi_requested = true;
        module_cache_read(fixture->store, module);
        assert_int_equal(module->state, MODULE_NO_ROOM);
        assert_may_be_requested_again(module, module->is_cfi_requested);
    }
    known_module_release(other);
    module_cache_read(fixture->store, module);
    assert_int_equal(module->state, MODULE_READ);
    assert_ptr_equal(module->unwind, unwind); /* which the collector may be using */
    module_cache_compile(fixture->store, module, 0);
    uint32_t rule;
    assert_true(find_entry(fixture, module, &rule));
}

static void rows_that_found_no_room_are_there_when_they_are_asked_for_again(void **state)
{
    struct fixture *fixture = *state;
    struct known_module *module = read_program(fixture);
    module->blocks.next = module->blocks.end;
    struct known_module *other = add(fixture, SESSION_ROWS - ROW_BLOCK_CELLS, 1);
    module->is_requested[0] = true;
    module_cache_compile(fixture->store, module, 0);
    assert_int_equal(module->state, MODULE_READ); /* other pieces may be smaller */
    assert_may_be_requested_again(module, module->is_requested[0]);
    uint32_t rule;
    assert_false(find_entry(fixture, module, &rule));
    known_module_release(other);
    module->is_requested[0] = true;
    module_cache_compile(fixture->store, module, 0);
    assert_true(module->is_requested[0]);
    assert_true(find_entry(fixture, module, &rule));
}

static void spend_all(struct fixture *fixture, uid_t uid)
{
    assert_true(reading_time_is_left(&fixture->store->budget.time, uid, monotonic_ns()));
    reading_time_spend(&fixture->store->budget.time, uid, 1000 * READING_START_NS);
}

static void files_of_a_user_without_time_wait_for_another_user(void **state)
{
    enum { SPENT = 65534, FRESH = 65533 };
    struct fixture *fixture = *state;
    const bool is_limited = geteuid() == 0;
    spend_all(fixture, SPENT);
    assert_int_equal(!get(fixture, "/bin/true", SPENT)->elf, is_limited);
    assert_int_equal(!get(fixture, "/bin/true", SPENT)->elf, is_limited);
    assert_int_equal(module_cache_left_out(fixture->store).files, is_limited);
    struct known_module *module = get(fixture, "/bin/true", FRESH);
    assert_non_null(module->elf);
    module_cache_read(fixture->store, module);
    assert_int_equal(module->state, MODULE_READ);
    spend_all(fixture, FRESH);
    module->is_requested[0] = true;
    module_cache_compile(fixture->store, module, 0);
    assert_int_equal(module->is_requested[0], !is_limited);
    module->is_code_requested = true;
    module_cache_read_code(fixture->store, module);
    assert_int_equal(module->code_state, is_limited ? MODULE_NO_ROOM : MODULE_READ);
    assert_int_equal(module->is_code_requested, !is_limited);
    assert_non_null(get(fixture, "/bin/true", 0)->elf); /* root has no limit */
    module_cache_read_code(fixture->store, module);
    assert_int_equal(module->code_state, MODULE_READ);
    assert_non_null(module->code);
    module->is_requested[0] = true;
    module_cache_compile(fixture->store, module, 0);
    assert_true(module->is_requested[0]);
}

/* Whether the code is read for a large program with a gap of CFI there. */
static bool is_read_for_gap(const struct known_module *program, uint64_t svma, uint32_t bytes)
{
    const uint32_t start = (uint32_t)(svma - program->base_svma);
    struct row of_piece[] = {{start - 16, row_rule(ROW_SP, ROW_FP_SAME, 1)},
                             {start, row_rule(ROW_NONE, ROW_FP_SAME, 0)},
                             {start + bytes, row_rule(ROW_SP, ROW_FP_SAME, 1)}};
    const struct compiled_rows rows = {.rows = of_piece, .count = 3};
    struct known_module large = *program;
    large.is_searched = false;
    return module_code_is_needed(&large, &rows, start + ROW_PIECE_BYTES);
}

static void code_of_large_programs_is_not_read_for_their_start_files(void **state)
{
    const struct known_module *module = read_program(*state);
    const uint64_t entry_svma = elf_entry_svma(module->elf);
    const uint64_t behind_start = entry_svma + 34;
    assert_false(is_read_for_gap(module, behind_start, 206)); /* deregister_tm_clones and others */
    assert_false(is_read_for_gap(module, behind_start + 15, 191)); /* without PIE */
    assert_true(is_read_for_gap(module, behind_start, 1000));
    assert_true(is_read_for_gap(module, behind_start + 4096, 191));
    assert_true(is_read_for_gap(module, entry_svma - 191, 191));
    assert_false(is_read_for_gap(module, behind_start + 4096, 64)); /* padding */
}

/* Three files of 30 MiB of unwind tables each, for a user whose files have 48 MiB together. */
static void hold_tables_to_limit(struct fixture *fixture, const char *directory, uid_t uid)
{
    enum { FILES = 3 };
    const bool is_of_others = uid != 0 && geteuid() == 0;
    const uint64_t *bytes = &fixture->store->budget.held_bytes[is_of_others];
    struct known_module *modules[FILES];
    char path[64];
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof(path), "%s/%u-%d", directory, uid, i);
        modules[i] = get(fixture, path, uid);
        if (modules[i]->state == MODULE_UNREAD)
            module_cache_read(fixture->store, modules[i]);
        assert_int_equal(modules[i]->state, i ? MODULE_NO_ROOM : MODULE_READ);
        assert_in_range(*bytes, 30 << 20, FILE_BYTES_MAX);
    }
    const struct left_out left_out = module_cache_left_out(fixture->store);
    assert_int_equal(is_of_others ? left_out.files : left_out.tables, 2);
    known_module_release(modules[0]); /* makes room */
    module_cache_read(fixture->store, modules[1]);
    assert_int_equal(modules[1]->state, MODULE_READ);
}

/* Sparse files cost nothing on the disk; rec reads unwind tables into memory. */
static void unwind_tables_have_a_limit_together_and_another_one_for_other_users(void **state)
{
    enum { OTHER = 65534 };
    struct fixture *fixture = *state;
    const uint64_t default_bytes = budget_amount(BUDGET_TABLE_BYTES);
    char directory[] = "/tmp/rec-test-XXXXXX", command[512];
    assert_non_null(mkdtemp(directory));
    snprintf(
        command, sizeof(command),
        "chmod 755 %s && cd %s && truncate -s 30M zeros && for i in %d-0 %d-1 %d-2 0-0 0-1 0-2; "
        "do objcopy --add-section .debug_frame=zeros " PROGRAM " $i; done",
        directory, directory, OTHER, OTHER, OTHER);
    assert_int_equal(system(command), 0);
    budget_set(BUDGET_TABLE_BYTES, FILE_BYTES_MAX);
    if (geteuid() == 0)
        hold_tables_to_limit(fixture, directory, OTHER);
    hold_tables_to_limit(fixture, directory, 0);
    budget_set(BUDGET_TABLE_BYTES, default_bytes);
    snprintf(command, sizeof(command), "rm -r %s", directory);
    assert_int_equal(system(command), 0);
}

/* A library of 1024 segments with these flags. */
static void write_segments(const char *path, uint32_t flags)
{
    enum { SEGMENTS = 1024 };
    static struct {
        Elf64_Ehdr header;
        Elf64_Phdr segments[SEGMENTS];
    } library;
    library.header = (Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
                                  .e_machine = EM_X86_64,
                                  .e_phoff = sizeof(library.header),
                                  .e_phentsize = sizeof(*library.segments),
                                  .e_phnum = SEGMENTS};
    for (int i = 0; i < SEGMENTS; i++)
        library.segments[i] = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = flags, .p_filesz = 4096};
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(&library, sizeof(library), 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

/* All are in use: 41 KiB each where all segments stay in memory. */
static void get_all_names(struct fixture *fixture, const char *path, const char *directory,
                          int names)
{
    struct stat status;
    char name[64];
    assert_int_equal(stat(path, &status), 0);
    const struct rights own = {0};
    for (int i = 0; i < names; i++) {
        snprintf(name, sizeof(name), "%s/%d", directory, i);
        assert_int_equal(link(path, name), 0);
        const struct mapped_file file = {.pid = getpid(),
                                         .path = name,
                                         .device = status.st_dev,
                                         .inode = status.st_ino,
                                         .rights = &own};
        const struct known_module *module = module_cache_get(fixture->store, &file);
        assert_true(!module || module->users == 1);
    }
}

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void);

static size_t allocated_bytes(void)
{
    return __sanitizer_get_current_allocated_bytes();
}
#else
static size_t allocated_bytes(void)
{
    return mallinfo2().uordblks;
}
#endif

static size_t memory_for_names(const char *path, const char *directory, int names,
                               uint64_t *left_out)
{
    struct fixture *fixture;
    char command[128];
    snprintf(command, sizeof(command), "rm -f %s/[0-9]*", directory);
    set_up((void **)&fixture);
    const size_t before = allocated_bytes();
    get_all_names(fixture, path, directory, names);
    const size_t bytes = allocated_bytes() - before;
    *left_out = module_cache_left_out(fixture->store).tables;
    tear_down((void **)&fixture);
    assert_int_equal(system(command), 0);
    return bytes;
}

static void headers_of_all_files_have_a_limit_together(void **state)
{
    enum { NAMES = 600, LIMIT = 16 << 20 };
    const uint64_t held = LIMIT - HEADERS_SHARE * 1024 * sizeof(struct elf_segment);
    (void)state;
    const uint64_t default_bytes = budget_amount(BUDGET_TABLE_BYTES);
    char directory[] = "/tmp/rec-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/segments", directory);
    uint64_t left_out;
    budget_set(BUDGET_TABLE_BYTES, LIMIT);
    write_segments(path, PF_R);
    assert_in_range(memory_for_names(path, directory, NAMES, &left_out), 0, LIMIT);
    assert_int_equal(left_out, 0);
    write_segments(path, PF_R | PF_X);
    assert_in_range(memory_for_names(path, directory, NAMES, &left_out), held, LIMIT);
    assert_in_range(left_out, NAMES - LIMIT / (1024 * sizeof(struct elf_segment)), NAMES - 1);
    budget_set(BUDGET_TABLE_BYTES, default_bytes);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
}

static void a_file_without_room_counts_once(void **state)
{
    struct fixture *fixture = *state;
    const uint64_t default_bytes = budget_amount(BUDGET_TABLE_BYTES);
    budget_set(BUDGET_TABLE_BYTES, 16);
    const struct rights own = {0};
    for (uint64_t i = 0; i < 6; i++) {
        const struct mapped_file file = {
            .pid = getpid(), .path = "/file", .device = 1, .inode = i % 2, .rights = &own};
        assert_null(module_cache_get(fixture->store, &file));
    }
    budget_set(BUDGET_TABLE_BYTES, default_bytes);
    assert_int_equal(module_cache_left_out(fixture->store).tables, 2);
    assert_int_equal(module_cache_left_out(fixture->store).files, 0);
}

static void the_count_of_files_without_room_is_bounded(void **state)
{
    (void)state;
    struct left_out_files *files = calloc(1, sizeof(*files));
    assert_non_null(files);
    for (uint64_t i = 0; i < 2 * LEFT_OUT_MAX; i++)
        left_out_add(files, "/file", 1, i / 2, i % 4 < 2);
    assert_int_equal(files->counts.files, LEFT_OUT_MAX / 2);
    assert_int_equal(files->counts.tables, LEFT_OUT_MAX / 2);
    left_out_add(files, "/other", 1, 1, true);
    assert_int_equal(files->counts.files, LEFT_OUT_MAX / 2);
    free(files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(code_without_cfi_has_rows_when_it_was_read),
        TEST(code_of_large_programs_is_not_read_for_their_start_files),
        TEST(what_nobody_uses_makes_room_the_oldest_first),
        TEST(a_module_that_was_read_has_an_index_and_rows_when_they_are_compiled),
        TEST(what_nobody_uses_makes_room_the_oldest_first),
        TEST(a_crowd_that_was_in_use_does_not_stay),
        TEST(what_is_in_use_stays),
        TEST(an_index_that_found_no_room_is_there_when_it_is_asked_for_again),
        TEST(rows_that_found_no_room_are_there_when_they_are_asked_for_again),
        TEST(files_of_a_user_without_time_wait_for_another_user),
        TEST(unwind_tables_have_a_limit_together_and_another_one_for_other_users),
        TEST(a_file_without_room_counts_once),
        cmocka_unit_test(the_count_of_files_without_room_is_bounded),
        cmocka_unit_test(headers_of_all_files_have_a_limit_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
