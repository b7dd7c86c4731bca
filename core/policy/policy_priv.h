/* policy_priv - between the files of core/policy. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/policy/policy.h"
#include "core/policy/rules.h"

/* ---- names.c: names as the most forgiving file system compares them ----------------------- */

/* Append the folded form of one component. */
void names_fold(struct buf *out, const char *name, size_t len);
/* The whole path, component by component. */
void names_fold_path(struct buf *out, const char *path);

/* ---- protect.c: files that something on the host runs or obeys later ---------------------- */

/* False for nearly every path, at the cost of one pass over its bytes: nothing built in applies. */
bool protect_is_candidate(const char *path);
/* What is milder than the verdict and about something deeper: a rule that loosens the one leaves
 * the other standing. */
struct inner {
	enum policy_verdict verdict; /* ALLOW: nothing */
	const char *reason;
	unsigned depth;
};
/* What is built in says about a place. */
struct builtin {
	enum policy_verdict verdict;
	const char *reason;
	unsigned depth; /* components that name what is protected */
	bool final;	/* no rule and no answer changes it */
	struct inner inner;
};
static inline struct builtin builtin_says(enum policy_verdict verdict, const char *reason,
					  unsigned depth, bool final)
{
	return (struct builtin){
		.verdict = verdict, .reason = reason, .depth = depth, .final = final};
}
/* ALLOW, VET or ASK for a folded path; raw_leaf is the last component as it is; in_git: it lies in
 * a git directory that is known by other means than its name. */
void protect_check(enum policy_act act, const char *folded, const char *raw_leaf, bool in_git,
		   struct builtin *ret);
/* Is it, folded, the name of a directory that is protected, or of which something is? */
bool protect_is_tree(const char *name);
/* Nothing may be put in place or get another name; keep: nor be taken away. */
enum policy_verdict protect_guard(enum policy_act act, bool keep);
/* By its name, folded: what a file in a git directory holds. */
enum policy_content protect_content(const char *folded);

/* ---- git_dirs.c: git directories whose name does not say so -------------------------------- */

/* What follows the git directory, folded, "" for itself; NULL: the path lies in none that is known
 * from the start, nor, where the name would matter there, in one that shows on disk. Until the next
 * call. */
const char *git_dirs_find(const struct policy *p, const char *path);
/* The same without a look at the disk: only those that are known from the start. */
const char *git_dirs_known(const struct policy *p, const char *path);
void git_dirs_add(struct policy *p, char *path); /* takes it */

/* ---- git_vet_config.c
 * ---------------------------------------------------------------------------------- */

/* A configuration, line by line. What a reader does not understand is LINE_OTHER or LINE_BAD. */
#define VET_MAX_BYTES (256u << 10)
#define VET_MAX_NAME  256
enum line_kind {
	LINE_NONE, /* the end */
	LINE_BLANK,
	LINE_HEADER,
	LINE_INERT,
	LINE_OTHER, /* may stay if it was there before */
	LINE_BAD,   /* this text is not for us */
};
struct vet_reader {
	const char *p, *end;
	struct span line;   /* trimmed */
	struct span header; /* the line of the current section, trimmed; len 0: unknown */
	char section[VET_MAX_NAME], sub[VET_MAX_NAME];
};
struct vet_reader vet_reader_of(const char *text, size_t len);
enum line_kind vet_next(struct vet_reader *r);
/* The value, where the line sets this key (lower case); else len is 0. */
struct span vet_value(const struct vet_reader *r, const char *key);
/* Nothing in this git configuration can make git run or read something of the writer's choice,
 * apart from what `old` (may be NULL) has just so. */
bool vet_git_config(const char *data, size_t len, const char *old, size_t old_len);

/* ---- git_vet_index.c, git_vet_rebase.c
 * -----------------------------------------------------------------
 */

/* Every path in this index (hash: bytes of an object's name) is one that git itself would put
 * there: it leads neither out of the worktree nor into a git directory. */
bool vet_git_index(const char *data, size_t len, size_t hash, bool *ret_hides);
/* *ret_hides above: some entries are not compared with their files. How many of these the old index
 * does not have so, and the first one's path. */
size_t vet_index_hidden(const char *data, size_t len, const char *old, size_t old_len, size_t hash,
			struct buf *ret_first);
