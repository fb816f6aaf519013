/* SPDX-License-Identifier: MIT */
/* The parts of a recording of running processes: opened, connected, and closed. */
#pragma once

#include "base/text/error.h"
#include "record/off_cpu/off_recorder.h"
#include "record/perf_ring/ring_source.h"
#include "record/record.h"
#include "record/sample/file_limit.h"
#include "record/sample/finished_round.h"

#include <poll.h>
#include <signal.h>
#include <stdint.h>

enum { POLLED = 3 };

struct attachment {
    const struct record_options *options;
    struct record_result *result;
    struct ring_source source;
    struct off_recorder *off_cpu; /* NULL: not recorded */
    struct round round;
    struct perfdata_writer *writer;
    struct finished_round finished_round;
    struct file_limit file_limit;
    /* Signals, the end of the command, and records copied by the thread of the rings. */
    struct pollfd polled[POLLED];
    int *target_fds; /* of options->targets, from before the check to their events; owned */
    int signal_fd;
    int command_fd;          /* pidfd of the command that ends the recording; -1: none */
    uint64_t busy_before_ns; /* CPU time of all processors at the start */
    sigset_t old_mask;
    struct sigaction old_file_size;
    uint64_t start_ns, quiet_until_ns, deadline_ns, look_due_ns, checkpoint_due_ns;
};

/* Checks the targets, opens their events, and starts the command. attachment: options and result,
 * with descriptors of -1. 0, or a negative errno; attachment_close() follows in any case. */
int attachment_open(struct attachment *attachment, struct error *error);
void attachment_close(struct attachment *attachment);
