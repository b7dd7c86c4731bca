/* view_step_patch - copies a hunk or file as a patch, exports a diff, opens the editor. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/console/views/line_blame.h"
#include "tui/console/views/view_step.h"

#define COPY_MAX  (1u << 20)
#define NAMES_MAX 1000 /* patch files with numbered names */

/* ---- as a patch ----------------------------------------------------------------------------- */

static void add_lines(const struct review *r, size_t from, size_t upto, struct buf *out)
{
	for (size_t i = from; i < upto; i++) {
		const struct review_line *l = &r->lines[i];

		if (l->kind == DIFF_ADD || l->kind == DIFF_DEL || l->kind == DIFF_CONTEXT)
			buf_ch(out, l->kind == DIFF_ADD ? '+' : l->kind == DIFF_DEL ? '-' : ' ');
		buf_add(out, r->text.data + l->at, l->len);
		buf_ch(out, '\n');
	}
}

/* Appends the file's header and one hunk. Returns false if the cursor is in no hunk. */
static bool add_hunk(const struct view_step *p, struct buf *out)
{
	const struct review *r = p->review;
	const struct review_file *f = &r->files[p->file];
	size_t at = diff_row_line(&p->rows.list[p->list.cursor]), head = f->first_line;

	while (at > f->first_line && r->lines[at].kind != DIFF_HUNK)
		at--;
	if (r->lines[at].kind != DIFF_HUNK)
		return false;
	while (r->lines[head].kind != DIFF_HUNK)
		head++;
	add_lines(r, f->first_line, head, out);
	add_lines(r, at, at + 1 + diff_rows_below(r, at), out);
	return true;
}

static void copy(struct view_step *p, bool file)
{
	const struct review *r = p->review;
	struct ui *ui = p->v.ui;
	AUTO_BUF struct buf out = BUF_INIT;
	bool hunk = step_line(p) && !file && add_hunk(p, &out);

	if (!step_line(p)) {
		ui_say(ui, "There is nothing to copy here.");
		return;
	}
	if (!hunk)
		add_lines(r, r->files[p->file].first_line,
			  r->files[p->file].first_line + r->files[p->file].n_lines, &out);
	if (out.len > COPY_MAX) {
		ui_say(ui, "That is more than a clipboard takes: e writes it to a file.");
		return;
	}
	if (ui_copy(ui, out.data, out.len))
		ui_say(ui, "Copied %s as a patch (%zu bytes).",
		       hunk ? "the hunk" : "the file's diff", out.len);
}

/* ---- into a file ---------------------------------------------------------------------------- */

struct export
{
	struct ui *ui;		 /* NULL: freed */
	char *dir, *stem, *path; /* path: of the written file */
	struct buf text;
	int result;
};

/* Creates a file under an unused name; never follows a link. */
static int write_new(struct export *e)
{
	AUTO_CLOSE int fd = -1;

	for (int i = 0; i < NAMES_MAX; i++) {
		AUTO_FREE char *name = i ? xasprintf("%s/%s-%d.patch", e->dir, e->stem, i)
					 : xasprintf("%s/%s.patch", e->dir, e->stem);

		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0)
			return -errno;
		e->path = take_ptr(&name);
		return io_write_all(fd, e->text.data, e->text.len);
	}
	return -EEXIST;
}

static void export_work(void *job) /* worker thread */
{
	struct export *e = job;

	e->result = write_new(e);
	if (e->result < 0 && e->path)
		unlink(e->path);
}

static void export_tell(struct export *e)
{
	AUTO_BUF struct buf shown = BUF_INIT;
	const char *path = ui_path(e->ui, e->path ? e->path : e->dir);

	text_escape(&shown, path, strlen(path));
	if (e->result < 0)
		ui_say(e->ui, "x The patch cannot be written to %s: %s", shown.data,
		       strerror(-e->result));
	else
		ui_say(e->ui, "+ Written to %s: git apply takes it.", shown.data);
	e->ui->export = NULL;
}

