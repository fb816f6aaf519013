/* SPDX-License-Identifier: MIT */
/* Names that are looked up while samples are loaded: those of this program itself. */
#include "convert/symbolize/lookup_ahead.h"

#include "convert/store/symbol_store.h"
#include "elf/elf_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct convert_options symbols_only = {.symbols_only = true,
                                                    .debug_directory = "/nowhere"};

struct self {
    char path[4096];
    uint8_t build_id[20];
    size_t build_id_bytes;
    uint64_t base_avma;
};

/* In the symbol table. */
__attribute__((noinline)) static void sought_function(void)
{
    __asm__ volatile("nop\n nop\n nop");
}

static uint64_t svma_inside(const struct self *self)
{
    return (uint64_t)(uintptr_t)sought_function + 1 - self->base_avma;
}

static struct self find_self(void)
{
    struct self self = {0};
    struct elf_file *elf;
    struct error error;
    Dl_info info;
    ssize_t n = readlink("/proc/self/exe", self.path, sizeof(self.path) - 1);
    assert_true(n > 0);
    int fd = open(self.path, O_RDONLY);
    assert_int_equal(elf_open(&elf, fd, &error), 0);
    self.build_id_bytes = elf_build_id(elf, self.build_id);
    elf_close(elf);
    close(fd);
    assert_int_not_equal(dladdr((void *)(uintptr_t)sought_function, &info), 0);
    self.base_avma = (uint64_t)(uintptr_t)info.dli_fbase;
    return self;
}

static uint32_t add_lib(struct profile *profile, const char *path, const uint8_t *build_id,
                        size_t build_id_bytes)
{
    uint32_t lib = profile_lib_id(profile, path, build_id, build_id_bytes);
    assert_int_not_equal(lib, PROFILE_NONE);
    profile->libs[lib].category = PROFILE_LIBRARY;
    return lib;
}

static void assert_named(struct cursor answer, uint64_t svma, size_t address_count)
{
    struct symbol_store *names;
    struct symbol_result result;
    assert_string_equal(cursor_string(&answer), "");
    assert_int_equal(symbol_store_parse(&names, answer.bytes + answer.at, cursor_left(&answer)), 0);
    assert_int_equal(names->lib_count, 1);
    assert_int_equal(names->libs[0].address_count, address_count);
    assert_true(symbol_store_find(names, &names->libs[0], svma, &result));
    assert_int_equal(result.frame_count, 1);
    assert_string_equal(result.frames[0].name, "sought_function");
    symbol_store_free(names);
}

static void end(struct lookup_ahead *ahead, struct profile *profile)
{
    lookup_ahead_free(ahead);
    profile_free(profile);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left */
}

static void addresses_are_named_in_whatever_order_they_come(void **state)
{
    (void)state;
    struct self self = find_self();
    if (self.build_id_bytes == 0)
        skip();
    uint64_t svma = svma_inside(&self);
    struct lookup_ahead ahead = {0};
    struct profile *profile = profile_new();
    lookup_ahead_start(&ahead, &symbols_only);
    uint32_t lib = add_lib(profile, self.path, self.build_id, self.build_id_bytes);
    for (uint64_t i = 0; i < 5000; i++) {
        profile_address_id(profile, lib, i == 700 ? svma : UINT64_C(1) << 40 | (5000 - i));
        lookup_ahead_tell(&ahead, profile);
    }
    lookup_ahead_tell_rest(&ahead, profile);
    lookup_ahead_finish(&ahead);
    struct cursor answer;
    assert_true(lookup_ahead_find(&ahead, profile, lib, &answer));
    assert_named(answer, svma, 5000);
    end(&ahead, profile);
}

static void one_that_was_behind_is_told_the_rest(void **state)
{
    (void)state;
    struct self self = find_self();
    if (self.build_id_bytes == 0)
        skip();
    struct lookup_ahead ahead = {0};
    struct profile *profile = profile_new();
    lookup_ahead_start(&ahead, &symbols_only);
    assert_int_equal(kill(ahead.worker.pid, SIGSTOP), 0);
    uint32_t lib = add_lib(profile, self.path, self.build_id, self.build_id_bytes);
    profile_address_id(profile, lib, svma_inside(&self));
    for (uint64_t i = 1; i < 40000; i++) {
        profile_address_id(profile, lib, UINT64_C(1) << 40 | i);
        lookup_ahead_tell(&ahead, profile);
    }
    assert_true(ahead.told_addresses < 39000);
    assert_int_equal(kill(ahead.worker.pid, SIGCONT), 0);
    lookup_ahead_tell_rest(&ahead, profile);
    lookup_ahead_finish(&ahead);
    struct cursor answer;
    assert_true(lookup_ahead_find(&ahead, profile, lib, &answer));
    assert_named(answer, svma_inside(&self), 40000);
    end(&ahead, profile);
}

