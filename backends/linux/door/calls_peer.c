/* calls_peer - judges which socket file a connect() may reach: the sandbox's own, or the host's. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/calls_peer.h"

#include <errno.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/linux/door/place.h"
#include "backends/linux/door/request.h"
#include "backends/linux/door/state.h"
#include "backends/linux/native_priv.h"
#include "core/keeper/keeper.h"
#include "core/policy/builtin/sockets.h"

/*
 * A socket is the agent's own if it was bound inside, in a directory of the sandbox or (in this
 * session) in a working folder. At any other path a server of the host may listen, which could act
 * for the agent outside the sandbox: policy judges that path. The connection goes to the O_PATH
 * descriptor that was opened before the question, whatever its name leads to now.
 *
 * A gate, or a mount from the session's start, may show another inode than the one that the server
 * has bound. So places outside the folders are opened in the host's tree, without links.
 */

#define PRIVATE	    5
#define OWN_SOCKETS 1024

/* A socket file in a working folder that was bound inside; ino 0: none. */
struct own_socket {
	uint64_t dev, ino;
	int64_t born_s;
	uint32_t born_ns;
};

struct own_sockets {
	dev_t private_dev[PRIVATE];	    /* /tmp, /dev/shm...: all sockets are its own */
	struct own_socket own[OWN_SOCKETS]; /* the oldest is dropped */
	size_t next;
};

/* ---- sockets bound inside -------------------------------------------------------- */

/* Identifies a socket file, by its time of birth too if the file system has it: inode numbers are
 * reused. */
static bool read_own(int dirfd, const char *name, struct own_socket *ret)
{
	const int flags = AT_SYMLINK_NOFOLLOW | (name[0] == '\0' ? AT_EMPTY_PATH : 0);
	struct statx st;

	if (statx(dirfd, name, flags, STATX_TYPE | STATX_INO | STATX_BTIME, &st) < 0 ||
	    !S_ISSOCK(st.stx_mode))
		return false;
	*ret = (struct own_socket){.dev = (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor,
				   .ino = st.stx_ino,
				   .born_s = st.stx_btime.tv_sec,
				   .born_ns = st.stx_btime.tv_nsec};
	return true;
}

static bool same_socket(const struct own_socket *a, const struct own_socket *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->born_s == b->born_s &&
	       a->born_ns == b->born_ns;
}

void peer_bound(struct ldoor *d, const struct place *p)
{
	struct own_socket own;

	if (!read_own(p->at.dirfd, p->at.name, &own))
		return;
	d->sockets->own[d->sockets->next] = own;
	d->sockets->next = (d->sockets->next + 1) % OWN_SOCKETS;
}

static bool is_own(const struct ldoor *d, int fd)
{
	struct own_socket own;

	if (!read_own(fd, "", &own))
		return false;
	for (size_t i = 0; i < OWN_SOCKETS && d->sockets->own[i].ino != 0; i++)
		if (same_socket(&d->sockets->own[i], &own))
			return true;
	return false;
}

static bool is_private(const struct ldoor *d, const struct place *p)
{
	if (p->folder != NULL)
		return false;
	for (size_t i = 0; i < PRIVATE; i++)
		if (d->sockets->private_dev[i] != 0 && d->sockets->private_dev[i] == p->st.st_dev)
			return true;
	return place_is_own(d, p);
}

/* Notes the file systems that belong to the sandbox alone. */
void peer_open(struct ldoor *d)
{
	static const char *const private[PRIVATE] = {"tmp", "var/tmp", "run", "dev/shm", "dev"};
	struct stat st;

	d->sockets = xcalloc(1, sizeof(*d->sockets));
	for (size_t i = 0; i < PRIVATE; i++) {
		struct stat host;
		char path[32];

		snprintf(path, sizeof(path), "/%s", private[i]);
		if (fstatat(d->root, private[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    (stat(path, &host) < 0 || host.st_dev != st.st_dev))
			d->sockets->private_dev[i] = st.st_dev;
	}
}

void peer_close(struct ldoor *d)
{
	free(take_ptr(&d->sockets));
}

/* ---- sockets of the host -------------------------------------------------------- */

/* Checks in the kernel's order: the right to write, then the type. */
static int may_connect(int fd)
{
	struct stat st;
	int got;

	confine_as_agent(true);
	got = (int)syscall(SYS_faccessat2, fd, "", W_OK, AT_EACCESS | AT_EMPTY_PATH);
	got = got < 0 && errno == EACCES ? -EACCES : 0;
	confine_as_agent(false);
	if (got < 0)
		return got;
	return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) ? 0 : -ECONNREFUSED;
}

static int open_on_host(const char *path)
{
	struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
			       .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	int fd;

	confine_as_agent(true);
	fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	if (fd < 0)
		fd = -errno;
	confine_as_agent(false);
	return fd;
}

static int open_place(const struct place *p)
{
	int fd;

	if (p->seen >= 0 && (p->folder == NULL || p->at.name[0] == '\0'))
		fd = fcntl(p->seen, F_DUPFD_CLOEXEC, 3);
	else
		fd = openat(p->at.dirfd, p->at.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Judges the socket file r->opened, whose path is text. */
int peer_ask(struct ldoor *d, struct request *r, const char *text)
{
	const char *given = r->slot[SLOT_PATH].data;

	return folder_read(d->k, &r->caller, RULE_UNIX, text, str_eq(given, text) ? NULL : given);
}

void peer_absent(struct ldoor *d, struct request *r)
{
	const char *path = r->slot[SLOT_PATH].have ? r->slot[SLOT_PATH].data : "";

	if (*path == '/' && sockets_words(path))
		keeper_deny(d->k, &r->caller, path, -ENOENT,
			    "a socket of the host: --allow-unix opens it");
}

int peer_find(struct ldoor *d, struct request *r)
{
	struct place *p = r->place[0];
	char text[PATH_MAX];
	int got;

	if (!p->known) {
		peer_absent(d, r);
		return -ENOENT;
	}
	if (p->special)
		return -ECONNREFUSED;
	place_text(p, text, sizeof(text));
	util_close_fd(&r->opened);
	if (p->folder != NULL || is_private(d, p) || !S_ISSOCK(p->st.st_mode))
		r->opened = open_place(p);
	else
		r->opened = open_on_host(text);
	if (r->opened < 0) {
		got = r->opened;
		r->opened = -1;
		return got;
	}
	if (is_private(d, p) || is_own(d, r->opened))
		return 0;
	got = may_connect(r->opened);
	return got < 0 ? got : peer_ask(d, r, text);
}
