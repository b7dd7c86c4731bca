/* words - parses the kinds and dates in a line of a rule. */
/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "core/policy/policy_priv.h"

/* Returns the length of this word if the text begins with exactly it; else 0. */
static size_t word_length(const char *text, const char *word)
{
	size_t n = 0;

	while (word[n] && text[n] == word[n])
		n++;
	return !word[n] && (!text[n] || text[n] == ',' || text[n] == ' ' || text[n] == '\t') ? n
											     : 0;
}

unsigned words_kinds(const char *value, const char **ret_pattern, const char **why)
{
	unsigned kinds = 0;
	const char *p = value;

	for (;;) {
		size_t n = 0, k = 0;

		while (k < RULE_KINDS && !(n = word_length(p, rule_kind_words[k])))
			k++;
		if (k == RULE_KINDS) {
			*why = "unknown kind: say one of" RULE_KIND_LIST
			       ", or several with commas, then a pattern";
			return 0;
		}
		kinds |= 1u << k;
		p += n;
		if (*p != ',')
			break;
		p++;
	}
	while (*p == ' ' || *p == '\t')
		p++;
	*why = "no pattern: say for instance read ~/notes/**";
	*ret_pattern = p;
	if (kinds >> RULE_PLACES && kinds & ((1u << RULE_PLACES) - 1)) {
		*why = "connect, bind, credentials and sign are about hosts, the other kinds about "
		       "paths: write two rules";
		return 0;
	}
	return *p ? kinds : 0;
}

bool words_until(const char *s, int64_t *ret)
{
	static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S",
					    "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"};

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		struct tm tm = {.tm_isdst = -1}, day;
		const char *end = strptime(s, forms[i], &tm);
		time_t t;

		if (!end || *end)
			continue;
		day = tm;
		t = mktime(&tm);
		/* mktime() turns the 30th of February into the 2nd of March. */
		if (t == (time_t)-1 || tm.tm_mday != day.tm_mday || tm.tm_mon != day.tm_mon)
			return false;
		if (i == 0) {
			day.tm_mday++;
			day.tm_isdst = -1;
			t = mktime(&day);
		}
		*ret = t;
		return true;
	}
	return false;
}
