/* policy - decides about reading, writing, running and hiding by built-in lists, rules, answers. */
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

/* An operation on a name inside a working folder. */
enum policy_act {
	POLICY_WRITE, /* open for writing, create a file, truncate, new symlink, node or link */
	POLICY_MKDIR,
	POLICY_REMOVE,	    /* unlink, rmdir */
	POLICY_RENAME_FROM, /* this name is removed by a rename */
	POLICY_RENAME_TO,   /* an object takes this name; RENAME_EXCHANGE: both names are this */
	POLICY_LINK_FROM,   /* another name for this file will be made */
	POLICY_META,	    /* mode, owner, times, attributes */
	POLICY_SYMLINK,	    /* a link is made or renamed to this name; as POLICY_WRITE */
	POLICY_DIR_TO,	    /* a directory takes this name: checked besides POLICY_RENAME_TO */
};

/* The inputs of a policy. Borrowed until policy_new() returns, except config. */
struct policy_spec {
	const struct config *config; /* settings and rules; NULL: built-in ones only */
	const char *home;	     /* $HOME, absolute */
	/* NULL or NULL-terminated; absolute and resolved. */
	const char *const *folders; /* working folders, and repositories that belong to them */
	/* Those repositories, and the git directories of the folders, which are repositories or are
	 * in one: files of other worktrees there are not changed. */
	const char *const *repositories, *const *git_dirs;
	const char *const *read_only; /* --ro: also readable */
	const char *const *overlays;  /* --overlay: the same */
	const char *const *hidden;    /* --hide */
	const char *const *sockets;   /* --allow-unix */
	const char *const *hosts;     /* --allow-domain: these, and their sub-domains */
	/* --allow-network: hosts are allowed, except addresses that need a rule of their own. */
	bool public_hosts;
	const char *path;    /* $PATH, NULL: none; for policy_granted() */
	const char *program; /* the program that the user named */
	bool dynamic;	     /* reads of gated trees without a grant are asked about */
};

/*
 * Life:    policy_new() -> policy_free(). Session answers may be added while it lives.
 * Threads: one owner.
 * Paths:   absolute, clean and resolved ("/home/u/p/.git/hooks/x"), any bytes.
 * Names are compared as the most forgiving file system would: case folded, Unicode decomposed,
 * without invisible characters and trailing dots and blanks, and by short names of vfat.
 * Errors:  a bad rule is -EINVAL and "FILE:LINE: ...": no rule is left out silently.
 *
 * Precedence: rules.h says which of several rules decides. A rule overrides built-in protection if
 * it names the path itself or one nearer to it; so does an answer of the session. Only such a rule
 * overrides hiding; cordon's own folders and the paths of sandbox.hide and --hide stay hidden. If a
 * stricter rule and built-in protection both apply, the stricter wins. Rules of an untrusted
 * project file can only make the policy stricter.
 */
int policy_new(struct policy **ret, const struct policy_spec *spec, struct err *err) MUST_USE;
void policy_free(struct policy *p); /* NULL is a no-op */

/* Returns the verdict. *reason (for the prompt and the audit log) is borrowed and valid until
 * policy_free(); NULL: none. */
enum policy_verdict policy_check(const struct policy *p, enum policy_act act, const char *path,
				 const char **ret_reason);
/* The kind of content that POLICY_VET checks. */
enum policy_content {
	CONTENT_NONE,
	CONTENT_CONFIG,	  /* git's configuration */
	CONTENT_INDEX,	  /* git's index, or the shared part of one */
	CONTENT_REBASE,	  /* the rest of a rebase */
	CONTENT_STRATEGY, /* the name of a merge strategy */
	CONTENT_OPTIONS,  /* options of a cherry-pick or revert that is to be continued */
	CONTENT_EMPTY,	  /* harmless while empty */
	CONTENT_SHALLOW,  /* commits whose parents git ignores */
	CONTENT_POINTER,  /* one line: the path of a git directory, or of a part of one */
};
enum policy_content policy_content(const struct policy *p, const char *path);
/* Returns whether the file's name shows that it will be renamed to a protected one: config.lock of
 * git, X.tmp.123 of a protected X. */
