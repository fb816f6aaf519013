/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "cli/commands/program_hint.h"
#include "cli/files/confine_outputs.h"
#include "cli/files/inputs.h"
#include "cli/options/filter_options.h"
#include "cli/options/help.h"
#include "cli/options/symbol_options.h"
#include "cli/options/view_options.h"
#include "cli/report/annotate.h"
#include "cli/report/symbolized_load.h"
#include "cli/tables/annotate_table.h"
#include "cli/terminal/pager.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

struct annotate_request {
    const char *function;
    struct inputs inputs;
    struct convert_options from;
    struct source_dirs dirs;
    bool wants_code, is_att, json, help;
};

static int take_operand(struct annotate_request *request, const char *value, struct error *error)
{
    if (request->function)
        return inputs_add(&request->inputs, value, error);
    request->function = value;
    return 0;
}

static int apply(struct annotate_request *request, int id, const char *value, struct error *error)
{
    int err;
    if (filter_option(&request->from.filter, id, value, &err, error) ||
        symbol_option(&request->from, id, value, &err, error))
        return err;
    switch (id) {
    case ANNOTATE_ATT:
        request->is_att = true;
        request->wants_code = true;
        return 0;
    case ANNOTATE_ASM:
        request->wants_code = true;
        return 0;
    case ANNOTATE_JSON:
        request->json = true;
        return 0;
    case ANNOTATE_SOURCE_DIR:
        return source_dirs_add(&request->dirs, value, error);
    case OPTIONS_HELP:
        request->help = true;
        return 0;
    case 'i':
        return inputs_add(&request->inputs, value, error);
    default:
        return take_operand(request, value, error);
    }
}

static int parse(struct annotate_request *request, char *const *words, struct error *error)
{
    struct options options = options_of(words, annotate_command.options);
    const char *value;
    int id;
    request->from.adds_samples_up = true;
    while ((id = options_next(&options, &value, error)) > 0) {
        int err = apply(request, id, value, error);
        if (err)
            return err;
    }
    if (id == 0 && !request->function && !request->help)
        return error_set(error, -EINVAL,
                         "rec annotate needs a function, as in `rec annotate main`: `rec report` "
                         "lists the names");
    if (id == 0 && request->inputs.count == 0)
        return inputs_add(&request->inputs, CAPTURE_DEFAULT, error);
    return id;
}

static void print_json(const struct annotation *annotation, struct error *error, int *err)
{
    struct buffer out = {0};
    annotate_json(annotation, &out);
    fwrite(out.bytes, 1, out.size, stdout);
    if (out.failed)
        *err = error_set(error, -ENOMEM, "out of memory");
    buffer_free(&out);
}

static int annotate(const struct annotate_request *request, struct error *error)
{
    struct profile *profile = NULL;
    struct annotation annotation = {0};
    struct stat capture = {0};
    int err = symbolized_load_all(&profile, &request->inputs, &request->from, error);
    if (err)
        return err;
    (void)stat(inputs_first(&request->inputs), &capture);
    const struct annotation_request wanted = {.profile = profile,
                                              .options = &request->from,
                                              .dirs = &request->dirs,
                                              .function = request->function,
                                              .owner = capture.st_uid,
                                              .wants_code = request->wants_code,
                                              .is_att = request->is_att};
    err = annotation_build(&annotation, &wanted, error);
    if (!err && request->json)
        print_json(&annotation, error, &err);
    else if (!err)
        annotate_print(&annotation, pager_columns());
    annotation_free(&annotation);
    profile_free(profile);
    return err;
}

int cmd_annotate(char *const *words)
{
    struct annotate_request request = {0};
    struct error error = {{0}};
    int err = parse(&request, words, &error);
    if (err)
        program_hint_append(annotate_command.name, inputs_first(&request.inputs), &error);
    else if (request.help)
        help_print_command(stdout, &annotate_command);
    else if ((err = inputs_resolve(&request.inputs, &annotate_command, &error)) == 0) {
        if (!request.json)
            pager_start();
        confine_to_outputs(NULL, request.from.use_debuginfod);
        err = annotate(&request, &error);
        pager_finish();
    }
    inputs_log_error(&request.inputs, err, &error);
    inputs_free(&request.inputs);
    filter_free(&request.from.filter);
    return err ? STATUS_FAILED : STATUS_OK;
}
