/* still_open - finds the files that processes still hold open after a grant was revoked. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/approvals/still_open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/keeper/procs.h"
#include "core/keeper/channel.h"
#include "core/keeper/state.h"
#include "core/os/statx.h"

/*
 * Open files stay open: no kernel revokes a descriptor. So the user is told which processes hold
 * which files, by path, as /proc shows them at that moment. This is done before the doors hide
 * their files, since a file in a removed mount has no path. Names of processes are chosen by the
 * agent. Landlock lets the keeper inspect only processes inside; without Landlock their pid
 * namespace identifies them. A known process that cannot be inspected (another user's, a
 * set-user-ID program) is counted.
 */
#define LOOKED_MAX 20000  /* descriptors and mappings; the report mentions that it ended early */
#define LOOK_US	   100000 /* the same for time, because the agent waits */
#define MAPS_MAX   (1u << 20) /* bytes per process */

struct look {
	struct keeper *k;
	ino_t own, agent; /* pid namespaces; equal: none for the processes inside */
	bool exact;	  /* without Landlock: the namespace alone identifies processes inside */
	size_t looked;
	int64_t until;
	struct remains *to;
	remains_is is;
	void *data;
};

/* ---- files of one process -------------------------------------------------------------------- */

static struct remain *of_process(struct remains *r, int pid)
{
	struct remain *one = r->n ? &r->list[r->n - 1] : NULL;

	if (r->last == pid)
		return one && one->pid == pid ? one : NULL;
	r->last = pid;
	if (r->n == ARRAY_LEN(r->list)) {
		r->more++;
		return NULL;
	}
	one = &r->list[r->n++];
	*one = (struct remain){.pid = pid};
	return one;
}

static void found(struct look *l, int pid, enum hold what, const char *path)
{
	struct remain *one;

	if (++l->looked > LOOKED_MAX || (l->looked % 64 == 0 && clock_mono_us() > l->until)) {
		l->to->cut = true;
		return;
	}
	if (*path != '/' || !l->is(l->data, pid, what, path))
		return;
	one = of_process(l->to, pid);
	if (one)
		one->n[what]++;
}

/* Returns how the file is open, by the mode of the link (proc(5)). Makes no call to the file
 * system, which may be the read gate. */
static enum hold kind_of(int dir, const char *name)
{
	struct statx stx;
	struct stat st;

	if (statx(dir, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &stx) == 0 &&
	    S_ISDIR(stx.stx_mode))
		return HOLD_DIR;
	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_mode & S_IWUSR
		       ? HOLD_WRITTEN
		       : HOLD_FILE;
}

static void look_at_files(struct look *l, int pid)
{
	char path[PATH_MAX], name[64];
	AUTO_DIR DIR *d = NULL;
	struct dirent *e;

	snprintf(name, sizeof(name), "/proc/%d/fd", pid);
	d = opendir(name);
	while (d && !l->to->cut && (e = readdir(d))) {
		snprintf(name, sizeof(name), "fd/%.16s", e->d_name);
		if (*e->d_name != '.' && proc_link(pid, name, path) && *path == '/')
			found(l, pid, kind_of(dirfd(d), e->d_name), path);
	}
}

/* Reads "start-end perms offset device inode path". The lines of one file are adjacent. */
static void look_at_maps(struct look *l, int pid)
{
	AUTO_FREE char *text = NULL;
	const char *last = "";
	char name[64];
	char *rest;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	if (io_read_file(AT_FDCWD, name, MAPS_MAX, &text, NULL) == -EFBIG)
		l->to->cut = true;
	rest = text;
	for (char *line; !l->to->cut && (line = strsep(&rest, "\n"));) {
		const char *path = strchr(line, '/');

		if (path && !str_eq(path, last))
			found(l, pid, HOLD_MAP, path);
		last = path ? path : last;
	}
}

/* ---- processes inside ------------------------------------------------------------------------ */

static ino_t pid_space(int pid)
{
	char name[64];
	struct stat st;

	snprintf(name, sizeof(name), "/proc/%d/ns/pid", pid);
	return stat(name, &st) == 0 ? st.st_ino : 0;
}