static void what_it_leaves_to_others_has_no_answer(void **state)
{
    (void)state;
    struct self self = find_self();
    char long_path[5000] = "/";
    memset(long_path + 1, 'a', sizeof(long_path) - 2);
    struct lookup_ahead ahead = {0};
    struct profile *profile = profile_new();
    lookup_ahead_start(&ahead, &symbols_only);
    uint32_t libs[] = {add_lib(profile, long_path, self.build_id, 20),
                       add_lib(profile, "/another", self.build_id, 20)};
    profile->libs[libs[1]].category = PROFILE_JIT;
    for (size_t i = 0; i < 2; i++)
        profile_address_id(profile, libs[i], svma_inside(&self));
    lookup_ahead_tell_rest(&ahead, profile);
    lookup_ahead_finish(&ahead);
    struct cursor answer;
    for (size_t i = 0; i < 2; i++)
        assert_false(lookup_ahead_find(&ahead, profile, libs[i], &answer));
    end(&ahead, profile);
}

/* What a library is to whom perf gave no build-id, for it was only called from. */
static void without_a_build_id_it_is_the_time_that_tells(void **state)
{
    (void)state;
    struct self self = find_self();
    struct lookup_ahead ahead = {0};
    struct profile *profile = profile_new();
    lookup_ahead_start(&ahead, &symbols_only);
    uint32_t lib = add_lib(profile, self.path, NULL, 0);
    profile_address_id(profile, lib, svma_inside(&self));
    lookup_ahead_tell_rest(&ahead, profile);
    lookup_ahead_finish(&ahead);
    struct cursor answer;
    assert_true(lookup_ahead_find(&ahead, profile, lib, &answer));
    assert_named(answer, svma_inside(&self), 1);
    profile->start_wall_ns = 1;
    assert_false(lookup_ahead_find(&ahead, profile, lib, &answer));
    profile->is_wall_time_of_file = true;
    assert_true(lookup_ahead_find(&ahead, profile, lib, &answer));
    end(&ahead, profile);
}

/* No file, or another one: that is the answer. */
static void what_cannot_be_opened_is_answered_without_names(void **state)
{
    (void)state;
    struct self self = find_self();
    const uint8_t other[20] = {1};
    struct lookup_ahead ahead = {0};
    struct profile *profile = profile_new();
    lookup_ahead_start(&ahead, &symbols_only);
    uint32_t gone = add_lib(profile, "/nowhere/at/all", other, 20);
    uint32_t changed = add_lib(profile, self.path, other, 20);
    profile_address_id(profile, gone, 1);
    profile_address_id(profile, changed, 1);
    lookup_ahead_tell_rest(&ahead, profile);
    lookup_ahead_finish(&ahead);
    struct cursor answer;
    assert_true(lookup_ahead_find(&ahead, profile, gone, &answer));
    assert_string_equal(cursor_string(&answer), "");
    assert_int_equal(cursor_left(&answer), 0);
    assert_true(lookup_ahead_find(&ahead, profile, changed, &answer));
    assert_non_null(strstr(cursor_string(&answer), "is not the file that was recorded"));
    end(&ahead, profile);
}

static void nothing_is_started_where_debug_info_is_read(void **state)
{
    (void)state;
    struct lookup_ahead ahead = {0};
    struct convert_options options = symbols_only;
    options.symbols_only = false;
    lookup_ahead_start(&ahead, &options);
    assert_int_equal(ahead.worker.pid, 0);
    end(&ahead, NULL);
}

static void nothing_is_started_where_not_all_files_can_be_open(void **state)
{
    (void)state;
    struct rlimit usual;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    struct rlimit few = {.rlim_cur = LOOKUP_SERVER_LIBS, .rlim_max = usual.rlim_max};
    struct lookup_ahead ahead = {0};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    lookup_ahead_start(&ahead, &symbols_only);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    assert_int_equal(ahead.worker.pid, 0);
    end(&ahead, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_named_in_whatever_order_they_come),
        cmocka_unit_test(one_that_was_behind_is_told_the_rest),
        cmocka_unit_test(what_it_leaves_to_others_has_no_answer),
        cmocka_unit_test(without_a_build_id_it_is_the_time_that_tells),
        cmocka_unit_test(what_cannot_be_opened_is_answered_without_names),
        cmocka_unit_test(nothing_is_started_where_debug_info_is_read),
        cmocka_unit_test(nothing_is_started_where_not_all_files_can_be_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
