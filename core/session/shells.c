/* shells - the user's programs beside the agent, and the clients that wait for their ends. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <utlist.h>

#include "core/base/path.h"
#include "core/session/session_priv.h"

struct session_shell {
	struct session_shell *next;
	uint64_t id;
	shell_ended ended;
	void *data;
};

static bool is_inside(const struct session *s, const char *dir)
{
	for (char **f = s->folders; *f; f++)
		if (path_is_beneath(dir, *f))
			return true;
	return false;
}

static void note_start(struct session *s, const char *by, const struct shell_wish *w)
{
	AUTO_BUF struct buf words = BUF_INIT;

	buf_str(&words, "you run beside the agent:");
	for (size_t i = 0; w->argv[i]; i++)
		buf_fmt(&words, " %.200s", w->argv[i]);
	session_star(s, words.data);
	buf_fmt(&words, " (%s)", by);
	session_note(s, words.data);
}

static struct session_shell *find(const struct session *s, uint64_t id)
{
	struct session_shell *sh = s->shells;

	while (sh && sh->id != id)
		sh = sh->next;
	return sh;
}

uint64_t session_shell(struct session *s, const char *by, struct shell_wish *w, shell_ended ended,
		       void *data, struct err *err)
{
	bool over = !s->model.started || s->model.exited || s->frozen;
	struct session_shell *sh;
	int r;

	if (!w->cwd || !is_inside(s, w->cwd))
		w->cwd = s->cwd;
	r = over ? -ESRCH : client_shell(s->client, s->last_shell + 1, w);
	for (size_t i = 0; i < 3; i++)
		util_close_fd(&w->stdio[i]);
	if (r < 0) {
		err_say(err, r, "%s",
			r == -ESRCH   ? "the agent does not run"
			: r == -EBUSY ? "another program begins beside the agent: try again"
				      : "the arguments are too long");
		return 0;
	}
	note_start(s, by, w);
	sh = xcalloc(1, sizeof(*sh));
	*sh = (struct session_shell){.id = ++s->last_shell, .ended = ended, .data = data};
	LL_PREPEND(s->shells, sh);
	return sh->id;
}

void session_shell_signal(struct session *s, uint64_t id, int sig)
{
	client_shell_signal(s->client, id, sig);
}

void session_shell_forget(struct session *s, uint64_t id)
{
	struct session_shell *sh = find(s, id);

	if (!sh)
		return;
	client_shell_signal(s->client, id, SIGHUP);
	client_shell_signal(s->client, id, SIGCONT);
	LL_DELETE(s->shells, sh);
	free(sh);
}

static void end(struct session *s, struct session_shell *sh, int status, const char *words)
{
	const struct session_shell copy = *sh;

	LL_DELETE(s->shells, sh);
	free(sh);
	copy.ended(copy.data, status, words);
}

void session_on_shell_ended(struct session *s, const struct client_event *ev)
{
	struct session_shell *sh = find(s, ev->id);

	if (sh)
		end(s, sh, (int)ev->status, *ev->reason ? ev->reason : NULL);
}

void session_shells_end(struct session *s)
{
	while (s->shells)
		end(s, s->shells, 128 + SIGKILL, "the session has ended");
}
