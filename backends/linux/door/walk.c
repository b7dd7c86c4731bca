/* walk - resolves a path component by component in the caller's view, with links and /proc. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/walk.h"

#include <errno.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "backends/linux/door/locate.h"
#include "backends/linux/door/lookup.h"
#include "backends/linux/door/request.h"
#include "backends/linux/door/state.h"
#include "core/base/io.h"

/*
 * The kernel cannot walk for the keeper: "/proc/self" would be the keeper, and the parent of the
 * last component is needed. Each step opens one component with O_PATH|O_NOFOLLOW from a descriptor
 * in the sandbox's mounts; the text of a link is put in front of the remaining path. Magic links
 * (/proc/N/fd, cwd, exe...) are followed for the caller's own process only, because the keeper may
 * inspect processes that the caller may not. Any other path becomes a place outside, which the
 * floor answers.
 */
#define LINKS_MAX 40 /* as the kernel's MAXSYMLINKS */
#define PROC_ROOT 1  /* inode of the top of every proc mount */

struct walk {
	struct ldoor *d;
	struct request *r;
	struct place *p;
	enum how how;
	int cur;	  /* owned */
	struct stat st;	  /* of cur */
	struct stat base; /* the limit of RESOLVE_BENEATH and RESOLVE_IN_ROOT */
	struct stat root; /* the caller cannot go above it */
	int top;	  /* borrowed or base_fd: start of absolute links */
	int links;
	int half; /* which of p->walk has rest */
	char *rest;
	bool own_proc; /* cur is below the caller's own /proc/PID */
};

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

static int go(struct walk *w, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0) {
		close(fd);
		return -errno;
	}
	if ((w->r->resolve & RESOLVE_NO_XDEV) && st.st_dev != w->st.st_dev) {
		close(fd);
		return -EXDEV;
	}
	close(w->cur);
	w->cur = fd;
	w->st = st;
	if (st.st_dev != w->d->proc_dev)
		w->own_proc = false;
	return 0;
}

static int go_top(struct walk *w)
{
	int fd;

	if (w->r->resolve & RESOLVE_BENEATH)
		return -EXDEV;
	fd = fcntl(w->top, F_DUPFD_CLOEXEC, 3);
	w->own_proc = false;
	return fd < 0 ? -errno : go(w, fd);
}

static int go_up(struct walk *w)
{
	bool scoped = w->r->resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT);
	int fd;

	w->own_proc = false;
	if (scoped && same(&w->st, &w->base))
		return w->r->resolve & RESOLVE_BENEATH ? -EXDEV : 0;
	if (same(&w->st, &w->root)) /* above it is the tree from which the sandbox was made */
		return 0;
	fd = openat(w->cur, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : go(w, fd);
}

/* Puts the text of a link in front of the rest. */
static int push_link(struct walk *w, const char *text)
{
	char *to = w->p->walk[!w->half];
	size_t size = sizeof(w->p->walk[0]);
	int n;

	if (*text == '\0')
		return -ENOENT;
	n = snprintf(to, size, "%s%s", text, w->rest);
	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	w->half = !w->half;
	w->rest = to;
	return *text == '/' ? go_top(w) : 0;
}

/* Returns the caller's id in its own pid namespace: the last field of NSpid. */
static int inner_pid(int tid)
{
	char path[64], *text, *line, *last;
	size_t len;
	int pid;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	if (io_read_file(AT_FDCWD, path, 8192, &text, &len) < 0)
		return -1;
	line = strstr(text, "\nNSpid:");
	if (line == NULL) {
		free(text);
		return -1;
	}
	*(line + 1 + strcspn(line + 1, "\n")) = '\0';
	last = strrchr(line, '\t');
	pid = last != NULL ? atoi(last + 1) : -1;
	free(text);
	return pid;
}

/* Resolves "self" and "thread-self". Here and below -EXDEV leaves the path to the floor. */
static int proc_self(struct walk *w, const char *name)
{
	char text[64];
	int pid = inner_pid(w->r->caller.pid);

	if (pid <= 0)
		return -EXDEV;
	if (strcmp(name, "self") == 0) {
		snprintf(text, sizeof(text), "%d", pid);
	} else {
		int tid = inner_pid(w->r->tid);

		if (tid <= 0)
			return -EXDEV;
		snprintf(text, sizeof(text), "%d/task/%d", pid, tid);
	}
	return push_link(w, text);
}

static int magic_link(struct walk *w, const char *name, bool last)
{
	int fd;

	if (w->r->resolve & RESOLVE_NO_MAGICLINKS)
		return -ELOOP;
	if (w->r->resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT | RESOLVE_NO_XDEV))
		return -EXDEV;
	if (!w->own_proc)
		return DOOR_CONTINUE;
	fd = openat(w->cur, name, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	w->own_proc = false;
	if (!last)
		return go(w, fd);
	return locate_object(w->d, w->p, fd) < 0 ? DOOR_CONTINUE : 1;
}

