/* step_say - the runner's requests to the keeper about the step that is open. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/api/inside/inside_priv.h"
#include "core/base/io.h"
#include "core/base/text.h"
#include "core/keeper/service.h"
#include "core/keeper/step_ask.h"

#define NAME_MOST  200 /* as core/keeper/steps/group.c takes */
#define ANSWER_MAX 4096

/* The longest beginning that ends with a whole character. */
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
	AUTO_CLOSE int fd = step_ask(request);
	AUTO_FREE char *text = NULL;
	int r;

	if (fd < 0)
		return err_set(err, fd, "begin or end a step");
	r = io_read_all(fd, ANSWER_MAX, &text, NULL);
	if (r < 0)
		return err_set(err, r, "begin or end a step");
	text[strcspn(text, "\n")] = '\0';
	if (str_starts(text, STEP_REFUSED))
		return err_say(err, -EPERM, "%s", text + strlen(STEP_REFUSED));
	buf_str(answer, text);
	return 0;
}
