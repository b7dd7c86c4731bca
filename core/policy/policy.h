/* policy - what may be written, what is hidden: built-in lists, settings, session answers. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct config;
struct policy;

enum policy_verdict {
	POLICY_ALLOW,
	POLICY_VET,  /* allow if policy_vet() finds the new content inert, else as POLICY_ASK */
	POLICY_ASK,  /* hold and ask; headless: deny */
	POLICY_DENY, /* EACCES */
	POLICY_HIDE, /* does not exist for the sandbox: ENOENT; creating: EACCES */
};

/* What is about to happen to a name inside a working folder. */
enum policy_act {
	POLICY_WRITE,  /* open for writing, create a file, truncate, new symlink, node or link */
	POLICY_MKDIR,  /* */
	POLICY_REMOVE, /* unlink, rmdir */
	POLICY_RENAME_FROM, /* this name goes away */
	POLICY_RENAME_TO,   /* something takes this name; RENAME_EXCHANGE: both names are this */
	POLICY_LINK_FROM,   /* an alias of this file is about to be made */
	POLICY_META,	    /* mode, owner, times, attributes */
};

/*
 * Life:    policy_new() -> policy_free(). Session answers may be added while it lives.
 * Threads: one owner.
 * Paths:   absolute and clean ("/home/u/p/.git/hooks/x"), any bytes; must not be a symlink's text
 *          but the resolved place.
 * Names are compared as the most forgiving file system would: case folded, Unicode decomposed,
 * invisible characters, trailing dots and blanks, and short names of vfat looked through.
 */
int policy_new(struct policy **ret, const struct config *c, const char *home, struct err *err)
	MUST_USE;
void policy_free(struct policy *p); /* NULL is a no-op */

/* reason (words for the prompt and the audit log) is borrowed and valid until policy_free(); it is
 * NULL when there is nothing to say. */
enum policy_verdict policy_check(const struct policy *p, enum policy_act act, const char *path,
				 const char **ret_reason);
/*
 * POLICY_VET: may a file with this content take that name? Never true when in doubt. The caller
 * makes sure that it is a plain file with one name that nobody can write to any more.
 */
bool policy_vet(const struct policy *p, const char *path, const char *data, size_t len);
/* The same when a file of that name is there already: settings that are in it, unchanged and in the
 * same order, may stay, so that `git remote add` works where the human has aliases and filters. */
bool policy_vet_change(const struct policy *p, const char *path, const char *old, size_t old_len,
		       const char *data, size_t len);
/* Is a write to this place outside every working folder worth a question, or refused at once? */
enum policy_verdict policy_check_outside(const struct policy *p, const char *path,
					 const char **ret_reason);

/* An answer for the rest of the session: exactly this path, or the whole tree below it. */
void policy_remember(struct policy *p, const char *path, bool tree, bool allow);
/* Treat this path and everything below it as protected, as core.hooksPath of a repository is.
 * reason must live as long as the policy. */
void policy_protect(struct policy *p, const char *path, const char *reason);

/* Protect the directory that core.hooksPath of this folder's repository (or of ~/.gitconfig) names,
 * when it lies in the folder. Settings that are written in an unusual way are not understood. */
void policy_learn_hooks(struct policy *p, const char *folder);

/* Hidden or secret paths, absolute, whether they exist or not: those under $HOME and elsewhere. */
size_t policy_hidden(const struct policy *p, const char *const **ret);
/* Secret by name inside a working folder (".env", ".env.local"; not ".env.example"). */
bool policy_name_is_secret(const struct policy *p, const char *name);
