/* SPDX-License-Identifier: MIT */
#include "view/view.h"

#include "base/clock.h"
#include "base/text/log.h"
#include "export/export.h"
#include "view/server/folder.h"
#include "view/server/server.h"
#include "view/speedscope.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FIREFOX_PROFILER "https://profiler.firefox.com"

enum {
    HINT_MS = 10000,
    URL_BYTES = 160, /* an IPv6 address in brackets, a port, and a token of 128 bits */
    DESCRIPTORS = 2600,
};

static volatile sig_atomic_t is_ended;

static void end(int signal_number)
{
    (void)signal_number;
    is_ended = 1;
}

static bool is_url(const char *text)
{
    return strncmp(text, "https://", 8) == 0 || strncmp(text, "http://", 7) == 0;
}

static int open_viewers(struct view *view, struct error *error)
{
    const struct view_options *options = view->options;
    int err = 0;
    if (options->profiler && !is_url(options->profiler))
        err = front_end_open(&view->front_end, options->profiler, error);
    if (!err)
        view->speedscope = speedscope_open(options->speedscope, error);
    if (!err && view->speedscope < 0 && (options->kind == VIEW_SPEEDSCOPE || options->speedscope))
        err = view->speedscope;
    if (!err && options->kind == VIEW_PPROF)
        err = pprof_start(&view->pprof, error);
    return err;
}

/* For the connections of two servers (http.c), each with a file. Children keep the old limit. */
static void raise_descriptor_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= DESCRIPTORS)
        return;
    files.rlim_cur = files.rlim_max < DESCRIPTORS ? files.rlim_max : DESCRIPTORS;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

int view_open(struct view *view, const struct view_options *options, struct error *error)
{
    *view = (struct view){.options = options,
                          .speedscope = -1,
                          .opener = {.fd = -1},
                          .front_end = {.folder = -1, .listener = {.fd = -1}}};
    int err = listener_open(&view->listener, options->address, options->port, error);
    if (!err)
        err = open_viewers(view, error);
    view->opens = !options->no_open && opener_has_display();
    if (!err && view->opens)
        opener_start(&view->opener);
    raise_descriptor_limit();
    if (err)
        view_close(view);
    return err;
}

void view_close(struct view *view)
{
    opener_close(&view->opener);
    pprof_end(&view->pprof);
    front_end_close(&view->front_end);
    listener_close(&view->listener);
    if (view->speedscope >= 0)
        close(view->speedscope);
    view->speedscope = -1;
}

static void warn_of_others(const struct view *view)
{
    const char *host = view->listener.host;
    if (strncmp(host, "127.", 4) != 0 && strcmp(host, "[::1]") != 0)
        log_info(
            "%s is reachable from other machines, without encryption: readers of the connection "
            "get the token, the profile and the sources",
            host);
    if (view->pprof.pid)
        log_info("pprof has no token: other users of this machine can open the page");
}

static void print_address(const struct view *view, const char *url)
{
    char host[256] = "HOST";
    unsigned front = view->front_end.listener.port, pprof = view->pprof.port;
    (void)gethostname(host, sizeof(host) - 1);
    printf("%s\nssh -L %u:%s:%u", url, view->listener.port, view->listener.host,
           view->listener.port);
    if (view->front_end.folder >= 0)
        printf(" -L %u:127.0.0.1:%u", front, front);
    if (view->pprof.pid)
        printf(" -L %u:127.0.0.1:%u", pprof, pprof);
    printf(" %s\n", host);
    fflush(stdout);
}

static void present(struct view *view, const struct server *server)
{
    char url[URL_BYTES];
    snprintf(url, sizeof(url), "http://%s:%u/%s", view->listener.host, view->listener.port,
             server->one_time.text);
    warn_of_others(view);
    if (!view->opens) {
        print_address(view, server->first_view);
        return;
    }
    log_info("viewers and files of %s: %s/ (Ctrl-C ends the server)", server->capture,
             server->addresses.base);
    opener_open(&view->opener, url);
}

static void hint(const struct server *server)
{
    log_info("no request has arrived for 10 s: where the browser blocks access to this machine, "
             "permit \"local network access\", or open %s/ and press \"Hand over\"",
             server->addresses.base);
}

/* The signals are delivered during the wait only: no signal is lost between the test of is_ended
 * and the wait (pselect(2)). */
