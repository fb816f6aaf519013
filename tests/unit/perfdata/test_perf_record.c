/* SPDX-License-Identifier: MIT */
/* Files of the installed perf record: the reader finds in them what `perf script -D` dumps. */
#include "perf_command.h"

#include <fcntl.h>
#include <inttypes.h>
#include <time.h>

static volatile uint64_t work;

/* The sampled program is this test, started with one argument: some frames deep, 100 ms of CPU. */
__attribute__((noinline)) static void spin(int depth)
{
    struct timespec used = {0};
    if (depth > 0)
        spin(depth - 1);
    while (depth == 0 && used.tv_sec == 0 && used.tv_nsec < 100000000) {
        for (int i = 0; i < 100000; i++)
            work += (uint64_t)i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    }
}

/* Sums over all records, which do not depend on the order that perf sorts them into. */
struct totals {
    uint64_t samples, periods, times_ns, pids, tids, ips;
    uint64_t chain_entries, chain_sum;
    uint64_t registers, register_sum, stacks;
    uint64_t mappings, mapping_starts, comms, forks, exits;
};

static void count_record(struct totals *totals, const char *line)
{
    const char *name = strstr(line, ": PERF_RECORD_");
    uint64_t start, pid, tid, ip, period, time_ns;
    if (!name)
        return;
    name += strlen(": PERF_RECORD_");
    totals->comms += strncmp(name, "COMM", 4) == 0;
    totals->forks += strncmp(name, "FORK", 4) == 0;
    totals->exits += strncmp(name, "EXIT", 4) == 0;
    if (sscanf(name, "MMAP%*[2 ]%*[-0-9]/%*[0-9]: [%" SCNx64, &start) == 1) {
        totals->mappings++;
        totals->mapping_starts += start;
    }
    if (sscanf(name,
               "SAMPLE(IP, %*[0-9a-fx]): %" SCNu64 "/%" SCNu64 ": %" SCNx64 " period: %" SCNu64,
               &pid, &tid, &ip, &period) != 4)
        return;
    assert_int_equal(sscanf(line, "%" SCNu64, &time_ns), 1);
    totals->samples++;
    totals->pids += pid;
    totals->tids += tid;
    totals->ips += ip;
    totals->periods += period;
    totals->times_ns += time_ns;
}

static void count_detail(struct totals *totals, const char *line)
{
    uint64_t number, word;
    if (sscanf(line, "..... %" SCNu64 ": %" SCNx64, &number, &word) == 2) {
        totals->chain_entries++;
        totals->chain_sum += word;
    } else if (sscanf(line, ".... %*[A-Z0-9] 0x%" SCNx64, &word) == 1) {
        totals->registers++;
        totals->register_sum += word;
    } else if (strncmp(line, "... ustack: size ", 17) == 0) {
        totals->stacks++;
    }
}

static struct totals totals_of_dump(const char *path)
{
    struct totals totals = {0};
    char *text = perf_output("script", path, "-D");
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, "...", 3) == 0)
            count_detail(&totals, line);
        else
            count_record(&totals, line);
    }
    free(text);
    return totals;
}

static void add_sample(struct totals *totals, const struct perfdata_event *event)
{
    totals->samples++;
    totals->periods += event->period;
    totals->times_ns += event->time_ns;
    totals->pids += event->pid;
    totals->tids += event->tid;
    totals->ips += event->ip;
    totals->chain_entries += event->callchain_count;
    for (size_t i = 0; i < event->callchain_count; i++)
        totals->chain_sum += event->callchain[i];
    size_t registers = (size_t)__builtin_popcountll(event->user_registers_mask);
    totals->registers += registers;
    for (size_t i = 0; i < registers; i++)
        totals->register_sum += event->user_registers[i];
    totals->stacks += event->user_stack_bytes > 0;
}

static struct totals totals_of_reader(struct perfdata_reader *reader)
{
    struct totals totals = {0};
    struct perfdata_event event;
    int found;
    while ((found = perfdata_next(reader, &event)) == 1) {
        if (event.kind == PERFDATA_SAMPLE)
            add_sample(&totals, &event);
        totals.comms += event.kind == PERFDATA_COMM;
        totals.forks += event.kind == PERFDATA_FORK;
        totals.exits += event.kind == PERFDATA_EXIT;
        totals.mappings += event.kind == PERFDATA_MAPPING;
        totals.mapping_starts += event.kind == PERFDATA_MAPPING ? event.start_avma : 0;
    }
    assert_int_equal(found, 0);
    assert_null(perfdata_damage(reader));
    return totals;
}

/* perf record OPTIONS of this program; false when perf may not sample here. */
static bool record(const char *options, char path[64])
{
    char command[512], self[256];
    int status;
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    assert_true(length > 0);
    self[length] = '\0';
    close(named_file(path));
    snprintf(command, sizeof(command), "perf record %s -o %s -- %s spin 2>/dev/null", options, path,
             self);
    free(output_of(command, &status));
    return status == 0;
}

