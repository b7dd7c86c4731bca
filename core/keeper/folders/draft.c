/* draft - a new git pointer file or config gets its name once it is complete and harmless. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/folders/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/log.h"
#include "core/keeper/approvals/asks.h"
#include "core/keeper/procs.h"
#include "core/keeper/folders/folder.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/owner.h"
#include "core/keeper/steps/steps.h"
#include "core/os/file.h"

#define DRAFTS_MAX 64

struct draft {
	struct folder *folder;
	int fd;	   /* for reading */
	int dirfd; /* the directory of its name */
	int tid;   /* the thread that opened it */
	int pid;
	char *dir, *name, *path;
	char *text; /* the content that the user is asked about; NULL: not read yet */
	size_t len;
};

static void draft_free(struct draft *d)
{
	util_close_fd(&d->fd);
	util_close_fd(&d->dirfd);
	free(d->dir);
	free(d->name);
	free(d->path);
	free(d->text);
}

static int reopen(int fd)
{
	char link[OS_FD_PATH];
	int got;

	os_fd_path(link, fd);
	got = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return got < 0 ? -errno : got;
}

int draft_open(const struct wish *w, int flags, mode_t mode)
{
	struct keeper *k = w->f->keeper;
	struct draft d = {
		.folder = w->f, .fd = -1, .dirfd = -1, .tid = w->c->tid, .pid = w->c->pid};
	struct at dir = *w->at;
	int fd;

	if (k->n_drafts == DRAFTS_MAX)
		return -EOPNOTSUPP;
	d.path = xstrdup(w->path); /* a copy: w->path is a scratch buffer that is reused below */
	dir.name = "";
	dir.leaf = NULL;
	flags &= ~(O_CREAT | O_EXCL | O_TRUNC | O_NOFOLLOW);
	fd = folder_tmpfile(w->f, w->c, &dir, flags | O_TMPFILE, mode);
	if (fd >= 0) {
		d.fd = reopen(fd);
		d.dirfd = fcntl(w->at->dirfd, F_DUPFD_CLOEXEC, 0);
	}
	if (d.fd < 0 || d.dirfd < 0) {
		/* Old kernels see O_TMPFILE as an open of a directory for writing. */
		int r = fd >= 0 || fd == -EISDIR || fd == -EINVAL ? -EOPNOTSUPP : fd;

		util_close_fd(&fd);
		draft_free(&d);
		return r;
	}
	d.dir = xstrdup(w->at->dir);
	d.name = xstrdup(w->at->name);
	k->drafts = xrealloc(k->drafts, (k->n_drafts + 1) * sizeof(*k->drafts));
	k->drafts[k->n_drafts++] = d;
	return fd;
}

/* Reads the content. Fails if the file has a name, by which a process could still write to it. */
static bool read_draft(struct keeper *k, const struct draft *d, char **ret, size_t *ret_len)
{
	const size_t max = judge_largest(policy_content(k->policy, d->path));
	struct stat st;

	return fstat(d->fd, &st) == 0 && st.st_nlink == 0 && lseek(d->fd, 0, SEEK_SET) == 0 &&
	       io_read_all(d->fd, max, ret, ret_len) >= 0;
}

static int give_name(const struct draft *d, const struct caller *c)
{
	const int root = folder_root(d->folder);
	AUTO_FREE char *other = xasprintf("%s.lock", d->name);
	const struct at from = {.root = root, .dirfd = d->fd, .dir = "", .name = ""};
	const struct at to = {.root = root, .dirfd = d->dirfd, .dir = d->dir, .name = d->name};
	const struct at by = {.root = root, .dirfd = d->dirfd, .dir = d->dir, .name = other};
	int r = folder_link(d->folder, c, &from, &to);

	if (r != -EEXIST)
		return r;
	/* The name exists: the file was opened to be overwritten. */
	r = folder_link(d->folder, c, &from, &by);
	return r < 0 ? r : folder_rename(d->folder, c, &by, &to, 0);
}

/* Finds the process that opened the file. *ret_there: it still runs. Returns false if its step
 * waits for an answer. */
static bool find_owner(struct keeper *k, const struct draft *d, struct caller *c, bool *ret_there)
{
	struct caller owner = *c;
	const struct command *command;

	*ret_there = keeper_caller(k, d->tid, &owner) == 0;
	if (*ret_there)
		*c = owner;
	command = steps_command(k, c->proc);
	c->op = "open";
	c->granted = true; /* the check of the content replaces a question */
	c->asked = NULL;
	return !command || (!command->guard.asked && !command->guard.doomed);
}

static const char refused[] = "what was written would have git on the host run or follow something";

static void refuse(struct keeper *k, const struct draft *d, const struct caller *c)
{
	if (asks_possible(k))
		keeper_deny(k, c, d->path, -EACCES, refused);
	else
		keeper_deny_unasked(k, c, d->path, -EACCES, refused);
}

