/* value - converts values of settings to their stored form: booleans, numbers, words and paths. */
/* SPDX-License-Identifier: MIT */
#include "core/config/config_priv.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "core/base/path.h"

/* Returns 1 or 0, as git reads booleans; -1: it is not one. */
static int parse_bool(const char *s)
{
	static const char *const yes[] = {"true", "yes", "on", "1"};
	static const char *const no[] = {"false", "no", "off", "0", ""};

	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		if (strcasecmp(s, yes[i]) == 0)
			return 1;
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		if (strcasecmp(s, no[i]) == 0)
			return 0;
	return -1;
}

bool config_parse_int(const char *s, int64_t *ret)
{
	static const char units[] = "kmg";
	char *end;
	long long v;
	const char *unit;

	if (*s < '0' || *s > '9') /* every number is a count, without sign or blanks */
		return false;
	errno = 0;
	v = strtoll(s, &end, 10);
	if (errno)
		return false;
	if (*end) {
		unit = strchr(units, *end | 0x20);
		if (!unit || end[1])
			return false;
		for (ptrdiff_t i = unit - units; i >= 0; i--)
			if (__builtin_mul_overflow(v, 1024LL, &v))
				return false;
	}
	*ret = v;
	return true;
}

static bool in_words(const char *words, const char *s)
{
	size_t len = strlen(s);

	while (words) {
		size_t n = strcspn(words, "|");

		if (n == len && memcmp(words, s, n) == 0)
			return true;
		words = words[n] ? words + n + 1 : NULL;
	}
	return false;
}

/* Returns "cordon" for "claude cordon", and for "cordon" alone. */
static const char *after_name(const char *value)
{
	size_t len = strcspn(value, " ");

	return value[len] ? value + len + strspn(value + len, " ") : value;
}

char *config_value_form(const struct config_key *key, const char *base, const char *home,
			const char *value, const char **why)
{
	AUTO_FREE char *whole = NULL;
	int64_t number;

	switch (key->type) {
	case CONFIG_BOOL:
		if (parse_bool(value) >= 0)
			return xstrdup(parse_bool(value) ? "true" : "false");
		*why = "say true or false";
		return NULL;
	case CONFIG_INT:
		if (config_parse_int(value, &number))
			return xstrdup(value);
		*why = "say a number, perhaps with k, m or g";
		return NULL;
	case CONFIG_ENUM:
		if (in_words(key->words, value))
			return xstrdup(value);
		*why = key->words;
		return NULL;
	case CONFIG_PATHS:
		whole = path_expand_home(value, home);
		if (*value && *whole != '/' && base) {
			char *joined = path_join(base, whole);

			free(whole);
			whole = joined;
		}
		if (*whole == '/')
			return path_clean(whole);
		*why = "say an absolute path or one that begins with ~/";
		return NULL;
	case CONFIG_LIST:
		if (!key->words || !strchr(key->words, '|') ||
		    in_words(key->words, after_name(value)))
			break;
		*why = key->words;
		return NULL;
	case CONFIG_STR:
		break;
	}
	if (*value)
		return xstrdup(value);
	*why = "the value is empty";
	return NULL;
}
