/* profile - files for known agents and tool chains, which users can read and replace. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/builtin.h"
#include "core/base/path.h"
#include "core/config/config_priv.h"

/*
 * A profile is a settings file with a section of its own:
 *
 *   [profile]
 *           command = claude        ; it is taken when this is run
 *           argument = --no-daemon  ; which that command is given before its own
 *           unprompted = --yolo     ; the same, where cordon alone asks (agent.prompts)
 *           settings-variable = CLAUDE_CONFIG_DIR  ; moves its settings, of which a copy
 *           settings = ~/.claude.json              ; begins with these (sandbox.own-settings)
 *           inherits = tools        ; read first
 *
 * A file of that name in the user's own directory replaces the shipped one.
 */
#define EXT	    ".profile"
#define ANY_COMMAND "tools" /* for commands without a profile */
#define DEPTH_MAX   8

struct profile {
	struct config *config;
	const struct config_spec *spec;
	const char *dir; /* directory of the user's settings */
	bool none_own;	 /* the user has no directory for profiles */
	struct err *err;
	struct config_source src;
	int depth;
	bool runs;	 /* the command that runs is that of the current file */
	char *names[64]; /* names of the files that were read, each once; heap */
	size_t n_names;
};

static int read_named(struct profile *p, const char *name);

/* Returns whether an inherited profile is only a file name. */
static bool is_name(const char *s)
{
	return *s && *s != '.' && strlen(s) <= 64 && !strchr(s, '/');
}

/* Returns "claude" for "claude.profile", heap; NULL: not a profile's file. */
static char *name_of(const char *file)
{
	if (!str_ends(file, EXT) || strlen(file) == strlen(EXT) || *file == '.')
		return NULL;
	return xstrndup(file, strlen(file) - strlen(EXT));
}

/* Reads a path that the user gave, else the user's own file of that name, else the shipped one.
 * -ENOENT: there is none; err is not set. */
static int text_of(const struct profile *p, const char *name, char **ret, size_t *ret_len,
		   char **ret_file, struct err *err)
{
	AUTO_FREE char *base = xasprintf("%s" EXT, name);
	AUTO_FREE char *path =
		strchr(name, '/') ? xstrdup(name) : xasprintf("%s/profiles/%s", p->dir, base);
	const char *shipped = builtin_find(base);
	int r = p->none_own && !strchr(name, '/')
			? -ENOENT
			: config_own_text(path, p->spec, ret, ret_len, err);

	if (r == 0)
		*ret_file = take_ptr(&path);
	if (r != -ENOENT || !shipped)
		return r;
	*ret = xstrdup(shipped);
	*ret_len = strlen(shipped);
	*ret_file = take_ptr(&base);
	return 0;
}

static bool is_key(const struct config_setting *s, const char *name)
{
	return str_eq(s->section, "profile") && str_eq(s->name, name);
}

/* Returns whether the key is for the program itself, not for profiles that inherit. */
static bool is_settings(const struct config_setting *s)
{
	return is_key(s, "settings-variable") || is_key(s, "settings");
}

/* Returns whether the key adds an argument to the command. */
static bool is_argument(const struct config_setting *s)
{
	return is_key(s, "argument") || is_key(s, "unprompted");
}

static int on_setting(void *data, const struct config_setting *s)
{
	struct profile *p = data;

	p->src.line = s->line;
	if (is_key(s, "inherits"))
		return s->value ? read_named(p, s->value) : 0;
	if (is_key(s, "command") && s->value && p->spec->command)
		p->runs |= str_eq(s->value, path_base(p->spec->command));
	if ((is_argument(s) && p->runs) || (is_settings(s) && p->depth == 1))
		return config_set(p->config, &p->src,
				  &(struct config_setting){.section = "sandbox",
							   .name = s->name,
							   .value = s->value,
							   .line = s->line},
				  p->err);
	if (is_key(s, "command") || is_argument(s) || is_key(s, "summary") || is_settings(s))
		return 0;
	return config_set(p->config, &p->src, s, p->err);
}

static bool is_done(const struct profile *p, const char *name)
{
	for (size_t i = 0; i < p->n_names; i++)
		if (str_eq(p->names[i], name))
			return true;
	return false;
}

