/* SPDX-License-Identifier: MIT */
/* Names found while loading are those found after it; a worker without an answer changes nothing. */
#include "convert/symbolize/early/early_names.h"

#include "convert/store/symbol_store.h"
#include "convert/symbolize/symbolize_range.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { FILE_BYTES = 16 << 20, ADDRESSES = 1000, STEP = 48, REST = 50 };

static const struct convert_options symbols_only = {.symbols_only = true,
                                                    .debug_directory = "/nowhere"};

static struct profile *profile_of_this_program(uint32_t *lib)
{
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
    struct profile *profile = profile_new();
    assert_true(size > 0);
    path[size] = '\0';
    *lib = profile_lib_id(profile, path, NULL, 0);
    profile->libs[*lib].category = PROFILE_LIBRARY;
    return profile;
}

static void add_addresses(struct profile *profile, uint32_t lib, size_t first, size_t count)
{
    extern char __executable_start[];
    uint64_t start = (uint64_t)((char *)profile_of_this_program - __executable_start);
    for (size_t i = first; i < first + count; i++)
        assert_true(profile_add_address(profile, lib, start + i * STEP) != PROFILE_NONE);
}

static struct symbol_store *store_of(struct cursor c)
{
    struct symbol_store *store = NULL;
    assert_string_equal(cursor_string(&c), "");
    assert_int_equal(symbol_store_parse(&store, c.bytes + c.at, cursor_left(&c)), 0);
    assert_int_equal(store->lib_count, 1);
    return store;
}

/* Found after the loading. */
static struct symbol_store *late_store(const struct profile *profile, uint32_t lib)
{
    uint32_t order[ADDRESSES];
    struct buffer out = {0};
    struct lib_symbols symbols = {.profile = profile, .options = &symbols_only, .lib = lib};
    struct symbolize_range range = {.lib = lib, .count = ADDRESSES};
    for (uint32_t i = 0; i < ADDRESSES; i++)
        order[i] = i;
    symbolize_range_run(&symbols, &range, order, &out);
    struct symbol_store *store = store_of(cursor_of(out.bytes, out.size));
    buffer_free(&out);
    return store;
}

static bool start(struct early_names *early)
{
    *early = (struct early_names){0};
    if (workers_at_once() == 1)
        skip();
    return early_names_start(early, &symbols_only, FILE_BYTES);
}

static void names_are_those_found_after_the_loading(void **state)
{
    (void)state;
    struct early_names early;
    struct cursor answer;
    uint32_t lib;
    struct profile *profile = profile_of_this_program(&lib);
    assert_true(start(&early));
    for (size_t i = 0; i < ADDRESSES - REST; i += (ADDRESSES - REST) / 10) {
        add_addresses(profile, lib, i, (ADDRESSES - REST) / 10);
        early_names_send(&early, profile, FILE_BYTES / 6);
    }
    assert_int_equal(early.sent_addresses, ADDRESSES - REST);
    add_addresses(profile, lib, ADDRESSES - REST, REST); /* too few for names before the end */
    early_names_send_rest(&early, profile);
    early_names_finish(&early);
    assert_true(early_names_find(&early, profile, &symbols_only, lib, &answer));
    struct symbol_store *store = store_of(answer), *late = late_store(profile, lib);
    size_t named = 0;
    for (size_t i = 0; i < ADDRESSES; i++) {
        struct symbol_result a, b;
        uint64_t svma = profile->addresses[i].svma;
        assert_true(symbol_store_find(store, &store->libs[0], svma, &a));
        assert_true(symbol_store_find(late, &late->libs[0], svma, &b));
        assert_int_equal(a.frame_count, b.frame_count);
        assert_int_equal(a.symbol_svma, b.symbol_svma);
        assert_int_equal(a.symbol_bytes, b.symbol_bytes);
        if (a.frame_count == 0)
            continue;
        assert_string_equal(a.frames[0].name, b.frames[0].name);
        assert_string_equal(a.symbol_name, b.symbol_name);
        named++;
    }
    assert_true(named > ADDRESSES / 2);
    profile->start_wall_ns = 1; /* the file is newer than the recording */
    assert_false(early_names_find(&early, profile, &symbols_only, lib, &answer));
    symbol_store_free(store);
    symbol_store_free(late);
    early_names_free(&early);
    profile_free(profile);
}

