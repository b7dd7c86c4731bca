/* approval_verdicts - the rows of the answers, and of the choices that change them. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "core/session/answers/answers.h"
#include "tui/console/dialogs/approval.h"

#define VALUES	11 /* columns before the values of a choice */
#define VERDICT 8  /* columns of "+ ALLOW " */
#define NARROW	66 /* columns; if narrower, one row shows the three choices */
#define FACTS_H 2  /* rows for the facts: program and object, risk */

/* ---- words ----------------------------------------------------------------------------------- */

/* Describes the whole effect of a key: "reading ~/notes/a.md, for this session". */
static char *verdict_words(const struct ui *ui, const struct verdicts *v, const struct choice *c,
			   bool allow)
{
	AUTO_BUF struct buf words = BUF_INIT;
	struct answer a = choice_answer(c, allow);
	struct buf out = BUF_INIT;
	const char *rest;

	answers_words(&words, ui->spec.model, v->ask, &a);
	if (v->others && c->extent == EXTENT_EXACT)
		buf_fmt(&words, ", and %zu more", v->others);
	rest = strchr(words.data, ' ');
	text_escape(&out, rest + 1, strlen(rest + 1));
	return buf_take(&out);
}

static const char *extent_name(const struct choice *c, const struct ask *ask)
{
	static const char *const names[][3] = {
		[EXTENT_EXACT] = {"exactly this", "exactly this", "this port"},
		[EXTENT_DIR] = {"its directory", "what lies in it", "this host"},
		[EXTENT_TREE] = {"and below", "and below", "this domain"},
		[EXTENT_BUNDLE] = {"all it keeps", "all it keeps", ""},
	};

	return c->up ? "further up" : names[c->extent][ask->kind >= RULE_PLACES ? 2 : ask->is_dir];
}