/* Settings by which `git status` and `git diff` show less, that old (may be NULL) has not: the
 * first one as "section.name", or nothing. */
void vet_config_hides(const char *data, size_t len, const char *old, size_t old_len,
		      struct buf *ret);
/* No line of this rebase runs a program, apart from those in `old` (may be NULL). */
bool vet_git_rebase(const char *data, size_t len, const char *old, size_t old_len);
/* One of git's own merge strategies: of any other git runs git-merge-NAME, which is a path in the
 * worktree where NAME has a slash. */
bool vet_git_strategy(const char *data, size_t len);
/* The options of a cherry-pick or revert: nothing unknown, and no other strategy. */
bool vet_git_options(const char *data, size_t len);

/* ---- git_vet_pointer.c
 * --------------------------------------------------------------------------- */

/* This one line, in a file of that path, leads git to no other place than `git worktree add` and
 * `git submodule add` would in the same repository, and makes git run nothing that is there. */
bool vet_git_pointer(struct policy *p, const char *path, const char *data, size_t len);
/* core.worktree, where it is not as in `old`, is that of a submodule's own directory. */
bool vet_git_worktree(const char *path, const char *old, size_t old_len, const char *data,
		      size_t len);

/* ---- git_vet_remotes.c
 * --------------------------------------------------------------------------- */

struct remotes;
void remotes_free(struct remotes *r); /* NULL is a no-op */
/* Keep in mind what the configuration of that path said when it was first seen; old NULL: there was
 * none. False: too many of them. */
bool remotes_note(struct policy *p, const char *path, const char *old, size_t old_len);
/* What this text says of where remotes are is new, and changes nothing that was there. */
bool remotes_may(struct policy *p, const char *path, const char *old, size_t old_len,
		 const char *data, size_t len);
/* Bytes of an object's name in the repository of a configuration; 0: not to be told. */
size_t vet_hash_size(const char *data, size_t len);

/* ---- git_vet_config.c
 * ---------------------------------------------------------------------------------- */

/* Files that this git configuration names for git to read: includes, excludes, attributes; as they
 * are written. */
void vet_find_files(const char *data, size_t len, void (*on)(void *arg, const char *path),
		    void *arg);
/* git_vet_keys.c: one setting, key in lower case but for the subsection. */
bool vet_key_is_inert(const char *section, const char *sub, const char *name, const char *value);

/* The directory that an extent is about. Heap string. */
char *answer_dir(const char *path) MUST_USE;

/* ---- gated_trees.c
 * -------------------------------------------------------------------------------- */

/* A list of heap strings, ended by NULL once non-empty. */
struct places {
	char **list;
	size_t n;
};
void places_add(struct places *p, char *path);		    /* takes it */
bool places_hold(const struct places *p, const char *path); /* it, or something above it */
/* The names in a directory, sorted, and those of them that are links (may be NULL), or may be. */
int places_list(const char *dir, struct places *names, struct places *links) MUST_USE;
bool places_have(const struct places *p, const char *text, size_t len); /* itself; sorted */
void places_done(struct places *p);
/* What policy_gated() returns. */
void places_find_gated(struct places *ret, const struct policy_spec *spec, const char *home);
/* What dynamic mode grants by itself: harmless files in $HOME, and the directories of $PATH with
 * what stands beside them. Resolved where they exist. */
void places_find_usual(struct places *ret, const struct policy_spec *spec, const char *home);
/* The sandbox has its own there. */
bool places_are_private(const char *path);
/* Number of components. */
unsigned places_depth(const char *path);

/* ---- links.c --------------------------------------------------------------------------------- */

struct links;
struct links *links_new(void) MUST_USE;
void links_free(struct links *l); /* NULL is a no-op */
enum link_place {
	IS_PLAIN,
	IS_LINK, /* it, or something above it */
	IS_MISSING,
};
/* What a place (absolute; len bytes of path) is. */
enum link_place links_look(struct links *l, const char *path, size_t len);
/* A directory, or the first on the way there that is a link or missing; it lives as long. */
const struct link_dir *links_dir(struct links *l, const char *path, size_t len);
enum link_place links_place(const struct link_dir *d);
/* Nothing of this name is there. False: there may be, it has to be looked at. */
bool links_lack(const struct link_dir *d, const char *name, size_t len);
/* Where it leads, as far as it exists, and the rest as text (heap); -ELOOP. *ret_inside: a link on
 * the way lies in a working folder, where the agent may have made it. */
