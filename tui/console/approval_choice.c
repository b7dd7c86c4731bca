/* approval_choice - verdict, how long, how much, until when: separate choices, and their words. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/session/answers.h"
#include "tui/console/approval.h"

#define VALUES	15 /* columns before the values of a choice */
#define VERDICT 8  /* columns of "+ ALLOW " */
#define NARROW	66 /* columns; below, one row stands for the three */

static const struct {
	const char *name;
	int64_t seconds;
} times[] = {{"no end", 0}, {"10 min", 600}, {"1 hour", 3600}, {"1 day", 86400}};

static bool possible(const struct choice *c, const struct model *m, const struct ask *ask)
{
	struct answer a = choice_answer(c, true);

	return answers_refusal(m, ask, &a) == NULL;
}

static void settle(struct choice *c)
{
	if (c->scope != SCOPE_ONCE)
		return;
	c->extent = EXTENT_EXACT;
	c->up = 0;
	c->time = 0;
}

struct choice choice_first(const struct ask *ask)
{
	bool bundle = ask->bundle && *ask->bundle;

	return bundle ? (struct choice){.scope = SCOPE_SESSION,
					.extent = EXTENT_BUNDLE,
					.common = -1}
		      : (struct choice){.common = -1};
}

/* For everybody on the machine is not a choice of a dialog. */
void choice_next_scope(struct choice *c, const struct model *m, const struct ask *ask)
{
	do {
		c->scope = c->scope >= SCOPE_USER ? SCOPE_ONCE : c->scope + 1;
		settle(c);
	} while (!possible(c, m, ask) && c->scope != SCOPE_ONCE);
}

/* An answer for once is about one object: more than that counts for longer, at the least. */
static void leave_once(struct choice *c, const struct ask *ask)
{
	if (c->scope == SCOPE_ONCE)
		c->scope = ask->has_step ? SCOPE_STEP : SCOPE_SESSION;
}

void choice_next_extent(struct choice *c, const struct model *m, const struct ask *ask)
{
	leave_once(c, ask);
	if (c->extent == EXTENT_EXACT && c->common > 0) { /* what it is about, at once */
		c->extent = EXTENT_TREE;
		c->up = (unsigned)c->common;
		if (possible(c, m, ask))
			return;
		c->extent = EXTENT_EXACT;
		c->up = 0;
	}
	if (c->extent == EXTENT_TREE) { /* further up, one directory at a time */
		c->up++;
		if (possible(c, m, ask))
			return;
		c->up = 0;
	}
	do
		c->extent = c->extent == EXTENT_BUNDLE ? EXTENT_EXACT : c->extent + 1;
	while (!possible(c, m, ask) && c->extent != EXTENT_EXACT);
}

void choice_next_time(struct choice *c)
{
	if (c->scope != SCOPE_ONCE)
		c->time = (c->time + 1) % ARRAY_LEN(times);
}

struct answer choice_answer(const struct choice *c, bool allow)
{
	int64_t seconds = times[c->time].seconds;

	return (struct answer){.allow = allow,
			       .scope = c->scope,
			       .extent = c->extent,
			       .up = c->up,
			       .until = seconds ? clock_wall_us() / 1000000 + seconds : 0};
}

/* "reading ~/notes/a.md, for this session": what the key remembers, whole, behind its verdict. */
static void verdict_words(struct ui *ui, const struct choice *c, const struct ask *ask, bool allow,
			  size_t others, struct buf *out)
{
	AUTO_BUF struct buf words = BUF_INIT;
	struct answer a = choice_answer(c, allow);
	const char *rest;

	answers_words(&words, ui->spec.model, ask, &a);
	if (others && c->extent == EXTENT_EXACT)
		buf_fmt(&words, ", and %zu more", others);
	rest = strchr(words.data, ' ');
	text_escape(out, rest + 1, strlen(rest + 1));
}

