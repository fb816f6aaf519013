/* SPDX-License-Identifier: MIT */
#include "view/requests/request_fields.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 8 };

struct json_object *fields_parse(const struct buffer *text)
{
    struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
    if (!tokener)
        return NULL;
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
    struct json_object *object =
        json_tokener_parse_ex(tokener, (const char *)text->bytes, (int)text->size);
    if (json_tokener_get_error(tokener) != json_tokener_success ||
        !json_object_is_type(object, json_type_object)) {
        json_object_put(object);
        object = NULL;
    }
    json_tokener_free(tokener);
    return object;
}

void fields_free(struct json_object *object)
{
    json_object_put(object);
}

static struct json_object *member(const struct json_object *object, const char *key)
{
    struct json_object *value = NULL;
    if (!json_object_is_type(object, json_type_object) ||
        !json_object_object_get_ex(object, key, &value))
        return NULL;
    return value;
}

/* A NUL inside would end the text for C, not for JSON. */
static const char *string_of(struct json_object *value)
{
    if (!json_object_is_type(value, json_type_string))
        return NULL;
    const char *text = json_object_get_string(value);
    return strlen(text) == (size_t)json_object_get_string_len(value) ? text : NULL;
}

const char *field_string(const struct json_object *object, const char *key)
{
    return string_of(member(object, key));
}

bool field_address(const struct json_object *object, const char *key, uint64_t *value)
{
    const char *text = field_string(object, key);
    char *end;
    if (!text || strncmp(text, "0x", 2) != 0 || strlen(text) > 18 ||
        strspn(text + 2, "0123456789abcdefABCDEF") != strlen(text + 2))
        return false;
    *value = strtoull(text + 2, &end, 16);
    return text[2] != '\0';
}

bool field_is_true(const struct json_object *object, const char *key)
{
    struct json_object *value = member(object, key);
    return json_object_is_type(value, json_type_boolean) && json_object_get_boolean(value);
}

const struct json_object *field_array(const struct json_object *object, const char *key)
{
    struct json_object *value = member(object, key);
    return json_object_is_type(value, json_type_array) ? value : NULL;
}

const struct json_object *element(const struct json_object *array, size_t index)
{
    if (!json_object_is_type(array, json_type_array))
        return NULL;
    return json_object_array_get_idx(array, index);
}

size_t element_count(const struct json_object *array)
{
    return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

const char *element_string(const struct json_object *array, size_t index)
{
    if (!json_object_is_type(array, json_type_array))
        return NULL;
    return string_of(json_object_array_get_idx(array, index));
}

bool element_unsigned(const struct json_object *array, size_t index, uint64_t *value)
{
    const struct json_object *number = element(array, index);
    if (!json_object_is_type(number, json_type_int))
        return false;
    int64_t found = json_object_get_int64(number);
    *value = (uint64_t)found;
    return found >= 0;
}