bool policy_carries_save(const struct policy *p, const char *path);
/* Returns whether the verdict depends on the type of the object that takes this name. Then call
 * policy_check() again, with POLICY_SYMLINK or POLICY_DIR_TO. */
bool policy_minds_type(const struct policy *p, const char *path);
/* Returns whether the path is in a git directory: git on the host would open a FIFO there, and wait
 * for a writer. */
bool policy_minds_pipe(const struct policy *p, const char *path);
/* Returns whether the verdict is not POLICY_ALLOW for an object of this type (S_IFMT; 0: of any
 * type) that is renamed to this name. */
bool policy_guards(const struct policy *p, const char *path, mode_t type);
/*
 * For POLICY_VET: returns whether a file with this content may take that name; false when in doubt.
 * The caller makes sure that it is a plain file with one name and that no process can write to it.
 * old is the content of the file that has the name now, NULL if there is none. Settings of a
 * configuration may stay, unchanged and in the same order, so that `git remote add` works with the
 * user's aliases and filters; addresses of remotes may be added, not changed. For a file that will
 * lose its name, old is its content and data is NULL: its remotes are remembered.
 */
bool policy_vet(struct policy *p, const char *path, const char *data, size_t len);
bool policy_vet_change(struct policy *p, const char *path, const char *old, size_t old_len,
		       const char *data, size_t len);
struct buf;
/* Returns which setting or file, vetted last, makes git show less: "core.filemode", "index", or
 * "". */
const char *policy_hides(const struct policy *p);
/* Returns how many files git no longer compares with this index but did with the old one, and the
 * first of them. */
size_t policy_index_hides(const char *path, const char *data, size_t len, const char *old,
			  size_t old_len, struct buf *ret_first);
/* For POLICY_VET of a symbolic link: returns whether one with this target may take the name. */
bool policy_vet_link(const struct policy *p, const char *path, const char *target);

/* Returns whether a write outside every working folder is asked about or refused at once. A
 * directory above a path that a rule allows to write may be made without a question. */
enum policy_verdict policy_check_outside(const struct policy *p, enum policy_act act,
					 const char *path, const char **ret_reason);

/* Returns whether a profile's rule is about writing this path or below: its program's own place. */
bool policy_is_of_profile(const struct policy *p, const char *path);
/* Returns the program's own directories in the home, in which a profile lets it write: ~/.gemini,
 * ~/.local/share/opencode. May have doubles; NULL: none. For the caller to free: util_free_list().
 */
char **policy_own_dirs(const struct policy *p, const char *home);

/*
 * The ask lines about writing in one section of a profile are a bundle: an answer of EXTENT_BUNDLE
 * covers all of them. Returns the name of the bundle that decides about this path, borrowed as
 * reasons are, or NULL.
 */
const char *policy_bundle(const struct policy *p, const char *path);
struct buf;
/* Appends the patterns of a bundle as written: "~/.claude.json, ~/.claude/settings.json". */
void policy_bundle_places(const struct policy *p, const char *name, struct buf *out);
/* Returns the same as absolute patterns; a heap list. */
char **policy_bundle_patterns(struct policy *p, const char *name) MUST_USE;

/* Returns whether this reason (borrowed) is a refusal that a profile makes on purpose, because its
 * program is known to work without the access. */
bool policy_is_expected(const struct policy *p, const char *reason);
/* The reason of POLICY_ASK if no rule grants the read. */
extern const char policy_ungranted[];
/* Decides about reading (executing, connecting to) an object; path resolved, absolute and clean.
 * Never returns POLICY_VET. */
enum policy_verdict policy_check_read(const struct policy *p, enum rule_kind kind, const char *path,
				      const char **ret_reason);

/*
 * Adds an answer of the user as a rule for this session. path is the object of the question, with a
 * `/` at the end if it is a directory: EXTENT_DIR and EXTENT_TREE then apply to it, else to its
 * parent directory. An answer replaces an older one about the same object. Returns an id for
 * policy_revoke(), or 0 if it is not kept: SCOPE_ONCE, or more than 10 000 answers.
 */
