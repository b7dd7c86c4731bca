/* last_words - the last output of a guest's console and of QEMU, made readable for the user. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/monitor/last_words.h"

#include <string.h>

#define KEEP  4096
#define LINES 3
#define WIDTH 160

void last_words_add(struct last_words *w, const char *bytes, size_t len)
{
	buf_add(&w->text, bytes, len);
	if (w->text.len > 2 * KEEP)
		buf_drop_front(&w->text, w->text.len - KEEP);
}

/* Copies one line's printable ASCII, at most WIDTH characters. Returns its length. */
static size_t clean(const char *line, size_t len, char out[WIDTH + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < len && n < WIDTH; i++)
		if ((line[i] > ' ' && line[i] < 0x7f) || (line[i] == ' ' && n))
			out[n++] = line[i];
	while (n && out[n - 1] == ' ')
		n--;
	out[n] = '\0';
	return n;
}

/* Returns the kernel's panic message without the backtrace after it, or NULL if there was no
 * panic. */
static const char *panic_of(const struct last_words *w, size_t *ret_len)
{
	static const char word[] = "Kernel panic";
	const char *at =
		w->text.len ? memmem(w->text.data, w->text.len, word, sizeof(word) - 1) : NULL;
	const char *end = at ? memchr(at, '\n', w->text.len - (size_t)(at - w->text.data)) : NULL;

	if (!end)
		return NULL;
	*ret_len = (size_t)(end - at);
	return at;
}

void last_words_format(const struct last_words *w, char *out, size_t size)
{
	char lines[LINES][WIDTH + 1];
	const char *end = w->text.data + w->text.len, *panic;
	size_t n = 0, len = 0;
	AUTO_BUF struct buf all = BUF_INIT;

	panic = panic_of(w, &len);
	if (panic) {
		clean(panic, len, lines[0]);
		snprintf(out, size, "%s", lines[0]);
		return;
	}

	while (n < LINES && end > w->text.data) {
		const char *start = end;

		while (start > w->text.data && start[-1] != '\n')
			start--;
		if (clean(start, (size_t)(end - start), lines[n]))
			n++;
		end = start > w->text.data ? start - 1 : start;
	}
	while (n-- > 0)
		buf_fmt(&all, "%s%s", all.len ? " | " : "", lines[n]);
	snprintf(out, size, "%s", all.data);
}
