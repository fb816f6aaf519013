/* SPDX-License-Identifier: MIT */
#include "cli/commands/doctor_sandbox.h"

#include "base/containers/cursor.h"
#include "base/sandbox/workers.h"
#include "base/text/log.h"
#include "cli/terminal/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct trial {
    const char *trouble; /* NULL: the process was confined */
    bool refuses_calls, refuses_files;
    uint32_t uid;
};

/* In the sandbox. */
static void try_layers(void *context, size_t job, struct buffer *out)
{
    (void)context;
    (void)job;
    bool refuses_calls = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) < 0 && errno == EPERM;
    bool refuses_files = open("/dev/null", O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES;
    buffer_u32(out, refuses_calls);
    buffer_u32(out, refuses_files);
    buffer_u32(out, geteuid());
}

static void take_answer(void *context, size_t job, const struct buffer *answer)
{
    struct trial *trial = context;
    struct cursor c = cursor_of(answer->bytes, answer->size);
    (void)job;
    trial->refuses_calls = cursor_u32(&c);
    trial->refuses_files = cursor_u32(&c);
    trial->uid = cursor_u32(&c);
    trial->trouble = c.failed ? "sent no result" : NULL;
}

static void take_trouble(void *context, size_t job, const char *why)
{
    struct trial *trial = context;
    (void)job;
    trial->trouble = why;
}

static void print_calls(const struct trial *trial, const struct confine_support *support)
{
    if (trial->refuses_calls)
        printf("sandbox        seccomp filter: in force\n");
    else
        text_print(stdout, "sandbox        seccomp filter: missing (%s)\n",
                   strerror(-support->seccomp_err));
}

static void print_files(const struct trial *trial, const struct confine_support *support)
{
    if (trial->refuses_files)
        printf("               Landlock: in force, ABI %d\n", support->landlock_abi);
    else if (support->landlock_abi > 0)
        printf("               Landlock: ABI %d, but no access is refused\n",
               support->landlock_abi);
    else if (support->landlock_abi == -ENOSYS || support->landlock_abi == -EOPNOTSUPP)
        text_print(stdout, "               Landlock: not in this kernel (%s)\n",
                   strerror(-support->landlock_abi));
    else
        text_print(stdout, "               Landlock: refused by an outer sandbox (%s)\n",
                   strerror(-support->landlock_abi));
}

static void print_rights(const struct trial *trial)
{
    const char *of_sudo = trial->uid != geteuid() ? ", the sudo user" : "";
    printf("               rights: uid %u%s, %s\n", trial->uid, of_sudo,
           trial->uid == 0 ? "no capability but CAP_DAC_READ_SEARCH" : "no capabilities");
}

void doctor_sandbox_print(void)
{
    struct confine_support support = confine_support();
    struct error gap;
    bool is_refused;
    struct trial trial = {0};
    struct workers workers = {.job_count = 1,
                              .run = try_layers,
                              .done = take_answer,
                              .failed = take_trouble,
                              .context = &trial};
    workers_set_limits(&workers);
    workers_run(&workers);
    if (trial.trouble && confine_gap(&gap, &is_refused)) {
        text_print(stdout, "sandbox        none: %s\n", gap.text);
        return;
    }
    if (trial.trouble) {
        text_print(stdout, "sandbox        none: a test process %s\n", trial.trouble);
        return;
    }
    print_calls(&trial, &support);
    print_files(&trial, &support);
    printf("               limits: %s of address space, %u s of CPU time, %u s in all\n",
           format_bytes(workers.limits.memory_bytes).text, (unsigned)workers.limits.cpu_s,
           workers.wall_s);
    print_rights(&trial);
}
