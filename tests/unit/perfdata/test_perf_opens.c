/* SPDX-License-Identifier: MIT */
/* perf itself reads what the writer wrote, and says the same of it. */
#include "perf_command.h"

#include <inttypes.h>
#include <signal.h>

static struct perfdata_writer *writer_of_file(char path[64], int *fd)
{
    *fd = named_file(path);
    return open_writer(*fd);
}

static void done_with(const char *path, int fd)
{
    unlink(path);
    close(fd);
}

#define SCRIPT_FIELDS "--ns -F comm,pid,tid,time,period,ip,event"

/* 0x400123 lies 0x123 behind the start of a mapping from offset 0x1000: perf prints the offset. */
static const char script_of_capture[] =
    "serve   100/100       5.000000100:       1000 cpu-clock:u: \n"
    "\t            1123\n"
    "\t            1456\n"
    "\t            1789\n"
    "\n"
    "serve   100/100       5.000000101:       2000 cpu-clock:u: \n"
    "\t            1123\n"
    "\t            1456\n"
    "\n"
    "serve   100/101       5.000000102:       3000 cpu-clock:u: \n"
    "\t            1123\n"
    "\n";

static void write_named_thread_capture(struct perfdata_writer *writer)
{
    struct perfdata_task thread = {.pid = 100, .tid = 101};
    assert_int_equal(perfdata_write_comm(writer, &thread, "serve", false), 0);
    write_capture(writer);
}

static void perf_script_prints_the_same_stacks(void **state)
{
    (void)state;
    char path[64];
    int fd;
    struct perfdata_writer *writer = writer_of_file(path, &fd);
    write_named_thread_capture(writer);
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);
    char *text = perf_output("script", path, SCRIPT_FIELDS);
    assert_string_equal(text, script_of_capture);
    free(text);
    done_with(path, fd);
}

static void perf_script_prints_tasks_and_mappings(void **state)
{
    (void)state;
    char path[64];
    int fd;
    struct perfdata_writer *writer = writer_of_file(path, &fd);
    write_capture(writer);
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);
    char *text = perf_output("script", path, "--show-task-events --show-mmap-events");
    assert_non_null(strstr(text, "PERF_RECORD_COMM exec: serve:100/100\n"));
    assert_non_null(strstr(text, "PERF_RECORD_MMAP2 100/100: [0x400000(0x10000) @ 0x1000 "
                                 "<deadbeef05060708090a0b0c0d0e0f1011121314>]: r-xp "
                                 "/opt/app/serve\n"));
    assert_non_null(strstr(text, "PERF_RECORD_FORK(101:101):(100:100)\n"));
    assert_non_null(strstr(text, "PERF_RECORD_EXIT(101:101):(100:100)\n"));
    free(text);
    done_with(path, fd);
}

static void perf_report_counts_samples_weight_and_losses(void **state)
{
    (void)state;
    char path[64];
    int fd;
    struct perfdata_writer *writer = writer_of_file(path, &fd);
    write_named_thread_capture(writer);
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);
    char *text = perf_output("report", path, "--stdio --no-children -g none -s comm,dso");
    assert_non_null(strstr(text, "# Samples: 3  of event 'cpu-clock:u'\n"));
    assert_non_null(strstr(text, "# Event count (approx.): 6000\n"));
    assert_non_null(strstr(text, "   100.00%  serve    serve  "));
    free(text);
    done_with(path, fd);
}

static void perf_lists_the_features(void **state)
{
    (void)state;
    char path[64], expected[320], host[256];
    int fd;
    struct perfdata_writer *writer = writer_of_file(path, &fd);
    write_capture(writer);
    assert_int_equal(perfdata_set_feature(writer, PERFDATA_FEATURE_SUMMARY, "a=1\n", 4), 0);
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);
    char *text = perf_output("report", path, "--header-only");
    assert_int_equal(gethostname(host, sizeof(host)), 0);
    snprintf(expected, sizeof(expected), "# hostname : %s\n", host);
    assert_non_null(strstr(text, expected));
    assert_non_null(strstr(text, "# perf version : 6.1"));
    assert_non_null(strstr(text, "# cmdline : /opt/app/serve --port 80"));
    assert_non_null(strstr(text, "# event : name = cpu-clock:u, , id = { 1 }, type = 1"));
    assert_non_null(strstr(text, "use_clockid = 1, build_id = 1, clockid = 1\n"));
    assert_non_null(strstr(text, "# clockid: monotonic (1)\n"));
    assert_non_null(strstr(text, "= 1700000000.123456 (TOD) = 5.000000000 (monotonic)"));
    free(text);
    text = perf_output("buildid-list", path, "");
    assert_string_equal(text, "deadbeef05060708090a0b0c0d0e0f1011121314 /opt/app/serve\n");
    free(text);
    done_with(path, fd);
}

