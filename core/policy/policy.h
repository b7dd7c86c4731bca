/* policy - what may be read, written and run, what is hidden: built-in lists, rules, answers. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "core/base/err.h"
#include "core/policy/answer.h"

struct config;
struct policy;
struct rules;

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
	POLICY_SYMLINK,	    /* a link is made or renamed to this name; as POLICY_WRITE */
	POLICY_DIR_TO,	    /* a directory takes this name: asked besides POLICY_RENAME_TO */
};

/* What a policy is about. Borrowed until policy_new() returns, but for config. */
struct policy_spec {
	const struct config *config; /* settings and rules; NULL: built-in ones only */
	const char *home;	     /* $HOME, absolute */
	/* NULL or NULL-terminated; absolute and resolved. */
	const char *const *folders;   /* working folders */
	const char *const *read_only; /* --ro, --overlay: may be read too */
	const char *const *hidden;    /* --hide */
	const char *const *sockets;   /* --allow-unix */
	const char *const *hosts;     /* --allow-domain: these, and their sub-domains */
	bool public_hosts;   /* --allow-network: hosts are allowed, but for addresses that need
			      * a rule of their own */
	const char *path;    /* $PATH, NULL: none; for policy_granted() */
	const char *program; /* absolute: what the human said is to run; NULL: nobody knows */
	bool dynamic;	     /* reads of gated trees that nothing grants are asked */
};

/*
 * Life:    policy_new() -> policy_free(). Session answers may be added while it lives.
 * Threads: one owner.
 * Paths:   absolute and clean ("/home/u/p/.git/hooks/x"), any bytes; must not be a symlink's text
 *          but the resolved place.
 * Names are compared as the most forgiving file system would: case folded, Unicode decomposed,
 * invisible characters, trailing dots and blanks, and short names of vfat looked through.
 * Errors:  a bad rule is -EINVAL and "FILE:LINE: ...": nothing is left out silently.
 *
 * What decides: rules.h says which of several rules does. Built-in protection gives way to a rule
 * that names the place itself or something nearer to it, and to an answer of the session; what is
 * hidden gives way to the former only; cordon's own folders and what sandbox.hide and --hide name
 * stay hidden. Where a stricter rule and built-in protection both apply, the stricter counts; rules
 * of an untrusted project file can only make things stricter.
 */
int policy_new(struct policy **ret, const struct policy_spec *spec, struct err *err) MUST_USE;
void policy_free(struct policy *p); /* NULL is a no-op */

/* reason (words for the prompt and the audit log) is borrowed and valid until policy_free(); it is
 * NULL when there is nothing to say. */
enum policy_verdict policy_check(const struct policy *p, enum policy_act act, const char *path,
				 const char **ret_reason);
/* What POLICY_VET looks at. */
enum policy_content {
	CONTENT_NONE,
	CONTENT_CONFIG,	  /* git's configuration */
	CONTENT_INDEX,	  /* git's index, or the shared part of one */
	CONTENT_REBASE,	  /* the rest of a rebase */
	CONTENT_STRATEGY, /* the name of a merge strategy */
	CONTENT_OPTIONS,  /* of a cherry-pick or revert that is to be continued */
	CONTENT_EMPTY,	  /* harmless while there is nothing in it */
	CONTENT_POINTER,  /* one line: where a git directory is, or what belongs to it */
};
enum policy_content policy_content(const struct policy *p, const char *path);
/* Does the name say that what is in it will be renamed to a name that is protected: config.lock of
 * git's, X.tmp.123 of a protected X? */
bool policy_carries_save(const struct policy *p, const char *path);
/* Does it matter whether what takes this name is a link or a directory? Then ask once more, with
 * POLICY_SYMLINK or POLICY_DIR_TO. */
bool policy_minds_type(const struct policy *p, const char *path);
/* Is anything but POLICY_ALLOW said of an object of this type (S_IFMT; 0: of any type) that takes
 * this name? It is asked as for a rename to there. */
