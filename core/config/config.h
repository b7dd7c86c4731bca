/* config - settings in git-config syntax: levels, origins, unknown keys refused. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * Levels, weakest first: built in, the profile of the command (core/config/profiles, or the user's
 * own of that name in $XDG_CONFIG_HOME/cordon/profiles), org (/etc/cordon/config), user
 * ($XDG_CONFIG_HOME/cordon/config), project ($XDG_CONFIG_HOME/cordon/projects/<label of the
 * folder>, the user's own; and <folder>/.cordon.conf: read from memory without includes, only keys
 * that tighten until the user trusts its exact content), --config FILE, --set section.key=value.
 * Life:    config_load() -> config_free(). Read-only afterwards; getters borrow from it.
 * Errors:  unknown key, bad value, wrong permissions: "FILE:LINE: ..." and -EINVAL.
 * Threads: any, once loaded.
 * libgit2 is opened only for a file that has more than plain settings (plain.c says why).
 */
struct config;

enum config_level {
	CONFIG_BUILTIN,
	CONFIG_PROFILE,
	CONFIG_ORG,
	CONFIG_USER,
	CONFIG_PROJECT,
	CONFIG_FILE,
	CONFIG_OPTION,
};

/* How the file in the working folder may set a key. */
enum config_project {
	PROJECT_NEVER,
	PROJECT_ADD,  /* lists: may add */
	PROJECT_ONLY, /* only the value in struct config_key.tight */
};

enum config_type {
	CONFIG_BOOL,
	CONFIG_INT, /* "k", "m", "g" suffixes as git's */
	CONFIG_STR,
	CONFIG_ENUM,  /* one of the words in struct config_key.words */
	CONFIG_LIST,  /* can be given several times */
	CONFIG_PATHS, /* the same; "~/" is expanded, then absolute and clean */
};

/* The table of keys, shared by config, the help text and the manual page. */
struct config_key {
	const char *name;
	enum config_type type;
	const char *value; /* built-in default; NULL: unset */
	const char *words; /* "a|b|c": the values, of CONFIG_LIST their ends; CONFIG_INT: "0..99",
			    * "0|8.."; else a form that forms.c checks; NULL: any value */
	enum config_project project;
	const char *tight; /* PROJECT_ONLY */
	const char *help;  /* begins with CONFIG_MACOS if it has a meaning only there */
};
#define CONFIG_MACOS "macOS: "
const struct config_key *config_keys(size_t *ret_n);

struct config_spec {
	const char *home;	     /* $HOME */
	const char *config_home;     /* $XDG_CONFIG_HOME or NULL for $HOME/.config */
	const char *folder;	     /* first working folder or NULL */
	const char *file;	     /* --config or NULL */
	const char *const *settings; /* --set, NULL-terminated, or NULL */
	const char *org_file;	     /* NULL for /etc/cordon/config */
	const char *state_dir;	     /* $XDG_STATE_HOME/cordon: trust; NULL: nothing is trusted */
	const char *profile; /* --profile: a name, or a path; "none"; NULL: by the command */
	const char *command; /* the command to run, as given; NULL: none, and no profile */
};

/* Reads the text of edits.ignore: the user's own in the settings directory, else the shipped one.
 * *ret is heap. */
int config_ignored_edits(char **ret, const struct config_spec *spec, struct err *err) MUST_USE;
int config_load(struct config **ret, const struct config_spec *spec, struct err *err) MUST_USE;
/* Returns the files that config_load() reads, even if they do not exist, and the file with the
 * trust in the project; at most eight. A directory, with a trailing `/`, stands for all files in
 * it. Heap strings in a heap list with a NULL. */
char **config_files(const struct config_spec *spec) MUST_USE;
/* Adds a reference: config_free() must be called once more. One thread at a time. */
struct config *config_ref(const struct config *c) MUST_USE;
void config_free(struct config *c); /* NULL is a no-op */

/* Parses a count such as "200m". Returns false if the text is something else. */
bool config_parse_int(const char *s, int64_t *ret);

/* Returns the value of a key, "section.name", which must be known and of that type. */
const char *config_str(const struct config *c, const char *key); /* NULL when unset */
bool config_bool(const struct config *c, const char *key);
int64_t config_int(const struct config *c, const char *key); /* 0 when unset */
/* Returns all values of a key that can be given several times, weakest level first, then a NULL;
 * *ret is NULL if there are none. */
size_t config_list(const struct config *c, const char *key, const char *const **ret);
bool config_is_set(const struct config *c, const char *key); /* true if set outside the table */
/* Returns the origin of the winning value: "FILE:LINE", "--set" or "built in". Owned by c. */
const char *config_origin(const struct config *c, const char *key);

/* The keys of lines in a rule. */
enum config_rule_key {
	CONFIG_ALLOW,
	CONFIG_ASK,
	CONFIG_DENY,
	CONFIG_HIDE,
	CONFIG_UNTIL, /* this and the reason are for all lines of the section */
	CONFIG_REASON,
	CONFIG_MATCH,
	CONFIG_NOT_MATCH,
};

/* One line of a `[rule "name"]` section, as written; core/policy interprets it. */
struct config_rule {
	const char *name, *key, *value; /* key: "allow", "ask", "deny", "hide", "until" ... */
	enum config_rule_key what;	/* the key as a number */
	const char *file;
	int line; /* 0: unknown */
	enum config_level level;
	bool untrusted; /* from a `.cordon.conf` without trust in its content */
	bool framed;	/* its section has CONFIG_UNTIL or CONFIG_REASON */
	size_t end;	/* end of the last line of its section */
};
/* Returns the number of lines in rules; config_rule() returns the ith. All levels, weakest first,
 * each in the order of its file. c owns the strings. */
size_t config_rules(const struct config *c);
struct config_rule config_rule(const struct config *c, size_t i);

/* Returns "FILE:LINE: NAME" of a setting that this version has no more, and ignores; or NULL. */
const char *config_ignored(const struct config *c);

/* Makes a configuration of only rules, copied from another one: for a process that may not read
 * files. */
struct config *config_of_rules(void) MUST_USE;
void config_add_rule(struct config *c, const struct config_rule *rule);

/* Returns the name of the loaded profile, or NULL. */
const char *config_profile(const struct config *c);

/* The trust in the `.cordon.conf` of a folder. */
enum config_trust {
	TRUST_NO_FILE,
	TRUST_UNKNOWN, /* never trusted */
	TRUST_CHANGED, /* another content was trusted */
	TRUST_GIVEN,
};
enum config_trust config_project(const struct config *c); /* when it was loaded */

/* The current content of `<folder>/.cordon.conf`, which must be a plain file. */
struct trust_look {
	char *text, *before; /* heap; before: the content trusted last; NULL: none, or unknown */
	char hash[65];	     /* SHA-256 of text in hex */
};
int config_trust_look(struct trust_look *ret, const char *state_dir, const char *folder,
		      struct err *err) MUST_USE;
void trust_look_done(struct trust_look *l);
/* Trusts the content in l, which can then set any key. Returns -EAGAIN if the file has changed
 * since then. */
int config_trust_give(const char *state_dir, const char *folder, const struct trust_look *l,
		      struct err *err) MUST_USE;
/* Withdraws the trust. Returns 1 if the folder was trusted, else 0. */
int config_trust_take(const char *state_dir, const char *folder, struct err *err) MUST_USE;
/* Returns the path of this user's settings for a folder, in `config_home` (NULL: $HOME/.config). */
char *config_project_file(const char *home, const char *config_home, const char *folder) MUST_USE;
