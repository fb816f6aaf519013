/* SPDX-License-Identifier: MIT */
#include "sampler/recorders/hook_record.h"

#include "sampler/arch/arch.h"
#include "sampler/process/launcher.h"
#include "sampler/sample/walk.h"

static bool lose(struct thread_state *thread, enum event_loss cause)
{
    add_relaxed(&thread->slot->lost_events[cause], 1);
    return false;
}

/* Without a slot, the thread itself is counted: its events are not. */
static bool take(struct thread_state *thread)
{
    if (!process_is_sampled() || !thread)
        return false;
    if (launcher_is_away(arch_ticks()))
        return lose(thread, EVENT_LOST_AWAY);
    uint32_t before = exchange_acquire(&thread->busy, BUSY_HOOK);
    if (before == BUSY_NOT)
        return true;
    store_release(&thread->busy, before);
    return lose(thread, EVENT_LOST_BUSY);
}

/* The launcher sleeps as long as the CPU samples allow. */
static void give_back(struct thread_state *thread)
{
    bool is_half_full = ring_room(&thread->ring) < SESSION_RING_BYTES / 2;
    store_release(&thread->busy, BUSY_NOT);
    if (is_half_full)
        ring_doorbell();
}

/* The walk starts in this frame, which the launcher takes away. */
void hook_record_stack(struct ring *ring, enum record_event event,
                       const struct record_object *object)
{
    ucontext_t context;
    struct thread_state *thread = thread_self;
    if (!take(thread))
        return;
    arch_capture(&context);
    const struct walk_request request = {
        .thread = thread,
        .context = &context,
        .ring = ring,
        .header = {.event = (uint16_t)event, .ticks = arch_ticks(), .weight_ns = 1},
        .object = object,
    };
    if (!walk_write(&request))
        lose(thread, EVENT_LOST_RING_FULL);
    give_back(thread);
}

void hook_record_name(uint32_t slot, const char *name)
{
    const uint32_t bytes = sizeof(struct record_header) + sizeof(struct record_name);
    struct thread_state *thread = thread_self;
    uint64_t position;
    if (!take(thread))
        return;
    uint8_t *record = ring_reserve(&thread->ring, bytes, &position);
    if (record) {
        *(struct record_header *)(void *)record = (struct record_header){
            .bytes = bytes, .event = RECORD_EVENT_CPU, .kind = RECORD_NAME, .ticks = arch_ticks()};
        struct record_name *named =
            (struct record_name *)(void *)(record + sizeof(struct record_header));
        *named = (struct record_name){.slot = slot};
        for (uint32_t i = 0; i < sizeof(named->name) - 1 && name[i]; i++)
            named->name[i] = name[i];
        ring_commit(&thread->ring, position, bytes);
    } else {
        lose(thread, EVENT_LOST_RING_FULL);
    }
    give_back(thread);
}
