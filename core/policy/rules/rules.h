/* rules - rules of settings and answers, and the one that decides about a path or host. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <assert.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/policy/answer.h"
#include "core/policy/rules/pattern.h"

struct config;

enum rule_verdict { /* loosest first */
	RULE_ALLOW,
	RULE_ASK,
	RULE_DENY,
	RULE_HIDE, /* a deny that reports "no such file" */
};

enum rule_level { /* farthest first */
	LEVEL_BUILTIN,
	LEVEL_PROFILE,
	LEVEL_ORG,
	LEVEL_USER,
	LEVEL_PROJECT,
	LEVEL_OPTION,  /* --config, --rw, --ro */
	LEVEL_SESSION, /* answers */
};

/* " read write ...", for messages. */
#define RULE_KIND_WORD(id, word, gerund, letter) " " word
#define RULE_KIND_LIST				 RULE_KINDS_X(RULE_KIND_WORD)

extern const char *const rule_kind_words[RULE_KINDS];	/* "read" ... */
extern const char *const rule_kind_gerunds[RULE_KINDS]; /* "reading" ... */
extern const char *const rule_verdict_words[];		/* "allow" ... */
extern const char *const rule_level_words[];		/* "built in" ... */

/* The common part of a section's rules. */
struct rule_frame {
	const char *name;   /* of the section; NULL: none */
	const char *file;   /* NULL: not from a file */
	const char *reason; /* the author's; NULL: none */
	int64_t until;	    /* unix seconds at which they expire; 0: never */
	uint64_t id;	    /* of the answer; else 0 */
	enum rule_level level;
};

struct rule {
	const struct rule_frame *of;
	const char *pattern; /* as written */
	int line;	     /* 0: unknown */
	enum rule_verdict verdict : 8;
	unsigned kinds : 16; /* 1 << enum rule_kind */
};
static_assert(RULE_KINDS <= 16, "struct rule.kinds needs a bit for each kind");

/*
 * Several rules may match. The first of these differences decides:
 *   1. A deny or hide rule of the organisation wins.
 *   2. The pattern that names something nearer to the object wins: the object itself, then its
 *      directory, and so on.
 *   3. The pattern with more literal characters wins.
 *   4. The pattern after which fewer components may follow wins.
 *   5. The nearer level wins.
 *   6. The rule for fewer ports wins (hosts).
 *   7. deny and hide win over ask, ask over allow.
 *   8. The newer answer, and the rule that was added later, wins.
 *
 * Allow rules compare the bytes of a path. All other rules, except answers, also match names that
 * the most forgiving file system would take for the same (names.c).
 *
 * Life:    rules_new() -> rules_free(). Borrowed strings must live as long.
 * Threads: one owner.
 */
struct rules;

#define RULES_MAX 20000 /* from files, of all levels */

struct rule_match {
	const struct rule *rule;	    /* valid until the next rules_add() */
	unsigned depth, literals, max, min; /* struct index_hit */
	unsigned ports;			    /* hosts: the fewer ports, the larger */
};

struct rules *rules_new(void) MUST_USE;
void rules_free(struct rules *r); /* NULL is a no-op */
/* Adds a copy of the rule. Returns its number, for rules_place(), rules_at() and rules_remove(). */
uint32_t rules_add(struct rules *r, const struct rule *rule);
/* Makes room for n rules with borrowed strings of the configuration, which must live as long.
 * Called once. Copies frames. */
void rules_reserve(struct rules *r, size_t n, const struct config *c);
const struct rule_frame *rules_frame(struct rules *r, const struct rule_frame *frame);
uint32_t rules_add_lent(struct rules *r, const struct rule *rule); /* with such a frame */
/* Adds an absolute pattern to the rule. Returns false, with *why, if it is invalid. */
bool rules_place(struct rules *r, uint32_t number, const char *pattern, const char **why) MUST_USE;
/* Adds a path as a pattern, with the wildcards of tail. */
void rules_place_path(struct rules *r, uint32_t number, const char *path, const char *tail);
void rules_remove(struct rules *r, uint32_t number);
size_t rules_count(const struct rules *r);			     /* including removed ones */
const struct rule *rules_at(const struct rules *r, uint32_t number); /* NULL: removed */
/*
 * Returns the next absolute pattern of a rule, `~` and variables expanded, the newest first. Begins
 * and ends with 0. The number is for the functions below.
 */
uint32_t rules_next(struct rules *r, uint32_t number, uint32_t pattern);
/* Appends the pattern as text, equivalent to the written one. */
void rules_text(const struct rules *r, uint32_t pattern, struct buf *ret);
/* Appends its path, if it is PLACE_ONE or PLACE_TREE. */
enum pattern_place rules_place_of(const struct rules *r, uint32_t pattern, struct buf *ret);
/* The part without wildcards of the last placed pattern. */
struct rules_base {
	size_t len;
	bool known;
	bool again;    /* the same as of the pattern before */
	bool is_place; /* the pattern is PLACE_ONE or PLACE_TREE */
};
void rules_base(struct rules *r, struct rules_base *ret);
/* Marks a rule that named no existing path or tree when it was read. */
void rules_note_absent(struct rules *r, uint32_t number);
bool rules_is_absent(const struct rules *r, uint32_t number);

/* ---- kinds about hosts (rules_hosts.c) ------------------------------------------------------- */

struct net_target;
/* Adds a pattern of hosts, like rules_place(): for kinds from RULE_PLACES on. */
bool rules_place_host(struct rules *r, uint32_t number, const char *pattern, const char **why)
	MUST_USE;
