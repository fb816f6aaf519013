/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "base/files/io.h"
#include "base/text/log.h"
#include "cli/files/confine_outputs.h"
#include "cli/files/embedded_sources.h"
#include "cli/files/input_command.h"
#include "cli/files/outputs.h"
#include "cli/options/options.h"
#include "cli/tables/convert_table.h"
#include "cli/options/view_options.h"
#include "cli/report/symbolized_load.h"
#include "cli/summary/diagnostics.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct convert_request {
    struct input_request input;
    const struct exporter *format; /* of standard output; NULL: no --format */
    bool to_stdout;
    struct outputs outputs;
    struct export_options options;
    bool quiet, verbose;
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

static int apply(struct input_request *input, int id, const char *value, struct error *error)
{
    struct convert_request *request = (struct convert_request *)input;
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
        log_set_quiet(true);
        return 0;
    case 'v':
        request->verbose = true;
        return 0;
    default:
        return inputs_add(&request->input.inputs, value, error);
    }
}

static int check(struct input_request *input, struct error *error)
{
    struct convert_request *request = (struct convert_request *)input;
    request->input.from.adds_samples_up =
        !outputs_have_times(&request->outputs) && !(request->format && request->format->has_times);
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

/* Never compressed: a pipe to gzip does the same. */
static int write_stdout(const struct convert_request *request, const struct profile *profile,
                        struct error *error)
{
    return export_to_fd(request->format, profile, &request->options, false, STDOUT_FILENO, error);
}

static void print_written(const struct convert_request *request, const struct profile *profile)
{
    struct inputs_label label = inputs_label(&request->input.inputs);
    const char *input = label.text;
    const char *damage = profile_note(profile, "damage");
    if (damage)
        log_error("%s: %s", input, damage);
    struct view_age age = view_age(inputs_newest(&request->input.inputs));
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
                 filter_is_empty(&request->input.from.filter) ? "" : " in the selected part");
}

static int run(struct input_request *input, struct error *error)
{
    struct convert_request *request = (struct convert_request *)input;
    struct embedded_sources embedded;
    struct profile *profile = NULL;
    struct sudo_owner owner = sudo_owner_find();
    int err = outputs_prepare(&request->outputs, &owner, error);
    if (!err)
        confine_to_outputs(&request->outputs, request->input.from.use_debuginfod);
    if (!err)
        err = symbolized_load_all(&profile, &request->input.inputs, &request->input.from, error);
    embedded_sources_open(&embedded, &request->options);
    if (!err)
        err = outputs_write(&request->outputs, profile, &request->options, &owner, error);
    if (!err) {
        /* The search for packages with debug symbols takes longer than most conversions. */
        if (!request->quiet)
            diagnostics_print_for_file(profile, request->input.from.symfs);
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
    static const struct input_command command = {
        .spec = &convert_command, .apply = apply, .check = check, .run = run};
    struct convert_request request = {0};
    int status = input_command_run(&command, &request.input, words);
    outputs_free(&request.outputs);
    return status;
}
