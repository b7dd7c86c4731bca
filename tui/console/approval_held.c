/* approval_held - a step that a safeguard holds: what it did, what it waits for, what "no" ends. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "tui/console/approval.h"

/* "49: a, b, c, ...": samples of what the number counts. */
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

/* "delete files: 49 are deleted, the 50th is held" */
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
		return xasprintf("go beyond what undo keeps: this %s cannot be undone: %s", op,
				 size);
	}

	if (!h->count)
		return xstrdup(w[0]);
	return xasprintf("%s: %llu %s %s, the %llu%s is held", w[1], (unsigned long long)h->count,
			 h->count == 1 ? "is" : "are", w[2], (unsigned long long)h->count + 1,
			 ordinal(h->count + 1));
}

static char *age(const struct ui *ui, const struct ask *ask)
{
	int64_t s = MAX((int64_t)0, (ui->now_us - ask->since_us) / 1000000);
	int64_t left = (int64_t)ask->held->timeout_s - s;

	if (!ask->held->timeout_s)
		return xasprintf("%lld s: it waits until you answer", (long long)s);
	return xasprintf("%lld s: denied by itself in %lld s", (long long)s,
			 (long long)MAX(left, (int64_t)0));
}

void approval_held_facts(struct ui *ui, const struct ask *ask, struct fact *f)
{
	static const char *const done[LOSS_KINDS] = {[LOSS_DELETE] = "deleted",
						     [LOSS_OVERWRITE] = "overwrote",
						     [LOSS_REPLACE] = "replaced",
						     [LOSS_BEYOND] = "beyond"};
	static const char *const ends[] = {
		[GUARD_ENDS_COMMAND] = "ends the command and brings all of it back",
		[GUARD_ENDS_RUN] = "ends the agent: its whole run is one step, and is rolled back",
		[GUARD_ENDS_STRAYS] = ("brings all of it back and ends what was left running; the "
				       "agent goes on"),
	};
	const struct guard_report *h = ask->held;

	f[0] = (struct fact){"wants to", wish(h), 2};
	f[1] = (struct fact){"command", approval_text(h->command), 3};
	if (h->what == LOSS_BEYOND)
		f[2] = (struct fact){done[h->what],
				     xstrdup("journal.step-size (what is copied) or journal.size"),
				     1};
	else
		f[2] = (struct fact){done[h->what],
				     samples(ui, h->count, "", NULL, h->was, h->n_was), 4};
	f[3] = (struct fact){"waiting",
			     samples(ui, h->held, h->held == 1 ? " call" : " calls", h->ops,
				     h->would, h->n_would),
			     4};
	f[4] = (struct fact){"a denial",
			     h->partial
				     ? xasprintf("%s - but not all of it was kept", ends[h->ends])
				     : xstrdup(ends[h->ends]),
			     2};
	f[5] = (struct fact){"held for", age(ui, ask), 1};
}

void approval_held_choices(struct ui *ui, struct surface *s, struct rect r, bool armed,
			   const struct guard_report *held)
{
	bool wide = r.w >= 66;
	int label = wide ? 8 : 2, cols = (r.w - label) / 2, y = r.y + r.h - 2;
	AUTO_FREE char *restore = NULL;
	struct rect cell = {r.x + label, y, cols - 1, 1};

	if (wide && held->what != LOSS_BEYOND && held->count > 1)
		restore = xasprintf("stop it, restore %llu files", (unsigned long long)held->count);
	else
		restore = xstrdup(wide ? "stop it and restore all" : "restore");
	ui_modal_text(s, r.x, y, label, ROLE_EVENT_ALLOW, wide ? "+ ALLOW" : "+");
	if (held->what == LOSS_BEYOND)
		approval_choice(ui, s, cell, armed, ACTION_ALLOW,
				wide ? "raise the limit, keep all" : "raise");
	else
		approval_choice(ui, s, cell, armed, ACTION_ALLOW,
				wide ? "allow this command" : "allow it");
	cell.x += cols;
	if (held->what == LOSS_BEYOND)
		approval_choice(ui, s, cell, armed, ACTION_ALLOW_COMMAND,
				wide ? "go on without undo *" : "no undo*");
	else if (held->by_line)
		approval_choice(ui, s, cell, armed, ACTION_ALLOW_COMMAND,
				wide ? "allow it every time *" : "always*");
	cell = (struct rect){r.x + label, y + 1, cols - 1, 1};
	ui_modal_text(s, r.x, y + 1, label, ROLE_EVENT_DENY, wide ? "x DENY" : "x");
	approval_choice(ui, s, cell, armed, ACTION_DENY, restore);
	cell.x += cols;
	approval_choice(ui, s, cell, armed, ACTION_BACK, wide ? "leave it waiting" : "wait");
}
