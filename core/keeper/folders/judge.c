/* judge - decides on a change of a folder by the policy: allow, check the content, ask, deny. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/folders/judge.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "core/base/io.h"
#include "core/keeper/approvals/asks.h"
#include "core/keeper/folders/brought.h"
#include "core/keeper/folders/folders.h"
#include "core/keeper/folders/outside.h"
#include "core/keeper/folders/review.h"
#include "core/keeper/folders/saves.h"
#include "core/keeper/state.h"
#include "core/os/file.h"

#define STORE_DIR ".cordon"

/* ---- names ----------------------------------------------------------------------------------- */

void judge_path(struct buf *out, const struct folder *f, const struct at *at)
{
	const char *name = *at->name ? at->name : at->leaf;
	size_t len = name ? strlen(name) : 0;

	buf_clear(out);
	buf_add(out, f->path, f->path_len > 1 ? f->path_len : 0);
	if (*at->dir) {
		buf_ch(out, '/');
		buf_str(out, at->dir);
	}
	while (len && name[len - 1] == '/')
		len--;
	if (len && !(len == 1 && name[0] == '.') &&
	    !(len == 2 && name[0] == '.' && name[1] == '.')) {
		buf_ch(out, '/');
		buf_add(out, name, len);
	}
	if (!out->len)
		buf_ch(out, '/');
}

bool judge_in_store(const struct folder *f, const char *path)
{
	const char *first = path + f->path_len;
	const size_t len = sizeof(STORE_DIR) - 1;

	if (*first != '/')
		return false;
	first++;
	return strncasecmp(first, STORE_DIR, len) == 0 && (!first[len] || first[len] == '/');
}

/* Returns 0, 1 for a directory, or the error that the kernel reports before it checks permissions:
 * then no question is asked. */
