/* SPDX-License-Identifier: MIT */
#include "cli/tables/snapshot_table.h"

#include "cli/options/symbol_options.h"

/* clang-format off */
#define TIMEOUT_OPTION \
    OPTION_TAKING(SNAPSHOT_TIMEOUT, 0, "timeout", "TIME", \
                  "Time limit for a process hanging in the kernel (default 5 s).")
#define SNAPSHOT_OPTIONS \
    OPTION_HEADING("Options"), \
    OPTION_TAKING('p', 'p', "pid", "PID[,...]", "Read these processes."), \
    OPTION_SWITCH(SNAPSHOT_JSON, 0, "json", "Print a JSON object on a line, for each process."), \
    OPTION_TAKING(SNAPSHOT_INTERVAL, 0, "interval", "TIME", \
                  "Repeat after this time: 5, 1.5s, 200ms, …; until Ctrl-C without --count."), \
    OPTION_TAKING(SNAPSHOT_COUNT, 0, "count", "N", \
                  "Repeat N times in all (default interval 1 s)."), \
    OPTION_SWITCH(SNAPSHOT_STOP, 0, "stop", \
                  "Stop all threads for one instant by ptrace. Side effects as with a debugger: " \
                  "epoll_wait(), sigtimedwait() and timed accept() and recv() fail with EINTR, " \
                  "write() to a full pipe or socket is short."), \
    TIMEOUT_OPTION, \
    OPTION_SWITCH(SNAPSHOT_SHORT_NAMES, 0, "short-names", \
                  "Leave template arguments and parameters out of names."), \
    OPTION_HELP_ROW, \
    OPTION_HEADING("Names"), DEBUG_DIR_OPTION_SPEC, DEBUGINFOD_OPTION_SPEC, NO_INLINE_OPTION_SPEC
/* clang-format on */

static const struct option_spec threads_options[] = {SNAPSHOT_OPTIONS, {0}};

static const struct option_spec stacks_options[] = {
    SNAPSHOT_OPTIONS,
    OPTION_HEADING("The kernel's part of the stacks"),
    OPTION_SWITCH(SNAPSHOT_ALL_USER, 0, "all-user",
                  "Leave out the functions of the kernel where threads wait, which root can read."),
    OPTION_HEADING("Core files"),
    OPTION_TAKING(
        SNAPSHOT_CORE, 0, "core", "FILE",
        "Print the stacks of a core file, read within --timeout. The operand is the program, "
        "where the path in the core does not lead to the program."),
    {0},
};

static const struct option_spec images_options[] = {
    OPTION_HEADING("Options"),
    OPTION_TAKING('p', 'p', "pid", "PID[,...]", "Read these processes."),
    OPTION_SWITCH(SNAPSHOT_JSON, 0, "json",
                  "Print a JSON object on a line, for each process, with segments."),
    TIMEOUT_OPTION,
    OPTION_HELP_ROW,
    {0},
};

#define UNDISTURBED                                                                              \
    "Without --stop no thread is stopped or signalled: waiting threads are read from /proc and " \
    "process memory, "                                                                           \
    "running threads by a single perf sample. Needs the right to trace the process: the same "   \
    "user, or root."

#define EXIT_STATUS "0; 125 if a process could not be read."

const struct command_spec stacks_command = {
    .name = "stacks",
    .synopsis = "stacks -p PID[,...] | --core FILE [PROGRAM]",
    .summary = "stacks of a running process or core file",
    .description =
        "Prints the stack of every thread with functions, lines and inlined calls, the wait reason "
        "(system call, file, lock and holder) and the age of the wait. Threads with equal stacks "
        "are printed once.\n\n" UNDISTURBED "\n\n"
        "A program called stacks is recorded by `rec -- stacks`.",
    .operand = "PID",
    .options = stacks_options,
    .exit_status = EXIT_STATUS,
};

const struct command_spec threads_command = {
    .name = "threads",
    .synopsis = "threads -p PID[,...]",
    .summary = "threads of a running process",
    .description =
        "Prints a line for every thread: id, name, state, CPU time in user and kernel mode, time "
        "on the run queue, context switches (voluntary, involuntary), age of the wait, current "
        "function and wait reason.\n\n" UNDISTURBED "\n\n"
        "A program called threads is recorded by `rec -- threads`.",
    .operand = "PID",
    .options = threads_options,
    .exit_status = EXIT_STATUS,
};

const struct command_spec images_command = {
    .name = "images",
    .synopsis = "images -p PID[,...]",
    .summary = "modules of a running process",
    .description =
        "Prints a line for every program, library, vDSO and memfd with code in the process: "
        "address, size, load bias, build-id, file with its state (deleted or replaced since), and "
        "the symbols in the file. Header and build-id come from process memory, so they are right "
        "for files that are gone. Stops and signals nothing.\n\n"
        "A program called images is recorded by `rec -- images`.",
    .operand = "PID",
    .options = images_options,
    .exit_status = EXIT_STATUS,
};
