/* policy_priv - types and functions shared by the files of core/policy. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/listing.h"
#include "core/policy/policy.h"
#include "core/policy/rules/rules.h"

/* ---- names.c: names as the most forgiving file system compares them ----------------------- */

/* Appends the folded form of one component. */
void names_fold(struct buf *out, const char *name, size_t len);
/* Appends the folded form of a whole path. */
void names_fold_path(struct buf *out, const char *path);

/* ---- protect.c: files that programs of the host run or obey --------------------------------- */

/* Returns false for nearly every path, after one pass over its bytes: then no built-in protection
 * applies. */
bool protect_is_candidate(const char *path);
/* A milder verdict about a deeper part of the path. It remains if a rule overrides the other. */
struct inner {
	enum policy_verdict verdict; /* ALLOW: none */
	const char *reason;
	unsigned depth;
};
/* The verdict of built-in protection about a path. */
struct builtin {
	enum policy_verdict verdict;
	const char *reason;
	unsigned depth; /* components down to the protected one */
	bool final;	/* neither a rule nor an answer changes it */
	struct inner inner;
};
static inline struct builtin builtin_says(enum policy_verdict verdict, const char *reason,
					  unsigned depth, bool final)
{
	return (struct builtin){
		.verdict = verdict, .reason = reason, .depth = depth, .final = final};
}
/* Judges a folded path: ALLOW, VET or ASK. raw_leaf is the unfolded last component; in_git: the
 * path is in a git directory that is recognised by other means than its name. */
void protect_check(enum policy_act act, const char *folded, const char *raw_leaf, bool in_git,
		   struct builtin *ret);
/* Returns whether a directory of this name (folded), or a path in it, is protected. */
bool protect_is_tree(const char *name);
/* Returns the verdict that protects a path from being created or renamed; keep: also from
 * removal. */
enum policy_verdict protect_guard(enum policy_act act, bool keep);
/* Returns the kind of content of a file in a git directory, by its folded name. */
enum policy_content protect_content(const char *folded);

/* ---- git_dirs.c: git directories with other names than .git -------------------------------- */

/* Returns the folded path below the git directory that contains this path, "" for the directory
 * itself. Finds directories that were known at the start, and on the disk if the name would matter
 * there; NULL: none. Valid until the next call. */
const char *git_dirs_find(const struct policy *p, const char *path);
/* Does the same without reading the disk, for directories that were known at the start. */
const char *git_dirs_known(const struct policy *p, const char *path);
/* Returns whether the path is in a directory where an agent keeps git directories of its own. */
bool git_dirs_kept(const struct policy *p, const char *path);
void git_dirs_add(struct policy *p, char *path); /* takes it */

/* ---- git_vet_config.c ------------------------------------------------------------------------ */

/* Reads a configuration line by line. Lines that a reader does not understand are LINE_OTHER or
 * LINE_BAD. */
#define VET_MAX_BYTES (256u << 10)
#define VET_MAX_NAME  256
enum line_kind {
	LINE_NONE, /* the end */
	LINE_BLANK,
	LINE_HEADER,
	LINE_INERT,
	LINE_OTHER, /* allowed if it was there before */
	LINE_BAD,   /* the text cannot be vetted */
};
struct vet_reader {
	const char *p, *end;
	struct span line;   /* trimmed */
	struct span header; /* the header of the current section, trimmed; len 0: unknown */
	char section[VET_MAX_NAME], sub[VET_MAX_NAME];
};
struct vet_reader vet_reader_of(const char *text, size_t len);
enum line_kind vet_next(struct vet_reader *r);
/* Returns the value if the line sets this key (lower case); else len is 0. */
struct span vet_value(const struct vet_reader *r, const char *key);
/* Returns whether nothing in this git configuration can make git run or read a file of the writer's
 * choice, apart from unchanged lines of `old` (may be NULL). */
bool vet_git_config(const char *data, size_t len, const char *old, size_t old_len);

/* ---- git_vet_index.c, git_vet_rebase.c ------------------------------------------------------- */

/* Returns whether every path in this index (hash: bytes of an object's name) is one that git itself
 * would store: it leads neither out of the worktree nor into a git directory. *ret_hides: git does
 * not compare some entries with their files. */
bool vet_git_index(const char *data, size_t len, size_t hash, bool *ret_hides);
/* For an index with *ret_hides: returns how many such entries the old index does not have, and the
 * path of the first one. */
size_t vet_index_hidden(const char *data, size_t len, const char *old, size_t old_len, size_t hash,
			struct buf *ret_first);
/* Appends the first setting that makes `git status` and `git diff` show less and is not in old (may
 * be NULL), as "section.name"; appends nothing if there is none. */
void vet_config_hides(const char *data, size_t len, const char *old, size_t old_len,
		      struct buf *ret);
/* Returns whether no line of this rebase runs a program, apart from lines in `old` (may be
 * NULL). */
bool vet_git_rebase(const char *data, size_t len, const char *old, size_t old_len);
/* Returns whether this is one of git's own merge strategies. For any other, git runs
 * git-merge-NAME, which is a path in the worktree if NAME has a slash. */
