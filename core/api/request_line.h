/* request_line - a line of JSON from a client, as bytes of ours. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct cJSON;

/*
 * The whole line must be one JSON value; NULL: it is not. "\udc80" to "\udcff" stand for one byte
 * each, as json_quote() writes them; "\u0000" is refused, for no string of ours has it, and so is a
 * line that is not modest. The line is changed. Released by cJSON_Delete().
 */
struct cJSON *request_line_parse(char *line, size_t len);
/* Is it to be parsed at all? Each value takes much more room than its two bytes of text: that many
 * there may be. */
#define REQUEST_VALUES (1u << 20)
bool request_line_is_modest(const char *line, size_t len);
/* Beyond it two integers are one number of cJSON's: they are refused. */
#define REQUEST_INTEGER 9007199254740991.0
bool request_line_is_integer(const struct cJSON *v);
/* May it be sent back as it is? */
bool request_line_is_id(const struct cJSON *id);
/* The other way round, for clients that take no such escapes: each becomes U+FFFD, in place. */
void request_line_strict(char *text);
