/* outside - changes and reads outside the working folders: refused, allowed, or asked about. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/folders/outside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/keeper/approvals/asks.h"
#include "core/keeper/folders/folders.h"
#include "core/keeper/state.h"
#include "core/policy/rules/rules.h"

void keeper_set_private(struct keeper *k, const char *const *dirs)
{
	k->private = dirs;
}

/* Returns whether the path is the sandbox's own: changes there do not affect the host. */
static bool is_private(const struct keeper *k, const char *path)
{
	static const char *const mounted[] = {"/tmp", "/var/tmp", "/dev", "/proc",
					      "/run", "/var/run", NULL};
	const struct spawn_spec *spawn = k->spec->spawn;

	for (const char *const *own = k->private ? k->private : mounted; *own; own++) {
		if (path_is_beneath(path, *own))
			return true;
	}
	for (size_t i = 0; spawn && spawn->overlays && spawn->overlays[i]; i++) {
		if (path_is_beneath(path, spawn->overlays[i]))
			return true;
	}
	for (const struct absent_home *h = spawn ? spawn->absent_homes : NULL; h && h->path; h++) {
		if (path_is_inside(path, h->path))
			return true;
	}
	return false;
}

static int grant_parent(struct keeper *k, const char *path)
{
	const char *slash = strrchr(path, '/');
	AUTO_FREE char *dir = xstrndup(path, slash > path ? (size_t)(slash - path) : 1);
	struct folder *f;
	int r = folder_grant(k, dir, &f);

	return r < 0 ? r : 1;
}

static bool is_filled(const char *path)
{
	AUTO_DIR DIR *dir = opendir(path);
	struct dirent *e;
	int n = 0;

	while (dir && n < 3 && (e = readdir(dir)))
		n++;
	return n > 2; /* more than "." and ".." */
}

/*
 * Returns whether the kernel would refuse the call anyway, before it checks the mount. Then no
 * question is asked, for example about `mkdir -p` of an existing directory, or about a path that
 * the user cannot write either.
 */
static bool is_moot(const char *op, const char *path)
{
	const char *slash = strrchr(path, '/');
	AUTO_FREE char *dir = xstrndup(path, slash > path ? (size_t)(slash - path) : 1);
	bool there = faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW | AT_EACCESS) == 0;
	bool makes = str_starts(op, "mk") || str_starts(op, "link") || str_starts(op, "symlink");
	bool takes = str_starts(op, "unlink") || str_starts(op, "rm");

	if ((makes && there) || (takes && !there) || (str_starts(op, "rmdir") && is_filled(path)))
		return true;
	if (there && !makes && !takes && !str_starts(op, "rename"))
		return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0;
	return faccessat(AT_FDCWD, dir, W_OK, AT_EACCESS) < 0;
}

bool outside_read_only(const struct keeper *k, const struct folder *f, const char *path)
{
	const struct spawn_spec *spawn = k->spec->spawn;

	for (size_t i = 0; spawn && spawn->read_only && spawn->read_only[i]; i++)
		if (path_is_beneath(path, spawn->read_only[i]) &&
		    !(f && path_is_beneath(f->path, spawn->read_only[i])))
			return true;
	return false;
}

int folder_outside(struct keeper *k, const struct caller *c, const char *path)
{
	const enum policy_act act = str_starts(c->op, "mkdir") ? POLICY_MKDIR : POLICY_WRITE;
	const char *reason = NULL;
	enum policy_verdict v;
	bool unasked;

	if (outside_read_only(k, NULL, path)) {
		keeper_deny(k, c, path, -EROFS, "it lies in a folder that is read-only (--ro)");
		return 0;
	}
	if (is_private(k, path))
		return 0;
	if (k->frozen)
		return -EIO;
	if (act == POLICY_MKDIR && faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0; /* `mkdir -p` of an existing path changes nothing */
	v = policy_check_outside(k->policy, act, path, &reason);
	/* If no user can be asked, or no thread can perform it, the floor refuses it. */
	unasked = v == POLICY_ASK && (!asks_possible(k) || !k->outside);
	if (unasked)
		v = POLICY_DENY;
	if (v == POLICY_ASK && !c->granted && is_moot(c->op, path))
		return 0;
	if (v == POLICY_ASK && !c->granted) {
		int r = asks_park(
			k, c, &(struct wished){.kind = RULE_WRITE, .path = path, .reason = reason});

		return r < 0 ? r : grant_parent(k, path);
	}
	if (unasked && !is_moot(c->op, path)) {
		keeper_deny_unasked(k, c, path, -EROFS, reason);
		return 0;
	}
	if (v == POLICY_DENY || v == POLICY_HIDE) {
		keeper_deny(k, c, path, -EROFS, reason);
		return 0;
	}
	return k->outside ? grant_parent(k, path) : 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Returns whether the caller could read the file without cordon; otherwise no question is asked. */
static bool may_itself(enum rule_kind kind, const char *path)
{
	int mode = kind == RULE_EXEC ? X_OK : kind == RULE_UNIX ? W_OK : R_OK;

	return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 || errno != EACCES;
}

static int refuse_read(struct keeper *k, const struct caller *c, const struct wished *w, int result)
{
	keeper_deny(k, c, w->path, result, w->reason);
	return result;
}

/* Returns whether a directory may be listed although no rule covers it. Its files stay closed, and
 * the gate omits hidden names. */
static bool shows_names(const struct keeper *k, const struct wished *w, enum policy_verdict v)
{
	struct stat st;

	return v == POLICY_ASK && w->kind == RULE_READ && !k->spec->asks_lists &&
	       str_eq(w->reason, policy_ungranted) &&
	       fstatat(AT_FDCWD, w->path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

int folder_read(struct keeper *k, const struct caller *c, enum rule_kind kind, const char *path,
		const char *via)
{
	struct wished w = {.kind = kind, .path = path, .via = via};
	enum policy_verdict v = policy_check_read(k->policy, kind, path, &w.reason);
	struct caller as = *c;
	struct stat st;

	as.op = kind == RULE_UNIX ? "connect"
				  : rule_kind_words[kind]; /* "open" does not say what is asked */
	k->tallies.checks++;
	if (v != POLICY_ASK)
		k->tallies.by_rule++;
	if (v == POLICY_ALLOW || (v == POLICY_ASK && c->granted) || shows_names(k, &w, v))
		return 0;
	if (v == POLICY_HIDE)
		return refuse_read(k, &as, &w, -ENOENT);
	if (v != POLICY_ASK || !asks_possible(k))
		return refuse_read(k, &as, &w, -EACCES);
	if (!may_itself(kind, path))
		return -EACCES;
	w.is_dir = fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
	return asks_park(k, &as, &w);
}
