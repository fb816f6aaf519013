/* SPDX-License-Identifier: MIT */
#include "cli/commands/cmd_view.h"

#include "cli/commands/commands.h"
#include "cli/commands/program_hint.h"
#include "cli/files/confine_outputs.h"
#include "cli/files/inputs.h"
#include "cli/options/filter_options.h"
#include "cli/options/help.h"
#include "cli/options/symbol_options.h"
#include "cli/report/symbolized_load.h"
#include "cli/tables/serve_table.h"
#include "view/view.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

struct request {
    struct inputs inputs;
    struct convert_options from;
    struct source_dirs dirs;
    struct view_options view;
    bool help;
};

static int apply_viewer(struct request *request, int id, const char *value, struct error *error)
{
    unsigned long port;
    int err = 0;
    switch (id) {
    case SERVE_PORT:
        err = options_number(value, "--port", 1, 65535, &port, error);
        request->view.port = err ? 0 : (unsigned)port;
        return err;
    case SERVE_ADDRESS:
        request->view.address = value;
        return 0;
    case SERVE_NO_OPEN:
        request->view.no_open = true;
        return 0;
    case SERVE_PROFILER:
        request->view.profiler = value;
        return 0;
    case SERVE_SPEEDSCOPE:
        request->view.kind = VIEW_SPEEDSCOPE;
        request->view.speedscope = value;
        return 0;
    case SERVE_PPROF:
        request->view.kind = VIEW_PPROF;
        return 0;
    default:
        request->view.kind = VIEW_PAGE;
        return 0;
    }
}

static int apply(struct request *request, int id, const char *value, struct error *error)
{
    int err;
    if (filter_option(&request->from.filter, id, value, &err, error) ||
        symbol_option(&request->from, id, value, &err, error))
        return err;
    switch (id) {
    case SERVE_ATT:
        request->view.is_att = true;
        return 0;
    case SERVE_SOURCE_DIR:
        return source_dirs_add(&request->dirs, value, error);
    case OPTIONS_HELP:
        request->help = true;
        return 0;
    case 'i':
    case OPTIONS_OPERAND:
        return inputs_add(&request->inputs, value, error);
    default:
        return apply_viewer(request, id, value, error);
    }
}

static int parse(struct request *request, char *const *words, struct error *error)
{
    struct options options = options_of(words, view_command.options);
    const char *value;
    int id;
    while ((id = options_next(&options, &value, error)) > 0) {
        int err = apply(request, id, value, error);
        if (err)
            return err;
    }
    if (id == 0 && request->inputs.count == 0)
        return inputs_add(&request->inputs, CAPTURE_DEFAULT, error);
    return id;
}

static int load_and_serve(struct request *request, struct view *view, struct error *error)
{
    struct profile *profile = NULL;
    struct stat capture = {0};
    struct inputs_label label = inputs_label(&request->inputs);
    int err = symbolized_load_all(&profile, &request->inputs, &request->from, error);
    if (err)
        return err;
    if (profile->sample_count == 0) {
        profile_free(profile);
        return error_set(error, -ENODATA, "%.400s: no samples%s", label.text,
                         filter_is_empty(&request->from.filter) ? "" : " in the selected part");
    }
    (void)stat(inputs_first(&request->inputs), &capture);
    const struct view_capture served = {.profile = profile,
                                        .name = label.text,
                                        .owner = capture.st_uid,
                                        .options = &request->from,
                                        .dirs = &request->dirs};
    err = view_serve(view, &served, error);
    profile_free(profile);
    return err;
}

/* Sockets and children first: later this process is confined. */
static int view(struct request *request, struct error *error)
{
    struct view view;
    int err = inputs_resolve(&request->inputs, &view_command, error);
    if (!err)
        err = view_open(&view, &request->view, error);
    if (err)
        return err;
    confine_to_outputs(NULL, request->from.use_debuginfod);
    err = load_and_serve(request, &view, error);
    view_close(&view);
    return err;
}

int cmd_view(char *const *words)
{
    struct request request = {0};
    struct error error = {{0}};
    int err = parse(&request, words, &error);
    if (err)
        program_hint_append(view_command.name, inputs_first(&request.inputs), &error);
    else if (request.help)
        help_print_command(stdout, &view_command);
    else
        err = view(&request, &error);
    inputs_log_error(&request.inputs, err, &error);
    inputs_free(&request.inputs);
    filter_free(&request.from.filter);
    return err ? STATUS_FAILED : STATUS_OK;
}
