/* SPDX-License-Identifier: MIT */
/* JSON requests, by json-c (names of json-c collide with export/json.h). The content is hostile:
 * each type is checked. */
#pragma once

#include "base/containers/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object; /* of json-c */

/* NULL: not a JSON object, or nested too deep. text: terminated. */
struct json_object *fields_parse(const struct buffer *text);
void fields_free(struct json_object *object);

/* NULL: missing, or not a string. */
const char *field_string(const struct json_object *object, const char *key);

/* A number as in "0x1f00". False: missing or malformed. */
bool field_address(const struct json_object *object, const char *key, uint64_t *value);

bool field_is_true(const struct json_object *object, const char *key);

/* NULL: missing, or not an array. */
const struct json_object *field_array(const struct json_object *object, const char *key);

/* An element of an array; NULL beyond the end. */
const struct json_object *element(const struct json_object *array, size_t index);
size_t element_count(const struct json_object *array);

/* NULL: not a string. */
const char *element_string(const struct json_object *array, size_t index);

/* A whole number of at least 0. */
bool element_unsigned(const struct json_object *array, size_t index, uint64_t *value);