bool vet_git_strategy(const char *data, size_t len);
/* Returns whether the options of a cherry-pick or revert are all known and name no other
 * strategy. */
bool vet_git_options(const char *data, size_t len);

/* ---- git_vet_pointer.c ----------------------------------------------------------------------- */

/* Returns whether this line, in a file of that path, names only paths that `git worktree add` and
 * `git submodule add` would write in the same repository, and makes git run no file there.
 * Alternates must name objects of a repository in a working folder. */
bool vet_git_pointer(struct policy *p, const char *path, const char *data, size_t len);
/* Returns whether core.worktree, if it differs from `old`, is that of a submodule's own directory
 * or, in a repository of an agent, a working folder. */
bool vet_git_worktree(const struct policy *p, const char *path, const char *old, size_t old_len,
		      const char *data, size_t len);

/* ---- git_vet_remotes.c ----------------------------------------------------------------------- */

struct remotes;
void remotes_free(struct remotes *r); /* NULL is a no-op */
/* Remembers the remotes of that configuration as first seen; old NULL: it did not exist. Returns
 * false if there are too many. */
bool remotes_note(struct policy *p, const char *path, const char *old, size_t old_len);
/* Returns whether this text only adds remotes and changes no existing one. */
bool remotes_may(struct policy *p, const char *path, const char *old, size_t old_len,
		 const char *data, size_t len);
/* Returns whether a repository may get this `shallow`. For git its commits have no parents, so `git
 * gc` drops all history before them. So a repository that the session did not make gets no further
 * ones. */
bool shallow_may(struct policy *p, const char *path, const char *old, size_t old_len,
		 const char *data, size_t len);

/* ---- git_vet_config.c ------------------------------------------------------------------------ */

/* Calls on() for files that this git configuration tells git to read: includes, excludes,
 * attributes; as written. */
void vet_find_files(const char *data, size_t len, void (*on)(void *arg, const char *path),
		    void *arg);
/* git_vet_keys.c: returns whether a setting is inert; key in lower case except for the
 * subsection. */
bool vet_key_is_inert(const char *section, const char *sub, const char *name, const char *value);

/* ---- places.c -------------------------------------------------------------------------------- */

/* A list of heap strings, ended by NULL once non-empty. */
struct places {
	char **list;
	size_t n;
};
void places_add(struct places *p, char *path);		     /* takes it */
void places_move(struct places *to, struct places *from);    /* takes all of its paths */
bool places_cover(const struct places *p, const char *path); /* it, or a parent */
bool places_has(const struct places *p, const char *path);   /* it alone */
bool places_has_sorted(const struct places *p, const char *text, size_t len); /* it alone; sorted */
/* Lists the names in a directory, sorted, and the links among them (may be NULL), including names
 * of unknown type. */
int places_read_dir(const char *dir, struct places *names, struct places *links) MUST_USE;
void places_done(struct places *p);

/* ---- gated_trees.c, usual_trees.c ------------------------------------------------------------ */

/* Finds the trees of policy_gated(). */
void gated_trees_find(struct places *ret, const struct policy_spec *spec, const char *home);
/* Returns whether the sandbox has a directory of its own at this path. */
bool gated_trees_are_private(const char *path);
/* Finds the places that dynamic mode grants by itself: harmless files in $HOME, and the directories
 * of $PATH with their neighbours. Resolved where they exist. */
void usual_trees_find(struct places *ret, const struct policy_spec *spec, const char *home,
		      const struct listing *at_home);

/* ---- links.c --------------------------------------------------------------------------------- */

struct links;
struct links *links_new(void) MUST_USE;
void links_free(struct links *l); /* NULL is a no-op */
enum link_place {
	IS_PLAIN,
	IS_LINK, /* the path, or an ancestor */
	IS_MISSING,
};
/* Returns the type of the file at the first len bytes of path (absolute). */
enum link_place links_look(struct links *l, const char *path, size_t len);
/* Follows the links of a path as far as it exists; the rest stays as text (heap). Returns 0 or
 * -ELOOP. *ret_inside: a link on the path is in a working folder, where the agent may have made
 * it. */
int links_follow(const char *path, const char *const *folders, char **ret, bool *ret_inside)
	MUST_USE;
/* Does the same, and adds each link on the path, by its own real path, to *ret_links, also on
 * failure. */
int links_follow_each(const char *path, const char *const *folders, struct places *ret_links,
		      char **ret, bool *ret_inside) MUST_USE;

/* ---- words.c --------------------------------------------------------------------------------- */

/* Parses "read,exec PATTERN". Returns the kinds, and the start of the pattern; 0: *why has the
 * error. */
unsigned words_kinds(const char *value, const char **ret_pattern, const char **why);
/* Parses "2026-12-31" (the end of that day, local time) or "2026-12-31 18:00[:00]". */
bool words_until(const char *s, int64_t *ret);

/* ---- explain.c ------------------------------------------------------------------------------- */

