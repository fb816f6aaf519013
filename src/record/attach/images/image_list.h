/* SPDX-License-Identifier: MIT */
/* The images of a process. */
#pragma once

#include "base/text/error.h"
#include "record/attach/images/image.h"

#define IMAGES_MAX 4096

struct image_list {
    char name[16];   /* of the process */
    pid_t inner_pid; /* in the pid namespace of the process; 0: the same as here */
    size_t count, left_out;
    struct image images[IMAGES_MAX]; /* by address */
};

/* Reads the images within the time limit. NULL: an error, with the rule in the message. To be freed
 * by image_list_free(). */
struct image_list *image_list_take(pid_t pid, uint64_t limit_ns, struct error *error);
void image_list_free(struct image_list *list);