static const char *scope_name(enum answer_scope scope)
{
	static const char *const names[] = {
		[SCOPE_ONCE] = "once",	     [SCOPE_STEP] = "step",
		[SCOPE_SESSION] = "session", [SCOPE_PROJECT] = "this folder",
		[SCOPE_USER] = "always",     [SCOPE_ORG] = "everybody",
	};

	return names[scope];
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Returns how much of the text fits on a row: whole words if they fill half of it. Includes the
 * blank behind them, which is drawn. */
static size_t fitting(const char *text, int cols)
{
	size_t len = 0, words = 0;

	for (int w = 0; text[len];) {
		int32_t cp;
		size_t n = text_decode(text + len, strlen(text + len), &cp);

		w += MAX(text_cp_width(cp), 0);
		if (w > cols && len)
			return words ? words : len;
		len += n;
		if (cp == ' ' && w > cols / 2)
			words = len;
	}
	return len;
}

static int rows_of(const char *text, int cols)
{
	int n = 0;

	for (; *text || !n; n++)
		text += fitting(text, MAX(cols, 2));
	return n;
}

static int key_width(struct ui *ui, enum action a)
{
	char keys[32];

	return text_width(ui_keys(ui, PLACE_APPROVALS, a, keys, sizeof(keys))) + 1;
}

/* Returns the width of the widest key, so that the verdicts begin in one column. */
static int keys_width(struct ui *ui, const struct verdicts *v)
{
	int w = MAX(key_width(ui, ACTION_ALLOW), key_width(ui, ACTION_DENY));

	return v->offer ? MAX(w, key_width(ui, ACTION_ALLOW_COMMAND)) : w;
}

static int verdict_rows(struct ui *ui, struct rect in, const struct verdicts *v,
			const struct choice *c)
{
	AUTO_FREE char *words = verdict_words(ui, v, c, true);

	return rows_of(words, in.w - keys_width(ui, v) - VERDICT);
}

static int own_rows(struct ui *ui, struct rect in, const struct verdicts *v)
{
	return v->own ? rows_of(v->own, in.w - keys_width(ui, v)) : 0;
}

/* Finds the choices with more than one value; returns their number. */
static unsigned open_choices(const struct ui *ui, const struct verdicts *v, bool open[3])
{
	const struct model *m = ui->spec.model;
	struct choice scope = *v->choice, extent = *v->choice, time = *v->choice;

	open[0] = choice_next_scope(&scope, m, v->ask);
	open[1] = choice_next_extent(&extent, m, v->ask);
	open[2] = choice_next_time(&time, m, v->ask);
	return open[0] + open[1] + open[2];
}

static int answers_rows(struct ui *ui, struct rect in, const struct verdicts *v)
{
	return verdict_rows(ui, in, v, v->choice) +
	       (v->offer ? verdict_rows(ui, in, v, v->offer) : 0) + own_rows(ui, in, v) + 1 +
	       (*ui->note != '\0');
}

/* Returns whether each choice has room for its own row, below an empty one. */
static bool is_wide(struct ui *ui, struct rect in, const struct verdicts *v)
{
	bool open[3];
	unsigned n = open_choices(ui, v, open);

	return in.w >= NARROW && in.h >= FACTS_H + answers_rows(ui, in, v) + 1 + (int)n;
}

int verdicts_rows(struct ui *ui, struct rect in, const struct verdicts *v)
{
	bool open[3];
	int n = (int)open_choices(ui, v, open);

	if (n && is_wide(ui, in, v))
		n++;
	else
		n = MIN(n, 1);
	return answers_rows(ui, in, v) + n;
}

/* ---- drawing --------------------------------------------------------------------------------- */

struct line {
	struct ui *ui;
	struct surface *s;
	const struct verdicts *v;
	int left, x, y, right;
	int text, key; /* roles; they show whether answers count yet */
};

static void put_key(struct line *r, enum action a, const char *label)
{
	char keys[32];

	ui_keys(r->ui, PLACE_APPROVALS, a, keys, sizeof(keys));
	r->x += surface_text(r->s, r->x, r->y, r->right - r->x, r->key, keys) + 1;
	r->x += surface_text(r->s, r->x, r->y, r->right - r->x, ROLE_MODAL_LABEL, label);
}

/* Puts the chosen value in brackets: a mono screen has no colour. */
static void put_value(struct line *r, const char *name, bool chosen)
{
	r->x += 1 + surface_fmt(r->s, r->x + 1, r->y, r->right - r->x - 1,
				chosen ? ROLE_MODAL_TITLE : ROLE_MODAL_LABEL,
				chosen ? "[%s]" : " %s ", name);
}

/* Draws each value that is possible with the other two choices. */
static void put_scopes(struct line r)
{
	put_key(&r, ACTION_CHOOSE_SCOPE, "how long");
	r.x = r.left + VALUES;
	for (enum answer_scope scope = SCOPE_ONCE; scope <= SCOPE_USER; scope++) {
		struct choice as = *r.v->choice;

		as.scope = scope;
		if (choice_possible(&as, r.ui->spec.model, r.v->ask))
			put_value(&r, scope_name(scope), scope == r.v->choice->scope);
	}
}

static void put_extents(struct line r)
{
	put_key(&r, ACTION_CHOOSE_EXTENT, "how much");
	r.x = r.left + VALUES;
	for (enum answer_extent e = EXTENT_EXACT; e <= EXTENT_BUNDLE; e++) {
		struct choice as = *r.v->choice;

		as.up = e == as.extent ? as.up : 0;
		as.extent = e;
		if (choice_possible(&as, r.ui->spec.model, r.v->ask))
			put_value(&r, extent_name(&as, r.v->ask), e == r.v->choice->extent);
	}
}

static void put_times(struct line r)
{
	put_key(&r, ACTION_CHOOSE_TIME, "until");
	r.x = r.left + VALUES;
	for (size_t i = 0; i < CHOICE_TIMES; i++) {
		struct choice as = *r.v->choice;

		as.time = i;
		if (choice_possible(&as, r.ui->spec.model, r.v->ask))
			put_value(&r, choice_time_name(i), i == r.v->choice->time);
	}
}

static void put_choices(struct line r, bool wide)
{
	static void (*const rows[])(struct line) = {put_scopes, put_extents, put_times};
	static const enum action actions[] = {ACTION_CHOOSE_SCOPE, ACTION_CHOOSE_EXTENT,
					      ACTION_CHOOSE_TIME};
	const char *const values[] = {scope_name(r.v->choice->scope),
				      extent_name(r.v->choice, r.v->ask),
				      choice_time_name(r.v->choice->time)};
	bool open[3];

	open_choices(r.ui, r.v, open);
	r.y += wide;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (open[i] && wide) {
			rows[i](r);
			r.y++;
		} else if (open[i]) {
			/* A value that stands alone would not say what the key changes. */
			put_key(&r, actions[i], i == 0 && !open[1] && !open[2] ? "how long: " : "");
			r.x += 2 + surface_text(r.s, r.x, r.y, r.right - r.x, ROLE_MODAL_LABEL,
						values[i]);
		}
	}
}

