/* acp_line - judges whether an editor could read more in a line of the agent than cordon does. */
/* SPDX-License-Identifier: MIT */
#include "core/api/acp/acp_priv.h"

#include <string.h>
#include <strings.h>

/* Returns whether the request makes an editor show something, or forget a request, at most. */
static bool only_shows(const char *method)
{
	return str_eq(method, "session/request_permission") || str_eq(method, "$/cancel_request");
}

bool acp_is_tool(const char *method)
{
	return method && (strncmp(method, "fs/", 3) == 0 || strncmp(method, "terminal/", 9) == 0);
}

/* Of two members with one name parsers take either, and some (Go's) ignore case: all of them count.
 * A notification requests nothing, but an editor may take one with a tool's name for a request. */
bool acp_asks_for_more(const cJSON *message)
{
	bool request = false, tool = false, shows = true;
	const cJSON *one;

	for (one = message ? message->child : NULL; one; one = one->next) {
		if (cJSON_IsArray(message) && acp_asks_for_more(one) && cJSON_IsObject(one))
			return true;
		if (!one->string)
			continue;
		request |= strcasecmp(one->string, "id") == 0;
		if (strcasecmp(one->string, "method") != 0)
			continue;
		tool |= acp_is_tool(cJSON_GetStringValue(one));
		shows &= only_shows(cJSON_GetStringValue(one));
	}
	return tool || (request && !shows);
}

/* Returns whether the name has a letter beyond ASCII that parsers which ignore case (Go's) take for
 * s or k. */
static bool folds(const char *name)
{
	return strstr(name, "\xc5\xbf") || strstr(name, "\xe2\x84\xaa");
}

static bool is_beyond_ascii(const char *name)
{
	while (*name && (unsigned char)*name < 0x80)
		name++;
	return *name;
}

bool acp_has_odd_name(const cJSON *o, bool strict)
{
	for (const cJSON *one = o ? o->child : NULL; one; one = one->next)
		if ((one->string &&
		     (folds(one->string) || (strict && is_beyond_ascii(one->string)))) ||
		    acp_has_odd_name(one, strict))
			return true;
	return false;
}

/* A line without one of these signs cannot spell such a method. */
bool acp_is_harmless(const char *line, size_t len)
{
	static const char *const signs[] = {"fs/",	 "fs\\/",     "terminal/", "terminal\\/",
					    "uthMethod", "\\u",	      "\xc5\xbf",  "\xe2\x84\xaa",
					    "session/",	 "session\\/"};

	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (memmem(line, len, signs[i], strlen(signs[i])))
			return false;
	return true;
}

size_t acp_blanks(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && (strchr(" \t\r\n\xef\xbb\xbf", s[n]) != NULL) && s[n])
		n++;
	return n;
}

/* Our parser takes control characters for blanks, and some readers end a line there. */
bool acp_has_controls(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] < 0x20 && !strchr("\t\r\n", line[i]))
			return true;
	return memchr(line, '\0', len) != NULL;
}
