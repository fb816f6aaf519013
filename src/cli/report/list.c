/* SPDX-License-Identifier: MIT */
#include "cli/report/list.h"

#include "base/text/log.h"
#include "cli/report/json_report.h"
#include "export/encoding/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const type_names[] = {
    [RECORD_PARAMETER_INTEGER] = "integer", [RECORD_PARAMETER_TIME] = "time",
    [RECORD_PARAMETER_SIZE] = "size",       [RECORD_PARAMETER_SOURCE] = "choice",
    [RECORD_PARAMETER_SWITCH] = "switch",
};
static const char *const value_names[] = {
    [RECORD_PARAMETER_INTEGER] = " N", [RECORD_PARAMETER_TIME] = " TIME",
    [RECORD_PARAMETER_SIZE] = " SIZE", [RECORD_PARAMETER_SOURCE] = " NAME",
    [RECORD_PARAMETER_SWITCH] = "",
};

struct option_text {
    char text[48];
};

static int wider(int width, const char *text)
{
    int own = (int)strlen(text);
    return own > width ? own : width;
}

static bool is_shown(const struct list_request *request, size_t row)
{
    return !request->has_names || request->named[row];
}

static void print_row(const struct recorder *recorder, const struct record_probe *probe)
{
    struct recorder_availability found = recorder_probe(recorder, probe);
    printf("%-16s %-6s %-9s %s\n", recorder->id, recorder->events[0].unit,
           found.is_available ? "yes" : "no", recorder->description);
    if (!found.is_available)
        text_print(stdout, "                 not available: %s\n", found.reason);
}

static void print_sources(const struct recorder *recorder, const struct record_probe *probe)
{
    int width = 0;
    for (size_t i = 0; i < recorder->source_count; i++)
        width = wider(width, recorder->sources[i].name);
    for (size_t i = 0; i < recorder->source_count; i++) {
        const struct record_source *source = &recorder->sources[i];
        const char *refusal = source->refusal(probe);
        printf("  %-*s  %s\n", width, source->name, source->description);
        printf("  %-*s  needs %s\n", width, "", source->needs);
        text_print(stdout, "  %-*s  available: %s%s\n", width, "", refusal ? "no, " : "yes",
                   refusal ? refusal : "");
    }
}

static struct option_text option_of(const struct record_parameter *parameter)
{
    struct option_text option;
    snprintf(option.text, sizeof(option.text), "--%s%s", parameter->name,
             value_names[parameter->type]);
    return option;
}

static void print_parameter(const struct record_parameter *parameter, int width)
{
    printf("  %-*s  %s\n", width, option_of(parameter).text, parameter->help);
    printf("  %-*s  ", width, "");
    if (parameter->type == RECORD_PARAMETER_INTEGER)
        printf("%" PRIu64 " to %" PRIu64 " %s, ", parameter->least, parameter->most,
               parameter->unit);
    if (parameter->default_text)
        printf("default: %s\n", parameter->default_text);
    else if (parameter->type == RECORD_PARAMETER_SWITCH)
        printf("default: off\n");
    else
        printf("default: %" PRIu64 "\n", parameter->value_default);
}

static void print_parameters(const struct recorder *recorder)
{
    int width = 0;
    for (size_t i = 0; i < recorder->parameter_count; i++)
        width = wider(width, option_of(&recorder->parameters[i]).text);
    for (size_t i = 0; i < recorder->parameter_count; i++)
        print_parameter(&recorder->parameters[i], width);
}

static const char *default_duration(const struct recorder *recorder)
{
    const struct record_parameter *own = recorder_parameter(recorder, "duration");
    return (own ? own : recorders_parameter("duration"))->default_text;
}

static void print_details(const struct recorder *recorder, const struct record_probe *probe)
{
    struct recorder_availability found = recorder_probe(recorder, probe);
    printf("%s: %s\n\n", recorder->id, recorder->name);
    printf("description  %s\n", recorder->description);
    for (size_t i = 0; i < recorder->event_count; i++)
        printf("%-12s %s in %s\n", i ? "" : "events", recorder->events[i].name,
               recorder->events[i].unit);
    printf("duration     %s\n", default_duration(recorder));
    printf("start        %s\n", recorder->can_start ? "yes" : "not yet");
    printf("attach       %s\n", recorder->can_attach ? "yes" : "not yet");
    printf("privileges   %s\n", recorder->privileges);
    text_print(stdout, "available    %s%s\n", found.is_available ? "yes" : "no: ", found.reason);
    printf("\nsources, in order of preference:\n");
    print_sources(recorder, probe);
    if (recorder->parameter_count)
        printf("\nparameters:\n");
    print_parameters(recorder);
}