/* Draws the whole text from the line's place on, over as many rows as it needs. */
static void put_whole(struct line *r, const char *text)
{
	for (; *text; r->y++) {
		AUTO_BUF struct buf part = BUF_INIT;
		size_t n = fitting(text, MAX(r->right - r->x, 2));

		buf_add(&part, text, n);
		surface_text(r->s, r->x, r->y, r->right - r->x, r->text, part.data);
		text += n;
	}
	r->x = r->left;
}

/* Draws "a + ALLOW reading ~/notes/a.md, for this session". It is never cut: the user consents to
 * all of it. */
static void put_allow(struct line *r, enum action key, const struct choice *c)
{
	AUTO_FREE char *words = verdict_words(r->ui, r->v, c, true);

	put_key(r, key, "");
	r->x = r->left + keys_width(r->ui, r->v);
	ui_modal_text(r->s, r->x, r->y, VERDICT, ROLE_EVENT_ALLOW, "+ ALLOW");
	r->x += VERDICT;
	put_whole(r, words);
}

static void put_own(struct line *r)
{
	if (!r->v->own)
		return;
	put_key(r, ACTION_OWN_SETTINGS, "");
	r->x = r->left + keys_width(r->ui, r->v);
	put_whole(r, r->v->own);
}

static void put_deny(struct line *r)
{
	AUTO_FREE char *words = verdict_words(r->ui, r->v, r->v->choice, false);
	AUTO_BUF struct buf fit = BUF_INIT;

	put_key(r, ACTION_DENY, "");
	r->x = r->left + keys_width(r->ui, r->v);
	ui_modal_text(r->s, r->x, r->y, VERDICT, ROLE_EVENT_DENY, "x DENY");
	r->x += VERDICT - 1;
	text_fit_middle(&fit, words, r->right - r->x);
	surface_text(r->s, r->x, r->y++, r->right - r->x, r->text, fit.data);
	r->x = r->left;
}

/* Draws the note that the agent gets with the denial. */
static void put_note(struct line *r)
{
	AUTO_BUF struct buf fit = BUF_INIT;

	if (!*r->ui->note)
		return;
	put_key(r, ACTION_NOTE, "note with it: ");
	text_fit_end(&fit, r->ui->note, r->right - r->x);
	surface_text(r->s, r->x, r->y++, r->right - r->x, ROLE_MODAL, fit.data);
	r->x = r->left;
}

void verdicts_draw(struct ui *ui, struct surface *s, struct rect in, const struct verdicts *v)
{
	struct line r = {.ui = ui,
			 .s = s,
			 .v = v,
			 .left = in.x,
			 .x = in.x,
			 .y = in.y + in.h - verdicts_rows(ui, in, v),
			 .right = in.x + in.w,
			 .text = v->armed ? ROLE_MODAL : ROLE_MODAL_LABEL,
			 .key = v->armed ? ROLE_MODAL_KEY : ROLE_MODAL_LABEL};

	put_allow(&r, ACTION_ALLOW, v->choice);
	if (v->offer)
		put_allow(&r, ACTION_ALLOW_COMMAND, v->offer);
	put_own(&r);
	put_deny(&r);
	put_note(&r);
	put_choices(r, is_wide(ui, in, v));
}
