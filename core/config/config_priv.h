/* config_priv - between the files of core/config. */
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

/* As it was read, lent for the call. */
struct config_setting {
	const char *section; /* "ui", or with its subsection: "rule.build" */
	const char *name;    /* in lower case */
	const char *value;   /* NULL: the key stood alone */
	int line;	     /* 0: unknown */
	bool again;	     /* of the same header as the one before; a name that is the same as
				that one's is at the same place, too */
	bool stays;	     /* the value is a part of the text that was read */
	size_t left; /* with this one; more than 0 where it is known, headers are counted too */
};

/* "FILE:LINE". Heap. */
char *config_source_origin(const struct config_source *src) MUST_USE;
/* A setting, checked and kept. */
int config_set(struct config *c, const struct config_source *src, const struct config_setting *s,
	       struct err *err) MUST_USE;
/* A text that settings with `stays` are of; it is taken. */
void config_keep(struct config *c, char *text);

/* A whole file of the human's own, or nothing when there is none. */
int config_read_file(struct config *c, enum config_level level, const char *path,
		     const struct config_spec *spec, struct err *err) MUST_USE;

/* The `.cordon.conf` of the working folder: a stranger's, unless it is trusted as it is. */
int config_read_project(struct config *c, const char *path, const struct config_spec *spec,
			struct err *err) MUST_USE;
void config_set_trust(struct config *c, enum config_trust trust);
/* Its bytes, links not followed; -ENOENT: there is none, and no words. */
int config_project_text(const char *path, char **ret, size_t *ret_len, struct err *err) MUST_USE;

/* Lines of a text, told in the order in which its settings come. */
struct config_lines {
	const char *at;
	int line;
	char section[320];
};
/* The 1-based line of the next appearance of "section.name" or "section.subsection.name"; 0: there
 * is none from here on. Start with {text, 1, ""}. */
int config_next_line(struct config_lines *l, const char *key);

typedef int (*config_on_setting)(void *data, const struct config_setting *s);

/* Every setting of a text without NUL bytes, which is written to; -ENOTSUP, and neither that nor a
 * call, when the text needs libgit2. */
int config_read_plain(char *text, config_on_setting on, void *data) MUST_USE;
/* The same through libgit2, whatever the text. name is for messages. */
int config_read_git(const char *text, size_t len, const char *name, config_on_setting on,
		    void *data, struct err *err) MUST_USE;

/* Each setting of a text, which is written to; name is for messages. */
int config_read_text(char *text, size_t len, const char *name, config_on_setting on, void *data,
		     struct err *err) MUST_USE;
/* The directory of the settings: $XDG_CONFIG_HOME/cordon, or below home. Heap. */
char *config_home(const char *home, const char *set) MUST_USE;
/* The text of a file of the human's own; -ENOENT: there is none, and no words. */
int config_own_text(const char *path, const struct config_spec *spec, char **ret, size_t *ret_len,
		    struct err *err) MUST_USE;

/* ---- rules.c -------------------------------------------------------------------------------- */

/* What the lines of a rule have in common. */
struct rule_section {
	const char *name, *file;
	enum config_level level;
	bool untrusted, framed;
	size_t end; /* of its lines */
};

/* There may be thousands, at every start: no larger than it must be. */
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
	struct arena strings; /* of sections, and values that are in no kept text */
	const char *name;     /* of the last line, where it was read; */
	size_t key;	      /* and which one that is */
};

void rule_lines_done(struct rule_lines *l);
/* A setting of [rule "name"]. */
int rule_lines_set(struct rule_lines *l, const struct config_source *src,
		   const struct config_setting *s, struct err *err) MUST_USE;
void rule_lines_add(struct rule_lines *l, const struct config_rule *rule); /* all of it copied */
extern const char *const rule_line_keys[]; /* by enum config_rule_key */
/* Each of thousands. */
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

/* Read the profile that the spec asks for, or that knows its command; *ret: its name, heap, or
 * NULL.
 */
int profile_read(struct config *c, const struct config_spec *spec, const char *dir, char **ret,
		 struct err *err) MUST_USE;

/* ---- trust.c -------------------------------------------------------------------------------- */

/* What the human has said of a folder's `.cordon.conf` with this content. */
enum config_trust config_trust_of(const char *state_dir, const char *folder, const char *text,
				  size_t len);
