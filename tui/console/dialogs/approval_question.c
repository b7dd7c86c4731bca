/* approval_question - facts about a request: program, object, risk, further requests. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/session/answers/answers.h"
#include "tui/console/dialogs/approval.h"

#define NEIGHBOURS 6 /* named further requests of a prompt */

bool approval_is_bundle(const struct ask *ask)
{
	return ask->bundle && *ask->bundle;
}

/* Counts further requests of the prompt: those up to `upto`, or (since) later ones. */
size_t question_others(const struct question *q, bool since)
{
	const struct ask *ask = q->ask;
	const struct model *m = q->ui->spec.model;
	size_t n = 0;

	for (size_t i = 0; i < m->n_asks; i++)
		n += m->asks[i].prompt == ask->prompt && &m->asks[i] != ask &&
		     (m->asks[i].id > q->upto) == since;
	return n;
}

/* Returns how many directories up a tree begins that has all of this prompt, or an earlier
 * question's; -1: no such tree. */
int question_common_up(const struct question *q)
{
	const struct ask *ask = q->ask;
	const struct model *m = q->ui->spec.model;
	int most = -1;

	if (ask->held || approval_is_bundle(ask))
		return -1;
	for (size_t i = 0; i < m->n_asks; i++) {
		const struct ask *a = &m->asks[i];

		if (a->prompt == ask->prompt && a != ask && a->id <= q->upto)
			most = MAX(most, ask_up_to(ask, a->path));
	}
	return most < 0 ? approval_again_up(q->ui, ask) : most;
}

/* Returns the tree `up` directories above the object. Heap. */
static char *object_up(const struct ask *ask, int up)
{
	const struct answer a = {.extent = EXTENT_TREE, .up = (unsigned)up};

	return answers_object(ask, &a);
}

/* Appends a directory as the user knows it: "~/p/c". */
static void add_place(const struct question *q, const char *dir, struct buf *out)
{
	const char *shown = ui_path(q->ui, dir);

	text_escape(out, shown, strlen(shown));
}

/* Returns "37 more of that directory: b, c, d", or "This program keeps asking about ~/p/c". */
static char *neighbours(const struct question *q)
{
	const struct ask *ask = q->ask;
	const struct model *m = q->ui->spec.model;
	size_t now = question_others(q, false), since = question_others(q, true), named = 0;
	int up = question_common_up(q);
	AUTO_FREE char *tree = object_up(ask, MAX(up, 0));
	struct buf b = BUF_INIT;

	if (now && up > 0) {
		buf_fmt(&b, "%zu more below ", now);
		add_place(q, tree, &b);
	} else if (now) {
		buf_fmt(&b, "%zu more of that directory", now);
	}
	for (size_t i = 0; i < m->n_asks && named < NEIGHBOURS; i++) {
		const struct ask *a = &m->asks[i];
		const char *name = up >= 0 ? path_below(a->path, tree) : path_base(a->path);

		if (a->prompt != ask->prompt || a == ask || a->id > q->upto)
			continue;
		if (!name)
			continue;
		buf_str(&b, named++ ? ", " : ": ");
		text_escape(&b, name, strlen(name));
	}
	if (now > named)
		buf_str(&b, ", ...");
	if (since)
		buf_fmt(&b, "%s%zu came since: asked next", now ? "; " : "", since);
	if (!now && !since && up >= 0) {
		buf_str(&b, "This program keeps asking about ");
		add_place(q, tree, &b);
		buf_ch(&b, '.');
	}
	return buf_take(&b);
}

static uint32_t timeout_of(const struct ask *ask)
{
	return ask->held ? ask->held->timeout_s : ask->timeout_s;
}

static int64_t waited_s(const struct ui *ui, const struct ask *ask)
{
	return MAX((int64_t)0, (ui->now_us - ask->since_us) / 1000000);
}