/* The lines of `cordon why`. */
struct findings {
	struct policy_finding *list;
	size_t n;
};
/* Appends an empty finding; valid until the next call. */
struct policy_finding *explain_add(struct findings *f);
/* Adds a matching rule; lost: why it does not decide, or NULL. */
void explain_rule(struct findings *f, struct rules *r, const struct rule *rule, const char *lost);

/* ---- policy.c -------------------------------------------------------------------------------- */

#define GUARDED_MAX 2000 /* at the limit, changes that would add one are denied */
struct guarded {
	char *path;
	const char *reason;
	bool keep; /* it may not be removed either, in a folder or elsewhere */
};

/* An answer of the session: a rule for each kind that it covers. */
struct given {
	uint64_t id;
	uint32_t rule;
};

struct policy {
	char *home;
	struct listing *at_home; /* while the policy is being made; else NULL */
	char **hidden;
	size_t n_hidden;
	size_t n_builtin; /* the first ones: below $HOME; a rule may uncover them */
	/* Those from n_builtin to here stay hidden; later ones come from rules. */
	size_t n_set;
	struct guarded *guarded;
	size_t n_guarded;
	struct rules *rules;		   /* of trusted sources, and answers */
	struct rules *untrusted;	   /* of the project: can only make things stricter */
	struct rules *old, *old_untrusted; /* as before the last reload; NULL: forgotten */
	struct places folders, gated, usual, granted, sockets;
	struct policy_search search;
	struct places closed; /* only root may read them */
	/* Leading directories of paths that rules allow to write, or ask about. */
	struct places written;
	struct places git_dirs; /* of repositories in the folders, if not named .git */
	struct walk *walk;	/* the unfinished search; NULL: none */
	struct places own;	/* the folders' git directories that are outside of the folders */
	struct places repositories; /* repositories of these git directories */
	/* Found by name, or from rules, in folders and in `shown`. */
	struct places secrets;
	struct places shown; /* overlays and --ro folders, which the sandbox shows natively */
	size_t n_closed_whole;
	char *closed_whole;	 /* one of them */
	size_t n_unseen;	 /* directories that no search has reached */
	char *unseen;		 /* one of them */
	struct remotes *remotes; /* remotes of the configurations when first seen */
	bool dynamic;
	struct given *given;
	size_t n_given;
	uint64_t last_id;
	struct buf hides;	  /* policy_hides() */
	struct buf scratch, rest; /* folded paths; reused between calls */
};

int64_t policy_now(void); /* unix seconds */
/* A rules_on_error: writes the first error into a struct err. */
void policy_first_error(void *data, const char *file, int line, const char *words);

/* ---- hidden.c -------------------------------------------------------------------------------- */

void hidden_collect(struct policy *p, const struct policy_spec *spec);
void hidden_add(struct policy *p, char *path); /* takes it */

/* ---- worktrees.c ----------------------------------------------------------------------------- */

void worktrees_collect(struct policy *p, const struct policy_spec *spec);
/* Makes b stricter if the path belongs to another worktree. */
void worktrees_check(const struct policy *p, const char *path, struct builtin *b);

/* ---- closed.c -------------------------------------------------------------------------------- */

/* Run by root: finds p->closed. Called after the rules were loaded. */
void closed_collect(struct policy *p);

/* ---- check.c --------------------------------------------------------------------------------- */

struct builtin check_builtin_write(const struct policy *p, enum policy_act act, const char *path);
struct builtin check_builtin_outside(const struct policy *p, const char *path);
struct builtin check_builtin_read(const struct policy *p, enum rule_kind kind, const char *path);
/* Returns whether this rule may loosen built-in protection. */
bool check_builtin_gives_way(const struct builtin *b, const struct rule_match *m);
/* Calls each() with every pattern that a rule, or one of a profile alone, allows to write, until it
 * returns true. Returns whether it did. */
typedef bool (*check_each)(void *data, const char *pattern);
bool check_each_write(const struct policy *p, bool profiles, check_each each, void *data);
/* Returns whether a rule, or one of a profile alone, allows writes below this directory. */
bool check_leads_to_writes(const struct policy *p, const char *path, bool profiles);
enum policy_verdict verdict_of_rule(enum rule_verdict v);

/* ---- flows.c --------------------------------------------------------------------------------- */

void flows_named(struct policy *p, const struct policy_spec *spec); /* --allow-domain etc. */
bool flows_offered(const char *target, enum answer_extent extent);
size_t flows_explain(struct policy *p, enum rule_kind kind, const char *target,
		     struct policy_finding **ret);

/* ---- listening.c ----------------------------------------------------------------------------- */

void listening_collect(struct policy *p); /* finds the list of policy_sockets() */

/* ---- bundle.c -------------------------------------------------------------------------------- */

/* Applies the answer to all patterns of the bundle. Returns false if one of them is invalid. */
bool bundle_place(struct policy *p, uint32_t answer, const char *name);

/* ---- grant.c --------------------------------------------------------------------------------- */

/* Collects from the rules the lists of policy_granted() and, besides the built-in ones,
 * policy_hidden(). */
void grant_collect(struct policy *p);
