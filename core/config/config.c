/* config - settings in git-config syntax: levels, origins, unknown keys refused. */
/* SPDX-License-Identifier: MIT */
#include "core/config/config_priv.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "core/base/nearest.h"
#include "core/base/path.h"

struct setting {
	const char **values; /* owned strings; weakest level first */
	char **origins;
	enum config_level *levels;
	size_t n;
};

struct config {
	struct setting *settings; /* parallel to config_keys() */
	struct rule_lines rules;
	char **texts; /* texts that values point into */
	size_t n_texts;
	enum config_trust trust;
	unsigned others; /* number of references from config_ref() */
	char *profile;	 /* name of the profile, or NULL */
	char *home;
	char *dir;     /* of the user's settings */
	char *folder;  /* NULL without one */
	char *ignored; /* origin and name of a setting that there is no more, or NULL */
};

static int key_index(const char *key)
{
	size_t n;
	const struct config_key *keys = config_keys(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(keys[i].name, key) == 0)
			return (int)i;
	return -1;
}

static const struct setting *find(const struct config *c, const char *key)
{
	int i = key_index(key);

	assert(i >= 0);
	return &c->settings[i];
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Returns the known key that was probably meant. NULL: none is near enough. */
static const char *nearest(const char *key)
{
	struct nearest near = nearest_to(key);
	const char *dot = strrchr(key, '.'), *name = dot ? dot + 1 : key;
	size_t n;
	const struct config_key *keys = config_keys(&n);

	for (size_t i = 0; i < n; i++) {
		const char *its = strrchr(keys[i].name, '.');

		/* Before any section the name is all that is known. */
		if (!dot && its && str_eq(its + 1, name))
			nearest_take(&near, keys[i].name, 1);
		else
			nearest_try(&near, keys[i].name);
	}
	return near.best;
}

static void keep(struct setting *s, enum config_level level, char *value, const char *origin)
{
	s->values = xrealloc(s->values, (s->n + 2) * sizeof(*s->values));
	s->origins = xrealloc(s->origins, (s->n + 1) * sizeof(*s->origins));
	s->levels = xrealloc(s->levels, (s->n + 1) * sizeof(*s->levels));
	s->values[s->n] = value;
	s->values[s->n + 1] = NULL;
	s->origins[s->n] = xstrdup(origin);
	s->levels[s->n++] = level;
}

/* Returns whether the file in the working folder may set this. */
static bool tightens(const struct config *c, const struct config_key *key, const char *value)
{
	switch (key->project) {
	case PROJECT_NEVER:
		return false;
	case PROJECT_ONLY:
		return str_eq(value, key->tight);
	case PROJECT_ADD:
		break;
	}
	/* Hiding /usr would only break the run; the user's own files are worth hiding. */
	if (key->type != CONFIG_PATHS)
		return true;
	return (c->folder && path_is_beneath(value, c->folder) && !str_eq(value, c->folder)) ||
	       (path_is_beneath(value, c->home) &&
		!path_is_beneath(c->folder ? c->folder : "", value));
}

char *config_source_origin(const struct config_source *src)
{
	return src->line ? xasprintf("%s:%d", src->file, src->line) : xstrdup(src->file);
}

void config_keep(struct config *c, char *text)
{
	c->texts = xrealloc(c->texts, (c->n_texts + 1) * sizeof(*c->texts));
	c->texts[c->n_texts++] = text;
}

static int set_key(struct config *c, const struct config_source *src, const char *name,
		   const char *value, const char *origin, struct err *err)
{
	size_t n;
	int i = key_index(name);
	const struct config_key *key = &config_keys(&n)[MAX(i, 0)];
	AUTO_FREE char *kept = NULL;
	const char *why = NULL, *near = i < 0 ? nearest(name) : NULL;
	struct err form = {0};
	const char *bare = src->line && !strchr(name, '.') ? " before any [section]" : "";

	if (str_eq(name, "journal.durable")) { /* of version 0.1: an upgrade stops no start */
		free(c->ignored);
		c->ignored = xasprintf("%s: %s", origin, name);
		return 0;
	}
	if (near)
		return err_say(err, -EINVAL, "%s: unknown key %s%s: did you mean %s?", origin, name,
			       bare, near);
	if (i < 0)
		return err_say(err, -EINVAL, "%s: unknown key %s%s: man cordon-config lists them",
			       origin, name, bare);
	if (!value && key->type != CONFIG_BOOL)
		return err_say(err, -EINVAL, "%s: %s needs a value", origin, name);
	kept = config_value_form(key, src->base, c->home, value ? value : "true", &why);
	if (!kept)
		return err_say(err, -EINVAL, "%s: bad value '%s' for %s: %s", origin, value, name,
			       why);
	if (src->untrusted && !tightens(c, key, kept))
		return err_say(err, -EINVAL,
			       "%s: a file in the working folder may not set %s to '%s'%s: put it "
			       "into your own configuration, or read the file and say cordon "
			       "policy trust",
			       origin, name, kept,
			       c->trust == TRUST_CHANGED ? " (it has changed since you trusted it)"
							 : "");
	if (config_check_form(key, kept, c->dir, &form) < 0)
		return err_say(err, -EINVAL, "%s: bad value '%s' for %s: %s", origin, kept, name,
			       form.text);
	if (c->settings[i].n >= CONFIG_MAX_VALUES)
		return err_say(err, -EINVAL, "%s: too many values of %s: at most %d", origin, name,
			       CONFIG_MAX_VALUES);
	keep(&c->settings[i], src->level, take_ptr(&kept), origin);
	return 0;
}

static bool is_rule(const char *section)
{
	return section[0] == 'r' && section[1] == 'u' && section[2] == 'l' && section[3] == 'e' &&
	       (section[4] == '.' || !section[4]);
}

static int set_other(struct config *c, const struct config_source *src,
		     const struct config_setting *s, struct err *err)
{
	AUTO_FREE char *origin = config_source_origin(src);
	AUTO_FREE char *name = xasprintf("%s%s%s", s->section, *s->section ? "." : "", s->name);

	return set_key(c, src, name, s->value, origin, err);
}

int config_set(struct config *c, const struct config_source *src, const struct config_setting *s,
	       struct err *err)
{
	struct config_setting nameless = *s;

	if (is_rule(s->section))
		return rule_lines_set(&c->rules, src, s, err);
	if (*s->section || !s->line || !rule_lines_take(s->name))
		return set_other(c, src, s, err);
	nameless.section = "rule"; /* is refused, with the header that it needs */
	return rule_lines_set(&c->rules, src, &nameless, err);
}

void config_set_trust(struct config *c, enum config_trust trust)
{
	c->trust = trust;
}

/* ---- life ------------------------------------------------------------------------------------ */

static int set_options(struct config *c, const struct config_spec *spec, struct err *err)
{
	const struct config_source src = {
		.level = CONFIG_OPTION, .file = "--set", .base = spec->folder};

	for (size_t i = 0; spec->settings && spec->settings[i]; i++) {
		AUTO_FREE char *section = xstrdup(spec->settings[i]);
		char *eq = strchr(section, '='), *dot;
		int r;

		if (eq)
			*eq = '\0';
		dot = strrchr(section, '.');
		if (dot)
			*dot = '\0';
		r = config_set(c, &src,
			       &(struct config_setting){.section = dot ? section : "",
							.name = dot ? dot + 1 : section,
							.value = eq ? eq + 1 : NULL},
			       err);
		if (r < 0)
			return r;
	}
	return 0;
}

char *config_home(const char *home, const char *set)
{
	return set && *set ? path_join(set, "cordon") : path_join(home, ".config/cordon");
}

char *config_project_file(const char *home, const char *set, const char *folder)
{
	AUTO_FREE char *dir = config_home(home, set);
	AUTO_FREE char *label = path_label(folder);

	return xasprintf("%s/projects/%s", dir, label);
}

static int read_levels(struct config *c, const struct config_spec *spec, struct err *err)
{
	AUTO_FREE char *user = path_join(c->dir, "config");
	AUTO_FREE char *own = NULL;
	AUTO_FREE char *project = NULL;
	int r = profile_read(c, spec, c->dir, &c->profile, err);

	if (r < 0)
		return r;
	r = config_read_file(c, CONFIG_ORG, spec->org_file ? spec->org_file : "/etc/cordon/config",
			     spec, err);
	if (r == 0)
		r = config_read_file(c, CONFIG_USER, user, spec, err);
	if (r == 0 && spec->folder) {
		own = config_project_file(spec->home, spec->config_home, spec->folder);
		project = path_join(spec->folder, ".cordon.conf");
		r = config_read_file(c, CONFIG_PROJECT, own, spec, err);
	}
	if (r == 0 && spec->folder)
		r = config_read_project(c, project, spec, err);
	if (r == 0 && spec->file)
		r = config_read_file(c, CONFIG_FILE, spec->file, spec, err);
	if (r == 0)
		r = set_options(c, spec, err);
	return r;
}

int config_load(struct config **ret, const struct config_spec *spec, struct err *err)
{
	size_t n;
	const struct config_key *keys = config_keys(&n);
	struct config *c = xcalloc(1, sizeof(*c));
	int r;

	c->settings = xcalloc(n, sizeof(*c->settings));
	c->home = xstrdup(spec->home);
	c->dir = config_home(spec->home, spec->config_home);
	c->folder = xstrdup(spec->folder);
	for (size_t i = 0; i < n; i++)
		if (keys[i].value)
			keep(&c->settings[i], CONFIG_BUILTIN, xstrdup(keys[i].value), "built in");
	r = read_levels(c, spec, err);
	if (r < 0) {
		config_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

char **config_files(const struct config_spec *spec)
{
	AUTO_FREE char *dir = config_home(spec->home, spec->config_home);
	AUTO_FREE char *label = spec->folder ? path_label(spec->folder) : NULL;
	char **list = xcalloc(9, sizeof(*list));
	size_t n = 0;

	list[n++] = xstrdup(spec->org_file ? spec->org_file : "/etc/cordon/config");
	list[n++] = path_join(dir, "config");
	list[n++] = xasprintf("%s/profiles/", dir);
	if (spec->folder) {
		list[n++] = config_project_file(spec->home, spec->config_home, spec->folder);
		list[n++] = path_join(spec->folder, ".cordon.conf");
	}
	if (spec->folder && spec->state_dir)
		list[n++] = xasprintf("%s/trust/%s", spec->state_dir, label);
	if (spec->file)
		list[n++] = xstrdup(spec->file);
	if (spec->profile && strchr(spec->profile, '/'))
		list[n++] = xstrdup(spec->profile);
	return list;
}

struct config *config_of_rules(void)
{
	struct config *c = xcalloc(1, sizeof(*c));
	size_t n;

	config_keys(&n);
	c->settings = xcalloc(n, sizeof(*c->settings));
	return c;
}

struct config *config_ref(const struct config *c)
{
	struct config *held = (struct config *)(uintptr_t)c; /* the settings do not change */

	held->others++;
	return held;
}

void config_free(struct config *c)
{
	size_t n;

	if (!c || c->others-- > 0)
		return;
	config_keys(&n);
	for (size_t i = 0; i < n; i++) {
		struct setting *s = &c->settings[i];

		for (size_t j = 0; j < s->n; j++) {
			free((void *)(uintptr_t)s->values[j]);
			free(s->origins[j]);
		}
		free(s->values);
		free(s->origins);
		free(s->levels);
	}
	free(c->settings);
	rule_lines_done(&c->rules);
	for (size_t i = 0; i < c->n_texts; i++)
		free(c->texts[i]);
	free(c->texts);
	free(c->profile);
	free(c->home);
	free(c->dir);
	free(c->folder);
	free(c->ignored);
	free(c);
}

/* ---- getters --------------------------------------------------------------------------------- */

const char *config_ignored(const struct config *c)
{
	return c->ignored;
}

const char *config_str(const struct config *c, const char *key)
{
	const struct setting *s = find(c, key);

	return s->n ? s->values[s->n - 1] : NULL;
}

bool config_bool(const struct config *c, const char *key)
{
	return str_eq(config_str(c, key), "true");
}

int64_t config_int(const struct config *c, const char *key)
{
	const char *s = config_str(c, key);
	int64_t v = 0;

	return s && config_parse_int(s, &v) ? v : 0;
}

size_t config_list(const struct config *c, const char *key, const char *const **ret)
{
	const struct setting *s = find(c, key);

	*ret = s->values;
	return s->n;
}

bool config_is_set(const struct config *c, const char *key)
{
	const struct setting *s = find(c, key);

	return s->n && s->levels[s->n - 1] != CONFIG_BUILTIN;
}

const char *config_origin(const struct config *c, const char *key)
{
	const struct setting *s = find(c, key);

	return s->n ? s->origins[s->n - 1] : "built in";
}

size_t config_rules(const struct config *c)
{
	return c->rules.n;
}

struct config_rule config_rule(const struct config *c, size_t i)
{
	return rule_lines_get(&c->rules, i);
}

void config_add_rule(struct config *c, const struct config_rule *rule)
{
	rule_lines_add(&c->rules, rule);
}

const char *config_profile(const struct config *c)
{
	return c->profile;
}

enum config_trust config_project(const struct config *c)
{
	return c->trust;
}
