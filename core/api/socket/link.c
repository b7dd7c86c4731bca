/* link - the client's side of a session's protocol, for other terminals. */
/* SPDX-License-Identifier: MIT */
#include "core/api/socket/link.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/api/socket/api.h"
#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/os/processes.h"
#include "core/os/socket.h"
#include "core/session/folders.h"

void link_done(struct link *l)
{
	util_close_fd(&l->fd);
	buf_done(&l->in);
	audit_record_done(&l->record);
	free(l->session);
	free(l->own_settings);
	free(l->why);
}

const char *link_field(const struct link *l, const char *name)
{
	const char *s = audit_record_get(&l->record, name, NULL);

	return s ? s : "";
}

const char *link_text(const struct link *l, const char *name)
{
	const char *s = link_field(l, name);

	return str_eq(s, "null") ? "" : s;
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

/* Reads once. Returns 0: bytes arrived; -EAGAIN: none arrived in time. */
static int fetch(struct link *l, struct err *err)
{
	ssize_t n;

	buf_reserve(&l->in, 16384);
	do
		n = recv(l->fd, l->in.data + l->in.len, 16384, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return err_say(err, -EAGAIN,
			       "session %s: no answer for %d s: it is stopped (Ctrl-Z?) or stuck",
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
		int r = fetch(l, err);

		if (r < 0)
			return r;
	}
	*ret = (struct span){l->in.data, (size_t)(newline - l->in.data)};
	return parse(l, newline, err);
}

static int link_send(struct link *l, const struct buf *out, struct err *err)
{
	for (size_t at = 0; at < out->len;) {
		ssize_t n = send(l->fd, out->data + at, out->len - at, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return err_set(err, -errno, "session %s", l->session);
		at += (size_t)MAX(n, (ssize_t)0);
	}
	return 0;
}

int link_command(struct link *l, const struct buf *line, struct err *err)
{
	struct span reply;
	int r = link_send(l, line, err);

	while (r == 0) {
		r = link_next(l, &reply, err);
		if (r == 0 && str_eq(link_field(l, "type"), "reply"))
			break;
	}
	if (r == 0 && !str_eq(link_field(l, "ok"), "true"))
		r = err_say(err, -EPERM, "%s", link_field(l, "error"));
	return r;
}

/* Reads the greeting, or says why there is none. */
static int greet(struct link *l, struct err *err)
{
	struct span line;
	int r = link_next(l, &line, err);

	if (r < 0)
		return r;
	if (str_eq(link_field(l, "type"), "reply"))
		return err_say(err, -EUSERS, "session %s: %s", l->session, link_field(l, "error"));
	if (!str_eq(link_field(l, "version"), "1"))
		return err_say(err, -EPROTO,
			       "session %s: another version of cordon started it: use that "
			       "version, or end the session in its own console",
			       l->session);
	l->pending = strtoull(link_field(l, "pending"), NULL, 10);
	if (*link_field(l, "own_settings") && !str_eq(link_field(l, "own_settings"), "null"))
		l->own_settings = xstrdup(link_field(l, "own_settings"));
	l->greeted = true;
	return 0;
}

/* ---- connecting ------------------------------------------------------------------------------ */

/* Removes the socket of a session that was killed. The caller has the directory's lock: a session
 * that has bound its socket and does not listen yet refuses connections, too. */
static void remove_dead(const struct sockaddr_un *un)
{
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (connect(fd, (const struct sockaddr *)un, sizeof(*un)) < 0 && errno == ECONNREFUSED)
		unlink(un->sun_path);
}

/* Fills in the path. Returns false if it is too long. */
static bool set_path(struct sockaddr_un *un, const char *dir, const char *name)
{
	AUTO_FREE char *path = path_join(dir, name);

	*un = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(un->sun_path))
		return false;
	memcpy(un->sun_path, path, strlen(path));
	return true;
}

/* Returns whether the name is a session's: the time of its start and four digits. Sockets of other
 * programs in this directory are left alone: to connect may be a command to them. */
static bool is_session_socket(const char *name)
{
	static const char digits[] = "[0-9]*-[0-9]*-[0-9a-f][0-9a-f][0-9a-f][0-9a-f].sock";

	return fnmatch(digits, name, 0) == 0;
}

void link_sweep(const char *dir)
{
	AUTO_DIR DIR *d = opendir(dir);
	const struct dirent *e;
	struct sockaddr_un un;

	while (d && (e = readdir(d)))
		if (is_session_socket(e->d_name) && set_path(&un, dir, e->d_name))
			remove_dead(&un);
}

static int link_init(struct link *l, const char *name)
{
	const char *tag;

	*l = (struct link){.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
			   .in = (struct buf)BUF_INIT};
	audit_record_init(&l->record);
	l->session = xstrndup(name, strcspn(name, "."));
	tag = strrchr(l->session, '-');
	l->tag = tag ? tag + 1 : l->session;
	return l->fd < 0 ? -errno : 0;
}

/* Checks that the directory is this user's (root: any user's), and that its owner or root
 * listens. */
static int check_owner(const struct link *l, const char *dir, struct err *err)
{
	struct stat st = {0};
	uid_t uid = (uid_t)-1;
	int r = os_peer_uid(l->fd, &uid);

	if (r == 0 && stat(dir, &st) < 0)
		r = -errno;
	if (r < 0)
		return err_set(err, r, "session %s", l->session);
	if ((uid != st.st_uid && uid != 0) || (st.st_uid != geteuid() && geteuid() != 0))
		return err_say(err, -EPERM, "session %s: it is another user's", l->session);
	return 0;
}

/* Connects. Returns -EAGAIN if the session's queue of connections is full. */
static int dial(struct link *l, const char *dir, const char *name, struct err *err)
{
	struct sockaddr_un un;
	int r;

	if (!set_path(&un, dir, name))
		return err_set(err, -ENOENT, "session %s",
			       l->session); /* no session can have this name */
	r = connect(l->fd, (struct sockaddr *)&un, sizeof(un)) < 0 ? -errno : 0;
	if (r == -ECONNREFUSED) {
		AUTO_CLOSE int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
			remove_dead(&un);
	}
	if (r < 0)
		return err_set(err, r, "session %s", l->session);
	l->connected = true;
	return check_owner(l, dir, err);
}

static void set_wait(const struct link *l)
{
	const struct timeval wait = {.tv_sec = LINK_WAIT_S};

	setsockopt(l->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	setsockopt(l->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)); /* for connect(2), too */
}

int link_open(struct link *l, const char *dir, const char *name, struct err *err)
{
	int r = link_init(l, name);

	if (r < 0)
		return err_set(err, r, "session %s", l->session);
	set_wait(l);
	r = dial(l, dir, name, err);
	return r < 0 ? r : greet(l, err);
}

static char *sockets_dir(void)
{
	AUTO_FREE char *state = folders_state_dir(getenv("HOME") ? getenv("HOME") : "/");

	return api_dir(state);
}

int link_open_session(struct link *l, const char *session, struct err *err)
{
	AUTO_FREE char *dir = sockets_dir(), *name = xasprintf("%s.sock", session);

	return link_open(l, dir, name, err);
}

/* ---- all of them ----------------------------------------------------------------------------- */

#define RETRY_MS 10  /* of a session whose queue of connections is full */
#define FULL_MS	 200 /* has nobody taken one of so many? */
#define LOOK_MS	 200 /* has a session been stopped meanwhile? */

static void fail(struct link *l, int r, const struct err *why)
{
	l->error = r;
	l->why = xstrdup(why->text);
}

/* Returns whether the greeting has arrived, and the first request if one waits. */
static bool is_whole(const struct link *l)
{
	return l->greeted &&
	       (!l->pending || memchr(l->in.data + l->used, '\n', l->in.len - l->used));
}

static void hear(struct link *l)
{
	struct err err = {0};
	ssize_t n;
	int r = 0;

	buf_reserve(&l->in, 16384);
	n = recv(l->fd, l->in.data + l->in.len, 16384, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		r = err_say(&err, n == 0 ? -EPIPE : -errno, "session %s: it has just ended",
			    l->session);
	else
		l->in.len += (size_t)n;
	l->in.data[l->in.len] = '\0';
	if (r == 0 && !l->greeted && memchr(l->in.data, '\n', l->in.len))
		r = greet(l, &err);
	if (r < 0)
		fail(l, r, &err);
}

/* last: a queue that is still full is reason enough to give up. */
static void knock(struct link *l, const char *dir, bool last)
{
	AUTO_FREE char *name = xasprintf("%s.sock", l->session);
	struct err err = {0};
	int r = dial(l, dir, name, &err);

	if (r == -EAGAIN && last)
		err_say(&err, r,
			"session %s: too many connections wait for it: it is stopped (Ctrl-Z?) or "
			"stuck",
			l->session);
	if (r < 0 && (r != -EAGAIN || last))
		fail(l, r, &err);
}

static void give_up_stopped(struct link *l)
{
	struct err err = {0};
	pid_t pid = 0;

	if (os_peer_pid(l->fd, &pid) < 0 || pid <= 0 || !os_process_is_stopped(pid))
		return;
	err_say(&err, -EAGAIN, "session %s: it is stopped: kill -CONT %d lets it go on", l->session,
		(int)pid);
	fail(l, -EAGAIN, &err);
}

/* One round: returns false when none is waited for any more. full: a queue that has been full until
 * now is not waited for. */
static bool wait_once(struct links *all, const char *dir, int wait_ms, bool full)
{
	struct pollfd *p = xcalloc(all->n + 1, sizeof(*p));
	size_t open = 0;

	for (size_t i = 0; i < all->n; i++) {
		struct link *l = &all->list[i];

		if (!l->connected && !l->error)
			knock(l, dir, full);
		if (l->connected && !l->error && !is_whole(l))
			give_up_stopped(l);
		p[i] = (struct pollfd){.fd = l->connected && !l->error && !is_whole(l) ? l->fd : -1,
				       .events = POLLIN};
		open += !l->error && !is_whole(l);
		if (!l->connected && !l->error)
			wait_ms = MIN(wait_ms, RETRY_MS);
	}
	if (open && poll(p, (nfds_t)all->n, MIN(wait_ms, LOOK_MS)) > 0)
		for (size_t i = 0; i < all->n; i++)
			if (p[i].revents)
				hear(&all->list[i]);
	free(p);
	return open;
}

static int list_sockets(struct links *ret, const char *dir, const char *wanted, struct err *err)
{
	AUTO_DIR DIR *d = opendir(dir);
	const struct dirent *e;

	if (!d)
		return errno == ENOENT ? 0 : err_set(err, -errno, "%s", dir);
	while ((e = readdir(d))) {
		struct link *l;
		int r;

		if (!str_ends(e->d_name, ".sock"))
			continue;
		ret->list = xrealloc(ret->list, (ret->n + 1) * sizeof(*ret->list));
		l = &ret->list[ret->n++];
		r = link_init(l, e->d_name);
		if (r < 0)
			return err_set(err, r, "session %s", l->session);
		if (wanted && !str_eq(wanted, l->session) && !str_eq(wanted, l->tag)) {
			link_done(l);
			ret->n--;
			continue;
		}
		io_set_nonblock(l->fd, true);
	}
	return 0;
}

int links_open(struct links *ret, const char *wanted, int wait_ms, struct err *err)
{
	AUTO_FREE char *dir = sockets_dir();
	int64_t until = clock_mono_us() + (int64_t)wait_ms * 1000, left = wait_ms;
	int r;

	*ret = (struct links){0};
	r = list_sockets(ret, dir, wanted, err);
	while (r == 0 && left > 0 && wait_once(ret, dir, (int)left, wait_ms - left >= FULL_MS))
		left = (until - clock_mono_us() + 999) / 1000;
	for (size_t i = 0; i < ret->n; i++) {
		struct link *l = &ret->list[i];

		io_set_nonblock(l->fd, false);
		set_wait(l);
		if (l->error || l->greeted)
			continue;
		l->error = -EAGAIN;
		l->why = xasprintf(
			"session %s: no answer for %.3g s: it is stopped (Ctrl-Z?) or stuck",
			l->session, wait_ms / 1000.0);
	}
	return r;
}

void links_done(struct links *l)
{
	for (size_t i = 0; i < l->n; i++)
		link_done(&l->list[i]);
	free(l->list);
	*l = (struct links){0};
}

bool link_is_mute(const struct link *l, struct buf *mute)
{
	bool is = l->error && l->error != -ECONNREFUSED && l->error != -ENOENT;

	if (is)
		buf_fmt(mute, "%s%s", mute->len ? "; " : "", l->why);
	return is;
}

int link_each(const char *wanted, int (*fn)(struct link *l, void *data, struct err *err),
	      void *data, struct buf *mute, struct err *err)
{
	CLEANUP(links_done) struct links all = {0};
	int r = links_open(&all, wanted, LINK_WAIT_S * 1000, err);

	for (size_t i = 0; r == 0 && i < all.n; i++) {
		struct link *l = &all.list[i];

		if (!l->error)
			r = fn(l, data, err);
		else
			link_is_mute(l, mute);
	}
	return r;
}
