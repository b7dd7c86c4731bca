/* report_page - writes the page of `cordon report`, in the order in which a reviewer reads. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/policy/builtin/hidden.h"
#include "core/policy/policy.h"
#include "core/session/answers/answers.h"
#include "tui/commands/report.h"
#include "tui/commands/report_doc.h"

struct page {
	struct doc doc;
	const struct report *report;
	const char *home;
};

/* Formats "2026-11-24 09:00:00 +0100". */
static void format_time(char out[40], int64_t us)
{
	time_t s = (time_t)(us / 1000000);
	struct tm tm;

	strftime(out, 40, "%Y-%m-%d %H:%M:%S %z", localtime_r(&s, &tm));
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* Returns whether the object is a secret such as a key: by its name, or hidden by a rule. */
static bool is_secret(const struct page *p, const struct fact *f)
{
	const char *below = f->object ? path_below(f->object, p->home) : NULL;

	return f->secret || (below && hidden_builtin(below)) ||
	       (f->object && *f->object == '/' &&
		policy_name_is_secret(NULL, path_base(f->object)));
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void put_command(struct page *p, const struct fact *f)
{
	struct doc *d = &p->doc;

	doc_quote_begin(d, f->object && *f->object ? f->object : "(no command)");
	if (f->count > 1)
		doc_say(d, " %zu times,", f->count);
	if (f->step)
		doc_say(d, " step %" PRId64, f->step);
	if (f->step >= 0 && f->status >= 0)
		doc_say(d, "%s exit %d", f->step ? "," : "", f->status);
	if (f->tests == RUNS_TESTS_AMONG)
		doc_say(d, " (of the whole line)");
	if (f->undone)
		doc_say(d, ", undone");
	if (f->reason && *f->reason) {
		doc_say(d, ", cannot be undone as a whole: ");
		doc_quote(d, f->reason);
	}
}

static void put_question(struct page *p, const struct fact *f)
{
	struct doc *d = &p->doc;

	doc_quote(d, answers_op(f->op ? f->op : "?"));
	doc_say(d, " ");
	doc_quote(d, f->object ? f->object : "");
	if (f->program && *f->program) {
		doc_say(d, " by ");
		doc_quote(d, f->program);
	}
	if (!f->answer) {
		doc_say(d, ": no answer");
		return;
	}
	doc_say(d, f->allowed ? ": allowed" : ": denied");
	if (f->by) {
		doc_say(d, " by ");
		doc_quote(d, f->by);
	}
	if (f->us >= 0)
		doc_say(d, " after %.1f s", (double)f->us / 1e6);
	if (*f->answer) {
		doc_say(d, ": ");
		doc_quote(d, f->answer);
	}
}

static void put_refusal(struct page *p, const struct fact *f)
{
	struct doc *d = &p->doc;

	doc_quote(d, answers_op(f->op ? f->op : "?"));
	doc_say(d, f->names ? " in " : " ");
	doc_quote(d, f->object ? f->object : "");
	if (f->names)
		doc_say(d, ", %zu names", f->names);
	if (f->count > MAX(f->names, (size_t)1))
		doc_say(d, ", %zu times", f->count);
	if (f->reason && *f->reason) {
		doc_say(d, ": ");
		doc_quote(d, f->reason);
	}
}

static void put_words(struct page *p, const struct fact *f)
{
	doc_quote(&p->doc, f->reason ? f->reason : "");
}

static void put_edit(struct page *p, const struct fact *f)
{
	doc_quote(&p->doc, f->object ? f->object : "");
	if (f->reason && *f->reason)
		doc_say(&p->doc, " %s", f->reason);
}

struct section {
	enum fact_kind kind;
	const char *title;
	void (*put)(struct page *p, const struct fact *f);
};

static const struct section commands = {FACT_COMMAND, "Commands", put_command};
/* An agent runs many of these: the list is folded. */
static const struct section looks = {FACT_COMMAND, "Commands that changed nothing", put_command};
static const struct section sections[] = {
	{FACT_YOURS, "Commands of yours beside the agent", put_command},
	{FACT_QUESTION, "Questions and answers", put_question},
	{FACT_REFUSAL, "Refused", put_refusal},
	{FACT_ROLLBACK, "Undone and redone", put_words},
	{FACT_EDIT, "Edited outside cordon", put_edit},
};

/* Returns whether a list has the fact. */
typedef bool (*want_fact)(const struct page *p, const struct fact *f);

/* Returns whether one rule refused the same in one directory. A secret has a line of its own. */
static bool is_alike(const struct page *p, const struct fact *a, const struct fact *b)
{
	const size_t dir = a->object ? (size_t)(path_base(a->object) - a->object) : 0;

	return a->kind == FACT_REFUSAL && a->by && str_starts(a->by, "rule '") &&
	       str_eq(a->by, b->by) && str_eq(a->op, b->op) && str_eq(a->reason, b->reason) &&
	       dir && b->object && (size_t)(path_base(b->object) - b->object) == dir &&
	       memcmp(a->object, b->object, dir) == 0 && !is_secret(p, a) && !is_secret(p, b);
}

/* Adds an item for the first fact and the later ones like it, which become NULL. */
static void put_alike(struct page *p, const struct section *s, const struct fact **list, size_t n)
{
	struct fact all = *list[0];
	AUTO_FREE char *dir = NULL;

	for (size_t i = 1; i < n; i++) {
		if (!list[i] || !is_alike(p, list[0], list[i]))
			continue;
		all.names = MAX(all.names, (size_t)1) + 1;
		all.count += list[i]->count;
		list[i] = NULL;
	}
	if (all.names)
		all.object = dir = path_dir(all.object);
	doc_item(&p->doc, true);
	s->put(p, &all);
	doc_item(&p->doc, false);
}

/* Adds the list of these facts below a heading; level 0: folded below their number. */
static void put_facts(struct page *p, const struct turn_facts *turns, size_t n, int level,
		      const struct section *s, want_fact only)
{
	AUTO_FREE const struct fact **found = NULL;
	AUTO_FREE char *title = NULL;
	struct doc *d = &p->doc;
	size_t n_found = 0, all = 0;

	for (size_t k = 0; k < n; k++)
		all += turns[k].n;
	found = xcalloc(all + 1, sizeof(void *));
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < turns[k].n; i++)
			if (turns[k].list[i].kind == s->kind &&
			    (!only || only(p, &turns[k].list[i])))
				found[n_found++] = &turns[k].list[i];
	if (!n_found)
		return;
	title = level ? xstrdup(s->title) : xasprintf("%s (%zu)", s->title, n_found);
	if (level)
		doc_heading(d, level, title);
	else
		doc_fold(d, title);
	doc_list(d, true);
	for (size_t i = 0; i < n_found; i++)
		if (found[i])
			put_alike(p, s, found + i, n_found - i);
	doc_list(d, false);
	if (!level)
		doc_fold(d, NULL);
}

static bool is_test(const struct page *p, const struct fact *f)
{
	(void)p;
	return f->tests != RUNS_NO_TESTS;
}

static bool is_work(const struct page *p, const struct fact *f)
{
	return (f->step && !f->note) || is_test(p, f);
}

static bool is_look(const struct page *p, const struct fact *f)
{
	return !f->note && !is_work(p, f);
}

/* ---- the summary ----------------------------------------------------------------------------- */

static void put_item(struct page *p, const char *name, const char *text)
{
	doc_item(&p->doc, true);
	doc_say(&p->doc, "%s: ", name);
	doc_quote(&p->doc, text);
	doc_item(&p->doc, false);
}

static size_t count_facts(const struct report *r, enum fact_kind kind, bool allowed_only)
{
	size_t n = 0;

	for (size_t k = 0; k < r->n_turns; k++)
		for (size_t i = 0; i < r->turns[k].n; i++) {
			const struct fact *f = &r->turns[k].list[i];

			n += f->kind == kind && !f->note && (!allowed_only || f->allowed) ? f->count
											  : 0;
		}
	return n;
}

/* Returns whether the turn has a prompt; the first turn only if its prompt is known, because an
 * agent may begin with one. */
static bool is_prompted(const struct report *r, size_t turn)
{
	return turn || r->turns[0].prompt;
}

static void put_times(struct page *p)
{
	const struct report *r = p->report;
	char began[40], ended[40] = "";

	format_time(began, r->began_us);
	if (r->ended_us)
		format_time(ended, r->ended_us);
	doc_item(&p->doc, true);
	if (r->ended_us)
		doc_say(&p->doc, "From %s to %s, exit status %d", began, ended, r->status);
	else
		doc_say(&p->doc,
			"From %s; the log has no end: the session still runs, or was killed",
			began);
	doc_item(&p->doc, false);
}

static void put_counts(struct page *p)
{
	const struct report *r = p->report;
	const size_t asked = count_facts(r, FACT_QUESTION, false);
	const size_t prompts = r->n_turns - 1 + is_prompted(r, 0);
	size_t files = 0;
	int added = 0, deleted = 0;

	for (size_t k = 0; k < r->n_turns; k++) {
		files += r->turns[k].n_files;
		for (size_t i = 0; i < r->turns[k].n_files; i++) {
			added += r->turns[k].files[i].added;
			deleted += r->turns[k].files[i].deleted;
		}
	}
	doc_item(&p->doc, true);
	doc_say(&p->doc, "%zu prompt%s; %zu changed file%s, +%d -%d lines; %zu command%s", prompts,
		plural(prompts), files, plural(files), added, deleted,
		count_facts(r, FACT_COMMAND, false), plural(count_facts(r, FACT_COMMAND, false)));
	doc_item(&p->doc, false);
	doc_item(&p->doc, true);
	doc_say(&p->doc, "%zu question%s, %zu allowed; %zu refusal%s; %zu host%s", asked,
		plural(asked), count_facts(r, FACT_QUESTION, true),
		count_facts(r, FACT_REFUSAL, false), plural(count_facts(r, FACT_REFUSAL, false)),
		r->n_hosts, plural(r->n_hosts));
	doc_item(&p->doc, false);
}

static void put_summary(struct page *p)
{
	const struct report *r = p->report;

	doc_heading(&p->doc, 1, "What the agent did");
	doc_list(&p->doc, true);
	put_item(p, "Session", r->session);
	put_item(p, "Folder", r->folder ? r->folder : "");
	put_item(p, "Command", r->command ? r->command : "");
	put_item(p, "Sandbox", r->backend ? r->backend : "");
	put_times(p);
	put_counts(p);
	if (r->counted)
		put_item(p, "The session was so busy that lines are missing", r->counted);
	doc_list(&p->doc, false);
}

static void put_hosts(struct page *p)
{
	const struct report *r = p->report;
	struct doc *d = &p->doc;
	char sent[32], received[32];

	if (!r->n_hosts)
		return;
	doc_heading(d, 2, "Hosts");
	doc_list(d, true);
	for (size_t i = 0; i < r->n_hosts; i++) {
		const struct host_fact *h = &r->hosts[i];

		text_size(sent, sizeof(sent), h->sent);
		text_size(received, sizeof(received), h->received);
		doc_item(d, true);
		doc_quote(d, h->target);
		doc_say(d, "%s %zu connection%s, %s sent, %s received",
			h->came ? " (incoming)" : "", h->count, plural(h->count), sent, received);
		if (h->excess) {
			doc_say(d, ": ");
			doc_quote(d, h->excess);
		}
		doc_item(d, false);
	}
	doc_list(d, false);
	if (r->hosts_cut)
		doc_paragraph(d, "There were more hosts: cordon audit has them.");
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void put_file(struct page *p, const struct file_fact *f)
{
	struct doc *d = &p->doc;

	doc_item(d, true);
	if (!str_eq(f->old_path, f->path)) {
		doc_quote(d, f->old_path);
		doc_say(d, " -> ");
	}
	doc_quote(d, f->path);
	if (f->binary && !f->added && !f->deleted)
		doc_say(d, " binary, or its mode");
	else
		doc_say(d, " +%d -%d", f->added, f->deleted);
	doc_item(d, false);
}

static void put_files(struct page *p, const struct turn_facts *t)
{
	struct doc *d = &p->doc;

	if (!t->n_files && !t->git_files && !t->elsewhere && !t->files_why)
		return;
	doc_heading(d, 3, "Files");
	doc_list(d, true);
	for (size_t i = 0; i < t->n_files; i++)
		put_file(p, &t->files[i]);
	if (t->git_files) {
		doc_item(d, true);
		doc_say(d, "and %zu of git's own in .git", t->git_files);
		doc_item(d, false);
	}
	if (t->elsewhere) {
		doc_item(d, true);
		doc_say(d, "and %zu outside the folder", t->elsewhere);
		doc_item(d, false);
	}
	if (t->files_why)
		put_item(p, "Files are missing", t->files_why);
	doc_list(d, false);
}

static void put_turn(struct page *p, size_t turn)
{
	const struct report *r = p->report;
	const struct turn_facts *t = &r->turns[turn];
	AUTO_FREE char *title = NULL;
	char when[40];

	if (!is_prompted(r, turn) && !t->n && !t->n_files)
		return;
	format_time(when, t->us);
	title = is_prompted(r, turn) ? xasprintf("Turn %zu, %s", turn + is_prompted(r, 0), when)
				     : xstrdup("Before the first prompt");
	doc_heading(&p->doc, 2, title);
	if (t->prompt)
		doc_block(&p->doc, t->prompt);
	put_files(p, t);
	put_facts(p, t, 1, 3, &commands, is_work);
	put_facts(p, t, 1, 0, &looks, is_look);
	for (size_t i = 0; i < ARRAY_LEN(sections); i++)
		put_facts(p, t, 1, 3, &sections[i], NULL);
	if (t->cut)
		doc_paragraph(&p->doc, "There was more: cordon audit has it.");
}

void report_print(const struct report *r, const char *home, const struct redact *redact, bool html)
{
	static const struct section tests = {FACT_COMMAND, "Tests", put_command};
	static const struct section secrets = {FACT_REFUSAL, "Secrets that were tried",
					       put_refusal};
	struct page p = {.doc = {.out = BUF_INIT, .html = html, .redact = redact},
			 .report = r,
			 .home = home};
	AUTO_FREE char *title = xasprintf("cordon report: %s", r->session);

	doc_begin(&p.doc, title);
	put_summary(&p);
	put_facts(&p, r->turns, r->n_turns, 2, &tests, is_test);
	put_facts(&p, r->turns, r->n_turns, 2, &secrets, is_secret);
	put_hosts(&p);
	for (size_t i = 0; i < r->n_turns; i++)
		put_turn(&p, i);
	doc_end(&p.doc);
	fwrite(p.doc.out.data, 1, p.doc.out.len, stdout);
	buf_done(&p.doc.out);
}
