/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/file/off_queue.h"

/* Beyond this the writer is stopped, or its disk hangs. */
#define BYTES_MAX (UINT64_C(256) << 20)

void off_queue_open(struct off_queue *queue)
{
    *queue = (struct off_queue){.entries = {0}};
    pthread_mutex_init(&queue->mutex, NULL);
}

void off_queue_close(struct off_queue *queue)
{
    buffer_free(&queue->entries);
    pthread_mutex_destroy(&queue->mutex);
}

void off_queue_put(struct off_queue *queue, const struct off_entry *entry, const void *content,
                   size_t bytes)
{
    struct off_entry sized = *entry;
    size_t padding = -bytes & 7;
    sized.bytes = (uint32_t)(sizeof(sized) + bytes + padding);
    pthread_mutex_lock(&queue->mutex);
    bool has_room = queue->entries.size < BYTES_MAX && buffer_room(&queue->entries, sized.bytes);
    if (has_room) {
        buffer_append(&queue->entries, &sized, sizeof(sized));
        buffer_append(&queue->entries, content, bytes);
        buffer_zeros(&queue->entries, padding);
    }
    queue->lost += !has_room;
    pthread_mutex_unlock(&queue->mutex);
}

/* An empty buffer is swapped: both sides keep memory of the usual size. */
void off_queue_take(struct off_queue *queue, struct buffer *out)
{
    pthread_mutex_lock(&queue->mutex);
    if (out->size == 0) {
        struct buffer empty = *out;
        *out = queue->entries;
        queue->entries = empty;
    } else {
        buffer_append(out, queue->entries.bytes, queue->entries.size);
        buffer_clear(&queue->entries);
    }
    pthread_mutex_unlock(&queue->mutex);
}

const struct off_entry *off_entry_next(const struct buffer *entries, size_t *at)
{
    if (*at >= entries->size)
        return NULL;
    const struct off_entry *entry = (const void *)(entries->bytes + *at);
    *at += entry->bytes;
    return entry;
}
