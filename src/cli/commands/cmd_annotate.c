/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "cli/files/confine_outputs.h"
#include "cli/files/input_command.h"
#include "cli/report/annotate/annotate.h"
#include "cli/report/symbolized_load.h"
#include "cli/tables/annotate_table.h"
#include "cli/terminal/pager.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

struct annotate_request {
    struct input_request input;
    const char *function;
    struct source_dirs dirs;
    bool wants_code, is_att, json;
};

static int apply(struct input_request *input, int id, const char *value, struct error *error)
{
    struct annotate_request *request = (struct annotate_request *)input;
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
    default:
        if (request->function)
            return inputs_add(&input->inputs, value, error);
        request->function = value;
        return 0;
    }
}

static int check(struct input_request *input, struct error *error)
{
    const struct annotate_request *request = (struct annotate_request *)input;
    if (request->function)
        return 0;
    return error_set(error, -EINVAL,
                     "rec annotate needs a function, as in `rec annotate main`: `rec report` "
                     "lists the names");
}

static void print_json(const struct annotation *annotation, struct error *error, int *err)
{
    struct buffer out = {0};
    annotate_json(annotation, &out);
    if (out.failed)
        *err = error_set(error, -ENOMEM, "out of memory");
    else
        fwrite(out.bytes, 1, out.size, stdout);
    buffer_free(&out);
}

/* The text has a part of the symbols, JSON has all. */
static size_t code_count(const struct annotate_request *request)
{
    if (!request->wants_code)
        return 0;
    return request->json ? SIZE_MAX : ANNOTATE_SYMBOLS_PRINTED;
}

static int annotate(const struct annotate_request *request, struct error *error)
{
    struct profile *profile = NULL;
    struct annotation annotation = {0};
    struct stat capture = {0};
    int err = symbolized_load_all(&profile, &request->input.inputs, &request->input.from, error);
    if (err)
        return err;
    (void)stat(inputs_first(&request->input.inputs), &capture);
    const struct annotation_request wanted = {.profile = profile,
                                              .options = &request->input.from,
                                              .dirs = &request->dirs,
                                              .function = request->function,
                                              .owner = capture.st_uid,
                                              .symbols_with_code = code_count(request),
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

static int run(struct input_request *input, struct error *error)
{
    const struct annotate_request *request = (struct annotate_request *)input;
    if (!request->json)
        pager_start();
    confine_to_outputs(NULL, input->from.use_debuginfod);
    int err = annotate(request, error);
    pager_finish();
    return err;
}

int cmd_annotate(char *const *words)
{
    static const struct input_command command = {
        .spec = &annotate_command, .apply = apply, .check = check, .run = run};
    struct annotate_request request = {.input.from.adds_samples_up = true};
    return input_command_run(&command, &request.input, words);
}
