/* step_say - the runner's requests to the keeper about the open step. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/api/inside/inside_priv.h"
#include "core/base/text.h"
#include "core/keeper/step_ask.h"

#define NAME_MOST 200 /* the same as in core/keeper/steps/group.c */

/* Returns the length of the longest beginning that ends with a whole character. */
static size_t cut_at(const char *s, size_t most)
{
	size_t at = 0, len = strlen(s);

	while (at < len) {
		int32_t cp;
		size_t n = text_decode(s + at, len - at, &cp);

		if (at + n > most)
			break;
		at += n;
	}
	return at;
}

int step_say(const char *verb, const char *argument, struct buf *answer, struct err *err)
{
	AUTO_FREE char *request =
		xasprintf("%s/%.*s", verb, (int)cut_at(argument, NAME_MOST), argument);
	AUTO_FREE char *text = NULL;
	int r = step_ask_line(request, &text, err);

	if (r < 0)
		return r == -EPERM ? r : err_set(err, r, "begin or end a step");
	buf_str(answer, text);
	return 0;
}
