/* activity_rows - the words and the drawing of a row of the activity. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/diff/diff.h"
#include "core/session/answers/answers.h"
#include "tui/console/views/activity_rows.h"
#include "tui/console/views/step_stats.h"

#define TIME_MIN_W 56 /* a narrower row has no time */
#define OP_COLS	   7

/* Verdicts have a sign and a word as well as a colour. */
static const struct {
	const char *sign, *word, *name;
	int role;
} kinds[] = {
	[ROW_TOUCH] = {" ", "", "touch", ROLE_EVENT_TOUCH},
	[ROW_DENY] = {"x", "DENY ", "deny", ROLE_EVENT_DENY},
	[ROW_EXEC] = {">", "", "exec", ROLE_EVENT_EXEC},
	[ROW_ASK] = {"?", "ASK ", "ask", ROLE_EVENT_ASK},
	[ROW_DECISION] = {"+", "", "decision", ROLE_EVENT_ALLOW},
	[ROW_NOTE] = {"-", "", "note", ROLE_EVENT_NOTE},
	[ROW_EXTERNAL] = {"!", "EDIT ", "edit", ROLE_EVENT_ASK},
};

/* A decision is shown in the words of the answer: "+ ALLOW reading ~/notes/a once". If they name no
 * object (an answer that came too late), the request's object comes first. A revoked answer is
 * neither allowed nor denied. */
struct verdict {
	const char *sign, *word, *words;
	bool whole; /* the words are complete */
	int role;
};

static struct verdict verdict_of(const struct row *r)
{
	const char *words = r->more ? r->more : "";
	bool denied = r->result != 0;

	if (str_eq(r->op, "revoke"))
		return (struct verdict){"-", "", words, true, ROLE_EVENT_NOTE};
	if (str_starts(words, "allow ") || str_starts(words, "deny "))
		return (struct verdict){denied ? "x" : "+", denied ? "DENY " : "ALLOW ",
					strchr(words, ' ') + 1, true,
					denied ? ROLE_EVENT_DENY : ROLE_EVENT_ALLOW};
	if (str_starts(words, "deny: "))
		words += strlen("deny: ");
	return (struct verdict){denied ? "x" : "+", denied ? "DENY " : "ALLOW ", words, false,
				denied ? ROLE_EVENT_DENY : ROLE_EVENT_ALLOW};
}

const char *activity_kind(enum row_kind kind)
{
	return kinds[kind].name;
}

static struct verdict shown_as(const struct row *r)
{
	const char *more = r->more ? r->more : "";

	if (r->kind == ROW_DECISION)
		return verdict_of(r);
	/* Expected by the profile: it recurs, and is no alarm. */
	if (r->kind == ROW_DENY && r->expected)
		return (struct verdict){"-", "refused ", more, false, ROLE_DIM};
	if (r->kind == ROW_EXTERNAL && !*more)
		more = "by you or another program";
	return (struct verdict){kinds[r->kind].sign, kinds[r->kind].word, more, false,
				kinds[r->kind].role};
}

void activity_text(struct ui *ui, const struct row *r, struct buf *out)
{
	const char *path = ui_path(ui, r->text);
	struct verdict v = shown_as(r);
	char op[24];

	ui_op(r->op, op, sizeof(op));
	buf_str(out, v.word);
	buf_str(out, op);
	buf_ch(out, ' ');
	text_escape(out, path, strlen(path));
	if (*v.words) {
		buf_ch(out, ' ');
		text_escape(out, v.words, strlen(v.words));
	}
}

/* Draws sign and word; returns their columns. */
static int draw_sign(struct surface *s, int x, int y, int role, const char *sign, const char *word)
{
	int from = x;

	x += surface_text(s, x + 1, y, 2, role, sign) + 2;
	return x + surface_text(s, x, y, 8, role, word) - from;
}

/* Finds git's subcommand: "commit" in "git -c user.name=x -C sub commit -m y". Returns its length;
 * 0: none. */
static size_t git_verb(const char *command, const char **ret)
{
	const char *at = command ? command + strcspn(command, " ") : "";

	while (*at == ' ') {
		const char *word = ++at;
		size_t len = strcspn(word, " ");

		at += len;
		if (*word != '-') {
			*ret = word;
			return len;
		}
		if (len == 2 && strchr("cC", word[1]) && *at == ' ') /* options with a value */
			at += 1 + strcspn(at + 1, " ");
	}
	return 0;
}

/* Draws "git main: f918ed4 -> fca8856, 1 commit taken back"; if that is unknown, "git commit: 12
 * files below .git". */