static void name_it(struct keeper *k, const struct draft *d, const struct caller *c)
{
	int r = give_name(d, c);

	if (r < 0)
		log_warn("keeper", "'%s' gets no name: %s", d->path, strerror(-r));
	else
		k->relearn = true;
}

/* Checks a draft that has no writer. Returns whether it is finished: linked or dropped. */
static bool settle(struct keeper *k, struct draft *d, const struct caller *by)
{
	bool shut = fcntl(d->fd, F_SETLEASE, F_RDLCK) == 0, there;
	AUTO_FREE char *text = NULL;
	struct caller c = *by;
	size_t len = 0;

	if (!shut && (errno == EAGAIN || errno == EBUSY))
		return false; /* a process writes */
	if (!find_owner(k, d, &c, &there)) {
		fcntl(d->fd, F_SETLEASE, F_UNLCK);
		return false;
	}
	if (d->text && there)
		return false;
	if (!shut || d->text || !read_draft(k, d, &text, &len)) {
		refuse(k, d, &c);
		return true;
	}
	if (policy_vet(k->policy, d->path, text, len)) {
		name_it(k, d, &c);
		return true;
	}
	if (!there || !asks_possible(k)) {
		refuse(k, d, &c);
		return true;
	}
	d->text = take_ptr(&text);
	d->len = len;
	return false;
}

static void drop(struct keeper *k, size_t i)
{
	draft_free(&k->drafts[i]);
	for (size_t j = i + 1; j < k->n_drafts; j++)
		k->drafts[j - 1] = k->drafts[j];
	k->n_drafts--;
}

void drafts_settle(struct keeper *k, const struct caller *by)
{
	/* A question or a link below may call this function again. */
	if (k->settling)
		return;
	k->settling = true;
	for (size_t i = 0; i < k->n_drafts;) {
		if (settle(k, &k->drafts[i], by))
			drop(k, i);
		else
			i++;
	}
	k->settling = false;
}

/* ---- questions ------------------------------------------------------------------------------- */

#define TEXT_SHOWN 200
#define DEPTH_MAX  4 /* generations below the process that wrote it */

static bool is_of(const struct keeper *k, const struct draft *d, int pid)
{
	for (int i = 0; i < DEPTH_MAX && pid > 0; i++, pid = proc_parent(k, pid))
		if (pid == d->pid)
			return true;
	return false;
}

/* Asks about the content. Returns -FOLDER_HELD, 0 if it may take its name, or -EACCES. */
static int ask(struct keeper *k, const struct draft *d, const struct caller *c)
{
	const bool line = policy_content(k->policy, d->path) == CONTENT_POINTER;
	AUTO_FREE char *reason =
		line ? xasprintf("%s: %.*s", refused,
				 (int)MIN(strcspn(d->text, "\n"), (size_t)TEXT_SHOWN), d->text)
		     : xstrdup(refused);
	struct caller own = *c;
	const char *why;

	if (policy_check(k->policy, POLICY_RENAME_TO, d->path, &why) == POLICY_ALLOW)
		return 0; /* allowed by a later answer */
	own.op = "open";
	return asks_park(
		k, &own,
		&(struct wished){
			.kind = RULE_WRITE, .path = d->path, .reason = reason, .beside = true});
}

/* Returns whether the content is still the one of the question. */
static bool is_same(struct keeper *k, const struct draft *d)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;

	return fcntl(d->fd, F_SETLEASE, F_RDLCK) == 0 && read_draft(k, d, &text, &len) &&
	       len == d->len && memcmp(text, d->text, len) == 0;
}

static void allow(struct keeper *k, const struct draft *d, const struct caller *c)
{
	/* A call that is being judged has its path in these buffers. */
	struct buf path = k->path, path2 = k->path2;
	struct caller owner = *c;
	bool there;

	k->settling = true;
	find_owner(k, d, &owner, &there);
	k->path = k->path2 = (struct buf)BUF_INIT;
	if (is_same(k, d))
		name_it(k, d, &owner);
	else
		refuse(k, d, &owner);
	buf_done(&k->path);
	buf_done(&k->path2);
	k->path = path;
	k->path2 = path2;
	k->settling = false;
}

int drafts_hold(struct keeper *k, const struct caller *c)
{
	if (k->settling || c->stale)
		return 0;
	for (size_t i = 0; i < k->n_drafts;) {
		const struct draft *d = &k->drafts[i];
		int r;

		if (!d->text || !is_of(k, d, c->pid)) {
			i++;
			continue;
		}
		r = ask(k, d, c);
		if (r == -FOLDER_HELD)
			return r;
		if (r == 0)
			allow(k, d, c);
		drop(k, i);
	}
	return 0;
}

void drafts_done(struct keeper *k)
{
	for (size_t i = 0; i < k->n_drafts; i++) {
		log_warn("keeper", "'%s' was still being written, and is not kept",
			 k->drafts[i].path);
		draft_free(&k->drafts[i]);
	}
	free(k->drafts);
	k->drafts = NULL;
	k->n_drafts = 0;
}
