/* layouts - stores the user's layout for each size of the terminal. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/frame/layouts.h"

#include <fcntl.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/io.h"

#define FILE_MAX 4096

/* Parses "120 40 3 64 55 0": width, height, mode, main, side, hidden panes. */
static bool parse(const char *line, struct layouts_entry *ret)
{
	unsigned all = (1u << PANE_COUNT) - 1, mode, hidden;
	struct layouts_entry e = {0};

	if (sscanf(line, "%d %d %u %d %d %u", &e.w, &e.h, &mode, &e.wish.main, &e.wish.side,
		   &hidden) != 6)
		return false;
	if (mode >= LAYOUT_MODES || hidden >= all || e.wish.main < 0 || e.wish.main > 99 ||
	    e.wish.side < 0 || e.wish.side > 99)
		return false;
	e.wish.mode = (enum layout_mode)mode;
	e.wish.hidden = hidden;
	*ret = e;
	return true;
}

void layouts_load(struct layouts *l, const char *file)
{
	AUTO_FREE char *text = NULL;
	char *save = NULL;
	size_t len = 0;

	*l = (struct layouts){0};
	if (io_read_file(AT_FDCWD, file, FILE_MAX, &text, &len) < 0)
		return;
	for (char *line = strtok_r(text, "\n", &save); line && l->n < LAYOUTS_MAX;
	     line = strtok_r(NULL, "\n", &save))
		if (parse(line, &l->list[l->n]))
			l->n++;
}

int layouts_save(const struct layouts *l, const char *file)
{
	AUTO_BUF struct buf b = BUF_INIT;

	for (size_t i = 0; i < l->n; i++) {
		const struct layouts_entry *e = &l->list[i];

		buf_fmt(&b, "%d %d %d %d %d %u\n", e->w, e->h, (int)e->wish.mode, e->wish.main,
			e->wish.side, e->wish.hidden);
	}
	return io_write_file(AT_FDCWD, file, 0600, b.data, b.len, false);
}

struct layout_wish layouts_get(const struct layouts *l, int w, int h)
{
	enum layout_mode mode = layout_compute(w, h, PANE_TERMINAL, false, NULL).mode;

	for (size_t i = 0; i < l->n; i++)
		if (l->list[i].w == w && l->list[i].h == h)
			return l->list[i].wish;
	for (size_t i = 0; i < l->n; i++) {
		const struct layouts_entry *e = &l->list[i];

		if (layout_compute(e->w, e->h, PANE_TERMINAL, false, NULL).mode == mode)
			return e->wish;
	}
	return l->otherwise;
}

void layouts_put(struct layouts *l, int w, int h, const struct layout_wish *wish)
{
	size_t at = 0;

	while (at < l->n && (l->list[at].w != w || l->list[at].h != h))
		at++;
	if (at == l->n)
		l->n = MIN(l->n + 1, (size_t)LAYOUTS_MAX);
	at = MIN(at, (size_t)LAYOUTS_MAX - 1);
	memmove(l->list + 1, l->list, at * sizeof(*l->list));
	l->list[0] = (struct layouts_entry){w, h, *wish};
	l->changed = true;
}