void list_print(const struct list_request *request)
{
    if (!request->has_names)
        printf("%-16s %-6s %-9s %s\n", "RECORDER", "WEIGHT", "AVAILABLE", "DESCRIPTION");
    bool is_first = true;
    for (size_t i = 0; i < RECORDERS; i++) {
        if (!is_shown(request, i))
            continue;
        if (!request->has_names) {
            print_row(&recorders[i], &request->probe);
            continue;
        }
        printf("%s", is_first ? "" : "\n");
        print_details(&recorders[i], &request->probe);
        is_first = false;
    }
}

static void append_sources(const struct recorder *recorder, const struct record_probe *probe,
                           struct buffer *out)
{
    json_key(out, "sources");
    json_open(out, '[');
    for (size_t i = 0; i < recorder->source_count; i++) {
        const struct record_source *source = &recorder->sources[i];
        const char *refusal = source->refusal(probe);
        json_open(out, '{');
        json_member_string(out, "id", source->name);
        json_member_string(out, "description", source->description);
        json_member_string(out, "needs", source->needs);
        json_member_bool(out, "available", !refusal);
        if (refusal)
            json_member_string(out, "reason", refusal);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void append_events(const struct recorder *recorder, struct buffer *out)
{
    json_key(out, "events");
    json_open(out, '[');
    for (size_t i = 0; i < recorder->event_count; i++) {
        json_open(out, '{');
        json_member_string(out, "name", recorder->events[i].name);
        json_member_string(out, "unit", recorder->events[i].unit);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void append_choices(const struct recorder *recorder, struct buffer *out)
{
    json_key(out, "choices");
    json_open(out, '[');
    for (size_t i = 0; i < recorder->source_count; i++)
        json_string(out, recorder->sources[i].name);
    json_close(out, ']');
}

static void append_parameter(const struct recorder *recorder,
                             const struct record_parameter *parameter, struct buffer *out)
{
    json_open(out, '{');
    json_member_string(out, "name", parameter->name);
    json_member_string(out, "type", type_names[parameter->type]);
    json_member_string(out, "help", parameter->help);
    if (parameter->default_text)
        json_member_string(out, "default_text", parameter->default_text);
    else if (parameter->type == RECORD_PARAMETER_SWITCH)
        json_member_bool(out, "default", false);
    else
        json_member_unsigned(out, "default", parameter->value_default);
    if (parameter->unit) {
        json_member_string(out, "unit", parameter->unit);
        json_member_unsigned(out, "min", parameter->least);
        json_member_unsigned(out, "max", parameter->most);
    }
    if (parameter->type == RECORD_PARAMETER_SOURCE)
        append_choices(recorder, out);
    json_close(out, '}');
}

static void append_recorder(const struct recorder *recorder, const struct record_probe *probe,
                            struct buffer *out)
{
    struct recorder_availability found = recorder_probe(recorder, probe);
    json_open(out, '{');
    json_member_string(out, "id", recorder->id);
    json_member_string(out, "name", recorder->name);
    json_member_string(out, "description", recorder->description);
    json_member_string(out, "weight_unit", recorder->events[0].unit);
    json_member_string(out, "event", recorder->events[0].name);
    append_events(recorder, out);
    json_member_string(out, "default_duration", default_duration(recorder));
    json_member_bool(out, "start", recorder->can_start);
    json_member_bool(out, "attach", recorder->can_attach);
    json_member_string(out, "privileges", recorder->privileges);
    json_member_bool(out, "available", found.is_available);
    if (!found.is_available)
        json_member_string(out, "reason", found.reason);
    append_sources(recorder, probe, out);
    json_key(out, "parameters");
    json_open(out, '[');
    for (size_t i = 0; i < recorder->parameter_count; i++)
        append_parameter(recorder, &recorder->parameters[i], out);
    json_close(out, ']');
    json_close(out, '}');
}

void list_json(const struct list_request *request, struct buffer *out)
{
    json_report_open(out, NULL);
    json_key(out, "recorders");
    json_open(out, '[');
    for (size_t i = 0; i < RECORDERS; i++)
        if (is_shown(request, i))
            append_recorder(&recorders[i], &request->probe, out);
    json_close(out, ']');
    json_report_close(out);
}