uint64_t policy_answer(struct policy *p, enum rule_kind kind, const char *path,
		       const struct answer *a);
bool policy_revoke(struct policy *p, uint64_t id);
/* Returns whether an answer about this object may have that extent. Not for a home directory, `/`,
 * or a directory that contains a hidden path: policy_answer() reduces such an answer to
 * EXTENT_EXACT. */
bool policy_extent_offered(const struct policy *p, const char *path, enum answer_extent extent);
/* Returns the same for a question of any kind. For a host, EXTENT_TREE needs a domain that is not a
 * public suffix. */
bool policy_answer_offered(const struct policy *p, enum rule_kind kind, const char *path,
			   enum answer_extent extent);

/* ---- hosts (flows.c) ------------------------------------------------------------------------- */

struct net_addr;
struct net_target;
/*
 * Decides about a connection to this target by the rules. addr is the address of its name, NULL:
 * unknown. If there are rules about the name and rules about the address, both must allow it. For a
 * name without a port: decides whether some port may be allowed. Returns POLICY_ALLOW, ASK or DENY.
 */
enum policy_verdict policy_check_flow(const struct policy *p, enum rule_kind kind,
				      const struct net_target *t, const struct net_addr *addr,
				      const char **ret_reason);
/*
 * Decides whether a connection may go to this address, whatever its name. Loopback, link-local,
 * private and metadata addresses, and those of the host, are asked about unless a rule names
 * addresses that include them.
 */
enum policy_verdict policy_check_address(const struct policy *p, enum rule_kind kind,
					 const struct net_addr *addr, uint16_t port,
					 const char **ret_reason);
/* Returns whether the address is one of this host. */
bool policy_is_own_address(const struct net_addr *addr);

/*
 * Replaces the rules of settings by those of this configuration; answers, folders and other
 * settings stay. Replaces all or, with -EINVAL and "FILE:LINE: ...", none. Reasons that were
 * returned before become invalid.
 */
int policy_reload(struct policy *p, const struct config *config, struct err *err) MUST_USE;
/* Returns whether the rules before the last policy_reload() allowed reading this path and the rules
 * now do not. The old rules are kept until policy_forget_old(), or the next reload. */
bool policy_takes_back(struct policy *p, const char *path);
/* Returns whether the last policy_reload() changed the verdict on this object of a question. */
bool policy_judges_anew(struct policy *p, enum rule_kind kind, const char *path);
void policy_forget_old(struct policy *p);
/* Appends the changes by the last policy_reload(): "now allow read ~/x; no longer deny write ~/y".
 * Nothing if rules have the same effect as before, or are this session's own answers. *restricts: a
 * new rule restricts reading. Before policy_forget_old(). */
void policy_news(const struct policy *p, struct buf *words, bool *restricts);

/* Protects this path and everything below it, as for core.hooksPath of a repository; keep: from
 * being removed, too, in a folder or elsewhere. reason must live as long as the policy. */
void policy_protect(struct policy *p, const char *path, const char *reason, bool keep);
/* Does the same for the parts in a working folder: the path, links on the way, and the target. */
void policy_learn_place(struct policy *p, const char *path, const char *reason);
/* Does the same with keep, also outside the folders: cordon's own state is there. */
void policy_keep_place(struct policy *p, const char *path, const char *reason);
/* Does the same for the links on the way alone. */
void policy_keep_way(struct policy *p, const char *path, const char *reason);

/*
 * Finds other names of protected files in this working folder: targets of links, git directories of
 * other names, and paths in the git settings of the user and of each repository there
 * (core.hooksPath, included files, filters). Called at the start, and again when the user has
 * allowed such a file to change. Bounded in time: returns true if there are further directories,
 * for policy_learn_more() before each change. The same walk finds secrets.
 */