static int exists(const struct at *at)
{
	struct stat st;

	if (fstatat(at->dirfd, at->name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? 1 : 0;
}

/* ---- policy ---------------------------------------------------------------------------------- */

size_t judge_largest(enum policy_content content)
{
	switch (content) {
	case CONTENT_CONFIG:
	case CONTENT_OPTIONS:
		return 256u << 10;
	case CONTENT_INDEX:
		return 64u << 20; /* some 700 000 entries */
	case CONTENT_REBASE:
	case CONTENT_SHALLOW:
		return 4u << 20;
	case CONTENT_POINTER:
	case CONTENT_STRATEGY:
	case CONTENT_EMPTY:
		return PATH_MAX;
	case CONTENT_NONE:
		break;
	}
	return 0;
}

/* Reads a plain file that has one name. A read lease proves that no process can write to it. */
static int read_settled(const struct at *at, size_t max, char **ret, size_t *ret_len)
{
	AUTO_CLOSE int fd = openat(at->dirfd, at->name,
				   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return -EINVAL;
	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		return -errno;
	return io_read_all(fd, max, ret, ret_len);
}

/*
 * Returns whether this file's content may take that name. Not if another name of it, or a
 * descriptor that is open for writing, could change it later. from NULL: the name is removed.
 * Content of the old file is allowed; an unreadable old file could have any content.
 */
static bool vet(struct keeper *k, const struct at *from, const struct at *to, const char *path)
{
	const enum policy_content content = policy_content(k->policy, path);
	const size_t max = judge_largest(content);
	AUTO_FREE char *text = NULL, *old = NULL;
	size_t len = 0, old_len = 0;
	int r = -ENOENT;

	if (from && read_settled(from, max, &text, &len) < 0)
		return false;
	if (content != CONTENT_INDEX) /* an index is checked by itself */
		r = read_settled(to, max, &old, &old_len);
	if (r < 0 && r != -ENOENT)
		return false;
	if (!policy_vet_change(k->policy, path, r < 0 ? NULL : old, old_len, text, len))
		return false;
	if (content == CONTENT_CONFIG)
		review_config(k, path);
	if (content != CONTENT_INDEX || !*policy_hides(k->policy))
		return true;
	if (read_settled(to, max, &old, &old_len) < 0)
		old_len = 0;
	review_index(k, path, (struct span){text, len}, (struct span){old, old_len});
	return true;
}

static bool vetted(const struct wish *w)
{
	struct keeper *k = w->f->keeper;

	switch (w->act) {
	case POLICY_META: /* git sets the executable bit of its config as a test */
		return true;
	case POLICY_REMOVE:
	case POLICY_RENAME_FROM:
		return vet(k, NULL, w->at, w->path);
	case POLICY_RENAME_TO:
		return w->from && vet(k, w->from, w->at, w->path);
	case POLICY_SYMLINK:
		return w->target && policy_vet_link(k->policy, w->path, w->target);
	case POLICY_WRITE:
	case POLICY_MKDIR:
	case POLICY_LINK_FROM:
	case POLICY_DIR_TO:
		break; /* the later content is unknown */
	}
	return false;
}

static void look(const struct wish *w, struct brought *ret)
{
	*ret = (struct brought){.settled = true};
	if (w->from)
		brought_look(w->f, w->from, w->path, ret);
	else if (w->target)
		brought_look_target(w->f, w->target, w->at, w->path, ret);
}

/* Returns an addition to the reason. Heap; NULL: none. */
static char *words(const struct wish *w, const char *reason)
{
	if (w->target)
		return xasprintf("%s; it is a link to %s", reason, w->target);
	/* A bundle is asked about as a whole: the name of a temporary file says nothing. */
	if (!w->other || policy_bundle(w->f->keeper->policy, w->path))
		return NULL;
	return xasprintf("%s; the other name is %s%s", reason, w->other,
			 w->from && exists(w->from) > 0 ? ", a directory" : "");
}

static int ask(const struct wish *w, const char *reason)
{
	AUTO_FREE char *more = NULL;
	struct keeper *k = w->f->keeper;
	int there = exists(w->at);
	struct brought brought;

	if (there < 0 && !w->creates)
		return there;
	if (there >= 0 && w->must_be_new)
		return -EEXIST;
	more = words(w, reason ? reason : "protected");
	if (!asks_possible(k)) {
		keeper_deny_unasked(k, w->c, w->path, -EACCES, more ? more : reason);
		return -EACCES;
	}
	look(w, &brought);
	return asks_park(k, w->c,
			 &(struct wished){.kind = RULE_WRITE,
					  .path = w->path,
					  .is_dir = there > 0,
					  .object = *brought.object ? brought.object : NULL,
					  .unsettled = !brought.settled,
					  .reason = more ? more : reason});
}

/* Returns whether the source is missing: the kernel reports that, without a question. */
static bool missing(const struct wish *w)
{
	return w->from && exists(w->from) < 0;
}

/* Learns further files that settings of git name: after a write that the user allowed, which is
 * complete when the next call comes, and the rest from the start. */
static void learn_again(struct keeper *k)
{
	if (!k->relearn) {
		k->learned = !policy_learn_more(k->policy);
		return;
	}
	k->relearn = k->learned = false;
	for (size_t i = 0; i < k->n_folders; i++)
		if (!k->folders[i]->granted)
			policy_learn(k->policy, k->folders[i]->path);
}

static bool may_name_files(const struct wish *w)
{
	return (w->act == POLICY_WRITE || w->act == POLICY_RENAME_TO || w->act == POLICY_SYMLINK) &&
	       policy_content(w->f->keeper->policy, w->path) == CONTENT_CONFIG;
}

/* Returns whether a file may be a draft: pointer files of `git worktree add` and `git submodule
 * add` (which writes them twice), and an agent's copy of alternates or an index. Other new files
 * only if no user can be asked. */
static bool may_draft(const struct wish *w)
{
	const struct keeper *k = w->f->keeper;
	enum policy_content content = policy_content(k->policy, w->path);
	int there;

	if (!w->may_draft || !w->creates || w->c->granted)
		return false;
	there = exists(w->at);
	if (content == CONTENT_POINTER || content == CONTENT_INDEX)
		return there == -ENOENT || (there == 0 && w->truncates);
	return there == -ENOENT && !asks_possible(k);
}

/*
 * Returns the result for a hidden path. Outside the folders it does not exist. In a folder its name
 * is visible, so a change is refused, and the user is told why.
 */
static int hidden(const struct wish *w, const char *reason)
{
	int there = w->f->granted ? -ENOENT : exists(w->at);

	if (there < 0 && !w->creates)
		return there;
	if (!w->f->granted)
		keeper_deny(w->f->keeper, w->c, w->path, -EACCES, reason);
	return -EACCES;
}

int judge(const struct wish *w)
{
	struct keeper *k = w->f->keeper;
	const char *reason = NULL;
	enum policy_verdict v = POLICY_ALLOW;

	if (k->frozen)
		return -EIO;
	if (k->n_drafts && !w->c->granted) {
		int r = k->hooks->drafts_hold(k, w->c);

		if (r < 0)
			return r;
	}
	if (k->relearn || !k->learned)
		learn_again(k);
	if (judge_in_store(w->f, w->path))
		return missing(w) ? 0 : w->creates ? -EACCES : -ENOENT;
	if (w->f->granted && outside_read_only(k, w->f, w->path)) {
		if (missing(w))
			return 0;
		keeper_deny(k, w->c, w->path, -EROFS,
			    "it lies in a folder that is read-only (--ro)");
		return -EROFS;
	}
	if (w->f->granted)
		v = policy_check_outside(k->policy, w->act, w->path, &reason);
	if (v == POLICY_ALLOW)
		v = policy_check(k->policy, w->act, w->path, &reason);
	if (v == POLICY_VET && may_draft(w))
		return JUDGE_DRAFT;
	if (v == POLICY_VET)
		v = vetted(w) ? POLICY_ALLOW : POLICY_ASK;
	if (v == POLICY_ALLOW) {
		int r = saves_judge(w->f, w->act, w->at, w->path, w->creates);

		if (r < 0)
			return r;
		if (r > 0) {
			v = POLICY_ASK;
			reason = "a program of the host uses it to save a protected file";
		}
	}
	if (v != POLICY_ALLOW && missing(w))
		return 0;
	switch (v) {
	case POLICY_ALLOW:
	case POLICY_VET:
		review_change(k, w->act, w->path);
		return 0;
	case POLICY_ASK:
		if (!w->c->granted)
			return ask(w, reason);
		k->relearn = may_name_files(w);
		return 0;
	case POLICY_DENY:
		keeper_deny(k, w->c, w->path, -EACCES, reason);
		return -EACCES;
	case POLICY_HIDE:
		return hidden(w, reason);
	}
	return -EACCES;
}

int judge_alias(const struct wish *w)
{
	struct keeper *k = w->f->keeper;
	const char *real;
	struct stat st;
	struct wish as;

	if (!k->n_aliases ||
	    fstatat(w->at->dirfd, w->at->name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0)
		return 0;
	real = alias_of(k, &st);
	if (!real || str_eq(real, w->path))
		return 0;
	as = *w;
	as.path = real;
	as.other = w->path;
	return judge(&as);
}

int judge_pipe(const struct folder *f, const struct caller *c, mode_t mode, const char *path)
{
	if (!S_ISFIFO(mode) || !policy_minds_pipe(f->keeper->policy, path))
		return 0;
	keeper_deny(f->keeper, c, path, -EACCES,
		    "git on the host would open this named pipe, and wait for a writer");
	return -EACCES;
}

/* Judges a link or a directory that takes the name: both may have content that a plain file of that
 * name cannot. */
static int judge_type(struct wish *w)
{
	const struct policy *p = w->f->keeper->policy;
	struct stat st;

	if ((!policy_minds_type(p, w->path) && !policy_minds_pipe(p, w->path)) ||
	    fstatat(w->from->dirfd, w->from->name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0)
		return 0;
	if (S_ISFIFO(st.st_mode))
		return judge_pipe(w->f, w->c, st.st_mode, w->path);
	if (!policy_minds_type(p, w->path))
		return 0;
	if (S_ISLNK(st.st_mode))
		w->act = POLICY_SYMLINK;
	else if (S_ISDIR(st.st_mode))
		w->act = POLICY_DIR_TO;
	else
		return 0;
	return judge(w);
}

int judge_move(struct folder *f, const struct caller *c, const struct at *from,
	       const char *from_path, const struct at *to, const char *to_path, bool new)
{
	struct wish w = {.f = f,
			 .c = c,
			 .act = POLICY_RENAME_FROM,
			 .at = from,
			 .path = from_path,
			 .other = to_path};
	int r = judge(&w);

	if (r < 0)
		return r;
	w.act = POLICY_RENAME_TO;
	w.at = to;
	w.path = to_path;
	w.other = from_path;
	w.from = from;
	w.creates = true;
	w.must_be_new = new;
	r = judge(&w);
	return r < 0 ? r : judge_type(&w);
}
