/* SPDX-License-Identifier: MIT */
#include "convert/load/metadata.h"

#include "base/text/shell_word.h"
#include "perfdata/writer.h"

#include <stdlib.h>
#include <string.h>

/* Text or PROFILE_NONE where there is none. */
static uint32_t known(struct profile *profile, const char *text)
{
    return text && text[0] ? profile_string(profile, text) : PROFILE_NONE;
}

/* The terminated text of a buffer as a string of the profile. */
static uint32_t string_of(struct profile *profile, struct buffer *text)
{
    buffer_u8(text, 0);
    uint32_t string = text->failed ? PROFILE_NONE : known(profile, (char *)text->bytes);
    profile->failed |= text->failed;
    buffer_free(text);
    return string;
}

static uint32_t command_line(struct profile *profile, const struct perfdata_facts *facts)
{
    struct buffer text = {0};
    for (size_t i = 0; i < facts->argc; i++) {
        if (i)
            buffer_u8(&text, ' ');
        shell_word_append(&text, facts->argv[i]);
    }
    return string_of(profile, &text);
}

static uint32_t os_name(struct profile *profile, const struct perfdata_facts *facts)
{
    if (!facts->os_release || facts->os_release[0] == '\0')
        return PROFILE_NONE;
    struct buffer text = {0};
    buffer_printf(&text, "Linux %s", facts->os_release);
    if (facts->arch && facts->arch[0])
        buffer_printf(&text, " %s", facts->arch);
    return string_of(profile, &text);
}

/* Leaves half of the profile's notes to the conversion. */
enum { SUMMARY_NOTES_MAX = PROFILE_NOTES_MAX / 2 };

static void add_note(struct profile *profile, const char *key, const char *value)
{
    if (profile->note_count < SUMMARY_NOTES_MAX)
        profile_add_note(profile, key, value);
    else
        profile->notes_left_out++;
}

/* "version=1", then "key=value" lines. Other versions are ignored. Ids of namespaces may be as many
 * as threads, and are no notes for users. */
static void load_summary(struct profile *profile, struct inner_ids *inner_ids, const uint8_t *bytes,
                         size_t size)
{
    static const char version[] = "version=1\n";
    if (!bytes || size < sizeof(version) - 1 || memcmp(bytes, version, sizeof(version) - 1) != 0)
        return;
    char *text = strndup((const char *)bytes, size);
    char *rest = text;
    if (!text)
        profile->failed = true;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *equals = strchr(line, '=');
        if (!equals || line == text)
            continue;
        *equals = '\0';
        if (strncmp(line, "namespace_id.", strlen("namespace_id.")) == 0)
            profile->failed |= inner_ids_add(inner_ids, equals + 1) != 0;
        else
            add_note(profile, line, equals + 1);
    }
    free(text);
}

void metadata_load(struct profile *profile, struct capture *capture, struct inner_ids *inner_ids)
{
    const struct perfdata_facts *facts = perfdata_facts(capture->reader);
    profile->command_line = command_line(profile, facts);
    profile->os = os_name(profile, facts);
    profile->cpu = known(profile, facts->cpu);
    profile->cpus_online = facts->cpus_online;
    profile->start_ns = facts->first_sample_ns;
    profile->end_ns = facts->last_sample_ns;
    size_t size;
    const uint8_t *summary = perfdata_feature(capture->reader, PERFDATA_FEATURE_SUMMARY, &size);
    load_summary(profile, inner_ids, summary, size);
    const char *target = profile_note(profile, "target");
    if (target)
        profile->product = profile_string(profile, target);
}