static int no_such(const char *name, const char *dir, struct err *err)
{
	AUTO_BUF struct buf known = BUF_INIT;

	for (const struct builtin_file *f = builtin_files; f->name; f++) {
		AUTO_FREE char *shipped = name_of(f->name);

		if (shipped)
			buf_fmt(&known, "%s%s", known.len ? ", " : "", shipped);
	}
	return err_say(err, -ENOENT,
		       "profile '%s': there is none in %s/profiles, nor is it one of %s", name, dir,
		       known.data);
}

int profile_check(const char *name, const char *dir, struct err *err)
{
	AUTO_FREE char *base = xasprintf("%s" EXT, name);
	AUTO_FREE char *own = xasprintf("%s/profiles/%s", dir, base);

	if (is_name(name) && (builtin_find(base) || access(own, F_OK) == 0))
		return 0;
	return no_such(name, dir, err);
}

static int read_named(struct profile *p, const char *name)
{
	const struct config_source outer = p->src;
	const bool outer_runs = p->runs;
	AUTO_FREE char *file = NULL;
	char *text = NULL;
	size_t len = 0;
	int r = is_name(name) || p->depth == 0 ? 0 : -ENOENT;

	if (is_done(p, name))
		return 0;
	if (p->depth == DEPTH_MAX || p->n_names == ARRAY_LEN(p->names))
		return err_say(p->err, -ELOOP, "profile '%s': too many inherit each other", name);
	if (r == 0)
		r = text_of(p, name, &text, &len, &file, p->err);
	if (r == -ENOENT)
		return no_such(name, p->dir, p->err);
	if (r < 0)
		return r;
	config_keep(p->config, text);
	p->names[p->n_names++] = xstrdup(name);
	p->src = (struct config_source){.level = CONFIG_PROFILE, .file = file};
	p->depth++;
	p->runs = false;
	r = config_read_text(text, len, file, on_setting, p, p->err);
	p->depth--;
	p->src = outer;
	p->runs = outer_runs;
	return r;
}

/* ---- which -------------------------------------------------------------------------------------
 */

struct search {
	const char *command;
	bool found;
};

static int on_command(void *data, const struct config_setting *setting)
{
	struct search *s = data;

	if (is_key(setting, "command") && setting->value && str_eq(setting->value, s->command))
		s->found = true;
	return 0;
}

/* Returns whether the file is for the command. An unreadable file is for none: its error is
 * reported when it is asked for. */
static bool knows(const struct profile *p, const char *name, const char *command)
{
	struct search s = {.command = command};
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *file = NULL;
	struct err ignored = {0};
	size_t len = 0;

	return text_of(p, name, &text, &len, &file, &ignored) == 0 &&
	       config_read_text(text, len, file, on_command, &s, &ignored) == 0 && s.found;
}

/* Finds a profile by command, the user's own first. Heap, or NULL. */
static char *find_by_command(const struct profile *p, const char *command)
{
	AUTO_FREE char *own = path_join(p->dir, "profiles");
	AUTO_DIR DIR *d = opendir(own);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		AUTO_FREE char *name = name_of(e->d_name);

		if (name && knows(p, name, command))
			return take_ptr(&name);
	}
	for (const struct builtin_file *f = builtin_files; f->name; f++) {
		AUTO_FREE char *name = name_of(f->name);

		if (name && knows(p, name, command))
			return take_ptr(&name);
	}
	return xstrdup(ANY_COMMAND);
}

int profile_read(struct config *c, const struct config_spec *spec, const char *dir, char **ret,
		 struct err *err)
{
	struct profile p = {.config = c, .spec = spec, .dir = dir, .err = err};
	AUTO_FREE char *name = NULL;
	AUTO_FREE char *own = path_join(dir, "profiles");
	int r = 0;

	*ret = NULL;
	p.none_own = access(own, F_OK) < 0 && errno == ENOENT;
	if (str_eq(spec->profile, "none") || (!spec->profile && !spec->command))
		return 0;
	name = spec->profile ? xstrdup(spec->profile)
			     : find_by_command(&p, path_base(spec->command));
	r = read_named(&p, name);
	for (size_t i = 0; i < p.n_names; i++)
		free(p.names[i]);
	if (r == 0)
		*ret = take_ptr(&name);
	return r;
}
