/* draft - a new git pointer file or config gets its name once it is complete and harmless. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/folders/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/log.h"
#include "core/keeper/approvals/asks.h"
#include "core/keeper/folders/folder.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/owner.h"
#include "core/keeper/steps/steps.h"
#include "core/os/file.h"

#define DRAFTS_MAX 64

struct draft {
	struct folder *folder;
	int fd;	   /* to read it */
	int dirfd; /* where its name will be */
	int tid;   /* who opened it */
	char *dir, *name, *path;
};

static void draft_free(struct draft *d)
{
	util_close_fd(&d->fd);
	util_close_fd(&d->dirfd);
	free(d->dir);
	free(d->name);
	free(d->path);
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
	struct draft d = {.folder = w->f, .fd = -1, .dirfd = -1, .tid = w->c->tid};
	struct at dir = *w->at;
	int fd;

	if (k->n_drafts == DRAFTS_MAX)
		return -EOPNOTSUPP;
	d.path = xstrdup(w->path); /* the scratch of folder.c, which is used again below */
	dir.name = "";
	dir.leaf = NULL;
	flags &= ~(O_CREAT | O_EXCL | O_TRUNC | O_NOFOLLOW);
	fd = folder_tmpfile(w->f, w->c, &dir, flags | O_TMPFILE, mode);
	if (fd >= 0) {
		d.fd = reopen(fd);
		d.dirfd = fcntl(w->at->dirfd, F_DUPFD_CLOEXEC, 0);
	}
	if (d.fd < 0 || d.dirfd < 0) {
		/* Old kernels take O_TMPFILE for a directory that is to be written. */
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

/* May what is in it take its name? Nobody writes to it any more; by another name somebody could. */
static bool is_harmless(struct keeper *k, const struct draft *d)
{
	const size_t max = judge_largest(policy_content(k->policy, d->path));
	AUTO_FREE char *text = NULL;
	struct stat st;
	size_t len;

	return fstat(d->fd, &st) == 0 && st.st_nlink == 0 &&
	       io_read_all(d->fd, max, &text, &len) >= 0 &&
	       policy_vet(k->policy, d->path, text, len);
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
	/* It was opened to be written anew. */
	r = folder_link(d->folder, c, &from, &by);
	return r < 0 ? r : folder_rename(d->folder, c, &by, &to, 0);
}

/* The process that opened it, if it is still there. False: its step waits for an answer. */
static bool find_owner(struct keeper *k, const struct draft *d, struct caller *c)
{
	struct caller owner = *c;
	const struct command *command;

	if (keeper_caller(k, d->tid, &owner) == 0)
		*c = owner;
	command = steps_command(k, c->proc);
	c->op = "open";
	c->granted = true; /* the content was looked at in place of a question */
	c->asked = NULL;
	c->may_wait = false;
	return !command || (!command->guard.asked && !command->guard.doomed);
}

static void refuse(struct keeper *k, const struct draft *d, const struct caller *c)
{
	static const char reason[] =
		"what was written would have git on the host run or follow something";

	if (asks_possible(k))
		keeper_deny(k, c, d->path, -EACCES, reason);
	else
		keeper_deny_unasked(k, c, d->path, -EACCES, reason);
}

/* True: it is done with, one way or the other. */
static bool settle(struct keeper *k, struct draft *d, const struct caller *by)
{
	bool shut = fcntl(d->fd, F_SETLEASE, F_RDLCK) == 0;
	struct caller c = *by;
	int r;

	if (!shut && (errno == EAGAIN || errno == EBUSY))
		return false; /* somebody writes */
	if (!find_owner(k, d, &c)) {
		fcntl(d->fd, F_SETLEASE, F_UNLCK);
		return false;
	}
	if (!shut || !is_harmless(k, d)) {
		refuse(k, d, &c);
		return true;
	}
	r = give_name(d, &c);
	if (r < 0)
		log_warn("keeper", "'%s' gets no name: %s", d->path, strerror(-r));
	else
		k->relearn = true;
	return true;
}

void drafts_settle(struct keeper *k, const struct caller *by)
{
	/* Whoever is asked on the way comes back here. */
	if (k->settling)
		return;
	k->settling = true;
	for (size_t i = 0; i < k->n_drafts;) {
		if (!settle(k, &k->drafts[i], by)) {
			i++;
			continue;
		}
		draft_free(&k->drafts[i]);
		for (size_t j = i + 1; j < k->n_drafts; j++)
			k->drafts[j - 1] = k->drafts[j];
		k->n_drafts--;
	}
	k->settling = false;
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
