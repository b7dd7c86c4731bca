/* plain - prints a session's activity as lines of text, for screen readers and logs. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/plain.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/session/answers/answers.h"

struct plain {
	uint64_t seen; /* rows printed so far */
	int64_t *told; /* ended steps that were printed */
	size_t n_told;
};

static void say(struct buf *out, const char *text)
{
	if (!text || !*text)
		return;
	buf_ch(out, ' ');
	text_escape(out, text, strlen(text));
}

static const char *kind_words(const struct row *r)
{
	switch (r->kind) {
	case ROW_TOUCH:
		return "done:";
	case ROW_DENY:
		return "refused:";
	case ROW_EXEC:
		return "runs:";
	case ROW_ASK:
		return "asks:";
	case ROW_DECISION:
		return "decided:";
	case ROW_EXTERNAL:
		return "edited outside:";
	case ROW_NOTE:
		break;
	}
	return "note:";
}

static void tell_row(const struct row *r, struct buf *out)
{
	char hms[16];

	clock_hms(hms, r->wall_us);
	buf_fmt(out, "%s %s", hms, kind_words(r));
	if (r->kind == ROW_DECISION && r->more) {
		say(out, r->more);
	} else {
		if (r->kind != ROW_EXEC && r->kind != ROW_NOTE && r->kind != ROW_EXTERNAL)
			say(out, answers_op(r->op ? r->op : ""));
		say(out, r->text);
		if (r->kind == ROW_DENY || (r->kind == ROW_TOUCH && r->more)) {
			buf_str(out, r->kind == ROW_DENY ? "," : " to");
			say(out, r->more);
		}
	}
	if (r->kind == ROW_ASK)
		buf_str(out, " (cordon pending has its number; cordon approve or deny answers)");
	buf_ch(out, '\n');
}

static bool was_told(struct plain *p, int64_t step)
{
	for (size_t i = p->n_told; i-- > 0;)
		if (p->told[i] == step)
			return true;
	p->told = xrealloc(p->told, (p->n_told + 1) * sizeof(*p->told));
	p->told[p->n_told++] = step;
	return false;
}

static void tell_steps(struct plain *p, const struct model *m, struct buf *out)
{
	for (size_t i = 0; i < m->n_steps; i++) {
		const struct step_row *s = &m->steps[i];

		if (s->running || s->earlier || was_told(p, s->id))
			continue;
		buf_fmt(out, "step %lld:", (long long)s->id);
		say(out, s->command && *s->command ? s->command : "(background)");
		buf_fmt(out, ", %zu path%s%s\n", s->paths, s->paths == 1 ? "" : "s",
			s->exit_status > 0 ? ", failed" : "");
	}
}

struct plain *plain_new(void)
{
	return xcalloc(1, sizeof(struct plain));
}

void plain_free(struct plain *p)
{
	if (p)
		free(p->told);
	free(p);
}

bool plain_tell(struct plain *p, const struct model *m, size_t max, struct buf *out)
{
	for (size_t i = 0; i < m->row_count; i++) {
		const struct row *r = model_row(m, i);

		if (r->seq <= p->seen)
			continue;
		if (out->len > max)
			return true;
		tell_row(r, out);
		p->seen = r->seq;
	}
	tell_steps(p, m, out);
	return false;
}