/* Copies the patterns of rule `number` of another set. */
void rules_carry_hosts(struct rules *r, uint32_t as, const struct rules *from, uint32_t number);
/*
 * Finds the rule that decides, among patterns of these kinds (1 << enum net_pattern_kind). Returns
 * false if none matches. For a target without a port: the loosest rule that decides at some port.
 */
bool rules_decide_host(struct rules *r, enum rule_kind kind, const struct net_target *t,
		       unsigned patterns, int64_t now, struct rule_match *ret);
/* Like rules_explain(). */
size_t rules_explain_host(struct rules *r, enum rule_kind kind, const struct net_target *t,
			  int64_t now, struct rule_match **ret);

/* Finds the rule that decides. Returns false if none matches. now: unix seconds. */
bool rules_decide(struct rules *r, enum rule_kind kind, const char *path, int64_t now,
		  struct rule_match *ret);
/* Returns all rules that match, also expired ones; the deciding one is first. Heap. */
size_t rules_explain(struct rules *r, enum rule_kind kind, const char *path, int64_t now,
		     struct rule_match **ret);
/* Returns why `loser` does not decide if `winner` matches. */
const char *rules_why_lost(const struct rule_match *winner, const struct rule_match *loser,
			   int64_t now);
/* Returns the strictest verdict about writing strictly beneath this path; RULE_ALLOW: none. For
 * renames, which move everything beneath. */
enum rule_verdict rules_beneath(struct rules *r, const char *path);
/* Returns whether a rule other than allow may decide about reading or running beneath the path. */
bool rules_restrict_beneath(struct rules *r, const char *path);
/* Appends "allow read,exec ~/bin/x". */
void rules_format(struct buf *out, const struct rule *rule);
/* Returns the text for the prompt and the audit log, which lives as long as the rules. */
const char *rules_words(struct rules *r, const struct rule *rule);
/* Returns whether this text, a pointer of rules_words(), is of a profile's deny or hide. */
bool rules_words_are_profiles(const struct rules *r, const char *words);
/* Returns "FILE:LINE", "your answer" or "--rw", which lives as long as the rules. */
const char *rules_origin(struct rules *r, const struct rule *rule);
/* Returns the number of rules of this kind; rules_restricting(): without allow rules. */
size_t rules_of(const struct rules *r, enum rule_kind kind);
size_t rules_restricting(const struct rules *r, enum rule_kind kind);

/* ---- reading settings (load.c, load_tests.c)
 * -------------------------------------------------- */

struct listing;

/* The values of variables in patterns. */
struct rules_scope {
	const char *home;	       /* absolute, clean */
	const char *const *folders;    /* $FOLDER: each of them; NULL-terminated, or NULL */
	const struct listing *at_home; /* of home, or NULL */
	unsigned kinds;		       /* 1 << enum rule_kind: loads no others; 0: all */
};

/* Reports an error at file:line. */
typedef void (*rules_on_error)(void *data, const char *file, int line, const char *words);

/*
 * Adds all `[rule]` sections of the configuration. Rules of an untrusted project file go to
 * `untrusted`, where no rule may allow. Returns false if on_error was called; valid rules are
 * added.
 */
bool rules_load(struct rules *trusted, struct rules *untrusted, const struct config *c,
		const struct rules_scope *scope, rules_on_error on_error, void *data);

/* Tests each `match` and `not-match` line of the configuration against its rules. Returns false if
 * on_error was called. */
bool rules_test(struct rules *r, const struct config *c, const struct rules_scope *scope,
		rules_on_error on_error, void *data);

/* ---- writing settings (save.c)
 * ---------------------------------------------------------------- */

struct rules_place {
	const char *home;	 /* $HOME */
	const char *config_home; /* $XDG_CONFIG_HOME or NULL */
	const char *folder;	 /* the working folder, for SCOPE_PROJECT */
	const char *org_file;	 /* NULL for /etc/cordon/config */
};

/*
 * Appends an answer as a rule to the file of its scope (SCOPE_PROJECT, USER or ORG), and makes the
 * file if needed. path: absolute, with a `/` at the end for a directory, as for policy_answer(), or
 * the name of the bundle. Replaces the file by one rename and keeps its content. Not for the
 * keeper.
 */
int rules_save(const struct rules_place *where, enum answer_scope scope, enum rule_kind kind,
	       const char *path, const struct answer *a, struct err *err) MUST_USE;
struct buf;
/* Appends a rule of several lines, made by rules_line(), to the user's settings. *ret_file: heap.
 */
int rules_save_lines(const struct rules_place *where, const struct buf *lines, char **ret_file,
		     struct err *err) MUST_USE;
/* Appends a "key = value" line of a section, quoted if the syntax needs it. */
void rules_line(struct buf *out, const char *key, const char *value);
/*
 * Appends "[section] key = value" to a file of settings, in the same way: the last value counts.
 * Removes an older section that has this key alone.
 */
int rules_save_setting(const char *file, const char *section, const char *key, const char *value,
		       struct err *err) MUST_USE;
/* Appends one more value of a list: other values of the key stay. */
int rules_add_setting(const char *file, const char *section, const char *key, const char *value,
		      struct err *err) MUST_USE;
/* Removes the section that rules_save() made of that answer. Returns -ENOENT if it was removed or
 * edited. */
int rules_forget(const struct rules_place *where, enum answer_scope scope, enum rule_kind kind,
		 const char *path, const struct answer *a, struct err *err) MUST_USE;
/* Returns whether rules_save() wrote the section of this name. */
bool rules_is_answer(const char *name);
/* Removes the section of this name. Running sessions keep the rule. Returns -ENOENT as above. */
int rules_forget_named(const char *file, const char *name, struct err *err) MUST_USE;
