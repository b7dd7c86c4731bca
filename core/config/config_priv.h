/* config_priv - types and functions shared by the files of core/config. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/arena.h"
#include "core/config/config.h"

#define CONFIG_MAX_BYTES  (256u << 10) /* of a file in the working folder */
#define CONFIG_OWN_BYTES  (1u << 20)   /* of any other */
#define CONFIG_MAX_VALUES 1024	       /* of one key, all levels together */
#define CONFIG_MAX_RULES  50000	       /* lines in rules, all levels together */
#define CONFIG_MAX_NAME	  200	       /* of a rule, in bytes */

struct config_source {
	enum config_level level;
	const char *file; /* or "--set" */
	int line;	  /* 0: unknown, or none */
	const char *base; /* directory that relative paths start from, or NULL: refused */
	bool untrusted;	  /* may only tighten */
};

/* A setting as it was read; borrowed, for the call. */
struct config_setting {
	const char *section; /* "ui", or with its subsection: "rule.build"; "": before any header */
	const char *name;    /* in lower case */
	const char *value;   /* NULL: the key stood alone */
	int line;	     /* 0: unknown */
	/* In the same section as the setting before. If its name is equal, too, `name` is the same
	 * pointer. */
	bool again;
	bool stays; /* the value points into the text */
	/* Settings and headers that are left, this one included; 0: not known. */
	size_t left;
};

/*
 * Returns the value as it is kept: true or false, an absolute path, else the same text. base: the
 * directory that relative paths start from, or NULL. Heap; NULL: *why says which values are good.
 */
char *config_value_form(const struct config_key *key, const char *base, const char *home,
			const char *value, const char **why) MUST_USE;
/* "FILE:LINE". Heap. */
char *config_source_origin(const struct config_source *src) MUST_USE;
/* Checks and stores a setting. */
int config_set(struct config *c, const struct config_source *src, const struct config_setting *s,
	       struct err *err) MUST_USE;
/* Keeps a text that settings with `stays` point into; takes it over. */
void config_keep(struct config *c, char *text);

/* Reads a file of the user's own; does nothing if there is none. */
int config_read_file(struct config *c, enum config_level level, const char *path,
		     const struct config_spec *spec, struct err *err) MUST_USE;

/* Reads the `.cordon.conf` of the working folder, which is not trusted unless its exact content
 * is. */
int config_read_project(struct config *c, const char *path, const struct config_spec *spec,
			struct err *err) MUST_USE;
void config_set_trust(struct config *c, enum config_trust trust);
/* Reads the bytes of that file, links not followed; -ENOENT: there is none, and no words. */
int config_project_text(const char *path, char **ret, size_t *ret_len, struct err *err) MUST_USE;

/* Finds the lines of settings in a text, in their order. */
struct config_lines {
	const char *at;
	int line;
	char section[320];
};
/* Returns the 1-based line of the next appearance of "section.name", "section.subsection.name", or
 * "name" before any section; 0: there is no further one. Start with {text, 1, ""}. */
int config_next_line(struct config_lines *l, const char *key);

typedef int (*config_on_setting)(void *data, const struct config_setting *s);

/* Calls on() for every setting of a text without NUL bytes, which it changes. Returns -ENOTSUP,
 * without a call, if the text needs libgit2. */
int config_read_plain(char *text, config_on_setting on, void *data) MUST_USE;
/* Does the same by libgit2, for any text. name is for messages. */
int config_read_git(const char *text, size_t len, const char *name, config_on_setting on,
		    void *data, struct err *err) MUST_USE;

/* Calls on() for each setting of a text, which it changes; name is for messages. */
int config_read_text(char *text, size_t len, const char *name, config_on_setting on, void *data,
		     struct err *err) MUST_USE;
/* Returns the directory of the settings: $XDG_CONFIG_HOME/cordon, or below home. Heap. */
char *config_home(const char *home, const char *set) MUST_USE;
/* Reads the text of a file of the user's own; -ENOENT: there is none, and no words. */
int config_own_text(const char *path, const struct config_spec *spec, char **ret, size_t *ret_len,
		    struct err *err) MUST_USE;

/* ---- rules.c -------------------------------------------------------------------------------- */

/* The common part of the lines of a rule. */
struct rule_section {
	const char *name, *file;
	enum config_level level;
	bool untrusted, framed;
	size_t end; /* of its lines */
};

/* There may be thousands at every start: kept as small as possible. */
struct rule_line {
	const char *value;
	uint32_t section;
	int number : 28;
	unsigned key : 4; /* in rule_line_keys */
};

struct rule_lines {
	struct rule_section *sections;
	size_t n_sections;
	struct rule_line *list;
	size_t n, cap;
	struct arena strings; /* strings of sections, and values that are in no kept text */
	const char *name;     /* of the last line, as a pointer: a cache for `key` */
	size_t key;	      /* index of that name in rule_line_keys */
};

void rule_lines_done(struct rule_lines *l);
bool rule_lines_take(const char *name); /* whether a rule may have a key of this name */
/* Adds a setting of [rule "name"]. */
int rule_lines_set(struct rule_lines *l, const struct config_source *src,
		   const struct config_setting *s, struct err *err) MUST_USE;
void rule_lines_add(struct rule_lines *l, const struct config_rule *rule); /* all of it copied */
extern const char *const rule_line_keys[]; /* by enum config_rule_key */
/* Returns a line; called for each of thousands. */
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

/* ---- trust.c -------------------------------------------------------------------------------- */

/* Returns the trust in this content of the `.cordon.conf` of a folder. */
enum config_trust config_trust_of(const char *state_dir, const char *folder, const char *text,
				  size_t len);