/* Returns whether the process is inside. With Landlock a process that the keeper can inspect is its
 * own or inside. */
static bool is_inside(const struct look *l, int pid)
{
	ino_t space = l->agent == l->own ? l->own : pid_space(pid);

	return l->exact ? space == l->agent : l->agent == l->own || (space && space != l->own);
}

static bool look_at(struct look *l, int pid)
{
	char path[PATH_MAX];

	if (!proc_link(pid, "cwd", path))
		return false;
	if (!is_inside(l, pid))
		return false;
	found(l, pid, HOLD_DIR, path);
	if (proc_link(pid, "root", path))
		found(l, pid, HOLD_DIR, path);
	if (proc_link(pid, "exe", path))
		found(l, pid, HOLD_PROGRAM, path);
	look_at_files(l, pid);
	look_at_maps(l, pid);
	return true;
}

static bool is_alive(const struct proc *p)
{
	return p && !proc_has_ended(p);
}

void remains_look(struct keeper *k, remains_is is, void *data, struct remains *ret)
{
	struct look l = {
		.k = k, .to = ret, .is = is, .data = data, .until = clock_mono_us() + LOOK_US};
	AUTO_DIR DIR *d = opendir("/proc");
	struct dirent *e;

	*ret = (struct remains){0};
	l.own = pid_space(getpid());
	l.agent = k->agent_pid ? pid_space(k->agent_pid) : l.own;
	l.exact = !k->spec->spawn || k->spec->spawn->landlock_off;
	while (d && !ret->cut && (e = readdir(d))) {
		int pid = *e->d_name >= '1' && *e->d_name <= '9' ? atoi(e->d_name) : 0;

		if (pid && pid != getpid() && !look_at(&l, pid))
			ret->unseen += is_alive(proc_known(k, pid));
	}
}

/* ---- the message ----------------------------------------------------------------------------- */

static void add_count(struct buf *out, const char **sep, size_t n, const char *one,
		      const char *many)
{
	if (n == 0)
		return;
	buf_str(out, *sep);
	if (n == 1)
		buf_str(out, one);
	else
		buf_fmt(out, "%zu %s", n, many);
	*sep = ", ";
}

static void add_one(struct buf *out, const struct remain *one)
{
	AUTO_FREE char *name = NULL;
	char comm[64];
	const char *sep = " ";
	size_t len = 0;

	snprintf(comm, sizeof(comm), "/proc/%d/comm", one->pid);
	if (io_read_file(AT_FDCWD, comm, 64, &name, &len) == 0 && len && name[len - 1] == '\n')
		name[len - 1] = '\0';
	buf_fmt(out, "%s (pid %d)", name ? name : "a process", one->pid);
	add_count(out, &sep, one->n[HOLD_DIR], "a directory", "directories");
	add_count(out, &sep, one->n[HOLD_FILE], "a file", "files");
	add_count(out, &sep, one->n[HOLD_WRITTEN], "a file it can write", "files it can write");
	add_count(out, &sep, one->n[HOLD_MAP], "a mapped file", "mapped files");
	add_count(out, &sep, one->n[HOLD_PROGRAM], "its program", "programs");
}

static void add_words(struct buf *out, const struct remains *r)
{
	if (!r->n)
		buf_str(out, "nothing");
	for (size_t i = 0; i < r->n; i++) {
		if (i)
			buf_str(out, "; ");
		add_one(out, &r->list[i]);
	}
	if (r->more)
		buf_fmt(out, "; and in %zu more", r->more);
	if (r->unseen)
		buf_fmt(out, "; %zu could not be looked into", r->unseen);
	if (r->cut)
		buf_str(out, "; and perhaps more: not all was looked at");
}

void remains_tell(struct keeper *k, uint64_t rule, const struct remains *r)
{
	AUTO_BUF struct buf words = BUF_INIT;
	size_t mark;

	add_words(&words, r);
	mark = wire_begin(&k->out, WIRE_LEFT_OPEN);
	wire_u64(&k->out, rule);
	wire_u64(&k->out, r->n + r->more);
	wire_str(&k->out, words.data, words.len);
	wire_end(&k->out, mark);
	keeper_urgent(k);
}
