/* view_step_tree - the files of a diff by directory, with added and removed lines. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/path.h"
#include "tui/console/views/view_step.h"

/* Returns the length of the directory; 0: the folder itself. */
static size_t dir_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

static bool same_dir(const struct change *a, const struct change *b)
{
	size_t n = dir_of(a->path);

	return n == dir_of(b->path) && strncmp(a->path, b->path, n) == 0 &&
	       str_eq(a->base ? a->base : "", b->base ? b->base : "");
}

void step_tree_build(struct view_step *p)
{
	const struct review *r = p->review;

	if (p->tree_files == r->n_files)
		return;
	p->tree = xrealloc(p->tree, (2 * r->n_files + 1) * sizeof(*p->tree));
	p->n_tree = 0;
	for (size_t i = 0; i < r->n_files;) {
		size_t upto = i + 1;

		while (upto < r->n_files && same_dir(r->files[i].change, r->files[upto].change))
			upto++;
		if (dir_of(r->files[i].change->path) || r->files[i].change->base)
			p->tree[p->n_tree++] =
				(struct tree_line){.dir = true, .file = i, .upto = upto};
		for (; i < upto; i++)
			p->tree[p->n_tree++] = (struct tree_line){.file = i};
	}
	p->tree_files = r->n_files;
}

static const char *kind_letter(const struct change *c)
{
	switch (c->kind) {
	case CHANGE_CREATED:
		return "A";
	case CHANGE_DELETED:
		return "D";
	case CHANGE_RENAMED:
		return "R";
	case CHANGE_MODIFIED:
		break;
	}
	return "M";
}

static int kind_role(const struct change *c)
{
	switch (c->kind) {
	case CHANGE_CREATED:
		return ROLE_DIFF_ADD;
	case CHANGE_DELETED:
		return ROLE_DIFF_DEL;
	case CHANGE_MODIFIED:
	case CHANGE_RENAMED:
		break;
	}
	return ROLE_DIFF_HUNK;
}

static void counts_text(int added, int deleted, char *out, size_t size)
{
	out[0] = '\0';
	if (added || deleted)
		snprintf(out, size, "+%d -%d", added, deleted);
}

/* Draws the whole name, or the last part within a directory of the tree. */
static void draw_file(struct view_step *p, struct surface *s, struct rect line, size_t file,
		      bool whole)
{
	const struct review_file *f = &p->review->files[file];
	AUTO_FREE char *name = review_name(f->change);
	const char *shown = whole ? ui_path(p->v.ui, name) : path_base(name);
	bool on = file == p->file, below = !whole && (dir_of(f->change->path) || f->change->base);
	char counts[32];
	int w, x = line.x + 1 + (below ? 2 : 0);

	counts_text(f->loaded ? f->added : 0, f->loaded ? f->deleted : 0, counts, sizeof(counts));
	w = (int)strlen(counts);
	x += surface_text(s, x, line.y, 1, kind_role(f->change), kind_letter(f->change)) + 1;
	surface_hostile(s, x, line.y, line.x + line.w - x - w - 2, on ? ROLE_STRONG : ROLE_TEXT,
			shown);
	surface_text(s, line.x + line.w - w - 1, line.y, w, ROLE_DIM, counts);
	ui_row_style(s, line, on, p->in_tree);
}

void step_tree_row(struct view_step *p, struct surface *s, struct rect line, size_t file)
{
	draw_file(p, s, line, file, true);
}

/* Draws "src/look/  3 files  +12 -4". */
static void draw_dir(struct view_step *p, struct surface *s, struct rect line,
		     const struct tree_line *t)
{
	const struct review *r = p->review;
	AUTO_FREE char *name = review_name(r->files[t->file].change);
	AUTO_FREE char *dir = xstrndup(name, dir_of(name));
	char counts[32], shown[64];
	int added = 0, deleted = 0, w;

	for (size_t i = t->file; i < t->upto; i++) {
		added += r->files[i].loaded ? r->files[i].added : 0;
		deleted += r->files[i].loaded ? r->files[i].deleted : 0;
	}
	counts_text(added, deleted, counts, sizeof(counts));
	snprintf(shown, sizeof(shown), "%zu%s%s", t->upto - t->file, *counts ? "  " : "", counts);
	w = (int)strlen(shown);
	surface_hostile(s, line.x + 1, line.y, line.w - w - 4, ROLE_DIFF_FILE,
			ui_path(p->v.ui, dir));
	surface_text(s, line.x + line.w - w - 1, line.y, w, ROLE_DIM, shown);
}

static size_t line_of(const struct view_step *p, size_t file)
{
	for (size_t i = 0; i < p->n_tree; i++)
		if (!p->tree[i].dir && p->tree[i].file == file)
			return i;
	return 0;
}

static size_t top_of(const struct view_step *p, int h)
{
	size_t rows = (size_t)MAX(h, 1), at = line_of(p, p->file);
	size_t top = at >= rows / 2 ? at - rows / 2 : 0;

	if (top + rows > p->n_tree)
		top = p->n_tree > rows ? p->n_tree - rows : 0;
	return top;
}

void step_tree_draw(struct view_step *p, struct surface *s, struct rect r)
{
	size_t top = top_of(p, r.h);

	p->tree_page = (size_t)MAX(r.h, 1);
	for (int y = 0; y < r.h && top + (size_t)y < p->n_tree; y++) {
		const struct tree_line *t = &p->tree[top + (size_t)y];
		struct rect line = {r.x, r.y + y, r.w, 1};

		if (t->dir)
			draw_dir(p, s, line, t);
		else
			draw_file(p, s, line, t->file, false);
	}
}

bool step_tree_act(struct view_step *p, enum action a)
{
	size_t n = p->review->n_files, page = MAX(p->tree_page, (size_t)2) - 1;

	if (!p->in_tree || !n)
		return false;
	switch ((int)a) {
	case ACTION_UP:
		step_go_file(p, p->file ? p->file - 1 : 0);
		return true;
	case ACTION_DOWN:
		step_go_file(p, MIN(p->file + 1, n - 1));
		return true;
	case ACTION_PAGE_UP:
		step_go_file(p, p->file > page ? p->file - page : 0);
		return true;
	case ACTION_PAGE_DOWN:
		step_go_file(p, MIN(p->file + page, n - 1));
		return true;
	case ACTION_TOP:
		step_go_file(p, 0);
		return true;
	case ACTION_BOTTOM:
		step_go_file(p, n - 1);
		return true;
	case ACTION_OPEN:
	case ACTION_BACK:
		p->in_tree = false;
		return true;
	default:
		return false;
	}
}

void step_tree_click(struct view_step *p, struct rect r, const struct mouse *m)
{
	size_t at = top_of(p, r.h) + (size_t)(m->y - r.y);

	if (at < p->n_tree)
		step_go_file(p, p->tree[at].file);
}
