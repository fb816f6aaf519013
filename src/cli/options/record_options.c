/* SPDX-License-Identifier: MIT */
#include "cli/options/record_options.h"

#include "cli/options/record/event_option.h"
#include "cli/options/options.h"
#include "cli/options/record/record_values.h"
#include "cli/options/record/recorder_names.h"
#include "cli/tables/command_table.h"
#include "cli/tables/record_table.h"
#include "cli/options/symbol_options.h"
#include "cli/options/units.h"
#include "cli/waits/stuck.h"
#include "record/events/event_list.h"
#include "record/recorders/recorders.h"

#include <errno.h>
#include <string.h>

#define REPEAT_MOST 999

/* Options for the start, the end and the extent of the recording. */
static int apply_lifetime(struct record_request *request, int id, const char *value,
                          struct error *error)
{
    struct record_options *options = &request->options;
    switch (id) {
    case 'D':
        return record_value_delay(request, value, error);
    case OPTION_DURATION:
        return units_parse_time(value, "--duration", &options->duration_ns, error);
    case OPTION_MAX_SIZE:
        return units_parse_bytes(value, "--max-size", &options->size_max, error);
    case OPTION_KEEP_FREE:
        return units_parse_bytes(value, "--keep-free", &options->keep_free_bytes, error);
    case OPTION_MAX_FRAMES:
        return record_value_frames(value, error);
    case OPTION_MAX_MAPPINGS:
        return record_value_mappings(value, error);
    case 'z':
        return record_value_compression(request, value, error);
    case 'i':
        options->no_inherit = true;
        return 0;
    case OPTION_WAIT_ALL:
        options->wait_all = true;
        return 0;
    case OPTION_VIEW:
        request->view = true;
        return 0;
    case OPTION_REPEAT:
        return options_number(value, "--repeat, number of runs,", 1, REPEAT_MOST, &request->repeat,
                              error);
    case OPTION_END_COMMAND:
        options->end_command = true;
        return 0;
    default: /* -g, --call-graph: stacks are always recorded; AS_IT_IS */
        return 0;
    }
}

/* Running processes, or threads: not both. */
static int add_targets(struct record_request *request, int id, const char *value,
                       struct error *error)
{
    bool are_threads = id == 't';
    if (request->targets.count > 0 && request->options.targets_are_threads != are_threads)
        return error_set(error, -EINVAL, "-p and -t cannot be combined");
    request->options.targets_are_threads = are_threads;
    return target_list_add(&request->targets, are_threads ? "-t" : "-p", value, error);
}

/* Processors as in 0,2-3. */
static int check_processors(const char *value, struct error *error)
{
    bool is_list = value[0] >= '0' && value[0] <= '9';
    for (const char *at = value; is_list && *at; at++) {
        bool is_digit = *at >= '0' && *at <= '9';
        bool is_between = (*at == ',' || *at == '-') && at[1] >= '0' && at[1] <= '9';
        is_list = is_digit || is_between;
    }
    return is_list ? 0
                   : error_set(error, -EINVAL, "-C takes processors as in 0,2-3, not '%s'", value);
}

/* -a, -C and -G. */
static int add_system(struct record_request *request, int id, const char *value,
                      struct error *error)
{
    request->options.records_system = true;
    if (id == 'G' && (!value[0] || strstr(value, "..")))
        return error_set(error, -EINVAL,
                         "-G takes the path of a cgroup below the mount point of the cgroups");
    if (id == 'G')
        request->options.cgroup = value;
    if (id != 'C')
        return 0;
    request->options.processors = value;
    return check_processors(value, error);
}

/* Options of the injected sampler have no meaning for running processes. */
static int check_targets(struct record_request *request, struct error *error)
{
    struct record_options *options = &request->options;
    options->targets = request->targets.ids;
    options->target_count = request->targets.count;
    if (options->records_system && options->target_count > 0)
        return error_set(error, -EINVAL, "-a, -C and -G cannot be combined with -p, -t and -u");
    if (record_engine_is_injected(options->engine))
        return error_set(error, -EINVAL,
                         "--engine is for commands: running processes are recorded by perf-ring");
    if (options->end_command || options->wait_all || request->repeat)
        return error_set(error, -EINVAL,
                         "--end-command, --wait-all and --repeat are for commands, not for "
                         "running processes");
    return 0;
}

/* A command recorded by perf-ring. */
static bool is_by_ring(const struct record_options *options)
{
    return options->engine == RECORD_ENGINE_PERF_RING || !event_list_suits_sampler(options);
}

