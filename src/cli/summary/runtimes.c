/* SPDX-License-Identifier: MIT */
#include "cli/summary/runtimes.h"

#include "base/text/path_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct runtime {
    const char *module;   /* its program or library, without a version; NULL: by function */
    const char *function; /* of programs that contain their runtime */
    bool has_own_stacks;  /* its code runs on stacks that are no stack of a thread */
    const char *stacks;   /* NULL: its stacks are complete */
    const char *names;    /* NULL: no generated code, or no known way */
};

#define IN_HASKELL "callers of Haskell code are on separate stacks"

#define IN_MONO "JIT code of mono: MONO_DEBUG=disable_omit_fp sets up frame pointers"

static const struct runtime runtimes[] = {
    {"libjvm.so", NULL, false, "java: use -XX:+PreserveFramePointer",
     "use java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit, or jcmd PID "
     "Compiler.perfmap during the recording"},
    {"node", NULL, false, NULL, "use node --perf-basic-prof"},
    {"beam.smp", NULL, true,
     "stacks of Erlang processes: erl +JPperf true sets up frame pointers in Erlang code",
     "use erl +JPperf true"},
    {"libcoreclr.so", NULL, false, NULL, "set DOTNET_PerfMapEnabled=1"},
    {"luajit", NULL, false,
     "traces of luajit have no frame pointers: luajit -joff runs without traces",
     "luajit writes no perf map"},
    {"libluajit", NULL, false,
     "traces of luajit have no frame pointers: jit.off() runs without traces",
     "luajit writes no perf map"},
    {"libguile", NULL, false,
     "JIT code of guile has no frame pointers: GUILE_JIT_THRESHOLD=-1 runs without JIT code",
     "guile writes no perf map"},
    {"php", NULL, false,
     "JIT code of php and its regular expressions has no frame pointers: php -d opcache.jit=off -d "
     "pcre.jit=0 runs without JIT code",
     "use php -d opcache.jit_debug=16"},
    {"libpypy", NULL, false,
     "JIT code of pypy has no frame pointers: pypy3 --jit off runs without JIT code",
     "pypy writes no perf map"},
    {"mono", NULL, false, IN_MONO, "use mono --jitmap"},
    {"libmonosgen", NULL, false, IN_MONO, "set MONO_ENV_OPTIONS=--jitmap"},
    {"sbcl", NULL, true, "Lisp code of the main thread runs on a separate stack", NULL},
    {"qemu-", NULL, false, "code translated by qemu has no unwind data and frame pointers", NULL},
    {"ntdll", NULL, true,
     "Windows code runs on separate stacks, and rec reads no unwind data of Windows (.pdata)",
     NULL},
    {NULL, "hs_main", true, IN_HASKELL, NULL},
    {NULL, "scheduleWorker", true, IN_HASKELL, NULL},
};
enum { RUNTIMES = sizeof(runtimes) / sizeof(runtimes[0]) };

/* "libguile" is the start of libguile-3.0.so.1, and "node" is not the start of node_exporter. */
static bool is_module(const struct runtime *runtime, const char *path)
{
    const char *name = path_name(path);
    size_t length = runtime->module ? strlen(runtime->module) : 0;
    if (length == 0 || strncmp(name, runtime->module, length) != 0)
        return false;
    bool is_prefix = runtime->module[length - 1] == '-';
    return is_prefix || (!isalpha((unsigned char)name[length]) && name[length] != '_');
}

static bool has_function(const struct profile *profile, const char *function, const char *path)
{
    for (size_t i = 0; i < profile->func_count; i++) {
        const struct profile_func *func = &profile->funcs[i];
        if (func->lib != PROFILE_NONE && strcmp(profile_text(profile, func->name), function) == 0)
            return !path || strcmp(profile_text(profile, profile->libs[func->lib].path), path) == 0;
    }
    return false;
}

/* path: the runtime has this module; NULL: any. */
static bool is_present(const struct runtime *runtime, const struct profile *profile,
                       const char *path)
{
    if (runtime->function)
        return has_function(profile, runtime->function, path);
    if (path)
        return is_module(runtime, path);
    for (size_t i = 0; i < profile->lib_count; i++)
        if (is_module(runtime, profile_text(profile, profile->libs[i].path)))
            return true;
    return false;
}

static void append(char *text, size_t size, const char *part)
{
    size_t used = strlen(text);
    if (part && !strstr(text, part))
        snprintf(text + used, size - used, "%s%s", used ? "; " : "", part);
}

void runtimes_explain_stacks(const struct profile *profile, const char *path, bool is_missing_cfi,
                             char *text, size_t size)
{
    text[0] = 0;
    for (size_t i = 0; i < RUNTIMES; i++)
        if (is_present(&runtimes[i], profile, path) &&
            (is_missing_cfi || runtimes[i].has_own_stacks))
            append(text, size, runtimes[i].stacks);
}

void runtimes_explain_names(const struct profile *profile, char *text, size_t size)
{
    text[0] = 0;
    for (size_t i = 0; i < RUNTIMES; i++)
        if (is_present(&runtimes[i], profile, NULL))
            append(text, size, runtimes[i].names);
}