bool policy_guards(const struct policy *p, const char *path, mode_t type);
/*
 * POLICY_VET: may a file with this content take that name? Never true when in doubt. The caller
 * makes sure that it is a plain file with one name that nobody can write to any more. old is what
 * that name holds; NULL: nothing does. Of a configuration may stay what is in it, unchanged and in
 * the same order, so that `git remote add` works where the human has aliases and filters; what
 * says where remotes are may be added and not changed. The content of a file whose name is about
 * to go is old, and data is NULL: what it said of remotes is kept in mind.
 */
bool policy_vet(struct policy *p, const char *path, const char *data, size_t len);
bool policy_vet_change(struct policy *p, const char *path, const char *old, size_t old_len,
		       const char *data, size_t len);
struct buf;
/* What git shows less by what passed last: "core.filemode", "index", or "". */
const char *policy_hides(const struct policy *p);
/* Of an index: how many files git no longer compares, unlike with the old one, and the first. */
size_t policy_index_hides(const char *path, const char *data, size_t len, const char *old,
			  size_t old_len, struct buf *ret_first);
/* POLICY_VET of a link: may one of this text take that name? */
bool policy_vet_link(const struct policy *p, const char *path, const char *target);

/* Is a write to this place outside every working folder worth a question, or refused at once? A
 * directory may be made without one on the way to what a rule lets be written. */
enum policy_verdict policy_check_outside(const struct policy *p, enum policy_act act,
					 const char *path, const char **ret_reason);

/*
 * The ask lines about writing in one section of a profile are a bundle: an answer of EXTENT_BUNDLE
 * is about all of them. The name of the one that decides about this path, borrowed as reasons are;
 * NULL: none does.
 */
const char *policy_bundle(const struct policy *p, const char *path);
struct buf;
/* Its patterns as they are written, "~/.claude.json, ~/.claude/settings.json". */
void policy_bundle_places(const struct policy *p, const char *name, struct buf *out);

/* Does a profile refuse on purpose what was refused for this borrowed reason? Its program is known
 * to go on without. */
bool policy_is_expected(const struct policy *p, const char *reason);
/* The reason of POLICY_ASK where reading merely was not granted. */
extern const char policy_ungranted[];
/* What the rules say of reading (executing, connecting to) an object; path resolved, absolute and
 * clean. Never POLICY_VET. */
enum policy_verdict policy_check_read(const struct policy *p, enum rule_kind kind, const char *path,
				      const char **ret_reason);

/*
 * A human's answer as a rule for this session. path is the object that was asked for, with a `/` at
 * the end when it is a directory: EXTENT_DIR and EXTENT_TREE are then about it, else about the
 * directory that holds it. An answer replaces an older one about the same. The id is for
 * policy_revoke(); 0: SCOPE_ONCE is not kept, nor more than 10 000 answers.
 */
uint64_t policy_answer(struct policy *p, enum rule_kind kind, const char *path,
		       const struct answer *a);
bool policy_revoke(struct policy *p, uint64_t id);
/* May an answer about this object be given for that extent? Not for a home directory, `/`, or what
 * holds a hidden place: policy_answer() takes such an answer for EXTENT_EXACT. */
bool policy_extent_offered(const struct policy *p, const char *path, enum answer_extent extent);
/* The same for a question of any kind; a host's domain, where it has one that is not public. */
bool policy_answer_offered(const struct policy *p, enum rule_kind kind, const char *path,
			   enum answer_extent extent);

/* ---- hosts (flows.c) ------------------------------------------------------------------------- */

struct net_addr;
struct net_target;
/*
 * What rules say of a connection to this target. addr is where its name leads, NULL: not known yet.
 * Rules about the name and rules about the address must both allow where there are both. Of a name
 * without a port: may it be at some port? POLICY_ALLOW, ASK or DENY.
 */
enum policy_verdict policy_check_flow(const struct policy *p, enum rule_kind kind,
				      const struct net_target *t, const struct net_addr *addr,
				      const char **ret_reason);
/*
 * Besides: may it go to this address, whichever name leads there? Loopback, link-local, private and
 * metadata addresses, and the host's own, are asked about unless a rule names addresses that they
 * are of.
 */
enum policy_verdict policy_check_address(const struct policy *p, enum rule_kind kind,
					 const struct net_addr *addr, uint16_t port,
					 const char **ret_reason);
/* Is it one of this host's own? */
bool policy_is_own_address(const struct net_addr *addr);

