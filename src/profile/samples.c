/* SPDX-License-Identifier: MIT */
#include "profile/samples.h"

#include "base/containers/array.h"
#include "base/containers/sort.h"

#include <errno.h>
#include <stdlib.h>

/* Flags, and the longest packed sample: flags, time, call, weight and CPU, at seven bits a byte. */
enum { OTHER_WEIGHT = 1, OTHER_CPU = 2, PACKED_MAX = 1 + 10 + 5 + 10 + 3 };
/* 96 KiB: fits the second level of usual caches. */
enum { WAITING_MOST = 4096 };

void sample_list_free(struct sample_list *list)
{
    free(list->bytes);
    free(list->sums);
    free(list->waiting);
    prefix_table_free(&list->sum_index);
    *list = (struct sample_list){0};
}

/* Seven bits a byte, the lowest first; the top bit: more follow. Packed bytes never come from a
 * file, so reading needs no bounds. */
static uint8_t *put(uint8_t *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

static uint64_t get(const uint8_t **at)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    return value;
}

/* A small number for a small step, also backwards. */
static uint64_t from_step(uint64_t step)
{
    return step << 1 ^ (step >> 63 ? UINT64_MAX : 0);
}

static uint64_t to_step(uint64_t word)
{
    return word >> 1 ^ (word & 1 ? UINT64_MAX : 0);
}

/* Number of samples added up in this one. */
static uint64_t count_of(const struct profile_sample *sample)
{
    return sample->count ? sample->count : 1;
}

/* Updates the totals of a list. */
static void note(struct sample_list *list, const struct profile_sample *sample)
{
    uint64_t count = count_of(sample), mean_weight = sample->weight / count;
    if (list->count == 0 || mean_weight < list->least_weight)
        list->least_weight = mean_weight;
    if (mean_weight > list->most_weight)
        list->most_weight = mean_weight;
    list->weight += sample->weight;
    list->is_disordered |= sample->time_ns < list->last_ns;
    list->last_ns = sample->time_ns;
    if (list->count == 0)
        list->first_ns = sample->time_ns;
    list->count += count;
}

int sample_list_add(struct sample_list *list, const struct profile_sample *sample)
{
    if (array_reserve((void **)&list->bytes, &list->capacity, list->size + PACKED_MAX, 1) != 0)
        return -ENOMEM;
    const struct profile_sample *last = &list->last;
    bool other_weight = sample->weight != last->weight;
    bool other_cpu = sample->cpu != last->cpu;
    uint8_t *at = list->bytes + list->size;
    *at++ = (uint8_t)(other_weight * OTHER_WEIGHT | other_cpu * OTHER_CPU);
    at = put(at, from_step(sample->time_ns - last->time_ns));
    at = put(at, (uint32_t)(sample->call + 1)); /* none, the largest, is 0 */
    if (other_weight)
        at = put(at, sample->weight);
    if (other_cpu)
        at = put(at, sample->cpu);
    list->size = (size_t)(at - list->bytes);
    list->last = *sample;
    note(list, sample);
    return 0;
}

static struct sample_reader packed_of(const struct sample_list *list, uint32_t thread,
                                      uint16_t event)
{
    /* Not even nothing may be added to the NULL of an empty list. */
    const uint8_t *end = list->size ? list->bytes + list->size : list->bytes;
    return (struct sample_reader){
        .at = list->bytes, .end = end, .sample = {.thread = thread, .event = event, .count = 1}};
}

static bool next_packed(struct sample_reader *reader)
{
    struct profile_sample *sample = &reader->sample;
    if (reader->at == reader->end)
        return false;
    const uint8_t *at = reader->at;
    unsigned flags = *at++;
    sample->time_ns += to_step(get(&at));
    sample->call = (uint32_t)get(&at) - 1;
    if (flags & OTHER_WEIGHT)
        sample->weight = get(&at);
    if (flags & OTHER_CPU)
        sample->cpu = (uint16_t)get(&at);
    reader->at = at;
    return true;
}

/* A new sum is zero at first, as ARRAY_PUSH() leaves it. */
static int add_to_sum(struct sample_list *list, const struct sample_waiting *sample)
{
    uint32_t id =
        prefix_table_find_or_add(&list->sum_index, list->sums, sizeof(*list->sums), list->sum_count,
                                 prefix_key_of(sample->call, sample->cpu));
    if (id == PREFIX_TABLE_NONE ||
        (id == list->sum_count && !ARRAY_PUSH(list->sums, list->sum_count, list->sum_capacity)))
        return -ENOMEM;
    struct sample_sum *sum = &list->sums[id];
    sum->call = sample->call;
    sum->cpu = sample->cpu;
    sum->weight += sample->weight;
    sum->count += sample->count;
    return 0;
}

static int add_up(struct sample_list *list)
{
    int err = 0;
    for (size_t i = 0; i < list->waiting_count && err == 0; i++)
        err = add_to_sum(list, &list->waiting[i]);
    list->waiting_count = 0;
    return err;
}

int sample_list_sum(struct sample_list *list, const struct profile_sample *sample)
{
    if (list->waiting_count == WAITING_MOST && add_up(list) != 0)
        return -ENOMEM;
    struct sample_waiting *waiting =
        ARRAY_PUSH(list->waiting, list->waiting_count, list->waiting_capacity);
    if (!waiting)
        return -ENOMEM;
    *waiting = (struct sample_waiting){sample->call, sample->cpu, sample->weight, count_of(sample)};
    note(list, sample);
    return 0;
}

int sample_list_finish_sums(struct sample_list *list)
{
    int err = add_up(list);
    free(list->waiting);
    list->waiting = NULL;
    list->waiting_capacity = 0;
    return err;
}

struct sample_reader sample_list_read(const struct sample_list *list, uint32_t thread,
                                      uint16_t event)
{
    struct sample_reader reader = packed_of(list, thread, event);
    reader.sum = list->sums;
    reader.sum_end = list->sum_count ? list->sums + list->sum_count : list->sums;
    return reader;
}

static bool next_sum(struct sample_reader *reader)
{
    const struct sample_sum *sum = reader->sum;
    if (sum == reader->sum_end)
        return false;
    reader->sum++;
    reader->sample.call = sum->call;
    reader->sample.cpu = (uint16_t)sum->cpu;
    reader->sample.weight = sum->weight;
    reader->sample.count = sum->count;
    return true;
}

/* A list has packed samples or sums: either reader is at its end from the start. */
bool sample_reader_next(struct sample_reader *reader)
{
    return next_packed(reader) || next_sum(reader);
}

/* Unpacks, sorts and packs again, only where needed. */
int sample_list_sort(struct sample_list *list)
{
    struct sample_list sorted = {0};
    struct sample_reader reader = sample_list_read(list, 0, 0);
    if (!list->is_disordered)
        return 0;
    struct profile_sample *samples = calloc(list->count, sizeof(*samples));
    int err = samples ? 0 : -ENOMEM;
    for (size_t i = 0; i < list->count && err == 0 && sample_reader_next(&reader); i++)
        samples[i] = reader.sample;
    if (err == 0)
        err = SORT_BY(samples, list->count, time_ns); /* stable, unlike qsort() */
    for (size_t i = 0; i < list->count && err == 0; i++)
        err = sample_list_add(&sorted, &samples[i]);
    free(samples);
    if (err != 0) {
        sample_list_free(&sorted);
        return err;
    }
    sample_list_free(list);
    *list = sorted;
    return 0;
}
