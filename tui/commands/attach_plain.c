/* attach_plain - `cordon attach --plain`: what a session does as lines, for screen readers. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/session/answers.h"
#include "tui/commands/attach_plain.h"
#include "tui/commands/commands.h"
#include "tui/commands/reading.h"

struct plain {
	struct mirror *mirror;
	uint64_t seen; /* rows told so far */
	int64_t *told; /* steps that have ended and were told */
	size_t n_told;
};

static void say(const char *text)
{
	if (text && *text) {
		putchar(' ');
		show_text(text, strlen(text));
	}
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

static void tell_row(const struct row *r)
{
	char hms[16];

	clock_hms(hms, r->wall_us);
	printf("%s %s", hms, kind_words(r));
	if (r->kind == ROW_DECISION && r->more) {
		say(r->more);
	} else {
		if (r->kind != ROW_EXEC && r->kind != ROW_NOTE && r->kind != ROW_EXTERNAL)
			say(answers_op(r->op ? r->op : ""));
		say(r->text);
		if (r->kind == ROW_DENY || (r->kind == ROW_TOUCH && r->more)) {
			printf(r->kind == ROW_DENY ? "," : " to");
			say(r->more);
		}
	}
	if (r->kind == ROW_ASK)
		printf(" (cordon pending has its number; cordon approve or deny answers)");
	putchar('\n');
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

static void tell_steps(struct plain *p, const struct model *m)
{
	for (size_t i = 0; i < m->n_steps; i++) {
		const struct step_row *s = &m->steps[i];

		if (s->running || s->earlier || was_told(p, s->id))
			continue;
		printf("step %lld:", (long long)s->id);
		say(s->command && *s->command ? s->command : "(background)");
		printf(", %zu path%s%s\n", s->paths, s->paths == 1 ? "" : "s",
		       s->exit_status > 0 ? ", failed" : "");
	}
}

static void tell(struct plain *p)
{
	const struct model *m = mirror_model(p->mirror);

	for (size_t i = 0; i < m->row_count; i++) {
		const struct row *r = model_row(m, i);

		if (r->seq > p->seen)
			tell_row(r);
	}
	p->seen = m->row_seq;
	tell_steps(p, m);
}

int attach_plain(struct mirror *mirror, struct err *err)
{
	struct plain p = {.mirror = mirror};
	int r = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (r == 0 && !ferror(stdout)) {
		struct pollfd fd = {.fd = mirror_fd(mirror), .events = POLLIN};

		if (mirror_wants_write(mirror))
			fd.events |= POLLOUT;
		if (poll(&fd, 1, -1) < 0 && errno != EINTR) {
			r = err_set(err, -errno, "attach --plain");
			break;
		}
		if (mirror_ready(mirror, fd.revents & ~POLLOUT, fd.revents & POLLOUT) < 0)
			break;
		tell(&p);
	}
	tell(&p);
	free(p.told);
	if (r == 0)
		printf("The session has ended.\n");
	return r < 0 ? CMD_FAILED : finish(0, err);
}