static int follow(struct walk *w, int link, const struct stat *st, const char *name, bool last)
{
	char text[PATH_MAX];
	ssize_t n;

	if (w->r->resolve & RESOLVE_NO_SYMLINKS)
		return -ELOOP;
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	if (st->st_dev == w->d->proc_dev) {
		struct open_how how = {.flags = O_PATH | O_CLOEXEC,
				       .resolve = RESOLVE_NO_MAGICLINKS};
		int fd;

		if (w->st.st_ino == PROC_ROOT &&
		    (strcmp(name, "self") == 0 || strcmp(name, "thread-self") == 0))
			return proc_self(w, name);
		fd = (int)syscall(SYS_openat2, w->cur, name, &how, sizeof(how));
		if (fd < 0 && errno == ELOOP)
			return magic_link(w, name, last);
		if (fd >= 0)
			close(fd);
	}
	n = readlinkat(link, "", text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return push_link(w, text);
}

static void mark_own_proc(struct walk *w, const char *name)
{
	char own[16];

	if (w->st.st_dev != w->d->proc_dev || w->st.st_ino != PROC_ROOT || name[0] < '0' ||
	    name[0] > '9')
		return;
	snprintf(own, sizeof(own), "%d", inner_pid(w->r->caller.pid));
	w->own_proc = strcmp(own, name) == 0;
}

static int named(struct walk *w, const char *name)
{
	int r = locate_name(w->d, w->p, w->cur, name);

	return r < 0 ? r : 1;
}

static bool is_root(const struct ldoor *d, const char *path)
{
	const struct folder *f;

	for (size_t i = 0; (f = folders_at(d->k, i)) != NULL; i++)
		if (strcmp(folder_path(f), path) == 0)
			return true;
	return false;
}

/* Treats a folder that the caller names from outside as "." of the folder: the agent can change the
 * directory, but not its name. */
static int from_outside(struct walk *w)
{
	int fd = take_fd(&w->p->seen);
	int r;

	w->p->known = false;
	r = locate_object(w->d, w->p, fd);
	return r < 0 ? r : 1;
}

/* Handles one plain component. Returns 1 if the walk is over and p is filled, 0 to continue. */
static int component(struct walk *w, const char *name, bool last, bool slash)
{
	AUTO_CLOSE int fd = -1;
	struct stat st;
	int r;

	mark_own_proc(w, name);
	fd = openat(w->cur, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		if (errno != ENOENT || !last)
			return -errno;
		return named(w, name);
	}
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode) && (!last || slash || w->how == HOW_OBJECT))
		return follow(w, fd, &st, name, last && !slash);
	if (!last || slash) {
		if (!S_ISDIR(st.st_mode))
			return -ENOTDIR;
		if (!last)
			return go(w, take_fd(&fd));
	}
	w->p->st = st;
	w->p->known = true;
	w->p->seen = take_fd(&fd);
	r = named(w, name);
	if (r > 0 && w->p->folder == NULL && S_ISDIR(st.st_mode) && w->how != HOW_NAME &&
	    is_root(w->d, w->p->text))
		return from_outside(w);
	return r;
}

static int finish_dir(struct walk *w)
{
	int fd, r;

	if (w->how == HOW_NAME) /* "/" */
		return named(w, ".");
	fd = w->cur;
	w->cur = -1;
	r = locate_object(w->d, w->p, fd);
	return r < 0 ? r : 1;
}

static int dots(struct walk *w, const char *name, bool last)
{
	if (!S_ISDIR(w->st.st_mode))
		return -ENOTDIR;
	if (last && w->how == HOW_NAME) /* the kernel refuses these with an error per call */
		return named(w, name);
	return name[1] == '.' ? go_up(w) : 0;
}

static int step(struct walk *w)
{
	char *name, *end, *next, keep, copy[NAME_MAX + 1];
	bool last, slash;
	int r;

	for (name = w->rest; *name == '/';)
		name++;
	if (*name == '\0')
		return S_ISDIR(w->st.st_mode) ? finish_dir(w) : -ENOTDIR;
	end = name + strcspn(name, "/");
	for (next = end; *next == '/';)
		next++;
	last = *next == '\0';
	slash = *end == '/';
	if (end - name > NAME_MAX && !(last && w->how == HOW_NAME))
		return -ENAMETOOLONG;
	if (last && slash && w->r->creates && !is_dots(name, (size_t)(end - name)))
		return -EISDIR;
	keep = *end;
	w->rest = end;
	if (last && w->how == HOW_NAME) {
		if (slash)
			end[1] = '\0';
		if (!is_dots(name, (size_t)(end - name)))
			return named(w, name);
	}
	*end = '\0';
	if (is_dots(name, (size_t)(end - name))) {
		r = dots(w, name, last);
		*end = r <= 0 ? keep : '\0';
		return r;
	}
	/* push_link() puts the text before the rest, which is complete only after *end is restored.
	 * So the name is copied. */
	memcpy(copy, name, (size_t)(end - name) + 1);
	*end = keep;
	r = component(w, copy, last, slash);
	if (r == 1 && w->p->folder != NULL && w->p->at.name == copy) {
		*end = '\0';
		w->p->at.name = name;
	}
	return r;
}

int walk_path(struct ldoor *d, struct request *r, int i, int start, const char *path)
{
	struct walk w = {.d = d, .r = r, .p = r->place[i], .how = r->how[i], .cur = start};
	AUTO_CLOSE int base = -1;
	int got = 0;

	w.rest = w.p->walk[0];
	snprintf(w.rest, sizeof(w.p->walk[0]), "%s", path);
	w.top = d->root;
	w.root = d->root_st;
	if (d->spec.nesting) {
		w.top = base = open_caller_root(d, r);
		if (base < 0 || fstat(base, &w.root) < 0)
			got = base < 0 ? base : -errno;
	}
	if (got == 0 && fstat(w.cur, &w.st) < 0)
		got = -errno;
	if (got == 0 && !S_ISDIR(w.st.st_mode))
		got = -ENOTDIR;
	w.base = w.st;
	if (got == 0 && (r->resolve & RESOLVE_IN_ROOT)) {
		util_close_fd(&base);
		w.top = base = fcntl(w.cur, F_DUPFD_CLOEXEC, 3);
	}
	while (got == 0)
		got = step(&w);
	if (w.cur >= 0)
		close(w.cur);
	return got == 1 ? 0 : got;
}
