/* SPDX-License-Identifier: MIT */
#include "unwind/code/code_flow.h"

#include <errno.h>
#include <stdlib.h>

int flow_open(struct flow *flow)
{
    flow->states = calloc(flow->bytes + 1, sizeof(*flow->states));
    flow->reached = calloc(flow->bytes + 1, sizeof(*flow->reached));
    flow->reached_count = 0;
    if (flow->states && flow->reached)
        return 0;
    flow_close(flow);
    return -ENOMEM;
}

void flow_close(struct flow *flow)
{
    free(flow->states);
    free(flow->reached);
    flow->states = NULL;
    flow->reached = NULL;
}

/* With the bytes inside of each instruction. */
bool flow_may_step(struct flow *flow)
{
    enum { TIMES = 16 };
    return ++flow->steps / TIMES <= flow->bytes;
}

void flow_forget(struct flow *flow, size_t reached_before)
{
    while (flow->reached_count > reached_before) {
        size_t at = flow->reached[--flow->reached_count];
        flow->states[at] = (struct flow_state){0};
        while (++at < flow->bytes && flow->states[at].kind == FLOW_INSIDE)
            flow->states[at] = (struct flow_state){0};
    }
}