int links_follow(const char *path, const char *const *folders, char **ret, bool *ret_inside)
	MUST_USE;
/* The same; *ret_links gets each link on the way, at its own real place. Also where it fails. */
int links_follow_each(const char *path, const char *const *folders, struct places *ret_links,
		      char **ret, bool *ret_inside) MUST_USE;

/* ---- words.c --------------------------------------------------------------------------------- */

/* "read,exec PATTERN": the kinds, and where the pattern begins; 0: *why. */
unsigned words_kinds(const char *value, const char **ret_pattern, const char **why);
/* "2026-12-31" is to the end of that day, local time; "2026-12-31 18:00[:00]". */
bool words_until(const char *s, int64_t *ret);

/* ---- policy.c -------------------------------------------------------------------------------- */

#define GUARDED_MAX 2000 /* nothing that adds to them is let pass beyond */
struct guarded {
	char *path;
	const char *reason;
};

/* An answer of the session: one rule for each kind that it is about. */
struct given {
	uint64_t id;
	uint32_t rule;
};

struct policy {
	char *home;
	char **hidden;
	size_t n_hidden;
	size_t n_builtin; /* of those, the first ones: below $HOME, a rule may uncover them */
	size_t n_set;	  /* the rest up to here stays hidden; behind it are rules' */
	struct guarded *guarded;
	size_t n_guarded;
	struct rules *rules;		   /* of trusted sources, and answers */
	struct rules *untrusted;	   /* of the project: can only make things stricter */
	struct rules *old, *old_untrusted; /* before the last reload; NULL: forgotten */
	struct places folders, gated, usual, granted, sockets;
	struct places closed;	 /* only root may read them */
	struct places git_dirs;	 /* of repositories in the folders, where they are not named .git */
	struct walk *walk;	 /* what is still to be learned; NULL: nothing */
	struct places secrets;	 /* found by name, or named by rules, in folders and in */
	struct places shown;	 /* overlays and --ro folders, which the sandbox shows natively */
	size_t n_unseen;	 /* directories that no walk has reached */
	char *unseen;		 /* one of them */
	struct remotes *remotes; /* what configurations said of remotes at first */
	bool dynamic, writes_outside;
	struct given *given;
	size_t n_given;
	uint64_t last_id;
	struct buf hides;	  /* policy_hides() */
	struct buf scratch, rest; /* folded paths, kept between calls */
};

int64_t policy_now(void); /* unix seconds */
/* A rules_on_error: the first of them into a struct err. */
void policy_first_error(void *data, const char *file, int line, const char *words);

/* ---- hidden.c -------------------------------------------------------------------------------- */

void hidden_collect(struct policy *p, const struct policy_spec *spec);
void hidden_add(struct policy *p, char *path); /* takes it */

/* ---- closed.c -------------------------------------------------------------------------------- */

/* Run by root: finds p->closed. After the rules. */
void closed_collect(struct policy *p);

/* ---- check.c --------------------------------------------------------------------------------- */

struct builtin builtin_write(const struct policy *p, enum policy_act act, const char *path);
struct builtin builtin_outside(const struct policy *p, const char *path);
struct builtin builtin_read(const struct policy *p, enum rule_kind kind, const char *path);
/* May this rule loosen what is built in? */
bool builtin_gives_way(const struct builtin *b, const struct rule_match *m);
enum policy_verdict verdict_of_rule(enum rule_verdict v);

/* ---- flows.c --------------------------------------------------------------------------------- */

void flows_named(struct policy *p, const struct policy_spec *spec); /* --allow-domain and so on */
bool flows_offered(const char *target, enum answer_extent extent);
size_t flows_explain(struct policy *p, enum rule_kind kind, const char *target,
		     struct policy_finding **ret);

/* ---- listening.c ----------------------------------------------------------------------------- */

void listening_collect(struct policy *p); /* what policy_sockets() returns */

/* ---- bundle.c -------------------------------------------------------------------------------- */

/* The answer speaks of all patterns of the bundle. False: one of them is none. */
bool bundle_place(struct policy *p, uint32_t answer, const char *name);

/* ---- grant.c --------------------------------------------------------------------------------- */

/* From the rules: what policy_granted() and, besides the built-in ones, policy_hidden() return. */
void grant_collect(struct policy *p);
