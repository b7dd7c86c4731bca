/* monitor_words - forwards messages between the guest's pid 1 and the keeper. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "backends/vm/monitor/monitor_priv.h"
#include "backends/vm/monitor/shim_protocol.h"
#include "backends/vm/qemu/qmp.h"

/* A message that waits because the keeper's socket is full. */
struct word_line {
	struct word_line *next;
	size_t len;
	struct guest_word word; /* its first len bytes */
};

/* Returns false if the message has to wait. */
static bool try_send(struct monitor *m, const struct guest_word *w, size_t len)
{
	ssize_t n;

	if (m->guest_words < 0)
		return true;
	do
		n = write(m->guest_words, w, len);
	while (n < 0 && errno == EINTR);
	return n >= 0 || (errno != EAGAIN && errno != ENOBUFS);
}

void words_add(struct monitor *m, struct guest_word *w, const char *exe, const char *argv,
	       size_t argv_len)
{
	size_t len = guest_word_pack(w, exe, exe ? strlen(exe) : 0, argv, argv_len);
	struct word_line *line;

	if (!m->unsent && try_send(m, w, len))
		return;
	line = xmalloc(offsetof(struct word_line, word) + len);
	line->next = NULL;
	line->len = len;
	memcpy(&line->word, w, len);
	if (m->unsent)
		m->last_unsent->next = line;
	else
		m->unsent = line;
	m->last_unsent = line;
	m->n_unsent++;
}

void words_send(struct monitor *m)
{
	while (m->unsent && try_send(m, &m->unsent->word, m->unsent->len)) {
		struct word_line *first = m->unsent;

		m->unsent = first->next;
		m->n_unsent--;
		free(first);
	}
}

void words_pass(struct monitor *m, const struct shim_event *e)
{
	static struct guest_word w; /* this process has one thread */

	w = (struct guest_word){.pid = (int32_t)e->id};
	if (e->kind == SHIM_LEFT) {
		w.kind = WORD_LEFT;
		w.status = e->status;
	} else if (e->kind == SHIM_IS) {
		w.kind = WORD_IS;
		w.parent = e->pid;
	} else if (e->kind == SHIM_STEP) {
		w.kind = WORD_STEP;
		w.pid = e->pid;
		w.number = e->id;
	} else {
		w.kind = e->kind == SHIM_EXECS ? WORD_EXEC : WORD_PROCESS;
		w.parent = e->parent;
		w.group = e->group;
		w.execed = e->execed;
		w.number = e->n;
	}
	words_add(m, &w, e->exe, e->data, e->len);
}

void words_hold(struct monitor *m, bool hold)
{
	if (m->stands != hold)
		qmp_command(&m->qmp_out, hold ? "stop" : "cont");
	m->stands = hold;
}

void words_stands(struct monitor *m, bool stands)
{
	struct guest_word w = {.kind = WORD_STANDS, .status = stands};

	/* Report only the requested state, and only once. */
	if (m->phase >= DOWN || m->stands != stands || m->told == stands)
		return;
	m->told = stands;
	words_add(m, &w, NULL, NULL, 0);
}

static void obey(struct monitor *m, const struct guest_word *w)
{
	if (m->phase < DOWN && (w->kind == WORD_HOLD || w->kind == WORD_GO_ON))
		words_hold(m, w->kind == WORD_HOLD);
	/* A guest that boots or shuts down has no pid 1 that reads. */
	if (m->phase != STARTING && m->phase != RUNNING)
		return;
	/* Drop the question if too many bytes wait; the keeper's question times out. */
	if (w->kind == WORD_WHO && m->control_out.len < OUT_MAX)
		shim_who(&m->control_out, w->pid);
	else if (w->kind == WORD_KILL)
		shim_kill(&m->control_out, w->pid, w->status);
	else if (w->kind == WORD_ROLLED_BACK)
		shim_rollback(&m->control_out, w->number);
	else if (w->kind == WORD_ANSWER)
		shim_answer(&m->control_out, w->number, w->text + w->exe_len, w->argv_len);
}

void words_read(struct monitor *m)
{
	static struct guest_word w;
	ssize_t n = read(m->guest_words, &w, sizeof(w));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		util_close_fd(&m->guest_words); /* the keeper's end is detected elsewhere */
	else if (guest_word_fits(&w, (size_t)n))
		obey(m, &w);
}
