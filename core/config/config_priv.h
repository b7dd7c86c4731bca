/* config_priv - types and functions shared by the files of core/config. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/arena.h"
#include "core/config/config.h"

#define CONFIG_MAX_BYTES  (256u << 10) /* bytes of a file in the working folder */
#define CONFIG_OWN_BYTES  (1u << 20)   /* bytes of any other file */
#define CONFIG_MAX_VALUES 1024	       /* values of one key, all levels together */
#define CONFIG_MAX_RULES  50000	       /* lines in rules, all levels together */
#define CONFIG_MAX_NAME	  200	       /* bytes of a rule's name */

struct config_source {
	enum config_level level;
	const char *file; /* a path or "--set" */
	int line;	  /* 0: unknown or none */
	const char *base; /* directory for relative paths; NULL: they are refused */
	bool untrusted;	  /* it can only tighten */
};

/* A setting as it was read; valid during the call. */
struct config_setting {
	const char *section; /* "ui", or with its subsection: "rule.build"; "": before any header */
	const char *name;    /* in lower case */
	const char *value;   /* NULL: there is only the key */
	int line;	     /* 0: unknown */
	/* It is in the same section as the setting before. If the names are equal, too, `name` is
	 * the same pointer. */
	bool again;
	bool stays; /* the value points into the kept text */
	/* Number of settings and headers left, including this one; 0: unknown. */
	size_t left;
};

/*
 * Returns the value in its stored form: true or false, an absolute path, else the same text. base:
 * the directory for relative paths; NULL: they are refused. Heap; NULL: *why says which values are
 * allowed.
 */
char *config_value_form(const struct config_key *key, const char *base, const char *home,
			const char *value, const char **why) MUST_USE;
/* Checks a stored value against the form of the key in struct config_key.words. dir: of the user's
 * settings. err: why it has another one, without key and value. Only for values that their source
 * may set: a check may cost much. */
int config_check_form(const struct config_key *key, const char *value, const char *dir,
		      struct err *err) MUST_USE;
/* Returns "FILE:LINE". Heap. */
char *config_source_origin(const struct config_source *src) MUST_USE;
/* Checks and stores a setting. */
int config_set(struct config *c, const struct config_source *src, const struct config_setting *s,
	       struct err *err) MUST_USE;
/* Keeps a text that values of settings with `stays` point into; takes it over. */
void config_keep(struct config *c, char *text);

/* Reads a file of the user; does nothing if it does not exist. */
int config_read_file(struct config *c, enum config_level level, const char *path,
		     const struct config_spec *spec, struct err *err) MUST_USE;

/* Reads the `.cordon.conf` of the working folder, which is not trusted unless its exact content
 * is. */
int config_read_project(struct config *c, const char *path, const struct config_spec *spec,
			struct err *err) MUST_USE;
void config_set_trust(struct config *c, enum config_trust trust);
/* Reads the bytes of that file without following links. -ENOENT: it does not exist; err is not
 * set. */
int config_project_text(const char *path, char **ret, size_t *ret_len, struct err *err) MUST_USE;

typedef int (*config_on_setting)(void *data, const struct config_setting *s);

/* Calls on() for every setting of a text without NUL bytes, and changes the text. Returns -ENOTSUP,
 * without a call, if the text needs libgit2. */
int config_read_plain(char *text, config_on_setting on, void *data) MUST_USE;
/* Does the same with libgit2, for any text. name: for messages. */
int config_read_git(const char *text, size_t len, const char *name, config_on_setting on,
		    void *data, struct err *err) MUST_USE;

/* Calls on() for each setting of a text, and changes the text. name: for messages. */
int config_read_text(char *text, size_t len, const char *name, config_on_setting on, void *data,
		     struct err *err) MUST_USE;
/* Returns the directory of the settings: $XDG_CONFIG_HOME/cordon, or in home. Heap. */
char *config_home(const char *home, const char *set) MUST_USE;
/* Reads the text of a file of the user. -ENOENT: it does not exist; err is not set. */
int config_own_text(const char *path, const struct config_spec *spec, char **ret, size_t *ret_len,
		    struct err *err) MUST_USE;

/* ---- rules.c -------------------------------------------------------------------------------- */

/* What all lines of a rule share. */
struct rule_section {
	const char *name, *file;
	enum config_level level;
	bool untrusted, framed;
	size_t end; /* end of its lines */
};

/* One line of a rule. Each start may have thousands: they are as small as possible. */
struct rule_line {
	const char *value;
	uint32_t section;
	int number : 28;
	unsigned key : 4; /* index in rule_line_keys */
};

struct rule_lines {
	struct rule_section *sections;
	size_t n_sections;
	struct rule_line *list;
	size_t n, cap;
	struct arena strings; /* strings of sections, and values that are in no kept text */
	const char *name;     /* pointer to the last line's name: a cache for `key` */
	size_t key;	      /* index of that name in rule_line_keys */
};

void rule_lines_done(struct rule_lines *l);
bool rule_lines_take(const char *name); /* whether a rule can have a key of this name */
/* Adds a setting of [rule "name"]. */
int rule_lines_set(struct rule_lines *l, const struct config_source *src,
		   const struct config_setting *s, struct err *err) MUST_USE;
void rule_lines_add(struct rule_lines *l, const struct config_rule *rule); /* copies everything */
extern const char *const rule_line_keys[]; /* by enum config_rule_key */
/* Returns a line; is called for thousands of lines. */
static inline struct config_rule rule_lines_get(const struct rule_lines *l, size_t i)
{
	const struct rule_line *line = &l->list[i];
	const struct rule_section *s = &l->sections[line->section];

	return (struct config_rule){.name = s->name,
				    .key = rule_line_keys[line->key],
				    .what = (enum config_rule_key)line->key,
				    .value = line->value,
				    .file = s->file,
				    .line = line->number,
				    .level = s->level,
				    .untrusted = s->untrusted,
				    .framed = s->framed,
				    .end = s->end};
}

/* ---- profile.c ------------------------------------------------------------------------------ */

/* Reads the profile that the spec names, or the one for its command. *ret: its name, heap, or
 * NULL. */
int profile_read(struct config *c, const struct config_spec *spec, const char *dir, char **ret,
		 struct err *err) MUST_USE;

/* Returns 0, or -ENOENT with err if neither the user nor cordon has a profile of that name. dir: of
 * the user's settings. */
int profile_check(const char *name, const char *dir, struct err *err) MUST_USE;

/* ---- trust.c -------------------------------------------------------------------------------- */

/* Returns the trust in this content of a folder's `.cordon.conf`. */
enum config_trust config_trust_of(const char *state_dir, const char *folder, const char *text,
				  size_t len);