static int check_lifetime(const struct record_request *request, struct error *error)
{
    const struct record_options *options = &request->options;
    bool is_outside = is_by_ring(options) || options->target_count > 0 || options->records_system;
    if (is_outside && options->self_check_every)
        return error_set(error, -EINVAL,
                         "--self-check compares stacks of the sampler: perf-ring has no sampler");
    if (request->fails_on_incomplete && !event_list_has_clock(options))
        return error_set(error, -EINVAL,
                         "--fail-on measures CPU time: record it beside the other events, "
                         "-e cpu-clock,...");
    if (options->end_command && !options->duration_ns && !options->size_max)
        return error_set(error, -EINVAL, "--end-command needs --duration or --max-size");
    return 0;
}

/* The sampler copies no stacks. */
static int check_raw(struct record_options *options, struct error *error)
{
    if (!options->raw_stacks)
        return 0;
    if (record_engine_is_injected(options->engine))
        return error_set(error, -EINVAL, "--raw needs --engine=perf-ring: %s copies no stacks",
                         record_engine_name(options->engine));
    if (options->off_cpu_only || options->kernel_callers)
        return error_set(error, -EINVAL,
                         "--raw keeps user stacks: leave out --off-cpu-only and "
                         "--kernel-callchains");
    options->engine = RECORD_ENGINE_PERF_RING;
    return 0;
}

/* Waits alone. */
static int check_off_cpu_only(const struct record_request *request, struct error *error)
{
    const struct record_options *options = &request->options;
    bool has_samples = options->event_count || options->kernel_stacks || request->period ||
                       request->has_frequency || options->self_check_every ||
                       request->fails_on_incomplete ||
                       (options->recorders & ~recorder_bit(recorder_find("off-cpu")));
    if (options->off_cpu_only && has_samples)
        return error_set(
            error, -EINVAL,
            "--off-cpu-only takes no samples: use --off-cpu with -e, -F, -c, --kernel, "
            "--self-check, --fail-on and other recorders");
    return 0;
}

/* Options for the outputs and for the names in them. */
static int apply_output(struct record_request *request, int id, const char *value,
                        struct error *error)
{
    switch (id) {
    case 'o':
        request->output_name = value;
        request->output_names++;
        return outputs_add_recorded(&request->outputs, value, error);
    case SYMBOL_DEBUGINFOD:
        request->use_debuginfod = true;
        return 0;
    case SYMBOL_NO_INLINE:
        request->symbols_only = true;
        return 0;
    case MEMORY_LIMIT:
        return record_value_memory(request, value, error);
    case SYMBOL_DEBUG_DIR:
        request->debug_directory = value;
        return 0;
    case OPTION_NO_CMDLINE:
        request->options.no_command_line = true;
        return 0;
    case OPTION_EMBED_SOURCE:
        request->export_options.embed_source = true;
        return 0;
    case OPTION_SHORT_NAMES:
        request->export_options.short_names = true;
        return 0;
    case OPTION_THREADS:
        request->export_options.threads_apart = true;
        return 0;
    default:
        return apply_lifetime(request, id, value, error);
    }
}

/* Options for recorders and sources. */
static int apply_recorder(struct record_request *request, int id, const char *value,
                          struct error *error)
{
    struct record_options *options = &request->options;
    switch (id) {
    case OPTION_RECORD:
        return recorder_names_add(&options->recorders, value, error);
    case OPTION_OFF_CPU:
        return recorder_names_add(&options->recorders, "off-cpu", error);
    case OPTION_OFF_CPU_ONLY:
        options->off_cpu_only = true;
        return recorder_names_add(&options->recorders, "off-cpu", error);
    case OPTION_OFF_CPU_INTERVAL:
        return record_value_off_cpu_interval(request, value, error);
    case OPTION_STUCK_AFTER:
        return units_parse_time(value, "--stuck-after", &request->stuck_after_ns, error);
    case OPTION_ENGINE:
        return recorder_names_engine(&options->engine, value, error);
    case OPTION_SELF_CHECK:
        return record_value_self_check(request, value, error);
    case OPTION_FAIL_ON:
        return record_value_fail_on(request, value, error);
    case OPTION_WITHHOLD_TABLES:
        options->withhold_tables = true;
        return 0;
    default:
        return apply_output(request, id, value, error);
    }
}