static void draw_group(struct ui *ui, struct surface *s, struct rect line,
		       const struct activity_item *item, const struct row *r)
{
	const struct model *m = ui->spec.model;
	const int role = item->commit ? ROLE_EVENT_TOUCH : ROLE_DIM;
	AUTO_BUF struct buf text = BUF_INIT;
	AUTO_FREE char *dir = NULL;
	const char *command = NULL, *verb;
	const struct step_stat *stat;
	size_t len = 0;

	for (size_t i = 0; i < m->n_steps; i++)
		if (m->steps[i].id == r->step)
			command = m->steps[i].command;
	if (command && str_starts(command, "git "))
		len = git_verb(command, &verb);
	dir = xstrndup(r->text, activity_git_dir(r->text));
	buf_str(&text, "git");
	stat = r->step ? view_steps_stat(ui->panes[PANE_STEPS], r->step) : NULL;
	if (stat && stat->git.n) {
		buf_ch(&text, ' ');
		buf_str(&text, stat->git.list[0]);
		surface_hostile_end(s, line.x, line.y, line.w, role, text.data);
		return;
	}
	if (len)
		buf_fmt(&text, " %.*s", (int)len, verb);
	buf_fmt(&text, ": %zu file%s below %s", item->objects, item->objects == 1 ? "" : "s",
		ui_path(ui, dir));
	surface_hostile_end(s, line.x, line.y, line.w, role, text.data);
}

/* Returns "restored src/a.c (step 6)" for the audit log's "restored, as step 6: undo --step 5 --
 * src/a.c", and "undid step 5 alone (step 6)" if no path follows; NULL for other words. */
static char *restored_words(const char *text)
{
	const char *path = strstr(text, " -- ");
	long long step, of;
	int n = sscanf(text, "restored, as step %lld: undo --step %lld", &step, &of);

	if (n == 2 && !path)
		return xasprintf("undid step %lld alone (step %lld)", of, step);
	return n > 0 && path ? xasprintf("restored %s (step %lld)", path + strlen(" -- "), step)
			     : NULL;
}

static void draw_note(struct ui *ui, struct surface *s, struct rect line, const struct row *r,
		      int role)
{
	AUTO_FREE char *words = NULL;
	const char *text = r->text && *r->text ? r->text : r->op ? r->op : "";
	char keys[32];

	if (r->kind == ROW_NOTE && str_eq(r->op, "hosts")) {
		ui_keys(ui, PLACE_TERMINAL, ACTION_SHOW_CONNECTIONS, keys, sizeof(keys));
		words = *keys ? xasprintf("%s: %s", text, keys) : NULL;
	} else if (r->kind == ROW_NOTE && str_eq(r->op, "undo")) {
		words = restored_words(text);
	}
	surface_hostile_end(s, line.x, line.y, line.w, role, words ? words : text);
}

static void draw_object(struct ui *ui, struct surface *s, struct rect line, const struct row *r,
			const struct verdict *v)
{
	/* a save by a temporary name "a.c.tmp1" */
	const bool again = r->kind == ROW_TOUCH && *v->words && str_starts(r->text, v->words);
	const bool saves = again && str_eq(answers_op(r->op), "rename");
	const char *path = saves ? v->words : r->text;
	int x = line.x, end = line.x + line.w;
	char op[24];

	if (r->kind != ROW_EXTERNAL) { /* its word says so */
		ui_op(saves ? "write" : r->op, op, sizeof(op));
		surface_text(s, x, line.y, end - x, r->kind == ROW_TOUCH ? ROLE_DIM : v->role, op);
		x += MAX(text_width(op), *v->word ? 0 : OP_COLS) + 1;
	}
	x += surface_hostile(s, x, line.y, end - x - 1, v->role,
			     r->kind == ROW_EXTERNAL ? ui_edited(ui, path) : ui_path(ui, path));
	if (*v->words && end - x > 8 && !again)
		surface_hostile_end(s, x + 2, line.y, end - x - 3, ROLE_DIM, ui_path(ui, v->words));
}

/* Draws "DENY write  ~/.claude/backups: 5 names  reason" for refusals with the same reason. */
static void draw_refusals(struct ui *ui, struct surface *s, struct rect line,
			  const struct activity_item *item, const struct row *r,
			  const struct verdict *v)
{
	AUTO_FREE char *dir = xstrndup(r->text, (size_t)(path_base(r->text) - r->text) - 1);
	AUTO_FREE char *words = xasprintf("%s: %zu names", dir, item->objects);
	struct row all = *r;

	all.text = words;
	draw_object(ui, s, line, &all, v);
}

static bool is_mkdir(const struct row *r)
{
	return str_eq(answers_op(r->op ? r->op : ""), "mkdir");
}

#define AS_BEFORE '='

static bool has_step(const struct model *m, int64_t id)
{
	for (size_t i = m->n_steps; i-- > 0;)
		if (m->steps[i].id == id)
			return true;
	return false;
}

/* Returns the file's state after its step, as in the diff: A, M, D or R. AS_BEFORE: it was written
 * and removed, or has the same content. 0: unknown, as after a rename. */
