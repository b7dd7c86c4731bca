/* gate_shown - asks the mounter to show granted trees over the gate, and to remove them. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/gate/gate_shown.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/linux/gate/gate_priv.h"
#include "core/base/clock.h"

/* Milliseconds until the mounter must have answered. */
#define MOUNTER_MS 2000

/* A tree or file over a gate. */
struct shown {
	struct shown *next;
	char *path;
};

/* Returns whether the tree can be shown natively: the rules allow all of it, for good, whatever
 * will be in it. */
static bool is_whole(const struct keeper *k, const char *dir)
{
	const char *why;

	return policy_check_read(keeper_policy(k), RULE_READ, dir, &why) == POLICY_ALLOW &&
	       !policy_restricts(keeper_policy(k), dir);
}

void gate_shown_add(struct gate_shown *g, const char *path)
{
	struct shown *s = xcalloc(1, sizeof(*s));

	s->path = xstrdup(path);
	s->next = g->list;
	g->list = s;
}

/* Sends the note about path. Returns false for a path that is too long: the mounter has no such
 * place. */
static bool send_note(const struct gate_shown *g, struct bind_note *note, const char *path,
		      int flags)
{
	size_t len = strlen(path) + 1;
	ssize_t n;

	if (len > sizeof(note->path))
		return false;
	memcpy(note->path, path, len);
	do
		n = send(g->mounter, note, BIND_NOTE_HEAD + len, flags | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n > 0;
}

/* Returns whether the mounter has answered, in *note. It never waits for the keeper meanwhile. An
 * answer to an earlier note, which came too late for it, is dropped. */
static bool ask_mounter(struct gate_shown *g, struct bind_note *note, const char *path)
{
	const int64_t end = clock_mono_us() + MOUNTER_MS * 1000;
	struct pollfd p = {.fd = g->mounter, .events = POLLIN};
	const uint32_t number = note->number = ++g->number;
	int64_t left;

	if (!send_note(g, note, path, 0))
		return false;
	while ((left = end - clock_mono_us()) > 0) {
		const int n = poll(&p, 1, (int)(left / 1000) + 1);

		if (n < 0 && errno != EINTR)
			return false;
		if (n <= 0)
			continue;
		if (recv(g->mounter, note, sizeof(*note), MSG_DONTWAIT) <= 0)
			return false; /* it has ended */
		if (note->number == number)
			return true;
	}
	return false;
}

/* Returns false if the tree stays shown. */
static bool take_away(struct gate_shown *g, const char *path)
{
	struct bind_note note = {.on = false};

	return ask_mounter(g, &note, path) && !note.on;
}

int gate_shown_tool_dir(struct gate_shown *g, const char *path)
{
	struct bind_note note = {.tool = true};

	if (!ask_mounter(g, &note, path))
		return -EIO;
	return note.on ? 0 : -EEXIST;
}

bool gate_shown_remove(struct gate_shown *g)
{
	bool all = true;

	for (struct shown **p = &g->list; *p;) {
		struct shown *s = *p;

		if (is_whole(g->k, s->path) || !take_away(g, s->path)) {
			all = all && is_whole(g->k, s->path);
			p = &s->next;
			continue;
		}
		*p = s->next;
		free(s->path);
		free(s);
	}
	return all;
}

void gate_shown_granted(struct gate_shown *g, enum rule_kind kind, const char *dir,
			const struct answer *a)
{
	struct bind_note note = {.on = true};

	if (kind != RULE_READ || strlen(dir) >= sizeof(note.path))
		return;
	if (!a->allow) {
		if (!gate_shown_remove(g))
			keeper_warn(g->k, "what you took back stays shown until the session ends: "
					  "a working folder or a mount lies in it");
		return;
	}
	if (a->extent != EXTENT_TREE || a->scope < SCOPE_SESSION || a->until ||
	    !is_whole(g->k, dir))
		return;
	/* If the socket is full the directory stays behind the gate, which is only slower. */
	if (send_note(g, &note, dir, MSG_DONTWAIT))
		gate_shown_add(g, dir);
}

void gate_shown_cover(struct gate_shown *g, const char *path)
{
	struct bind_note note = {.cover = true};

	/* Waits if the socket is full: a file whose note is lost would stay readable. */
	(void)send_note(g, &note, path, 0);
}

void gate_shown_done(struct gate_shown *g)
{
	while (g->list) {
		struct shown *one = g->list;

		g->list = one->next;
		free(one->path);
		free(one);
	}
}
