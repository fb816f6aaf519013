/* SPDX-License-Identifier: MIT */
#include "view/pprof.h"

#include "base/files/io.h"
#include "base/sandbox/confine.h"
#include "base/text/log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOWHERE "/proc/none"

static bool is_in_path(const char *program)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        char file[4096];
        int used = snprintf(file, sizeof(file), "%.*s/%s", (int)length, path, program);
        if (used > 0 && (size_t)used < sizeof(file) && access(file, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

/* go's own settings, at the place before the change of XDG_CONFIG_HOME (os.UserConfigDir()). */
static void keep_go_settings(void)
{
    char path[4096];
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    bool has_config = config && config[0];
    if (getenv("GOENV") || (!has_config && !home))
        return;
    int used = snprintf(path, sizeof(path), "%s%s/go/env", has_config ? config : home,
                        has_config ? "" : "/.config");
    if (used > 0 && (size_t)used < sizeof(path))
        setenv("GOENV", path, 1);
}

/*
 * Other users, and web pages by DNS rebinding, can request pprof's pages. So pprof has no file to
 * open or to write: the profile names no files (export.h, no_files), and binaries and saved
 * settings would be in a folder that cannot exist. go obeys a go.mod in the working directory,
 * which may be a checkout of another author.
 */
static int leave_files(void)
{
    int err = confine_rights_and_home();
    if (err)
        return err;
    keep_go_settings();
    setenv("XDG_CONFIG_HOME", NOWHERE, 1);
    setenv("PPROF_BINARY_PATH", NOWHERE, 1);
    return chdir("/") == 0 ? 0 : -errno;
}

static void execute(unsigned port, bool is_go)
{
    char http[64];
    snprintf(http, sizeof(http), "-http=127.0.0.1:%u", port);
    const char *const words[] = {"go",          "tool", "pprof",      "-symbolize=none",
                                 "-no_browser", http,   "/dev/stdin", NULL};
    char *const *arguments = (char *const *)(words + (is_go ? 0 : 2));
    execvp(arguments[0], arguments);
    log_error("cannot run %s: %s", arguments[0], strerror(errno));
}

__attribute__((noreturn)) static void run(const struct pprof *pprof, int wait_fd, bool is_go)
{
    char byte;
    setpgid(0, 0);
    int err = leave_files();
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* a change of ids clears the signal */
    (void)signal(SIGINT, SIG_DFL);
    close(pprof->release);
    if (read(wait_fd, &byte, 1) != 1)
        _exit(0);
    dup2(pprof->file, STDIN_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    if (err)
        log_error("pprof is not started: cannot give up root's rights: %s", strerror(-err));
    else
        execute(pprof->port, is_go);
    _exit(127);
}

/* A free port, by the kernel: until pprof binds it a second later, other servers of rec take the
 * first free ports of theirs. */
static int choose_port(struct pprof *pprof)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int err = fd >= 0 && bind(fd, (struct sockaddr *)&address, length) == 0 &&
                      getsockname(fd, (struct sockaddr *)&address, &length) == 0
                  ? 0
                  : -errno;
    pprof->port = ntohs(address.sin_port);
    if (fd >= 0)
        close(fd);
    return err;
}

static int start(struct pprof *pprof, bool is_go)
{
    int ends[2];
    pprof->file = memfd_create("rec.pb.gz", MFD_CLOEXEC);
    if (pprof->file < 0 || pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    pprof->release = ends[1];
    pprof->pid = fork();
    if (pprof->pid == 0)
        run(pprof, ends[0], is_go);
    int err = pprof->pid < 0 ? -errno : 0;
    close(ends[0]);
    return err;
}

int pprof_start(struct pprof *pprof, struct error *error)
{
    *pprof = (struct pprof){.file = -1, .release = -1};
    bool has_own = is_in_path("pprof");
    if (!has_own && !is_in_path("go"))
        return error_set(error, -ENOENT,
                         "--pprof: neither pprof nor go is installed (Debian: golang-go)");
    int err = choose_port(pprof);
    if (!err)
        err = start(pprof, !has_own);
    return err ? error_set(error, err, "cannot start pprof: %s", strerror(-err)) : 0;
}

int pprof_run(struct pprof *pprof, const struct buffer *profile, struct error *error)
{
    int err = io_write(pprof->file, profile->bytes, profile->size);
    if (!err && lseek(pprof->file, 0, SEEK_SET) != 0)
        err = -errno;
    if (!err)
        err = io_write(pprof->release, "", 1);
    return err ? error_set(error, err, "cannot pass the profile to pprof: %s", strerror(-err)) : 0;
}

void pprof_end(struct pprof *pprof)
{
    if (pprof->pid <= 0)
        return;
    close(pprof->release);
    close(pprof->file);
    kill(-pprof->pid, SIGKILL); /* go prints other signals */
    while (waitpid(pprof->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    pprof->pid = 0;
}
