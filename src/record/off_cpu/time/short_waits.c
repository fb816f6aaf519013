/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/time/short_waits.h"

#include "base/containers/array.h"
#include "record/off_cpu/look_stack.h"

#include <errno.h>
#include <stdlib.h>

void short_waits_add(struct short_waits *waits, uint64_t start_ns, uint64_t end_ns)
{
    if (waits->sum_ns == 0)
        waits->since_ns = start_ns;
    waits->sum_ns += end_ns - start_ns;
    waits->intervals += end_ns > start_ns;
    waits->wakes += end_ns > start_ns;
}

int short_waits_meet(struct short_waits *waits, uint64_t start_ns, struct look_stack *stack)
{
    struct short_wait *met = ARRAY_PUSH(waits->met, waits->count, waits->capacity);
    if (!met)
        return -ENOMEM;
    *met = (struct short_wait){start_ns, look_stack_use(stack)};
    return 0;
}

/* Without the product of sum and number: sums of years fit into 64 bits, products do not. */
uint64_t short_waits_part_ns(const struct short_waits *waits, size_t i)
{
    return waits->sum_ns / waits->count + (i < waits->sum_ns % waits->count);
}

void short_waits_clear(struct short_waits *waits)
{
    for (size_t i = 0; i < waits->count; i++)
        look_stack_release(waits->met[i].stack);
    waits->count = 0;
    waits->sum_ns = waits->intervals = waits->wakes = 0;
}

void short_waits_free(struct short_waits *waits)
{
    short_waits_clear(waits);
    free(waits->met);
    *waits = (struct short_waits){0};
}
