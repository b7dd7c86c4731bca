/* replay_story - lists the turns, steps, questions and answers of a recording. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/replay_story.h"

#include <inttypes.h>
#include <string.h>

#include "core/audit/reader.h"
#include "core/base/text.h"
#include "core/record/past.h"
#include "core/session/model.h"

#define ENTRIES_MAX 4000

/* Returns the new entry, valid until the next call; NULL: too many entries. */
static struct story_entry *add(struct story *s, int64_t t_us, enum story_kind kind,
			       const char *words)
{
	AUTO_BUF struct buf shown = BUF_INIT;

	if (s->n == ENTRIES_MAX)
		return NULL;
	text_escape(&shown, words, strlen(words));
	s->list = xrealloc(s->list, (s->n + 1) * sizeof(*s->list));
	s->list[s->n++] =
		(struct story_entry){.t_us = t_us, .kind = kind, .words = buf_take(&shown)};
	s->count[kind]++;
	return &s->list[s->n - 1];
}

static const char *behind_colon(const char *words)
{
	const char *colon = strstr(words, ": ");

	return colon ? colon + 2 : words;
}

/* Adds "make", "make  12 files", "make  undone", by the step's last name; an agent's notes are left
 * out. */
static void add_step(struct story *s, struct model *end, struct replay_diffs *diffs,
		     const struct mark *m)
{
	const struct step_row *step = model_step(end, m->id);
	size_t changed = step ? step->created + step->modified + step->deleted + step->renamed : 0;
	AUTO_BUF struct buf words = BUF_INIT;
	struct step_diff diff = {0};
	struct story_entry *entry;

	if (step && step_row_is_note(step))
		return;
	if (step)
		replay_diffs_step(diffs, step, &diff);
	buf_str(&words,
		step && step->command && *step->command ? step->command : behind_colon(m->words));
	if (changed && !diff.known)
		buf_fmt(&words, "  %zu file%s", changed, changed == 1 ? "" : "s");
	if (step && step->undone)
		buf_str(&words, "  undone");
	entry = add(s, m->t_us, STORY_STEP, words.data);
	if (entry)
		entry->diff = diff;
	else
		step_diff_done(&diff);
}

static void add_mark(struct story *s, struct model *end, struct replay_diffs *diffs,
		     const struct mark *m)
{
	switch (m->kind) {
	case MARK_TURN:
		add(s, m->t_us, STORY_TURN, m->words);
		break;
	case MARK_APPROVAL:
		add(s, m->t_us, STORY_QUESTION, behind_colon(m->words));
		break;
	case MARK_STEP:
		add_step(s, end, diffs, m);
		break;
	case MARK_EDIT:
	case MARK_OTHER:
	case MARK_KINDS:
		add(s, m->t_us, STORY_OTHER, m->words);
		break;
	}
}

/* Adds the answer to a question: "allow writing x once". */
static void add_answer(struct story *s, struct audit_record *r, const struct moment *e)
{
	const char *more;

	if (audit_record_parse(r, e->data.data, e->data.len) < 0 ||
	    !str_eq(audit_record_text(r, "e"), "row") ||
	    strtoul(audit_record_text(r, "kind"), NULL, 10) != ROW_DECISION)
		return;
	more = audit_record_text(r, "more");
	add(s, e->t_us, STORY_ANSWER, *more ? more : audit_record_text(r, "text"));
}

static int by_time(const void *a, const void *b)
{
	const struct story_entry *x = a, *y = b;

	return (x->t_us > y->t_us) - (x->t_us < y->t_us);
}

/* Drops turns without known words and without events. */
static void drop_empty_turns(struct story *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n; i++) {
		bool last = i + 1 == s->n || s->list[i + 1].kind == STORY_TURN;

		if (s->list[i].kind == STORY_TURN && last && !strstr(s->list[i].words, ": ")) {
			s->count[STORY_TURN]--;
			free(s->list[i].words);
			continue;
		}
		s->list[kept++] = s->list[i];
	}
	s->n = kept;
}

void replay_story_read(struct story *s, struct recording *rec, struct replay_diffs *diffs)
{
	struct past *past = past_new(rec);
	struct batch b = BATCH_INIT;
	struct audit_record r;
	struct model end;
	const struct mark *m;
	size_t n;

	*s = (struct story){0};
	model_init(&end);
	past_seek(past, &end, recording_duration(rec));
	m = recording_marks(rec, &n);
	for (size_t i = 0; i < n; i++)
		add_mark(s, &end, diffs, &m[i]);
	audit_record_init(&r);
	for (size_t i = 0; recording_is_own(rec) && i < recording_blocks(rec); i++) {
		recording_batch(rec, i, true, &b);
		for (size_t k = 0; k < b.n; k++)
			add_answer(s, &r, &b.list[k]);
	}
	if (s->n)
		qsort(s->list, s->n, sizeof(*s->list), by_time);
	drop_empty_turns(s);
	audit_record_done(&r);
	batch_done(&b);
	model_done(&end);
	past_free(past);
}

void replay_story_done(struct story *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->list[i].words);
		step_diff_done(&s->list[i].diff);
	}
	free(s->list);
	*s = (struct story){0};
}
