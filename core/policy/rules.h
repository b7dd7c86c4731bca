/* rules - what people have written or answered about places, and which of it decides. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <assert.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/policy/answer.h"
#include "core/policy/pattern.h"

struct config;

enum rule_verdict { /* looser first */
	RULE_ALLOW,
	RULE_ASK,
	RULE_DENY,
	RULE_HIDE, /* a deny that says "no such file" */
};

enum rule_level { /* farther first */
	LEVEL_BUILTIN,
	LEVEL_PROFILE,
	LEVEL_ORG,
	LEVEL_USER,
	LEVEL_PROJECT,
	LEVEL_OPTION,  /* --config, --rw, --ro */
	LEVEL_SESSION, /* answers */
};

extern const char *const rule_kind_words[RULE_KINDS];	/* "read" ... */
extern const char *const rule_kind_gerunds[RULE_KINDS]; /* "reading" ... */
extern const char *const rule_verdict_words[];		/* "allow" ... */
extern const char *const rule_level_words[];		/* "built in" ... */

/* What rules of one section have in common. */
struct rule_frame {
	const char *name;   /* of the section; NULL: none */
	const char *file;   /* NULL: not from a file */
	const char *reason; /* in the words of who wrote it; NULL: none */
	int64_t until;	    /* unix seconds from which on they no longer count; 0: never */
	uint64_t id;	    /* of an answer, else 0 */
	enum rule_level level;
};

struct rule {
	const struct rule_frame *of;
	const char *pattern; /* as written */
	int line;	     /* 0: unknown */
	enum rule_verdict verdict : 8;
	unsigned kinds : 8; /* 1 << enum rule_kind */
};
static_assert(RULE_KINDS <= 8, "struct rule.kinds needs a bit for each kind");

/*
 * Which of several rules that match decides: a deny or hide of the organisation; else the one whose
 * pattern names something nearer to the object (the object itself, then its directory, and so on);
 * then the one that spells out more of it; then the one that leaves less open behind; then the
 * nearer level; then, of hosts, the one about fewer ports; then deny and hide over ask over allow;
 * then the newer answer, and the rule that was added later.
 *
 * Allow rules are about the very bytes of a path. All other rules, but answers, also match names
 * that the most forgiving file system would take for the same (names.c).
 *
 * Life:    rules_new() -> rules_free(); what is borrowed from it lives as long.
 * Threads: one owner.
 */
struct rules;

#define RULES_MAX 20000 /* from files, all levels together */

struct rule_match {
	const struct rule *rule;	    /* until the next rules_add() */
	unsigned depth, literals, max, min; /* struct index_hit */
	unsigned ports;			    /* of a host: the fewer, the larger */
};

struct rules *rules_new(void) MUST_USE;
void rules_free(struct rules *r); /* NULL is a no-op */
/* All of it is copied. The number is for rules_place(), rules_at() and rules_remove(). */
uint32_t rules_add(struct rules *r, const struct rule *rule);
/* Once: so many rules will come, with strings of the configuration's: it is kept as long as they
 * are. Frames are copied, strings are not. */
void rules_reserve(struct rules *r, size_t n, const struct config *c);
const struct rule_frame *rules_frame(struct rules *r, const struct rule_frame *frame);
uint32_t rules_add_lent(struct rules *r, const struct rule *rule); /* of such a frame */
/* This absolute pattern is one of the rule's. *why: it is none; nothing was added. */
bool rules_place(struct rules *r, uint32_t number, const char *pattern, const char **why) MUST_USE;
/* The same for a pattern that cannot be wrong. */
void rules_place_path(struct rules *r, uint32_t number, const char *path, const char *tail);
void rules_remove(struct rules *r, uint32_t number);
/* Rules of this stem will follow. False: they have to be placed. */
struct shelf_stem;
bool rules_open_shelf(struct rules *r, const struct shelf_stem *stem) MUST_USE;
/* Instead of rules_add_lent() and rules_place(), for such a rule: it waits until it is asked about.
 * It names nothing that is there, is a pattern for sure, and folding changes nothing of it that
 * counts. plain: so many bytes behind the stem are. */
void rules_wait(struct rules *r, const struct rule *rule, size_t plain);

size_t rules_count(const struct rules *r);			     /* removed ones too */
const struct rule *rules_at(const struct rules *r, uint32_t number); /* NULL: removed */
/*
 * The absolute patterns of a rule, `~` and variables expanded, the newest first: from 0 on, and at
 * the end 0 again. A number of them is for the functions below.
 */
uint32_t rules_next(struct rules *r, uint32_t number, uint32_t pattern);
/* As text: it says the same as what was written. */
void rules_text(const struct rules *r, uint32_t pattern, struct buf *ret);
/* Its path, when it is PLACE_ONE or PLACE_TREE; else nothing. */
enum pattern_place rules_place_of(const struct rules *r, uint32_t pattern, struct buf *ret);
/* Of the pattern that was placed last: how much of it is a path without wildcards, that stands
 * there as it is. */
struct rules_base {
	size_t len;
	bool known;
	bool again;    /* the same as this was told for the pattern placed before */
	bool is_place; /* the pattern is PLACE_ONE or PLACE_TREE */
};
void rules_base(struct rules *r, struct rules_base *ret);
/* When it was read it named no one place, nor tree, that was there. */
void rules_note_absent(struct rules *r, uint32_t number);
bool rules_is_absent(const struct rules *r, uint32_t number);

