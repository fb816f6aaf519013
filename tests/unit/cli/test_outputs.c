/* SPDX-License-Identifier: MIT */
/* What each -o means, and how captures are claimed. Each test has an empty directory of its own as its
 * working directory. */
#include "cli/files/capture_file.h"
#include "cli/files/outputs.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[64];
static const struct sudo_owner nobody_else = {0};

static int enter_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/rec-test-outputs.XXXXXX");
    return mkdtemp(directory) && chdir(directory) == 0 && mkdir("run", 0777) == 0 ? 0 : -1;
}

static int leave_directory(void **state)
{
    (void)state;
    DIR *listing = opendir(".");
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        unlink(entry->d_name);
    closedir(listing);
    rmdir("run");
    return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static size_t files_here(void)
{
    size_t count = 0;
    DIR *listing = opendir(".");
    for (struct dirent *entry; (entry = readdir(listing));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                 strcmp(entry->d_name, "run") != 0;
    closedir(listing);
    return count;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_content(const char *path, const char *text)
{
    char content[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    content[fread(content, 1, sizeof(content) - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(content, text);
}

static void suffixes_say_the_format(void **state)
{
    (void)state;
    static const struct {
        const char *name, *format;
        bool compress;
    } cases[] = {
        {"a.pb.gz", "pprof", true},       {"a.pb", "pprof", false},
        {"a.pprof", "pprof", false},      {"a.json.gz", "firefox", true},
        {"a.json", "firefox", false},     {"a.speedscope.json", "speedscope", false},
        {"a.folded", "collapsed", false}, {"a.collapsed", "collapsed", false},
        {"a.txt", "collapsed", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct outputs recorded = {0}, converted = {0};
        assert_int_equal(outputs_add_recorded(&recorded, cases[i].name, NULL), 0);
        assert_int_equal(outputs_add_converted(&converted, cases[i].name, NULL), 0);
        assert_null(recorded.capture);
        assert_string_equal(recorded.items[0].exporter->name, cases[i].format);
        assert_int_equal(recorded.items[0].compress, cases[i].compress);
        assert_ptr_equal(converted.items[0].exporter, recorded.items[0].exporter);
        outputs_free(&recorded);
        outputs_free(&converted);
    }
}

static void any_other_name_is_the_capture_when_recording_and_refused_when_converting(void **state)
{
    (void)state;
    struct outputs outputs = {0};
    struct error error = {{0}};
    assert_int_equal(outputs_add_recorded(&outputs, "perf.out", &error), 0);
    assert_string_equal(outputs.capture, "perf.out");
    assert_int_equal(outputs_add_recorded(&outputs, "other.data", &error), -EINVAL);
    outputs_free(&outputs);
    assert_int_equal(outputs_add_converted(&outputs, "perf.xml", &error), -EINVAL);
    assert_non_null(strstr(error.text, ".pb.gz"));
    assert_non_null(strstr(error.text, ".folded"));
    assert_int_equal(outputs_add_converted(&outputs, "x.data", &error), -EINVAL);
    assert_int_equal(outputs_add_recorded(&outputs, "-", &error), -EINVAL);
    assert_int_equal(outputs_add_recorded(&outputs, "", &error), -EINVAL);
    outputs_free(&outputs);
}

static void a_directory_gets_the_usual_set(void **state)
{
    (void)state;
    struct outputs outputs = {0};
    struct error error = {{0}};
    assert_int_equal(outputs_add_recorded(&outputs, "run/", &error), 0);
    assert_string_equal(outputs.capture, "run/rec.data");
    assert_int_equal(outputs.count, 3);
    assert_string_equal(outputs.items[0].path, "run/rec.pb.gz");
    assert_string_equal(outputs.items[1].path, "run/rec.json.gz");
    assert_string_equal(outputs.items[2].path, "run/rec.folded");
    outputs_free(&outputs);
    assert_int_equal(outputs_add_converted(&outputs, "run", &error), 0);
    assert_null(outputs.capture);
    assert_int_equal(outputs.count, 3);
    outputs_free(&outputs);
}

static void a_directory_that_is_missing_is_made(void **state)
{
    (void)state;
    struct outputs outputs = {0};
    struct sudo_owner owner = {0};
    struct error error = {{0}};
    assert_int_equal(outputs_add_recorded(&outputs, "new/", &error), 0);
    assert_string_equal(outputs.capture, "new/rec.data");
    assert_int_not_equal(access("new", F_OK), 0);
    assert_int_equal(outputs_prepare(&outputs, &owner, &error), 0);
    assert_int_equal(rmdir("new"), 0);
    outputs_free(&outputs);
    assert_int_equal(outputs_add_recorded(&outputs, "missing/new/", &error), 0);
    assert_int_equal(outputs_prepare(&outputs, &owner, &error), -ENOENT);
    outputs_free(&outputs);
}

static void private_names_keep_their_suffix(void **state)
{
    (void)state;
    char expected[64];
    struct outputs outputs = {0};
    assert_int_equal(outputs_add_usual(&outputs, "run/", true, NULL), 0);
    assert_int_equal(outputs_make_private(&outputs, NULL), 0);
    snprintf(expected, sizeof(expected), "run/rec.%d.data", (int)getpid());
    assert_string_equal(outputs.capture, expected);
    snprintf(expected, sizeof(expected), "run/rec.%d.pb.gz", (int)getpid());
    assert_string_equal(outputs.items[0].path, expected);
    outputs_free(&outputs);
    assert_int_equal(outputs_add_recorded(&outputs, "perf.out", NULL), 0);
    assert_int_equal(outputs_make_private(&outputs, NULL), 0);
    snprintf(expected, sizeof(expected), "perf.out.%d", (int)getpid());
    assert_string_equal(outputs.capture, expected);
    outputs_free(&outputs);
}

static void checking_leaves_no_trace(void **state)
{
    (void)state;
    struct outputs outputs = {0};
    struct sudo_owner owner = {0};
    struct error error = {{0}};
    assert_int_equal(outputs_add_recorded(&outputs, "a.folded", NULL), 0);
    assert_int_equal(outputs_prepare(&outputs, &owner, &error), 0);
    assert_int_equal(files_here(), 0);
    assert_int_equal(outputs_add_recorded(&outputs, "missing/a.pb.gz", NULL), 0);
    assert_int_equal(outputs_prepare(&outputs, &owner, &error), -ENOENT);
    assert_non_null(strstr(error.text, "missing/a.pb.gz"));
    assert_int_equal(files_here(), 0);
    outputs_free(&outputs);
}

/* They are written at the same time; what is said must not depend on which thread was the first. */
static void a_file_that_cannot_be_written_does_not_cost_the_others(void **state)
{
    (void)state;
    struct outputs outputs = {0};
    struct error error;
    const struct export_options options = {0};
    struct profile *profile = profile_new();
    static const char *const names[] = {"a.pb.gz", "gone/b.json.gz", "c.folded", "gone/d.folded"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_int_equal(outputs_add_converted(&outputs, names[i], &error), 0);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(outputs_write(&outputs, profile, &options, &nobody_else, &error), -ENOENT);
        assert_non_null(strstr(error.text, "gone/b.json.gz"));
        assert_int_equal(unlink("a.pb.gz"), 0);
        assert_int_equal(unlink("c.folded"), 0);
    }
    assert_int_equal(files_here(), 0);
    profile_free(profile);
    outputs_free(&outputs);
}

static void a_claimed_capture_is_private_and_the_previous_one_kept(void **state)
{
    (void)state;
    struct capture_file capture;
    struct stat status;
    write_file("rec.data", "previous");
    assert_int_equal(capture_file_claim(&capture, "rec.data", &nobody_else, NULL), 0);
    assert_int_equal(stat("rec.data", &status), 0);
    assert_int_equal(status.st_size, 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_content("rec.data.old", "previous");
    assert_int_equal(files_here(), 2);
    capture_file_release(&capture);
    assert_int_equal(files_here(), 2);
}

static void an_abandoned_claim_undoes_everything(void **state)
{
    (void)state;
    struct capture_file capture;
    write_file("rec.data", "previous");
    assert_int_equal(capture_file_claim(&capture, "rec.data", &nobody_else, NULL), 0);
    capture_file_abandon(&capture);
    assert_content("rec.data", "previous");
    assert_int_equal(files_here(), 1);
}

/* As another user would who owns the directory. */
static void an_abandoned_claim_leaves_a_file_that_took_its_name(void **state)
{
    (void)state;
    struct capture_file capture;
    write_file("rec.data", "previous");
    assert_int_equal(capture_file_claim(&capture, "rec.data", &nobody_else, NULL), 0);
    write_file("other", "of another user");
    assert_int_equal(rename("other", "rec.data"), 0);
    capture_file_abandon(&capture);
    assert_content("rec.data", "of another user");
    assert_content("rec.data.old", "previous");
    assert_int_equal(files_here(), 2);
}

static void a_claimed_capture_is_reopened_by_its_descriptor_and_not_by_its_name(void **state)
{
    (void)state;
    struct capture_file capture;
    assert_int_equal(capture_file_claim(&capture, "rec.data", &nobody_else, NULL), 0);
    assert_int_equal(capture_file_check_name(&capture, NULL), 0);
    assert_int_equal(rename("rec.data", "moved"), 0);
    assert_int_equal(capture_file_check_name(&capture, NULL), -ENOENT);
    write_file("victim", "stays");
    assert_int_equal(symlink("victim", "rec.data"), 0);
    write_file(capture.opened, "recorded");
    capture_file_release(&capture);
    assert_content("victim", "stays");
    assert_content("moved", "recorded");
}

static void a_capture_moves_a_link_but_neither_opens_nor_follows_its_target(void **state)
{
    (void)state;
    struct capture_file capture;
    struct error error = {{0}};
    char target[64];
    write_file("target", "stays");
    assert_int_equal(symlink("target", "rec.data"), 0);
    assert_int_equal(capture_file_claim(&capture, "rec.data", &nobody_else, &error), 0);
    assert_content("target", "stays");
    assert_int_equal(readlink("rec.data.old", target, sizeof(target)), strlen("target"));
    capture_file_release(&capture);
}

static void a_capture_does_not_replace_links_to_open_files_or_devices(void **state)
{
    (void)state;
    struct capture_file capture;
    struct error error = {{0}};
    static const char *const targets[] = {"/proc/self/fd/1", "/dev/null", "/tmp"};
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        assert_int_equal(symlink(targets[i], "rec.data"), 0);
        assert_int_equal(capture_file_claim(&capture, "rec.data", &nobody_else, &error), -EINVAL);
        assert_non_null(strstr(error.text, "not a regular file"));
        assert_int_equal(files_here(), 1);
        assert_int_equal(unlink("rec.data"), 0);
    }
}

static void a_capture_in_use_is_busy(void **state)
{
    (void)state;
    struct capture_file first, second;
    struct error error = {{0}};
    write_file("rec.data", "previous");
    assert_int_equal(capture_file_claim(&first, "rec.data", &nobody_else, &error), 0);
    assert_int_equal(capture_file_claim(&second, "rec.data", &nobody_else, &error), -EBUSY);
    assert_content("rec.data.old", "previous");
    capture_file_release(&first);
    assert_int_equal(capture_file_claim(&second, "rec.data", &nobody_else, &error), 0);
    capture_file_release(&second);
}

static void what_is_no_file_is_refused_and_stays(void **state)
{
    (void)state;
    struct capture_file capture;
    struct error error = {{0}};
    assert_int_equal(mkfifo("rec.data", 0600), 0);
    assert_int_equal(capture_file_claim(&capture, "rec.data", &nobody_else, &error), -EINVAL);
    struct stat status;
    assert_int_equal(lstat("rec.data", &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
    assert_int_equal(files_here(), 1);
}

static void an_unnamed_capture_is_usable_and_never_seen(void **state)
{
    (void)state;
    struct capture_file capture;
    assert_int_equal(capture_file_claim_unnamed(&capture, "run/a.pb.gz", NULL), 0);
    write_file(capture.opened, "content");
    assert_content(capture.opened, "content");
    assert_int_equal(rmdir("run"), 0); /* it is empty */
    capture_file_release(&capture);
    assert_int_equal(files_here(), 0);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(suffixes_say_the_format),
        IN_DIRECTORY(any_other_name_is_the_capture_when_recording_and_refused_when_converting),
        IN_DIRECTORY(a_directory_gets_the_usual_set),
        IN_DIRECTORY(a_directory_that_is_missing_is_made),
        IN_DIRECTORY(private_names_keep_their_suffix),
        IN_DIRECTORY(checking_leaves_no_trace),
        IN_DIRECTORY(a_file_that_cannot_be_written_does_not_cost_the_others),
        IN_DIRECTORY(a_claimed_capture_is_private_and_the_previous_one_kept),
        IN_DIRECTORY(an_abandoned_claim_undoes_everything),
        IN_DIRECTORY(an_abandoned_claim_leaves_a_file_that_took_its_name),
        IN_DIRECTORY(a_claimed_capture_is_reopened_by_its_descriptor_and_not_by_its_name),
        IN_DIRECTORY(a_capture_moves_a_link_but_neither_opens_nor_follows_its_target),
        IN_DIRECTORY(a_capture_does_not_replace_links_to_open_files_or_devices),
        IN_DIRECTORY(a_capture_in_use_is_busy),
        IN_DIRECTORY(what_is_no_file_is_refused_and_stays),
        IN_DIRECTORY(an_unnamed_capture_is_usable_and_never_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
