/* SPDX-License-Identifier: MIT */
#include "cli/commands/cmd_view.h"

#include "base/heap.h"
#include "cli/commands/commands.h"
#include "cli/files/confine_outputs.h"
#include "cli/files/input_command.h"
#include "cli/report/symbolized_load.h"
#include "cli/tables/serve_table.h"
#include "view/view.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

struct request {
    struct input_request input;
    struct source_dirs dirs;
    struct view_options view;
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

static int apply(struct input_request *input, int id, const char *value, struct error *error)
{
    struct request *request = (struct request *)input;
    switch (id) {
    case SERVE_ATT:
        request->view.is_att = true;
        return 0;
    case SERVE_SOURCE_DIR:
        return source_dirs_add(&request->dirs, value, error);
    case OPTIONS_OPERAND:
        return inputs_add(&input->inputs, value, error);
    default:
        return apply_viewer(request, id, value, error);
    }
}

static int load_and_serve(struct request *request, struct view *view, struct error *error)
{
    struct profile *profile = NULL;
    struct stat capture = {0};
    struct inputs_label label = inputs_label(&request->input.inputs);
    int err = symbolized_load_all(&profile, &request->input.inputs, &request->input.from, error);
    if (err)
        return err;
    if (profile->sample_count == 0) {
        profile_free(profile);
        return error_set(error, -ENODATA, "%.400s: no samples%s", label.text,
                         filter_is_empty(&request->input.from.filter) ? ""
                                                                      : " in the selected part");
    }
    heap_give_back();
    (void)stat(inputs_first(&request->input.inputs), &capture);
    const struct view_capture served = {.profile = profile,
                                        .name = label.text,
                                        .owner = capture.st_uid,
                                        .options = &request->input.from,
                                        .dirs = &request->dirs};
    err = view_serve(view, &served, error);
    profile_free(profile);
    return err;
}

/* Sockets and children first: later this process is confined. */
static int run(struct input_request *input, struct error *error)
{
    struct request *request = (struct request *)input;
    struct view view;
    int err = view_open(&view, &request->view, error);
    if (err)
        return err;
    confine_to_outputs(NULL, input->from.use_debuginfod);
    err = load_and_serve(request, &view, error);
    view_close(&view);
    return err;
}

int cmd_view(char *const *words)
{
    static const struct input_command command = {.spec = &view_command, .apply = apply, .run = run};
    struct request request = {0};
    return input_command_run(&command, &request.input, words);
}