/* How much of the text stands on a row of so many columns. */
static size_t fitting(const char *text, int cols)
{
	size_t len = 0;

	for (int w = 0; text[len];) {
		int32_t cp;
		size_t n = text_decode(text + len, strlen(text + len), &cp);

		w += MAX(text_cp_width(cp), 0);
		if (w > cols && len)
			break;
		len += n;
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

static int verdict_cols(struct ui *ui, struct rect in, enum action a)
{
	char keys[32];

	ui_keys(ui, PLACE_APPROVALS, a, keys, sizeof(keys));
	return in.w - text_width(keys) - 1 - VERDICT;
}

static int allow_rows(struct ui *ui, struct rect in, const struct choice *c, const struct ask *ask,
		      size_t others)
{
	AUTO_BUF struct buf words = BUF_INIT;

	verdict_words(ui, c, ask, true, others, &words);
	return rows_of(words.data, verdict_cols(ui, in, ACTION_ALLOW));
}

static bool is_wide(struct rect in, int allow)
{
	return in.w >= NARROW && in.h >= 10 + allow;
}

int choice_rows(struct ui *ui, struct rect in, const struct choice *c, const struct ask *ask,
		size_t others)
{
	int allow = allow_rows(ui, in, c, ask, others);

	return (is_wide(in, allow) ? 3 : 1) + allow + 1;
}

/* ---- drawing --------------------------------------------------------------------------------- */

struct line {
	struct ui *ui;
	struct surface *s;
	int left, x, y, right;
	bool armed;
};

static void put_key(struct line *r, enum action a, const char *label)
{
	char keys[32];

	ui_keys(r->ui, PLACE_APPROVALS, a, keys, sizeof(keys));
	r->x += surface_text(r->s, r->x, r->y, r->right - r->x,
			     r->armed ? ROLE_MODAL_KEY : ROLE_MODAL_LABEL, keys) +
		1;
	r->x += surface_text(r->s, r->x, r->y, r->right - r->x, ROLE_MODAL_LABEL, label);
}

/* The chosen one stands in brackets: colour alone says nothing on a mono screen. */
static void put_value(struct line *r, const char *name, bool chosen)
{
	r->x += 1 + surface_fmt(r->s, r->x + 1, r->y, r->right - r->x - 1,
				chosen ? ROLE_MODAL_TITLE : ROLE_MODAL_LABEL,
				chosen ? "[%s]" : " %s ", name);
}

static const char *extent_name(enum answer_extent e, bool is_dir)
{
	static const char *const names[][2] = {
		[EXTENT_EXACT] = {"exactly this", "exactly this"},
		[EXTENT_DIR] = {"its directory", "what lies in it"},
		[EXTENT_TREE] = {"and below", "and below"},
		[EXTENT_BUNDLE] = {"all it keeps", "all it keeps"},
	};

	return names[e][is_dir];
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

static void draw_scopes(struct line r, const struct choice *c, const struct model *m,
			const struct ask *ask)
{
	put_key(&r, ACTION_CHOOSE_SCOPE, "how long");
	r.x = r.left + VALUES;
	for (enum answer_scope scope = SCOPE_ONCE; scope <= SCOPE_USER; scope++) {
		struct choice as = {.scope = scope};

		if (possible(&as, m, ask))
			put_value(&r, scope_name(scope), scope == c->scope);
	}
}

static void draw_extents(struct line r, const struct choice *c, const struct model *m,
			 const struct ask *ask)
{
	put_key(&r, ACTION_CHOOSE_EXTENT, "how much");
	r.x = r.left + VALUES;
	for (enum answer_extent e = EXTENT_EXACT; e <= EXTENT_BUNDLE; e++) {
		struct choice as = {.scope = SCOPE_SESSION, .extent = e};
		bool on = e == c->extent;

		if (possible(&as, m, ask))
			put_value(&r, on && c->up ? "further up" : extent_name(e, ask->is_dir), on);
	}
}

static void draw_times(struct line r, const struct choice *c)
{
	put_key(&r, ACTION_CHOOSE_TIME, "until");
	r.x = r.left + VALUES;
	for (size_t i = 0; i < ARRAY_LEN(times) && (i == 0 || c->scope != SCOPE_ONCE); i++)
		put_value(&r, times[i].name, i == c->time);
}

static void draw_short(struct line r, const struct choice *c, const struct ask *ask)
{
	put_key(&r, ACTION_CHOOSE_SCOPE, scope_name(c->scope));
	r.x += 2;
	put_key(&r, ACTION_CHOOSE_EXTENT, extent_name(c->extent, ask->is_dir));
	r.x += 2;
	put_key(&r, ACTION_CHOOSE_TIME, times[c->time].name);
}

/* "a + ALLOW reading ~/notes/a.md, for this session": never cut, it is what is consented to. */
static void draw_allow(struct line *r, const struct choice *c, const struct ask *ask, size_t others)
{
	AUTO_BUF struct buf words = BUF_INIT;
	const char *rest;

	verdict_words(r->ui, c, ask, true, others, &words);
	put_key(r, ACTION_ALLOW, "");
	ui_modal_text(r->s, r->x, r->y, 8, ROLE_EVENT_ALLOW, "+ ALLOW");
	r->x += VERDICT;
	for (rest = words.data; *rest; r->y++) {
		AUTO_BUF struct buf part = BUF_INIT;
		size_t n = fitting(rest, MAX(r->right - r->x, 2));

		buf_add(&part, rest, n);
		surface_text(r->s, r->x, r->y, r->right - r->x,
			     r->armed ? ROLE_MODAL : ROLE_MODAL_LABEL, part.data);
		rest += n;
	}
	r->x = r->left;
}

static void draw_deny(struct line r, const struct choice *c, const struct ask *ask, size_t others)
{
	AUTO_BUF struct buf words = BUF_INIT, fit = BUF_INIT;

	verdict_words(r.ui, c, ask, false, others, &words);
	put_key(&r, ACTION_DENY, "");
	r.x += ui_modal_text(r.s, r.x, r.y, 8, ROLE_EVENT_DENY, "x DENY") + 1;
	text_fit_middle(&fit, words.data, r.right - r.x);
	surface_text(r.s, r.x, r.y, r.right - r.x, r.armed ? ROLE_MODAL : ROLE_MODAL_LABEL,
		     fit.data);
}

void choice_draw(struct ui *ui, struct surface *s, struct rect in, const struct choice *c,
		 const struct ask *ask, size_t others, bool armed)
{
	const struct model *m = ui->spec.model;
	int rows = choice_rows(ui, in, c, ask, others);
	struct line r = {.ui = ui,
			 .s = s,
			 .left = in.x,
			 .x = in.x,
			 .y = in.y + in.h - rows,
			 .right = in.x + in.w,
			 .armed = armed};

	if (is_wide(in, allow_rows(ui, in, c, ask, others))) {
		draw_scopes(r, c, m, ask);
		r.y++;
		draw_extents(r, c, m, ask);
		r.y++;
		draw_times(r, c);
	} else {
		draw_short(r, c, ask);
	}
	r.y++;
	draw_allow(&r, c, ask, others);
	draw_deny(r, c, ask, others);
}
