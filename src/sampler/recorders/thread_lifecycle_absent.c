/* SPDX-License-Identifier: MIT */
/* The sampler without the hooks of other recorders. */
#include "sampler/recorders/thread_lifecycle.h"

void lifecycle_created(struct thread_state *created, const pthread_attr_t *attributes)
{
    (void)created;
    (void)attributes;
}

void lifecycle_started(struct thread_state *thread)
{
    (void)thread;
}

void lifecycle_named(const char *name)
{
    (void)name;
}