static void expect_same_totals(const struct totals *ours, const struct totals *perf)
{
    assert_true(ours->samples > 50);
    assert_int_equal(ours->samples, perf->samples);
    assert_int_equal(ours->periods, perf->periods);
    assert_int_equal(ours->times_ns, perf->times_ns);
    assert_int_equal(ours->pids, perf->pids);
    assert_int_equal(ours->tids, perf->tids);
    assert_int_equal(ours->ips, perf->ips);
    assert_int_equal(ours->chain_entries, perf->chain_entries);
    assert_int_equal(ours->chain_sum, perf->chain_sum);
    assert_int_equal(ours->registers, perf->registers);
    assert_int_equal(ours->register_sum, perf->register_sum);
    assert_int_equal(ours->stacks, perf->stacks);
    assert_int_equal(ours->mappings, perf->mappings);
    assert_int_equal(ours->mapping_starts, perf->mapping_starts);
    assert_int_equal(ours->comms, perf->comms);
    assert_int_equal(ours->forks, perf->forks);
    assert_int_equal(ours->exits, perf->exits);
}

static struct totals compare_recording(const char *options)
{
    char path[64];
    if (!record(options, path)) {
        unlink(path);
        skip();
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct totals perf = totals_of_dump(path);
    struct perfdata_reader *reader = open_reader(fd);
    struct totals ours = totals_of_reader(reader);
    perfdata_reader_close(reader);
    close(fd);
    unlink(path);
    expect_same_totals(&ours, &perf);
    return ours;
}

static void frame_pointer_stacks_are_read_as_perf_reads_them(void **state)
{
    (void)state;
    struct totals totals = compare_recording("-g -F 2000 -e cpu-clock:u");
    assert_true(totals.chain_entries > totals.samples);
}

static void stack_copies_are_read_as_perf_reads_them(void **state)
{
    (void)state;
    struct totals totals = compare_recording("--call-graph dwarf -F 2000 -e cpu-clock:u");
    assert_true(totals.registers > totals.samples);
    assert_int_equal(totals.stacks, totals.samples);
}

static void fixed_periods_and_inline_build_ids_are_read(void **state)
{
    (void)state;
    compare_recording("-c 500000 --buildid-mmap -d -T -e cpu-clock:u");
}

static void several_events_are_told_apart(void **state)
{
    (void)state;
    char path[64];
    if (!record("-g -F 2000 -e cpu-clock:u,task-clock:u", path)) {
        unlink(path);
        skip();
    }
    static const char *const names[] = {"cpu-clock:u", "task-clock:u"};
    struct perfdata_event event;
    uint64_t samples[2] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct perfdata_reader *reader = open_reader(fd);
    assert_int_equal(perfdata_attr_count(reader), 2);
    while (perfdata_next(reader, &event) == 1)
        if (event.kind == PERFDATA_SAMPLE)
            samples[event.attr_index]++;
    char *text = perf_output("script", path, "-G -F event,period");
    for (size_t i = 0; i < 2; i++) {
        uint64_t lines = 0;
        char part[32];
        snprintf(part, sizeof(part), " %s:", names[i]);
        for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
            lines++;
        assert_string_equal(perfdata_attr(reader, i)->name, names[i]);
        assert_true(samples[i] > 50);
        assert_int_equal(samples[i], lines);
    }
    free(text);
    perfdata_reader_close(reader);
    close(fd);
    unlink(path);
}

static void the_header_says_what_perf_says(void **state)
{
    (void)state;
    char path[64], host[256];
    if (!record("-F 2000 -e cpu-clock:u", path)) {
        unlink(path);
        skip();
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct perfdata_reader *reader = open_reader(fd);
    const struct perfdata_facts *facts = perfdata_facts(reader);
    assert_int_equal(gethostname(host, sizeof(host)), 0);
    assert_string_equal(facts->host, host);
    assert_int_equal(facts->cpus_online, sysconf(_SC_NPROCESSORS_ONLN));
    assert_string_equal(facts->argv[1], "record");
    assert_string_equal(facts->argv[facts->argc - 1], "spin");
    assert_true(facts->first_sample_ns > 0);
    assert_true(facts->last_sample_ns > facts->first_sample_ns + 50000000);
    assert_true(perfdata_attr(reader, 0)->is_frequency);
    assert_int_equal(perfdata_attr(reader, 0)->period_or_frequency, 2000);
    perfdata_reader_close(reader);
    close(fd);
    unlink(path);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frame_pointer_stacks_are_read_as_perf_reads_them),
        cmocka_unit_test(stack_copies_are_read_as_perf_reads_them),
        cmocka_unit_test(fixed_periods_and_inline_build_ids_are_read),
        cmocka_unit_test(several_events_are_told_apart),
        cmocka_unit_test(the_header_says_what_perf_says),
    };
    if (argc > 1 && strcmp(argv[1], "spin") == 0) {
        spin(10);
        return 0;
    }
    if (!has_perf())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
