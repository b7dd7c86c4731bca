/* request_line - parses a line of JSON from a client. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct cJSON;

/*
 * Parses a line, which must be one JSON value; NULL: it is not. "\udc80" to "\udcff" stand for one
 * byte each, as json_quote() writes them; "\u0000" is refused, for no string of ours has it, and so
 * is a line that is not modest. The line is changed. Released by cJSON_Delete().
 */
struct cJSON *request_line_parse(char *line, size_t len);
/* Returns whether the line has at most REQUEST_VALUES values: each needs much more memory than its
 * two bytes of text. */
#define REQUEST_VALUES (1u << 20)
bool request_line_is_modest(const char *line, size_t len);
/* Larger integers are ambiguous in cJSON and are refused. */
#define REQUEST_INTEGER 9007199254740991.0
bool request_line_is_integer(const struct cJSON *v);
/* Returns whether the id can be returned unchanged. */
bool request_line_is_id(const struct cJSON *id);
/* Replaces "\udc80" to "\udcff" by U+FFFD, in place, for clients that do not accept them. */
void request_line_strict(char *text);