static void libs_beyond_the_limit_are_left_to_others(void **state)
{
    (void)state;
    struct early_names early;
    struct cursor answer;
    struct profile *profile = profile_new();
    assert_true(start(&early));
    for (int i = 0; i <= EARLY_LIBS; i++) {
        char path[32];
        snprintf(path, sizeof(path), "/nowhere/%d", i);
        uint32_t lib = profile_lib_id(profile, path, NULL, 0);
        profile->libs[lib].category = PROFILE_LIBRARY;
        assert_true(profile_add_address(profile, lib, 0x1000) != PROFILE_NONE);
    }
    early_names_send_rest(&early, profile);
    early_names_finish(&early);
    for (uint32_t lib = 0; lib <= EARLY_LIBS; lib++)
        assert_int_equal(early_names_find(&early, profile, &symbols_only, lib, &answer),
                         lib < EARLY_LIBS);
    early_names_free(&early);
    profile_free(profile);
}

static void check_no_answer(struct early_names *early, struct profile *profile, uint32_t lib)
{
    struct cursor answer;
    early_names_finish(early);
    assert_false(early_names_find(early, profile, &symbols_only, lib, &answer));
    early_names_free(early);
    profile_free(profile);
}

/* Without an own end of the pipe, the write would end this process by SIGPIPE. */
static void a_dead_worker_ends_nothing_else(void **state)
{
    (void)state;
    struct early_names early;
    siginfo_t end;
    uint32_t lib;
    struct profile *profile = profile_of_this_program(&lib);
    assert_true(start(&early));
    add_addresses(profile, lib, 0, ADDRESSES);
    pid_t pid = early.pool.places[0].pid;
    kill(pid, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT), 0);
    early_names_send(&early, profile, FILE_BYTES);
    early_names_send_rest(&early, profile);
    check_no_answer(&early, profile, lib);
}

/* Stopped: alive, and would never answer. */
static void a_worker_that_does_not_read_stops_no_loading(void **state)
{
    enum { MORE_THAN_THE_PIPE = 100000 };
    (void)state;
    struct early_names early;
    uint32_t lib;
    struct profile *profile = profile_of_this_program(&lib);
    assert_true(start(&early));
    kill(early.pool.places[0].pid, SIGSTOP);
    add_addresses(profile, lib, 0, MORE_THAN_THE_PIPE);
    early_names_send_rest(&early, profile);
    check_no_answer(&early, profile, lib);
}

static const char *never(const void *context, const char *path, const uint8_t *id, size_t bytes)
{
    (void)context, (void)path, (void)id, (void)bytes;
    return NULL;
}

static void other_conversions_have_no_early_worker(void **state)
{
    (void)state;
    struct early_names early = {0};
    struct convert_options others[] = {symbols_only, symbols_only, symbols_only};
    others[0].symbols_only = false;
    others[1].use_debuginfod = true;
    others[2].find_gone = never;
    for (size_t i = 0; i < 3; i++)
        assert_false(early_names_start(&early, &others[i], FILE_BYTES));
    assert_false(early_names_start(&early, &symbols_only, 1 << 20));
    early_names_free(&early);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_found_after_the_loading),
        cmocka_unit_test(libs_beyond_the_limit_are_left_to_others),
        cmocka_unit_test(a_dead_worker_ends_nothing_else),
        cmocka_unit_test(a_worker_that_does_not_read_stops_no_loading),
        cmocka_unit_test(other_conversions_have_no_early_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
