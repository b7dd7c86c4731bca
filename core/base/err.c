/* err - an error in words, beside the negative errno for the code. */
/* SPDX-License-Identifier: MIT */
#include "core/base/err.h"

#include <stdarg.h>
#include <string.h>

#include "core/base/text.h"
#include "core/os/text.h"

static void put(struct err *err, int code, const char *head, const char *tail)
{
	char joined[2 * sizeof(err->text)];

	if (tail && *tail)
		snprintf(joined, sizeof(joined), "%s: %s", head, tail);
	else
		snprintf(joined, sizeof(joined), "%s", head);
	err->code = code;
	text_escape_into(err->text, sizeof(err->text), joined, strlen(joined));
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	char head[sizeof(err->text)], why[128];
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	vsnprintf(head, sizeof(head), fmt, ap);
	va_end(ap);
	put(err, code, head, os_strerror(-code, why, sizeof(why)));
	return code;
}

int err_say(struct err *err, int code, const char *fmt, ...)
{
	char head[sizeof(err->text)];
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	vsnprintf(head, sizeof(head), fmt, ap);
	va_end(ap);
	put(err, code, head, NULL);
	return code;
}

int err_wrap(struct err *err, int code, const char *fmt, ...)
{
	char head[sizeof(err->text)], old[sizeof(err->text)];
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	vsnprintf(head, sizeof(head), fmt, ap);
	va_end(ap);
	memcpy(old, err->text, sizeof(old));
	put(err, code, head, old);
	return code;
}