static char result_of(struct ui *ui, const struct row *r)
{
	const char *path = r->more && *r->more ? r->more : r->text;
	const char *below = ui->spec.folder ? path_below(path, ui->spec.folder) : NULL;
	const bool wrote = str_eq(answers_op(r->op ? r->op : ""), "write");
	const struct step_stat *stat;

	if (r->kind != ROW_TOUCH || !r->step)
		return 0;
	if (!has_step(ui->spec.model, r->step)) /* it changed nothing, and was not kept */
		return wrote || is_mkdir(r) ? AS_BEFORE : 0;
	if (is_mkdir(r))
		return 'A';
	stat = view_steps_stat(ui->panes[PANE_STEPS], r->step);
	for (size_t i = 0; stat && i < stat->n; i++)
		if (str_eq(stat->list[i].name, below && *below ? below : path))
			return stat->list[i].sign;
	return stat && stat->whole && wrote && below && !diff_is_gits_own(below) ? AS_BEFORE : 0;
}

static int result_role(char sign)
{
	return sign == 'A'	   ? ROLE_DIFF_ADD
	       : sign == 'D'	   ? ROLE_DIFF_DEL
	       : sign == AS_BEFORE ? ROLE_DIM
				   : ROLE_EVENT_TOUCH;
}

/* Draws "A src/new.c" or "= src/x.tmp  as before" after the end of the step; before that "write
 * src/new.c". */
static void draw_change(struct ui *ui, struct surface *s, struct rect line, const struct row *r,
			const struct verdict *v, char sign)
{
	const char *path = r->more && *r->more ? r->more : r->text;
	int x = line.x + 2;

	if (!sign) {
		draw_object(ui, s, line, r, v);
		return;
	}
	surface_fmt(s, line.x, line.y, 1, result_role(sign), "%c", sign);
	x += surface_hostile(s, x, line.y, line.w - 4, sign == AS_BEFORE ? ROLE_DIM : v->role,
			     ui_path(ui, path));
	if (is_mkdir(r))
		x += surface_text(s, x, line.y, 1, v->role, "/");
	if (sign == AS_BEFORE)
		surface_text(s, x + 2, line.y, MAX(0, line.x + line.w - x - 3), ROLE_DIM,
			     "as before");
}

/* Draws "D node_modules: 745 files". */
static void draw_dir(struct ui *ui, struct surface *s, struct rect line,
		     const struct activity_item *item, const struct row *r)
{
	const struct model *m = ui->spec.model;
	AUTO_BUF struct buf text = BUF_INIT;
	char sign = item->removed == item->objects ? 'D' : 'M';

	for (size_t i = 0; i < m->n_steps; i++)
		if (m->steps[i].id == r->step && m->steps[i].created && !m->steps[i].modified &&
		    !m->steps[i].deleted)
			sign = 'A';
	surface_fmt(s, line.x, line.y, 1, result_role(sign), "%c", sign);
	buf_fmt(&text, "%s: %zu files", ui_path(ui, item->below), item->objects);
	surface_hostile_end(s, line.x + 2, line.y, line.w - 2, ROLE_EVENT_TOUCH, text.data);
}

/* Draws "x3" or "+12 processes" at the right. Returns the remaining columns. */
static int draw_times(struct surface *s, struct rect line, const struct activity_item *item,
		      const struct row *r)
{
	char times[32];
	int w;

	if (item->children)
		w = snprintf(times, sizeof(times), line.w < 50 ? "+%zu" : "+%zu process%s",
			     item->children, item->children == 1 ? "" : "es");
	else
		w = snprintf(times, sizeof(times), "x%zu", item->rows);
	if (item->rows < 2 || activity_is_group(item, r) || activity_is_dir(item) || line.w < 30)
		return line.w;
	surface_text(s, line.x + line.w - w - 1, line.y, w, ROLE_DIM, times);
	return line.w - w - 1;
}

void activity_draw(struct ui *ui, struct surface *s, struct rect line,
		   const struct activity_item *item, const struct row *r, bool all)
{
	int x = line.x, end;
	struct verdict v;
	char hms[16];

	end = line.x + draw_times(s, line, item, r);
	v = shown_as(r);
	if (line.w >= TIME_MIN_W) { /* the first row's: the list is in that order */
		clock_hms(hms, item->began_us);
		x += surface_text(s, x + 1, line.y, 8, ROLE_DIM, hms) + 2;
	}
	x += draw_sign(s, x, line.y, v.role, v.sign, v.word);
	if (activity_is_dir(item))
		draw_dir(ui, s, (struct rect){x, line.y, end - x - 1, 1}, item, r);
	else if (activity_is_group(item, r) && r->kind == ROW_DENY)
		draw_refusals(ui, s, (struct rect){x, line.y, end - x, 1}, item, r, &v);
	else if (activity_is_group(item, r))
		draw_group(ui, s, (struct rect){x, line.y, end - x - 1, 1}, item, r);
	else if (r->kind == ROW_EXEC || r->kind == ROW_NOTE)
		draw_note(ui, s, (struct rect){x, line.y, end - x - 1, 1}, r, v.role);
	else if (v.whole && strchr(v.words, '/'))
		surface_hostile(s, x, line.y, end - x - 1, v.role, v.words);
	else if (v.whole)
		surface_hostile_end(s, x, line.y, end - x - 1, v.role, v.words);
	else
		draw_change(ui, s, (struct rect){x, line.y, end - x, 1}, r, &v,
			    all ? 0 : result_of(ui, r));
}
