/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "base/files/io.h"
#include "base/text/log.h"
#include "cli/commands/program_hint.h"
#include "cli/files/confine_outputs.h"
#include "cli/files/embedded_sources.h"
#include "cli/files/inputs.h"
#include "cli/files/outputs.h"
#include "cli/options/filter_options.h"
#include "cli/options/help.h"
#include "cli/options/options.h"
#include "cli/tables/convert_table.h"
#include "cli/options/symbol_options.h"
#include "cli/options/view_options.h"
#include "cli/report/symbolized_load.h"
#include "cli/summary/diagnostics.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct convert_request {
    struct inputs inputs;
    struct convert_options from;
    const struct exporter *format; /* of standard output; NULL: no --format */
    bool to_stdout;
    struct outputs outputs;
    struct export_options options;
    bool quiet, verbose, help;
};

static int parse_format(struct convert_request *request, const char *name, struct error *error)
{
    request->format = exporter_by_name(name);
    if (request->format)
        return 0;
    char names[256] = "";
    size_t used = 0;
    for (size_t i = 0; exporters[i] && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "",
                                 exporters[i]->name);
    return error_set(error, -EINVAL, "unknown format %s: use %s", name, names);
}

static int apply(struct convert_request *request, int id, const char *value, struct error *error)
{
    int err;
    if (filter_option(&request->from.filter, id, value, &err, error) ||
        symbol_option(&request->from, id, value, &err, error))
        return err;
    switch (id) {
    case 'o':
        if (strcmp(value, "-") != 0)
            return outputs_add_converted(&request->outputs, value, error);
        request->to_stdout = true;
        return 0;
    case CONVERT_FORMAT:
        return parse_format(request, value, error);
    case CONVERT_EMBED_SOURCE:
        request->options.embed_source = true;
        return 0;
    case CONVERT_THREADS:
        request->options.threads_apart = true;
        return 0;
    case CONVERT_SHORT_NAMES:
        request->options.short_names = true;
        return 0;
    case CONVERT_ANNOTATE:
        request->options.annotate = true;
        return 0;
    case CONVERT_ADDRS:
        request->options.addresses = true;
        return 0;
    case 'q':
        request->quiet = true;
        return 0;
    case 'v':
        request->verbose = true;
        return 0;
    case OPTIONS_HELP:
        request->help = true;
        return 0;
    default:
        return inputs_add(&request->inputs, value, error);
    }
}

static int check_complete(struct convert_request *request, struct error *error)
{
    request->from.adds_samples_up =
        !outputs_have_times(&request->outputs) && !(request->format && request->format->has_times);
    if (request->help)
        return 0;
    if (request->inputs.count == 0 && inputs_add(&request->inputs, CAPTURE_DEFAULT, error) != 0)
        return -ENOMEM;
    if (request->to_stdout && !request->format)
        return error_set(error, -EINVAL, "-o - needs --format NAME: standard output has no suffix");
    if (request->format && !request->to_stdout)
        return error_set(error, -EINVAL,
                         "--format needs -o -: the suffix of a file selects the format");
    if (!request->to_stdout && request->outputs.count == 0)
        return error_set(error, -EINVAL,
                         "no output: name a file with -o, as in `rec convert -o app.pb.gz`");
    return 0;
}

static int parse(struct convert_request *request, char *const *words, struct error *error)
{
    struct options options = options_of(words, convert_command.options);
    const char *value;
    int id;
    while ((id = options_next(&options, &value, error)) > 0) {
        int err = apply(request, id, value, error);
        if (err)
            return err;
    }
    return id ? id : check_complete(request, error);
}

/* Never compressed: a pipe to gzip does the same. */
static int write_stdout(const struct convert_request *request, const struct profile *profile,
                        struct error *error)
{
    return export_to_fd(request->format, profile, &request->options, false, STDOUT_FILENO, error);
}

static void print_written(const struct convert_request *request, const struct profile *profile)
{
    struct inputs_label label = inputs_label(&request->inputs);
    const char *input = label.text;
    const char *damage = profile_note(profile, "damage");
    if (damage)
        log_error("%s: %s", input, damage);
    struct view_age age = view_age(inputs_newest(&request->inputs));
    for (size_t i = 0; i < request->outputs.count; i++)
        log_info("%s (%s): wrote %s: %s", input, age.text, request->outputs.items[i].path,
                 request->outputs.items[i].exporter->description);
    for (size_t i = 0; profile->event_count > 1 && i < request->outputs.count; i++)
        if (request->outputs.items[i].exporter->has_one_event)
            log_info("%s contains only the event %s: select another event with --event",
                     request->outputs.items[i].path,
                     profile_text(profile, profile_main_event(profile).name));
    if (profile->sample_count == 0)
        log_info("%s: no samples%s", input,
                 filter_is_empty(&request->from.filter) ? "" : " in the selected part");
}

static int convert(struct convert_request *request, struct error *error)
{
    struct embedded_sources embedded;
    struct profile *profile = NULL;
    struct sudo_owner owner = sudo_owner_find();
    int err = outputs_prepare(&request->outputs, &owner, error);
    if (!err)
        confine_to_outputs(&request->outputs, request->from.use_debuginfod);
    if (!err)
        err = symbolized_load_all(&profile, &request->inputs, &request->from, error);
    embedded_sources_open(&embedded, &request->options);
    if (!err)
        err = outputs_write(&request->outputs, profile, &request->options, &owner, error);
    if (!err) {
        /* The search for packages with debug symbols takes longer than most conversions. */
        if (!request->quiet)
            diagnostics_print_for_file(profile, request->from.symfs);
        print_written(request, profile);
    }
    if (!err && request->to_stdout)
        err = write_stdout(request, profile, error);
    if (!err)
        embedded_sources_print(&embedded, request->verbose);
    embedded_sources_close(&embedded);
    profile_free(profile);
    return err;
}

int cmd_convert(char *const *words)
{
    struct convert_request request = {0};
    struct error error = {{0}};
    int err = parse(&request, words, &error);
    log_set_quiet(request.quiet);
    if (err)
        program_hint_append(convert_command.name, inputs_first(&request.inputs), &error);
    else if (request.help)
        help_print_command(stdout, &convert_command);
    else if ((err = inputs_resolve(&request.inputs, &convert_command, &error)) == 0)
        err = convert(&request, &error);
    inputs_log_error(&request.inputs, err, &error);
    outputs_free(&request.outputs);
    filter_free(&request.from.filter);
    inputs_free(&request.inputs);
    return err ? STATUS_FAILED : STATUS_OK;
}