/* ---- kinds about hosts (rules_hosts.c) ------------------------------------------------------- */

struct net_target;
/* As rules_place(), for a rule of kinds from RULE_PLACES on. */
bool rules_place_host(struct rules *r, uint32_t number, const char *pattern, const char **why)
	MUST_USE;
/* The patterns of rule `number` of another set are this one's, too. */
void rules_carry_hosts(struct rules *r, uint32_t as, const struct rules *from, uint32_t number);
/*
 * The rule that decides among patterns of these kinds (1 << enum net_pattern_kind); false: none
 * matches. Of a target without a port, what might decide at some port and is the loosest.
 */
bool rules_decide_host(struct rules *r, enum rule_kind kind, const struct net_target *t,
		       unsigned patterns, int64_t now, struct rule_match *ret);
/* As rules_explain(). */
size_t rules_explain_host(struct rules *r, enum rule_kind kind, const struct net_target *t,
			  int64_t now, struct rule_match **ret);

/* The rule that decides; false: none matches. now: unix seconds. */
bool rules_decide(struct rules *r, enum rule_kind kind, const char *path, int64_t now,
		  struct rule_match *ret);
/* All that match, expired ones too, the one that decides first. Heap. */
size_t rules_explain(struct rules *r, enum rule_kind kind, const char *path, int64_t now,
		     struct rule_match **ret);
/* Why `loser` does not decide beside `winner`. */
const char *rules_why_lost(const struct rule_match *winner, const struct rule_match *loser,
			   int64_t now);
/* The strictest verdict about writing that names something strictly beneath this path; RULE_ALLOW:
 * none does. For renames, which would carry it along. */
enum rule_verdict rules_beneath(struct rules *r, const char *path);
/* May a rule other than allow decide about reading or running something strictly beneath? */
bool rules_restrict_beneath(struct rules *r, const char *path);
/* Words for the prompt and the audit log; live as long as the rules. */
const char *rules_words(struct rules *r, const struct rule *rule);
/* Are they those of a profile's deny or hide? The pointer that rules_words() gave. */
bool rules_words_are_profiles(const struct rules *r, const char *words);
/* "FILE:LINE", "your answer", "--rw". The same. */
const char *rules_origin(struct rules *r, const struct rule *rule);
/* Live rules of this kind; and those of them that are no allow rules. */
size_t rules_of(const struct rules *r, enum rule_kind kind);
size_t rules_restricting(const struct rules *r, enum rule_kind kind);

/* ---- from settings (load.c) ----------------------------------------------------------------- */

/* What the variables of patterns stand for. */
struct rules_scope {
	const char *home;	    /* absolute, clean */
	const char *const *folders; /* $FOLDER: each of them; NULL-terminated, or NULL */
};

/* Words for file:line that cannot be used. */
typedef void (*rules_on_error)(void *data, const char *file, int line, const char *words);

/*
 * All `[rule]` sections of the configuration. Those of an untrusted project file go to `untrusted`,
 * where nothing may allow. False when on_error was called at least once; the good ones are added.
 */
bool rules_load(struct rules *trusted, struct rules *untrusted, const struct config *c,
		const struct rules_scope *scope, rules_on_error on_error, void *data);

/* Every `match` and `not-match` line of the configuration against its rules. False: on_error was
 * called. */
bool rules_test(struct rules *r, const struct config *c, const struct rules_scope *scope,
		rules_on_error on_error, void *data);

/* ---- into settings (save.c) ----------------------------------------------------------------- */

struct rules_place {
	const char *home;	 /* $HOME */
	const char *config_home; /* $XDG_CONFIG_HOME or NULL */
	const char *folder;	 /* the working folder, for SCOPE_PROJECT */
	const char *org_file;	 /* NULL for /etc/cordon/config */
};

/*
 * Append an answer as a rule to the file of its scope (SCOPE_PROJECT, USER or ORG), which is made
 * when it is not there. path: absolute, with a `/` at the end when it is a directory, as for
 * policy_answer(), or the name of the bundle. The file is replaced by one rename; what is in it
 * stays. Not for the keeper.
 */
int rules_save(const struct rules_place *where, enum answer_scope scope, enum rule_kind kind,
	       const char *path, const struct answer *a, struct err *err) MUST_USE;
/* One "key = value" line of a section, quoted where the syntax asks for it. */
struct buf;
void rules_line(struct buf *out, const char *key, const char *value);
/*
 * Append "[section] key = value" to a file of settings, in the same way: the last one counts. A
 * section that says nothing but this key goes.
 */
int rules_save_setting(const char *file, const char *section, const char *key, const char *value,
		       struct err *err) MUST_USE;
/* The same beside others of this key: one more value of a list. */
int rules_add_setting(const char *file, const char *section, const char *key, const char *value,
		      struct err *err) MUST_USE;
/* Take the section out again that rules_save() made of just that answer. -ENOENT: it is not there
 * any more, or somebody has edited it. */
int rules_forget(const struct rules_place *where, enum answer_scope scope, enum rule_kind kind,
		 const char *path, const struct answer *a, struct err *err) MUST_USE;
/* Did rules_save() write the section of this name? */
bool rules_is_answer(const char *name);
/* The same for the section of this name; whoever runs has it still. -ENOENT as above. */
int rules_forget_named(const char *file, const char *name, struct err *err) MUST_USE;