void ui_export_abandon(struct ui *ui)
{
	if (ui->export)
		ui->export->ui = NULL;
	ui->export = NULL;
}

static void export_done(void *job)
{
	struct export *e = job;

	if (e->ui)
		export_tell(e);
	free(e->dir);
	free(e->stem);
	free(e->path);
	buf_done(&e->text);
	free(e);
}

/* Returns "cordon-step-12"; for several steps "cordon-steps-3-on". */
static char *stem_of(const struct view_step *p)
{
	if (p->from)
		return xasprintf("cordon-steps-%lld-on", (long long)p->from);
	if (p->step)
		return xasprintf("cordon-step-%lld", (long long)p->step);
	return xstrdup("cordon-edits");
}

static bool is_cut(const struct review *r)
{
	for (size_t i = 0; i < r->n_lines; i++) {
		const struct review_line *l = &r->lines[i];

		if (l->kind == DIFF_META && l->len > 11 &&
		    memmem(r->text.data + l->at, l->len, " more lines", 11))
			return true;
	}
	return false;
}

static void export(struct view_step *p)
{
	struct ui *ui = p->v.ui;
	const struct review *r = p->review;
	const char *home = ui->spec.model->home;
	struct export *e;

	if (!r->whole) {
		review_more(p->review);
		ui_say(ui, "Not all of it is read yet: G goes to the end, then again.");
		return;
	}
	if (ui->export) {
		ui_say(ui, "Another patch is still being written.");
		return;
	}
	if (!home || r->n_lines == 0 || !ui->spec.verbs->submit) {
		ui_say(ui, "There is nothing to write.");
		return;
	}
	if (is_cut(r)) {
		ui_say(ui, "It is too long to be written from here: cordon diff %lld > FILE.",
		       (long long)(p->from ? p->from : p->step));
		return;
	}
	e = xcalloc(1, sizeof(*e));
	*e = (struct export){.ui = ui, .dir = xstrdup(home), .stem = stem_of(p), .text = BUF_INIT};
	add_lines(r, 0, r->n_lines, &e->text);
	ui->export = e;
	ui->spec.verbs->submit(ui->spec.data, export_work, export_done, e);
}

/* ---- into the editor ------------------------------------------------------------------------ */

static void edit(struct view_step *p)
{
	struct ui *ui = p->v.ui;
	const struct review_line *l = step_line(p);
	AUTO_FREE char *name = NULL;
	AUTO_FREE char *path = NULL;
	struct err err = {0};

	if (p->file >= p->review->n_files || !ui->spec.verbs->edit) {
		ui_say(ui, "There is no file to open from here.");
		return;
	}
	name = review_name(p->review->files[p->file].change);
	path = *name == '/' || !ui->spec.folder ? xstrdup(name) : path_join(ui->spec.folder, name);
	if (ui->spec.verbs->edit(ui->spec.data, path, l ? l->new_line : 0, &err) < 0)
		ui_say(ui, "x %s", err.text);
}

static void blame(struct view_step *p)
{
	const struct review_line *l = step_line(p);
	AUTO_FREE char *path = l ? review_name(p->review->files[l->file].change) : NULL;
	struct blamed_line of = {.kind = DIFF_META};

	if (l)
		of = (struct blamed_line){.path = path,
					  .kind = l->kind,
					  .line = l->new_line,
					  .text = {p->review->text.data + l->at, l->len}};
	line_blame(p->v.ui, &of);
}

bool step_patch_act(struct view_step *p, enum action a)
{
	switch ((int)a) {
	case ACTION_COPY:
	case ACTION_COPY_FILE:
		copy(p, a == ACTION_COPY_FILE);
		return true;
	case ACTION_EXPORT:
		export(p);
		return true;
	case ACTION_EDIT:
		edit(p);
		return true;
	case ACTION_BLAME:
		blame(p);
		return true;
	default:
		return false;
	}
}