/* Options for the events, and for the code and the processes sampled. */
static int apply_samples(struct record_request *request, int id, const char *value,
                         struct error *error)
{
    switch (id) {
    case 'F':
        return record_value_frequency(request, value, error);
    case 'c':
        request->period = value;
        return 0;
    case 'e':
        return event_option_parse(&request->options, value, error);
    case 'k':
        return event_option_clock(value, error);
    case 'p':
    case 't':
        return add_targets(request, id, value, error);
    case 'u':
        request->options.user = value;
        return target_list_add_user(&request->targets, value, error);
    case 'a':
    case 'C':
    case 'G':
        return add_system(request, id, value, error);
    case OPTION_KERNEL:
    case OPTION_ALL_KERNEL:
    case OPTION_KERNEL_CALLCHAINS:
    case OPTION_ALL_USER:
        event_option_kernel(&request->options, id);
        return 0;
    case OPTION_RAW:
        request->options.raw_stacks = true;
        return 0;
    default:
        return apply_recorder(request, id, value, error);
    }
}

static int apply(struct record_request *request, int id, const char *value, struct error *error)
{
    switch (id) {
    case 'q':
        request->quiet = true;
        return 0;
    case 'v':
        request->verbose = true;
        return 0;
    case OPTIONS_HELP:
        request->help = true;
        return 0;
    case OPTION_VERSION:
        request->version = true;
        return 0;
    default:
        return apply_samples(request, id, value, error);
    }
}

static int check_stuck_after(struct record_request *request, struct error *error)
{
    if (request->stuck_after_ns && !recorders_have_off_cpu(request->options.recorders))
        return error_set(error, -EINVAL, "--stuck-after needs --off-cpu");
    if (!request->stuck_after_ns)
        request->stuck_after_ns = STUCK_AFTER_NS;
    return 0;
}

/* `rec -q report` would record a program called report, and replace the capture to be reported. */
static int check_command(char *const *words, char *const *command, struct error *error)
{
    if (command == words || strcmp(command[-1], "--") == 0 || !command_find(*command))
        return 0;
    return error_set(error, -EINVAL,
                     "options of rec %s follow its name; to record a program named %s, put -- in "
                     "front",
                     *command, *command);
}

/* Options against one another, in the order of the messages. */
static int check_request(struct record_request *request, bool has_targets, struct error *error)
{
    struct record_options *options = &request->options;
    if (check_raw(options, error) != 0 || (has_targets && check_targets(request, error) != 0) ||
        check_lifetime(request, error) != 0 || check_off_cpu_only(request, error) != 0 ||
        check_stuck_after(request, error) != 0 ||
        event_option_rate(options, request->period, request->has_frequency, error) != 0 ||
        event_option_check(options, error) != 0 ||
        recorders_check(recorders, RECORDERS, options->recorders,
                        has_targets || is_by_ring(options), error) != 0)
        return -EINVAL;
    if (request->view && request->repeat)
        return error_set(error, -EINVAL, "--view shows one recording: leave out --repeat");
    if (request->view && request->outputs.count && !request->outputs.capture)
        return error_set(error, -EINVAL, "--view needs a capture: add -o NAME.data");
    return 0;
}

int record_request_parse(struct record_request *request, char *const *words, struct error *error)
{
    const struct record_parameter *frequency = recorders_parameter("freq");
    *request = (struct record_request){.options.frequency = (uint32_t)frequency->value_default,
                                       .options.off_cpu_interval_ns = RECORD_OFF_CPU_INTERVAL_NS};
    struct options options = options_of(words, record_command.options);
    const char *value;
    int id;
    while ((id = options_next(&options, &value, error)) > 0 && id != OPTIONS_OPERAND) {
        int err = apply(request, id, value, error);
        if (err || request->help || request->version)
            return err;
    }
    if (id < 0 || (id > 0 && check_command(words, options.argv - 1, error) != 0))
        return -EINVAL;
    bool has_targets = request->targets.count > 0 || request->options.records_system;
    if (id == 0 && !has_targets)
        return error_set(error, -EINVAL,
                         "no command to record: use rec -- COMMAND; see `rec --help`");
    if (check_request(request, has_targets, error) != 0)
        return -EINVAL;
    request->options.argv = id > 0 ? options.argv - 1 : NULL;
    if (request->outputs.capture || request->outputs.count > 0)
        return 0;
    return outputs_add_usual(&request->outputs, "", true, error);
}

void record_request_free(struct record_request *request)
{
    outputs_free(&request->outputs);
    target_list_free(&request->targets);
}