static char *deadline(const struct ui *ui, const struct ask *ask)
{
	long long left = MAX((int64_t)timeout_of(ask) - waited_s(ui, ask), (int64_t)0);

	if (!ask->call_only)
		return xasprintf("Denied by itself in %lld s.", left);
	if (!left)
		return xstrdup("This call was denied: your answer is for the next try.");
	return xasprintf("Answer within %lld s, or this call is denied: your answer is for the "
			 "next try then.",
			 left);
}

/* Returns the risk: "A secret, by its name. No rule grants it." */
static char *risk(const struct ask *ask)
{
	AUTO_FREE char *reason = approval_sentence(ask->reason);

	return xasprintf("%s%s",
			 !ask->secret		  ? ""
			 : ask->kind == RULE_UNIX ? "It leads to what acts outside the sandbox. "
						  : "A secret, by its name. ",
			 reason);
}

static void add_fact(struct fact **f, const char *label, char *text, int rows)
{
	*(*f)++ = (struct fact){label, text, rows, ROLE_MODAL};
}

static void collect_whole(const struct question *q, struct fact *f)
{
	const struct ask *ask = q->ask;
	AUTO_FREE char *program = ui_escaped(ask->program);

	add_fact(&f, ask->kind >= RULE_PLACES ? "host" : "path", ui_escaped(ask->path), 64);
	add_fact(&f, "through", ui_escaped(ask->via), 2);
	add_fact(&f, "all of it", ui_escaped(ask->places), 4);
	add_fact(&f, "program",
		 ask->pid ? xasprintf("%s (pid %d)", program, ask->pid) : xstrdup(program), 2);
	add_fact(&f, "command", ui_escaped(ask->command), 3);
	add_fact(&f, "step", ui_escaped(ask->label), 2);
	add_fact(&f, "held for",
		 xasprintf("%lld s%s", (long long)waited_s(q->ui, ask),
			   ask->call_only ? "" : ": the call waits until you answer"),
		 1);
}

/* Collects the known facts, in order of importance: a narrow screen drops them from the end. */
static void collect(const struct question *q, struct fact *f)
{
	const struct ask *ask = q->ask;
	for (size_t i = 0; i < FACTS; i++)
		f[i] = (struct fact){NULL, NULL, 1, ROLE_MODAL};
	if (ask->held) {
		approval_held_facts(q->ui, ask, q->whole, f);
	} else {
		f[0] = (struct fact){NULL, ui_headline(q->ui, ask), 3, ROLE_MODAL_TITLE};
		f[1].text = risk(ask);
		f[1].rows = 3;
		f[2].text = neighbours(q);
		f[2].rows = 3;
		if (q->whole)
			collect_whole(q, &f[3]);
	}
	if (timeout_of(ask))
		f[FACTS - 1].text = deadline(q->ui, ask);
	for (size_t i = 0; i < FACTS; i++)
		if (!f[i].text)
			f[i].text = xstrdup("");
}

/* Returns the rows of the facts if each has its maximum. */
int question_rows(const struct question *q, int cols)
{
	struct fact f[FACTS];
	int rows = 0;

	collect(q, f);
	for (size_t i = 0; i < FACTS; i++) {
		rows += approval_fact_rows(&f[i], cols);
		free(f[i].text);
	}
	return rows;
}

void question_draw(const struct question *q, struct surface *s, struct rect r)
{
	struct rect old = surface_clip(s, r);
	struct fact f[FACTS];
	int y = r.y, spare = r.h;

	collect(q, f);
	for (size_t i = 0; i < FACTS; i++)
		spare -= *f[i].text ? 1 : 0;
	for (size_t i = 0; i < FACTS; i++) {
		int rows = MIN(approval_fact_rows(&f[i], r.w), 1 + MAX(spare, 0));

		y = approval_draw_fact(s, r, y, &f[i], rows);
		spare -= MAX(rows - 1, 0);
		free(f[i].text);
	}
	s->clip = old;
}
