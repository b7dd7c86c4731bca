/* approval_held - facts and answers about a step that a safeguard holds. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "tui/console/dialogs/approval.h"

/* Returns "49: a, b, c, ...": a number with samples. */
static char *samples(struct ui *ui, uint64_t total, const char *unit, char *const *ops,
		     char *const *paths, size_t n)
{
	struct buf b = BUF_INIT;

	buf_fmt(&b, "%llu%s", (unsigned long long)total, unit);
	for (size_t i = 0; i < n; i++) {
		const char *path = ui_path(ui, paths[i]);
		char op[32];

		buf_str(&b, i ? ", " : ": ");
		if (ops) {
			ui_op(ops[i], op, sizeof(op));
			buf_fmt(&b, "%s ", op);
		}
		text_escape(&b, path, strlen(path));
	}
	if (n && total > n)
		buf_str(&b, ", ...");
	return buf_take(&b);
}

static const char *ordinal(uint64_t n)
{
	if (n % 100 >= 11 && n % 100 <= 13)
		return "th";
	return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

/* Returns "It wants to delete files: 49 are deleted, the 50th is held." */
static char *wish(const struct guard_report *h)
{
	static const char *const what[LOSS_KINDS][3] = {
		[LOSS_DELETE] = {"delete a file that was there before: held", "delete files",
				 "deleted"},
		[LOSS_OVERWRITE] = {"overwrite a large file that was there before: held",
				    "overwrite large files", "overwritten"},
		[LOSS_REPLACE] = {"replace a file that was there before: held", "replace files",
				  "replaced"},
	};
	const char *const *w = what[h->what];
	char size[32], op[32];

	if (h->what == LOSS_BEYOND) {
		text_size(size, sizeof(size), h->count);
		ui_op(h->n_would ? h->ops[0] : "write", op, sizeof(op));
		return xasprintf("It wants to go beyond what undo keeps: this %s cannot be undone: "
				 "%s.",
				 op, size);
	}
	if (!h->count)
		return xasprintf("It wants to %s.", w[0]);
	return xasprintf("It wants to %s: %llu %s %s, the %llu%s is held.", w[1],
			 (unsigned long long)h->count, h->count == 1 ? "is" : "are", w[2],
			 (unsigned long long)h->count + 1, ordinal(h->count + 1));
}

static char *denial(const struct guard_report *h)
{
	static const char *const ends[] = {
		[GUARD_ENDS_COMMAND] = "ends the command and brings all of it back",
		[GUARD_ENDS_RUN] = "ends the agent: its whole run is one step, and is rolled back",
		[GUARD_ENDS_STRAYS] = ("brings all of it back and ends what was left running; the "
				       "agent goes on"),
	};

	return xasprintf("A denial %s%s.", ends[h->ends],
			 h->partial ? " - but not all of it was kept" : "");
}

static char *samples_done(struct ui *ui, const struct guard_report *h)
{
	if (h->what == LOSS_BEYOND)
		return xstrdup("journal.step-size (what is copied) or journal.size");
	return samples(ui, h->count, "", NULL, h->was, h->n_was);
}

void approval_held_facts(struct ui *ui, const struct ask *ask, bool whole, struct fact *f)
{
	static const char *const done[LOSS_KINDS] = {[LOSS_DELETE] = "deleted",
						     [LOSS_OVERWRITE] = "overwrote",
						     [LOSS_REPLACE] = "replaced",
						     [LOSS_BEYOND] = "limit"};
	const struct guard_report *h = ask->held;

	f[0] = (struct fact){NULL, ui_escaped(*h->command ? h->command : "The agent itself"), 3,
			     ROLE_MODAL_TITLE};
	f[1] = (struct fact){NULL, wish(h), 2, ROLE_MODAL};
	f[2] = (struct fact){NULL, denial(h), 2, ROLE_MODAL};
	f[3] = (struct fact){done[h->what], samples_done(ui, h), 4, ROLE_MODAL};
	if (!whole)
		return;
	f[4] = (struct fact){"waiting",
			     samples(ui, h->held, h->held == 1 ? " call" : " calls", h->ops,
				     h->would, h->n_would),
			     4, ROLE_MODAL};
}

struct verdict {
	enum action key;
	bool allow;
	char words[64];
};

static void add_verdict(struct verdict **v, enum action key, const char *words)
{
	**v = (struct verdict){.key = key, .allow = key != ACTION_DENY};
	snprintf((*v)->words, sizeof((*v)->words), "%s", words);
	++*v;
}

#define VERDICTS 3

static size_t verdicts_of(const struct guard_report *h, bool wide, struct verdict list[VERDICTS])
{
	bool beyond = h->what == LOSS_BEYOND;
	struct verdict *v = list;
	char deny[64] = "stop it and restore all";

	if (!beyond && h->count > 1)
		snprintf(deny, sizeof(deny), "stop it, restore %llu files",
			 (unsigned long long)h->count);
	add_verdict(&v, ACTION_ALLOW,
		    !beyond ? "this command"
		    : wide  ? "and raise the limit: undo keeps all of it"
			    : "and raise the limit");
	if (beyond)
		add_verdict(&v, ACTION_ALLOW_COMMAND,
			    wide ? "without undo, until this session ends" : "without undo");
	else if (h->by_line)
		add_verdict(&v, ACTION_ALLOW_COMMAND,
			    wide ? "this command line each time, until this session ends"
				 : "it for this session");
	add_verdict(&v, ACTION_DENY, deny);
	return (size_t)(v - list);
}

int approval_held_rows(const struct guard_report *held)
{
	struct verdict v[VERDICTS];

	return (int)verdicts_of(held, true, v);
}

void approval_held_verdicts(struct ui *ui, struct surface *s, struct rect r, bool armed,
			    const struct guard_report *held)
{
	struct verdict v[VERDICTS];
	size_t n = verdicts_of(held, r.w >= 66, v);
	int y = r.y + r.h - (int)n, keys_w = 0, x;
	char keys[VERDICTS][32];

	for (size_t i = 0; i < n; i++) {
		ui_keys(ui, PLACE_APPROVALS, v[i].key, keys[i], sizeof(keys[i]));
		keys_w = MAX(keys_w, text_width(keys[i]));
	}
	for (size_t i = 0; i < n; i++, y++) {
		surface_text(s, r.x, y, r.w, armed ? ROLE_MODAL_KEY : ROLE_MODAL_LABEL, keys[i]);
		x = r.x + keys_w + 1;
		x += ui_modal_text(s, x, y, r.x + r.w - x,
				   v[i].allow ? ROLE_EVENT_ALLOW : ROLE_EVENT_DENY,
				   v[i].allow ? "+ ALLOW" : "x DENY");
		surface_text(s, x + 1, y, r.x + r.w - x - 1, armed ? ROLE_MODAL : ROLE_MODAL_LABEL,
			     v[i].words);
	}
}
