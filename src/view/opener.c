/* SPDX-License-Identifier: MIT */
#include "view/opener.h"

#include "base/files/io.h"
#include "base/text/log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { URL_BYTES = 4096, TRIES = 150, TRY_MS = 100 };

bool opener_has_display(void)
{
    const char *browser = getenv("BROWSER");
    bool has_browser = browser && browser[0];
    return !getenv("SUDO_UID") &&
           (has_browser || getenv("DISPLAY") != NULL || getenv("WAYLAND_DISPLAY") != NULL);
}

static bool accepts(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_connected =
        fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;
    if (fd >= 0)
        close(fd);
    return is_connected;
}

/* Only for servers at 127.0.0.1: pprof takes a second to start. */
static void wait_for_server(const char *url)
{
    unsigned port;
    if (sscanf(url, "http://127.0.0.1:%u/", &port) != 1)
        return;
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int i = 0; i < TRIES && !accepts(&address); i++)
        usleep(TRY_MS * 1000);
}

/* Browsers print into terminals. */
static void silence(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
}

static void execute(const char *url)
{
    static const char *const programs[] = {"xdg-open", "sensible-browser", "x-www-browser",
                                           "firefox", "chromium"};
    const char *browser = getenv("BROWSER");
    int err_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    silence();
    if (browser && browser[0])
        execlp(browser, browser, url, (char *)NULL);
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        execlp(programs[i], programs[i], url, (char *)NULL);
    dup2(err_fd, STDERR_FILENO);
    log_error("no browser found: set BROWSER, or open the URL of the page above");
}

__attribute__((noreturn)) static void run(int fd)
{
    struct buffer url = {0};
    setsid(); /* Ctrl-C ends rec, not the browser */
    (void)signal(SIGINT, SIG_DFL);
    int err = io_read_all(fd, &url, URL_BYTES);
    buffer_u8(&url, 0);
    if (err == 0 && !url.failed && url.size > 1) {
        wait_for_server((const char *)url.bytes);
        execute((const char *)url.bytes);
    }
    _exit(0);
}

void opener_start(struct opener *opener)
{
    int ends[2];
    opener->fd = -1;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        run(ends[0]);
    }
    close(ends[0]);
    if (pid < 0)
        close(ends[1]);
    else
        opener->fd = ends[1];
}

void opener_open(struct opener *opener, const char *url)
{
    if (opener->fd >= 0)
        (void)io_write(opener->fd, url, strlen(url));
    opener_close(opener);
}

void opener_close(struct opener *opener)
{
    if (opener->fd >= 0)
        close(opener->fd);
    opener->fd = -1;
}
