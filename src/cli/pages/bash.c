/* SPDX-License-Identifier: MIT */
#include "cli/pages/bash.h"

#include "cli/tables/command_table.h"
#include "cli/options/help_text.h"

#include <string.h>

static const char prologue[] = "# bash completion of rec, generated from the option tables of rec\n"
                               "\n";

/* COMP_WORDBREAKS splits --name=VALUE into three words. */
static const char driver[] =
    "_rec_reply() { # kind, words\n"
    "    case $1 in\n"
    "    files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
    "    directories) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
    "    commands) mapfile -t COMPREPLY < <(compgen -c -- \"$cur\") ;;\n"
    "    words) mapfile -t COMPREPLY < <(compgen -W \"$2\" -- \"$cur\") ;;\n"
    "    esac\n"
    "}\n"
    "\n"
    "# The index of the recorded command's name: the first word behind the options and their "
    "values.\n"
    "_rec_command_index() {\n"
    "    for ((at = first; at < COMP_CWORD; at++)); do\n"
    "        case ${COMP_WORDS[at]} in\n"
    "        --) ((at++)); return ;;\n"
    "        =) ((at++)) ;;\n"
    "        -*) [[ ${COMP_WORDS[at + 1]} == = || -z $(_rec_value record \"${COMP_WORDS[at]}\") ]] "
    "|| ((at++)) ;;\n"
    "        *) return ;;\n"
    "        esac\n"
    "    done\n"
    "}\n"
    "\n"
    "_rec() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local command=record first=1 at value\n"
    "    COMPREPLY=()\n"
    "    if [[ $COMP_CWORD -gt 1 && \" $_rec_commands \" == *\" ${COMP_WORDS[1]} \"* ]]; then\n"
    "        command=${COMP_WORDS[1]} first=2\n"
    "    fi\n"
    "    if [[ $command == record ]]; then\n"
    "        _rec_command_index\n"
    "        if ((at < COMP_CWORD)); then\n"
    "            if declare -F _command_offset >/dev/null; then _command_offset \"$at\"; else "
    "_rec_reply files; fi\n"
    "            return\n"
    "        fi\n"
    "    fi\n"
    "    if [[ $cur == = ]]; then cur=\"\"\n"
    "    elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "    if ((COMP_CWORD > first)) && [[ $before == -* ]]; then\n"
    "        value=$(_rec_value \"$command\" \"$before\")\n"
    "    fi\n"
    "    if [[ $value ]]; then _rec_reply ${value%% *} \"${value#* }\"\n"
    "    elif [[ $cur == -* ]]; then _rec_reply words \"$(_rec_options \"$command\")\"\n"
    "    elif [[ $COMP_CWORD == 1 && ! $cur ]]; then # not all programs of PATH, too\n"
    "        _rec_reply words \"$_rec_commands\"\n"
    "    else\n"
    "        value=$(_rec_operand \"$command\")\n"
    "        _rec_reply ${value%% *} \"${value#* }\"\n"
    "        if ((COMP_CWORD == 1)); then\n"
    "            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W \"$_rec_commands\" -- "
    "\"$cur\")\n"
    "        fi\n"
    "    fi\n"
    "}\n"
    "complete -F _rec rec\n";

/* "files", "directories", "words a b", "none": the completion of a placeholder. */
static void append_kind(struct buffer *out, const char *placeholder)
{
    struct buffer choices = {0};
    help_text_choices(&choices, placeholder);
    if (choices.size > 0)
        buffer_printf(out, "words %.*s", (int)choices.size, (const char *)choices.bytes);
    else if (strcmp(placeholder, "COMMAND") == 0)
        buffer_text(out, "commands");
    else if (strcmp(placeholder, "DIR") == 0)
        buffer_text(out, "directories");
    else if (strcmp(placeholder, "FILE") == 0 || strcmp(placeholder, "OUTPUT") == 0)
        buffer_text(out, "files");
    else
        buffer_text(out, "none");
    buffer_free(&choices);
}

static void append_value(struct buffer *out, const struct command_spec *command,
                         const struct option_spec *row)
{
    if (row->takes != OPTION_VALUE)
        return;
    buffer_text(out, "    ");
    if (row->letter)
        buffer_printf(out, "\"%s -%c\"%s", command->name, row->letter, row->name ? " | " : "");
    if (row->name)
        buffer_printf(out, "\"%s --%s\"", command->name, row->name);
    buffer_text(out, ") echo \"");
    append_kind(out, row->argument ? row->argument : "");
    buffer_text(out, "\" ;;\n");
}

/* Also of options without help: the next word is their value. */
static void append_values(struct buffer *out)
{
    buffer_text(out,
                "_rec_value() { # command, option: the kind of its value\n    case \"$1 $2\" in\n");
    for (size_t i = 0; command_table[i]; i++)
        for (const struct option_spec *row = command_table[i]->options; row->id; row++)
            append_value(out, command_table[i], row);
    buffer_text(out, "    esac\n}\n\n");
}

static void append_options(struct buffer *out)
{
    buffer_text(out, "_rec_options() {\n    case $1 in\n");
    for (size_t i = 0; command_table[i]; i++) {
        buffer_printf(out, "    %s) echo \"", command_table[i]->name);
        const struct option_spec *row = command_table[i]->options;
        for (; help_text_is_listed(row); row++) {
            if (row->id != OPTIONS_HEADING && row->letter)
                buffer_printf(out, "-%c ", row->letter);
            if (row->id != OPTIONS_HEADING && row->name)
                buffer_printf(out, "--%s ", row->name);
        }
        buffer_text(out, "\" ;;\n");
    }
    buffer_text(out, "    esac\n}\n\n");
}

static void append_operands(struct buffer *out)
{
    buffer_text(out, "_rec_operand() {\n    case $1 in\n");
    for (size_t i = 0; command_table[i]; i++) {
        buffer_printf(out, "    %s) echo \"", command_table[i]->name);
        append_kind(out, command_table[i]->operand ? command_table[i]->operand : "");
        buffer_text(out, "\" ;;\n");
    }
    buffer_text(out, "    esac\n}\n\n");
}

void bash_completion(struct buffer *out)
{
    buffer_text(out, prologue);
    buffer_text(out, "_rec_commands=\"");
    help_text_choices(out, "SUBCOMMAND");
    buffer_text(out, "\"\n\n");
    append_values(out);
    append_options(out);
    append_operands(out);
    buffer_text(out, driver);
}
