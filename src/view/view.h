/* SPDX-License-Identifier: MIT */
/*
 * Serves a capture to viewers on this machine until a signal.
 *
 *     view_open()    sockets, folders, children for browser and pprof: before the process is
 *                    confined, and before the capture is read
 *     view_serve()   prints or opens the address, answers requests, on one thread
 */
#pragma once

#include "annotate/source_text.h"
#include "base/text/error.h"
#include "convert/options.h"
#include "profile/profile.h"
#include "view/front_end.h"
#include "view/http/listen.h"
#include "view/opener.h"
#include "view/pprof.h"

#include <stdbool.h>
#include <sys/types.h>

enum view_kind { VIEW_FIREFOX, VIEW_SPEEDSCOPE, VIEW_PPROF, VIEW_PAGE };

struct view_options {
    enum view_kind kind;    /* shown first */
    const char *address;    /* NULL: 127.0.0.1 */
    unsigned port;          /* 0: the first free one */
    const char *profiler;   /* URL or folder; NULL: https://profiler.firefox.com */
    const char *speedscope; /* folder; NULL: looked for if shown first */
    bool no_open;
    bool is_att;
};

struct view {
    const struct view_options *options;
    struct listener listener;
    struct front_end front_end;
    struct opener opener;
    struct pprof pprof;
    int speedscope; /* folder; -1: none */
    bool opens;     /* a browser */
};

struct view_capture {
    const struct profile *profile;
    const char *name;
    uid_t owner;
    const struct convert_options *options;
    const struct source_dirs *dirs;
};

int view_open(struct view *view, const struct view_options *options, struct error *error);
int view_serve(struct view *view, const struct view_capture *capture, struct error *error);
void view_close(struct view *view);