/*
 * From now on the rules of settings are those of this configuration; answers, folders, and what
 * other settings say, stay. All of it or, with -EINVAL and "FILE:LINE: ...", nothing. Reasons that
 * were lent before are gone.
 */
int policy_reload(struct policy *p, const struct config *config, struct err *err) MUST_USE;
/* May this be read no more, that the rules before the last policy_reload() let be read? They are
 * kept for this question until policy_forget_old(), or the next reload. */
bool policy_takes_back(struct policy *p, const char *path);
void policy_forget_old(struct policy *p);

/* Treat this path and everything below it as protected, as core.hooksPath of a repository is.
 * reason must live as long as the policy. */
void policy_protect(struct policy *p, const char *path, const char *reason);

/*
 * Look for other names of what is protected in this working folder: where links of such names lead,
 * git directories of another name, and what the settings of the human and of each repository there
 * name (core.hooksPath, files that are included, filters). At the start, and again when the human
 * has allowed such a thing to change. Bounded in time: true if there are further directories, for
 * policy_learn_more() before each change. The same walk finds secrets.
 */
bool policy_learn(struct policy *p, const char *folder);
bool policy_learn_more(struct policy *p);
/* Finds secrets in another tree that is shown natively, and hides them there from now on. */
void policy_find_secrets(struct policy *p, const char *dir);
/* The files and directories that were found and may not be read. */
size_t policy_secret_paths(const struct policy *p, const char *const **ret);
/* Returns how many directories of those trees were not looked at in time, and one of them. */
size_t policy_unseen(const struct policy *p, const char **ret_first);
/* The same of this one path, if its name is protected and it is a symbolic link. */
void policy_learn_link(struct policy *p, const char *path);

/* Hidden or secret paths, absolute: built in and from settings, whether they exist or not, and
 * existing single places outside gated trees that rules do not let be read or run. */
size_t policy_hidden(const struct policy *p, const char *const **ret);
/* Run by root: existing places of the system that only root may read. A rule may open them:
 * policy_check_read() tells. */
size_t policy_closed(const struct policy *p, const char *const **ret);
/* Trees where reading is not granted by default: $HOME, other people's, other disks, and all of /
 * that is no system directory. Resolved, existing, none beneath another; none in static mode. */
size_t policy_gated(const struct policy *p, const char *const **ret);
/* Existing directories and plain files beneath gated trees that may be read as a whole, all the
 * time: to be shown natively. Hidden paths may lie beneath; the spec's own lists are left out. */
size_t policy_granted(const struct policy *p, const char *const **ret);
/* Existing sockets of the host that a rule lets be connected to, or asked about: to be shown
 * inside, where nothing else of their directory may be. Resolved. */
size_t policy_sockets(const struct policy *p, const char *const **ret);
/* Some rule is about sockets. */
bool policy_opens_sockets(const struct policy *p);
/* May a rule hide something beneath this directory, that policy_check_read() must be asked about?
 */
bool policy_restricts(const struct policy *p, const char *dir);
/* A rule of the human's lets something outside the working folders be written: folders.c needs
 * somebody to go there even when nobody can be asked. */
bool policy_writes_outside(const struct policy *p);
/* Secret by name inside a working folder (".env", ".env.local"; not ".env.example"). */
bool policy_name_is_secret(const struct policy *p, const char *name);

/* ---- for `cordon why` and `cordon policy` ---------------------------------------------------- */

struct policy_finding {
	const char *verdict; /* "allow", "ask", "deny", "hide" */
	const char *words;   /* why */
	const char *origin;  /* "built in", "FILE:LINE", "your answer" */
	const char *rule;    /* its kinds and pattern as written; NULL: built in */
	const char *lost;    /* why it does not decide; NULL: it does */
};
/* Everything that speaks about this, what decides first. path as above, outside or inside the
 * working folders. Heap array; strings are the policy's. */
size_t policy_explain(struct policy *p, enum rule_kind kind, const char *path,
		      struct policy_finding **ret);
/* The rules in effect, for listing: those of trusted sources, and of a project file that is not. */
void policy_rules(const struct policy *p, const struct rules **ret_trusted,
		  const struct rules **ret_untrusted);
