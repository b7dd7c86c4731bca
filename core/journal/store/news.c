/* news - messages for the user that operations and commits leave behind. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/store/news.h"

#include <stdarg.h>
#include <stdlib.h>

#include "core/journal/journal.h"
#include "core/journal/store/store.h"

void journal_say(struct journal *j, const char *fmt, ...)
{
	AUTO_BUF struct buf words = BUF_INIT;
	va_list ap;

	if (j->news)
		buf_fmt(&words, "%s; ", j->news);
	va_start(ap, fmt);
	buf_vfmt(&words, fmt, ap);
	va_end(ap);
	free(j->news);
	j->news = xstrdup(words.data);
}

bool journal_urges(const struct journal *j)
{
	const struct journal *k = j;
	bool urgent = false;

	do
		urgent |= k->news && k->urgent;
	while ((k = k->sibling) != j);
	return urgent;
}

char *journal_news(struct journal *j)
{
	char *words = take_ptr(&j->news);

	j->urgent = false;

	for (struct journal *k = j->sibling; k != j; k = k->sibling) {
		AUTO_FREE char *more = take_ptr(&k->news), *first = words;

		k->urgent = false;
		if (more)
			words = xasprintf("%s%s%s", first ? first : "", first ? "; " : "", more);
		else
			first = NULL;
	}
	return words;
}