static size_t count_lines_with(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

static void perf_takes_stacks_of_1024_frames(void **state)
{
    (void)state;
    char path[64];
    int fd;
    uint64_t frames[1024];
    for (size_t i = 0; i < 1024; i++)
        frames[i] = 0x400000 + i;
    struct perfdata_writer *writer = writer_of_file(path, &fd);
    struct perfdata_sample sample = {.pid = 100,
                                     .tid = 100,
                                     .time_ns = 6000000000,
                                     .weight = 1,
                                     .frames = frames,
                                     .frame_count = 1024};
    write_capture(writer);
    assert_int_equal(perfdata_write_sample(writer, &sample), 0);
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);
    char *text = perf_output("script", path, "-F ip --max-stack 2000");
    assert_int_equal(count_lines_with(text, "\t"), 3 + 2 + 1 + 1024);
    free(text);
    done_with(path, fd);
}

/* Names and units of dummy events are records that perf takes from files, too. */
static void perf_takes_several_events(void **state)
{
    (void)state;
    char path[64] = "/tmp/rec-perf-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    struct perfdata_config config = capture_config();
    config.events[3] = (struct perfdata_event_row){.name = "off-cpu", .unit = "ns"};
    config.events[4] =
        (struct perfdata_event_row){.name = "thread-create", .unit = "count", .has_object = true};
    struct perfdata_writer *writer;
    assert_int_equal(perfdata_writer_open(&writer, fd, &config), 0);
    write_capture(writer);
    for (uint32_t event = 3; event <= 4; event++) {
        struct perfdata_sample sample = {.pid = 100,
                                         .tid = 100,
                                         .time_ns = 6000000000,
                                         .event = event,
                                         .weight = event * 1000,
                                         .frames = capture_stack,
                                         .frame_count = 3};
        assert_int_equal(perfdata_write_sample(writer, &sample), 0);
    }
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);
    char *text = perf_output("script", path, "-F event,period,ip");
    assert_int_equal(count_lines_with(text, "3000       off-cpu:"), 1);
    assert_int_equal(count_lines_with(text, "4000 thread-create:"), 1);
    assert_int_equal(count_lines_with(text, "cpu-clock:u:"), 3);
    free(text);
    done_with(path, fd);
}

/* A child writes, says so, writes on and is killed: the checkpoint is what there is. */
static void a_killed_recorder_leaves_what_perf_reads(void **state)
{
    (void)state;
    char path[64], byte;
    int fd, ready[2];
    struct perfdata_writer *writer = writer_of_file(path, &fd);
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        write_named_thread_capture(writer);
        perfdata_checkpoint(writer);
        write_capture(writer);
        if (write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    perfdata_writer_close(writer);

    char *text = perf_output("script", path, "--ns -F comm,pid,tid,time,period,ip");
    assert_int_equal(count_lines_with(text, "serve   10"), 3);
    assert_int_equal(count_lines_with(text, "\t            1123\n"), 3);
    free(text);
    struct perfdata_reader *reader = open_reader(fd);
    text = print_events(reader);
    assert_int_equal(count_lines_with(text, "sample #0"), 3);
    assert_null(perfdata_damage(reader));
    free(text);
    perfdata_reader_close(reader);
    close(ready[0]);
    close(ready[1]);
    done_with(path, fd);
}

static void an_empty_recording_is_not_a_broken_one(void **state)
{
    (void)state;
    char path[64];
    int fd;
    struct perfdata_writer *writer = writer_of_file(path, &fd);
    char *text = perf_output("script", path, "");
    assert_string_equal(text, "");
    free(text);
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);
    text = perf_output("script", path, "");
    assert_string_equal(text, "");
    free(text);
    done_with(path, fd);
}

static void perf_reads_a_file_with_a_feature_added_later(void **state)
{
    (void)state;
    char path[64];
    int fd;
    struct perfdata_writer *writer = writer_of_file(path, &fd);
    write_named_thread_capture(writer);
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);
    char *before = perf_output("report", path, "--header-only");
    struct error error = {0};
    assert_int_equal(perfdata_replace_feature(fd, 241, "names", 5, &error), 0);
    char *after = perf_output("report", path, "--header-only");
    assert_string_equal(strstr(after, "# hostname"), strstr(before, "# hostname"));
    free(before);
    free(after);
    char *text = perf_output("script", path, SCRIPT_FIELDS);
    assert_string_equal(text, script_of_capture);
    free(text);
    done_with(path, fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perf_script_prints_the_same_stacks),
        cmocka_unit_test(perf_script_prints_tasks_and_mappings),
        cmocka_unit_test(perf_report_counts_samples_weight_and_losses),
        cmocka_unit_test(perf_lists_the_features),
        cmocka_unit_test(perf_takes_stacks_of_1024_frames),
        cmocka_unit_test(perf_takes_several_events),
        cmocka_unit_test(a_killed_recorder_leaves_what_perf_reads),
        cmocka_unit_test(an_empty_recording_is_not_a_broken_one),
        cmocka_unit_test(perf_reads_a_file_with_a_feature_added_later),
    };
    if (!has_perf())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
