/* SPDX-License-Identifier: MIT */
#include "cli/options/view_options.h"

#include "base/text/log.h"
#include "cli/commands/commands.h"
#include "cli/commands/program_hint.h"
#include "cli/files/confine_outputs.h"
#include "cli/files/memory_limit.h"
#include "cli/options/filter_options.h"
#include "cli/options/help.h"
#include "cli/options/options.h"
#include "cli/options/symbol_options.h"
#include "cli/tables/view_table.h"
#include "cli/terminal/pager.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

static int parse(struct view_request *request, char *const *words,
                 const struct command_spec *command, struct error *error)
{
    *request = (struct view_request){.from.adds_samples_up = true};
    struct options options = options_of(words, command->options);
    const char *value;
    int id;
    while ((id = options_next(&options, &value, error)) > 0) {
        int err = 0;
        if (filter_option(&request->from.filter, id, value, &err, error) ||
            symbol_option(&request->from, id, value, &err, error))
            ;
        else if (id == OPTIONS_HELP)
            request->help = true;
        else if (id == VIEW_JSON)
            request->json = true;
        else if (id == VIEW_SHORT_NAMES)
            request->short_names = true;
        else if (id == VIEW_LIFECYCLE)
            request->lifecycle = true;
        else if (id != OPTIONS_WITHOUT_EFFECT)
            err = inputs_add(&request->inputs, value, error);
        if (err)
            return err;
    }
    if (id == 0 && request->lifecycle && request->inputs.count > 1)
        return error_set(error, -EINVAL,
                         "--lifecycle shows a single capture: times of several have no common "
                         "start");
    if (id == 0 && request->inputs.count == 0)
        return inputs_add(&request->inputs, CAPTURE_DEFAULT, error);
    return id;
}

int view_run(char *const *words, const struct command_spec *command,
             int (*show)(const struct view_request *request, struct error *error))
{
    struct view_request request;
    struct error error = {{0}};
    int err = parse(&request, words, command, &error);
    if (err)
        program_hint_append(command->name, inputs_first(&request.inputs), &error);
    else if (request.help)
        help_print_command(stdout, command);
    else if ((err = inputs_resolve(&request.inputs, command, &error)) == 0) {
        if (command == &report_command && !request.json)
            pager_start();
        confine_to_outputs(NULL, request.from.use_debuginfod);
        err = show(&request, &error);
    }
    pager_finish();
    if (err == -ENOMEM)
        memory_limit_explain(inputs_label(&request.inputs).text, &error);
    if (err)
        log_error("%s", error.text);
    filter_free(&request.from.filter);
    inputs_free(&request.inputs);
    return err ? STATUS_FAILED : STATUS_OK;
}

struct view_age view_age(const char *path)
{
    static const struct {
        long long seconds;
        const char *unit;
    } units[] = {{86400, "days"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    struct view_age age = {{0}};
    struct stat status;
    if (stat(path, &status) != 0)
        return age;
    long long seconds = (long long)time(NULL) - (long long)status.st_mtim.tv_sec;
    seconds = seconds > 0 ? seconds : 0;
    size_t unit = 0;
    while (unit < 3 && seconds < 2 * units[unit].seconds)
        unit++;
    snprintf(age.text, sizeof(age.text), "%lld %s old", seconds / units[unit].seconds,
             units[unit].unit);
    return age;
}

void view_one_line(char *line, size_t size, const char *text)
{
    snprintf(line, size, "%s", text);
    for (char *p = line; *p; p++)
        *p = *p == '\n' || *p == '\t' ? ' ' : *p;
}
