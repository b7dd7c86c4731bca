/* link - the client's end of a session's protocol, as another terminal uses it. */
/* SPDX-License-Identifier: MIT */
#include "core/api/link.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/api/api.h"
#include "core/base/path.h"
#include "core/os/socket.h"
#include "core/session/folders.h"

void link_done(struct link *l)
{
	util_close_fd(&l->fd);
	buf_done(&l->in);
	audit_record_done(&l->record);
	free(l->session);
	free(l->own_settings);
}

const char *link_field(const struct link *l, const char *name)
{
	const char *s = audit_record_get(&l->record, name, NULL);

	return s ? s : "";
}

static int parse(struct link *l, const char *newline, struct err *err)
{
	l->used = (size_t)(newline - l->in.data) + 1;
	if (audit_record_parse(&l->record, l->in.data, l->used - 1) < 0)
		return err_say(err, -EPROTO, "session %s: it speaks another protocol", l->session);
	return 0;
}

static const char *next_line(struct link *l)
{
	buf_drop_front(&l->in, l->used);
	l->used = 0;
	return l->in.len ? memchr(l->in.data, '\n', l->in.len) : NULL;
}

/* 0: something came; -EAGAIN: nothing is there, without flags: in time. */
static int fetch(struct link *l, int flags, struct err *err)
{
	ssize_t n;

	buf_reserve(&l->in, 16384);
	do
		n = recv(l->fd, l->in.data + l->in.len, 16384, flags);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return flags ? -EAGAIN
			     : err_say(err, -EAGAIN,
				       "session %s: no answer for %d s: it is stopped (Ctrl-Z?) "
				       "or stuck",
				       l->session, LINK_WAIT_S);
	if (n <= 0)
		return err_say(err, n == 0 ? -EPIPE : -errno, "session %s: it does not answer: %s",
			       l->session, n == 0 ? "it has just ended" : strerror(errno));
	l->in.len += (size_t)n;
	l->in.data[l->in.len] = '\0';
	return 0;
}

int link_next(struct link *l, struct span *ret, struct err *err)
{
	const char *newline;

	while (!(newline = next_line(l))) {
		int r = fetch(l, 0, err);

		if (r < 0)
			return r;
	}
	*ret = (struct span){l->in.data, (size_t)(newline - l->in.data)};
	return parse(l, newline, err);
}

int link_poll(struct link *l, struct err *err)
{
	const char *newline;
	int r;

	while (!(newline = next_line(l))) {
		r = fetch(l, MSG_DONTWAIT, err);
		if (r < 0)
			return r == -EAGAIN ? 0 : r;
	}
	r = parse(l, newline, err);
	return r < 0 ? r : 1;
}

int link_send(struct link *l, const struct buf *out, struct err *err)
{
	for (size_t at = 0; at < out->len;) {
		ssize_t n = send(l->fd, out->data + at, out->len - at, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return err_set(err, -errno, "session %s", l->session);
		at += (size_t)MAX(n, (ssize_t)0);
	}
	return 0;
}

/* The greeting, or why there is none. */
static int greet(struct link *l, struct err *err)
{
	struct span line;
	int r = link_next(l, &line, err);

	if (r < 0)
		return r;
	if (str_eq(link_field(l, "type"), "reply"))
		return err_say(err, -EUSERS, "session %s: %s", l->session, link_field(l, "error"));
	if (!str_eq(link_field(l, "version"), "1"))
		return err_say(err, -EPROTO, "session %s: of another version of cordon",
			       l->session);
	l->pending = strtoull(link_field(l, "pending"), NULL, 10);
	if (*link_field(l, "own_settings") && !str_eq(link_field(l, "own_settings"), "null"))
		l->own_settings = xstrdup(link_field(l, "own_settings"));
	return 0;
}

/* Nobody listens at a name: it was left by a session that was killed, or belongs to one that has
 * bound it and does not listen yet. That one holds the directory's lock. */
static void remove_dead(const char *dir, const struct sockaddr_un *un)
{
	AUTO_CLOSE int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 &&
	    connect(fd, (const struct sockaddr *)un, sizeof(*un)) < 0 && errno == ECONNREFUSED)
		unlink(un->sun_path);
}

int link_open(struct link *l, const char *dir, const char *name, struct err *err)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	const struct timeval wait = {.tv_sec = LINK_WAIT_S};
	AUTO_FREE char *path = NULL;
	const char *tag;
	int r;

	*l = (struct link){.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
			   .in = (struct buf)BUF_INIT};
	audit_record_init(&l->record);
	l->session = xstrndup(name, strcspn(name, "."));
	tag = strrchr(l->session, '-');
	l->tag = tag ? tag + 1 : l->session;
	path = xasprintf("%s/%s", dir, name);
	if (strlen(path) >= sizeof(un.sun_path))
		return -ENOENT; /* no session could have made it */
	memcpy(un.sun_path, path, strlen(path));
	setsockopt(l->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	setsockopt(l->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)); /* connecting, too */
	if (connect(l->fd, (struct sockaddr *)&un, sizeof(un)) < 0) {
		r = -errno;
		if (r == -ECONNREFUSED)
			remove_dead(dir, &un);
		return err_set(err, r, "session %s", l->session);
	}
	return greet(l, err);
}

int link_each(int (*fn)(struct link *l, void *data, struct err *err), void *data, struct buf *mute,
	      struct err *err)
{
	AUTO_FREE char *home = xstrdup(getenv("HOME") ? getenv("HOME") : "/");
	AUTO_FREE char *state = folders_state_dir(home);
	AUTO_FREE char *dir = api_dir(state);
	DIR *d = opendir(dir);
	struct dirent *e;
	int r = 0;

	if (!d)
		return errno == ENOENT ? 0 : err_set(err, -errno, "%s", dir);
	while (r == 0 && (e = readdir(d))) {
		struct err why = {0};
		struct link l;
		int opened;

		if (!str_ends(e->d_name, ".sock"))
			continue;
		opened = link_open(&l, dir, e->d_name, &why);
		if (opened == 0)
			r = fn(&l, data, err);
		else if (opened != -ECONNREFUSED && opened != -ENOENT)
			buf_fmt(mute, "%s%s", mute->len ? "; " : "", why.text);
		link_done(&l);
	}
	closedir(d);
	return r;
}