static void wait_for_work(const struct view *view, const struct http_server *http, int most_ms)
{
    struct pollfd fds[2] = {{.fd = http_fd(http), .events = POLLIN}};
    nfds_t count = 1;
    sigset_t none;
    int timeout = http_timeout_ms(http);
    if (view->front_end.http) {
        int other = http_timeout_ms(view->front_end.http);
        timeout = timeout < 0 || (other >= 0 && other < timeout) ? other : timeout;
        fds[count++] = (struct pollfd){.fd = http_fd(view->front_end.http), .events = POLLIN};
    }
    if (most_ms >= 0 && (timeout < 0 || most_ms < timeout))
        timeout = most_ms;
    const struct timespec time = {timeout / 1000, timeout % 1000 * 1000000L};
    sigemptyset(&none);
    (void)ppoll(fds, count, timeout < 0 ? NULL : &time, &none);
}

static void loop(struct view *view, struct http_server *http, const struct server *server)
{
    int64_t hint_ms = monotonic_ms() + HINT_MS;
    bool is_waiting = view->opens;
    while (!is_ended) {
        int64_t left_ms = hint_ms - monotonic_ms();
        is_waiting &= server->request_count == 0;
        if (is_waiting && left_ms <= 0) {
            hint(server);
            is_waiting = false;
        }
        wait_for_work(view, http, is_waiting ? (int)left_ms : -1);
        http_run(http);
        if (view->front_end.http)
            http_run(view->front_end.http);
    }
}

static void take_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t taken;
    sigemptyset(&taken);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        sigaddset(&taken, numbers[i]);
        sigaction(numbers[i], &(struct sigaction){.sa_handler = end}, NULL);
    }
    (void)signal(SIGPIPE, SIG_IGN); /* a viewer may close its connection during a reply */
    sigprocmask(SIG_BLOCK, &taken, NULL);
}

static char *first_view(const struct view *view, const struct server *server)
{
    switch (view->options->kind) {
    case VIEW_SPEEDSCOPE:
        return viewer_speedscope(&server->addresses);
    case VIEW_PAGE:
        return viewer_html(&server->addresses);
    case VIEW_PPROF:
        return viewer_pprof(&server->addresses);
    default:
        return viewer_firefox(&server->addresses);
    }
}

/* The child exists since view_open(): the process that serves is confined and executes nothing. */
static int run_pprof(struct view *view, const struct profile *profile, struct error *error)
{
    struct buffer file = {0};
    const struct export_options options = {.no_files = true};
    int err = export_to_buffer(&export_pprof, profile, &options, true, &file, error);
    if (!err)
        err = pprof_run(&view->pprof, &file, error);
    buffer_free(&file);
    return err;
}

static int serve(struct view *view, struct server *server, struct error *error)
{
    const struct http_handler handler = {
        .accept = server_accept, .answer = server_answer, .context = server};
    struct http_server *http = NULL;
    int err = http_start(&http, view->listener.fd, &handler, error);
    if (!err && view->front_end.folder >= 0)
        err = front_end_start(&view->front_end, error);
    if (!err && view->pprof.pid)
        err = run_pprof(view, server->requests.index->profile, error);
    if (!err) {
        take_signals(); /* first: a script that reads the address may end the server */
        present(view, server);
        loop(view, http, server);
    }
    http_stop(http);
    return err;
}

int view_serve(struct view *view, const struct view_capture *capture, struct error *error)
{
    struct capture_index index;
    struct server server = {
        .listener = &view->listener,
        .capture = capture->name,
        .speedscope = view->speedscope,
        .requests = {.index = &index,
                     .options = capture->options,
                     .dirs = capture->dirs,
                     .owner = capture->owner,
                     .is_att = view->options->is_att},
    };
    char base[URL_BYTES];
    const char *profiler = view->options->profiler;
    if (token_make(&server.token) != 0 || token_make(&server.one_time) != 0)
        return error_set(error, -EIO, "no random numbers: getrandom() failed");
    if (capture_index_open(&index, capture->profile) != 0)
        return error_set(error, -ENOMEM, "out of memory");
    snprintf(base, sizeof(base), "http://%s:%u/%s", view->listener.host, view->listener.port,
             server.token.text);
    server.addresses =
        (struct addresses_of_view){.base = base,
                                   .profiler = view->front_end.folder >= 0 ? view->front_end.origin
                                               : profiler                  ? profiler
                                                                           : FIREFOX_PROFILER,
                                   .has_speedscope = view->speedscope >= 0,
                                   .pprof_port = view->pprof.pid ? view->pprof.port : 0};
    char *first = first_view(view, &server);
    server.first_view = first;
    int err = first ? serve(view, &server, error) : error_set(error, -ENOMEM, "out of memory");
    free(first);
    server_free(&server);
    capture_index_close(&index);
    return err;
}
