/* SPDX-License-Identifier: MIT */
#include "cli/files/input_command.h"

#include "cli/commands/commands.h"
#include "cli/commands/program_hint.h"
#include "cli/options/help.h"
#include "cli/options/input_options.h"

#include <stdio.h>

static int apply(const struct input_command *command, struct input_request *request, int id,
                 const char *value, struct error *error)
{
    int err;
    if (input_option(&request->from, id, value, &err, error))
        return err;
    switch (id) {
    case OPTIONS_HELP:
        request->help = true;
        return 0;
    case 'i':
        return inputs_add(&request->inputs, value, error);
    default:
        return command->apply(request, id, value, error);
    }
}

static int parse(const struct input_command *command, struct input_request *request,
                 char *const *words, struct error *error)
{
    struct options options = options_of(words, command->spec->options);
    const char *value;
    int id, err = 0;
    while (err == 0 && (id = options_next(&options, &value, error)) != 0)
        err = id < 0 ? id : apply(command, request, id, value, error);
    if (err == 0 && !request->help && command->check)
        err = command->check(request, error);
    if (err == 0 && request->inputs.count == 0)
        err = inputs_add(&request->inputs, CAPTURE_DEFAULT, error);
    return err;
}

int input_command_run(const struct input_command *command, struct input_request *request,
                      char *const *words)
{
    struct error error = {{0}};
    int err = parse(command, request, words, &error);
    if (err)
        program_hint_append(command->spec->name, inputs_first(&request->inputs), &error);
    else if (request->help)
        help_print_command(stdout, command->spec);
    else if ((err = inputs_resolve(&request->inputs, command->spec, &error)) == 0)
        err = command->run(request, &error);
    inputs_log_error(&request->inputs, err, &error);
    inputs_free(&request->inputs);
    filter_free(&request->from.filter);
    return err ? STATUS_FAILED : STATUS_OK;
}