bool policy_learn(struct policy *p, const char *folder);
/* Options for later searches. */
struct policy_search {
	/* Real time; 0: the limits of a session, 2 s real and 0.6 s of processor time. */
	int64_t us;
	void (*slow)(void *data); /* called once, after a second; may be NULL */
	void *data;
	/* File that caches the content of directories for the next search; borrowed until the next
	 * policy_search(); NULL: none. */
	const char *seen;
};
void policy_search(struct policy *p, const struct policy_search *s); /* copied; NULL: zeros */
bool policy_learn_more(struct policy *p);
/* Finds secrets in one of the read-only folders or overlays. */
void policy_find_secrets(struct policy *p, const char *dir);
/* Returns the secret files and directories that were found and may not be read. */
size_t policy_secret_paths(const struct policy *p, const char *const **ret);
/* Returns how many directories of those trees were not reached in time, and one of them. */
size_t policy_unseen(const struct policy *p, const char **ret_first);
/* Does the same for one path, if its name is protected and it is a symbolic link. */
void policy_learn_link(struct policy *p, const char *path);

/* Returns hidden or secret paths, absolute: built-in ones and those of settings, whether they exist
 * or not, and existing single paths outside gated trees that rules forbid to read or run. */
size_t policy_hidden(const struct policy *p, const char *const **ret);
/* Run by root: returns existing system paths that only root may read. A rule may open them:
 * policy_check_read() tells. */
size_t policy_closed(const struct policy *p, const char *const **ret);
/* Returns how many of these paths are directories with too many entries to examine, and one of
 * them. */
size_t policy_closed_whole(const struct policy *p, const char **ret_first);
/* Returns trees where reading is not granted by default: $HOME, other users' homes, other disks,
 * and all of / except system directories. Resolved, existing, none beneath another; none in static
 * mode. */
size_t policy_gated(const struct policy *p, const char *const **ret);
/* Returns existing directories and plain files beneath gated trees that may always be read as a
 * whole, to be shown natively. Hidden paths may be beneath; the spec's own lists are left out. */
size_t policy_granted(const struct policy *p, const char *const **ret);
/* Returns existing sockets of the host that a rule allows to connect to, or asks about: to be shown
 * inside, where the rest of their directory may not be. Resolved. */
size_t policy_sockets(const struct policy *p, const char *const **ret);
/* Returns whether any rule concerns sockets. */
bool policy_opens_sockets(const struct policy *p);
/* Returns whether a rule may hide a file beneath this directory, so that policy_check_read() must
 * be called for each. */
bool policy_restricts(const struct policy *p, const char *dir);
/* Returns whether a rule of the user allows to write files outside the working folders. Then the
 * keeper starts its unconfined thread (folders/unconfined.h), even if no question can be asked. */
bool policy_writes_outside(const struct policy *p);
/* Returns whether a rule allows or asks about writing the directory or a file in it. */
bool policy_writes_at(const struct policy *p, const char *dir);
/* Returns whether a name in a working folder is secret (".env", ".ENV.local"; not ".env.example"):
 * by the folded name, whatever the file system. Any thread. */
bool policy_name_is_secret(const struct policy *p, const char *name);

/* Returns the rule or answer that allows writing this path, "rule 'x' (FILE:LINE) says allow"; NULL
 * if there is none or built-in protection is stricter. Owned by the policy. */
const char *policy_allowed_by(const struct policy *p, const char *path);

/* ---- functions for `cordon why` and `cordon policy` ------------------------------------------ */

struct policy_finding {
	const char *verdict; /* "allow", "ask", "deny", "hide" */
	const char *words;   /* the reason */
	const char *origin;  /* "built in", "FILE:LINE", "your answer" */
	const char *rule;    /* its kinds and pattern as written; NULL: built in */
	const char *lost;    /* why it does not decide; NULL: it does */
};
/* Returns all rules and built-in lists that apply to a path, the deciding one first. path as above,
 * outside or inside the working folders. Heap array; strings are the policy's. */
size_t policy_explain(struct policy *p, enum rule_kind kind, const char *path,
		      struct policy_finding **ret);
/* Returns the rules in effect, for listing: those of trusted sources, and those of an untrusted
 * project file. */
void policy_rules(const struct policy *p, const struct rules **ret_trusted,
		  const struct rules **ret_untrusted);
