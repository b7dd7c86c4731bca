/* reload - themes and keymaps: loads, selects and reloads them after changes. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/base/path.h"
#include "core/policy/rules/rules.h"
#include "tui/console/console_priv.h"

/* Names the file and line of a setting with a bad value; an option of the command line has none. */
static int in_setting(const struct console *c, int r, const char *key, const char *value,
		      struct err *err)
{
	const struct config *s = c->opt->settings;

	if (r < 0 && s && value && value == config_str(s, key))
		return err_wrap(err, r, "%s: %s", config_origin(s, key), key);
	return r;
}

static int read_keymap(const struct console *c, struct keymap **ret, struct err *err)
{
	const struct console_options *o = c->opt;
	int r = keymap_load(ret, o->keymap ? o->keymap : "default", &c->where, err);

	if (r < 0 || !o->prefix)
		return in_setting(c, r, "ui.keymap", o->keymap, err);
	r = keymap_set_prefix(*ret, o->prefix, err);
	return in_setting(c, r, "ui.prefix", o->prefix, err);
}

int console_load_look(struct console *c, struct err *err)
{
	const char *config_home = getenv("XDG_CONFIG_HOME"), *home = c->host->home;
	int r = screen_check(&c->terminal, err);

	if (r < 0)
		return r;
	c->config_dir = config_home && *config_home == '/'
				? path_join(config_home, "cordon")
				: path_join(home ? home : "/", ".config/cordon");
	c->where = (struct look_where){.dir = c->config_dir, .folders = c->host->folders};
	r = read_keymap(c, &c->keymap, err);
	c->look_seen = look_signature(&c->where);
	if (r < 0)
		return r;
	r = theme_load(&c->theme, c->opt->theme ? c->opt->theme : "default", &c->where, DEPTH_256,
		       err);
	return in_setting(c, r, "ui.theme", c->opt->theme, err);
}

const char *console_theme_name(void *data)
{
	const struct console *c = data;

	return c->theme_name ? c->theme_name : c->opt->theme ? c->opt->theme : "default";
}

static int load_theme(struct console *c, const char *name, struct err *err)
{
	struct theme theme;
	int r = c->screen ? theme_load(&theme, name, &c->where, screen_depth(c->screen), err)
			  : -ENOTTY;

	if (r < 0)
		return r;
	c->theme = theme; /* the surface points into it */
	console_tell_colors(c);
	c->ui->dirty = true;
	console_schedule(c);
	return 0;
}

int console_theme(void *data, const char *name, bool keep, struct err *err)
{
	struct console *c = data;
	int r = load_theme(c, name ? name : console_theme_name(c), err);

	if (r == 0 && name && keep) {
		AUTO_FREE char *file = path_join(c->config_dir, "config");
		char *kept = xstrdup(name);

		free(c->theme_name);
		c->theme_name = kept;
		r = rules_save_setting(file, "ui", "theme", name, err);
	}
	return r;
}

void console_themes(void *data, struct buf *names)
{
	look_list("theme", &((struct console *)data)->where, names);
}

static int load_keymap(struct console *c, struct err *err)
{
	struct keymap *km = NULL;
	int r = read_keymap(c, &km, err);

	if (r < 0) {
		keymap_free(km);
		return r;
	}
	ui_set_keymap(c->ui, km);
	keymap_free(c->keymap);
	c->keymap = km;
	return 0;
}

/* Reloads changed files; a file with an error is reported, and the old content stays. */
void console_watch_look(struct console *c)
{
	uint64_t now = c->screen ? look_signature(&c->where) : c->look_seen;
	struct err err = {0};

	if (now == c->look_seen)
		return;
	c->look_seen = now;
	if (load_theme(c, console_theme_name(c), &err) < 0 || load_keymap(c, &err) < 0)
		ui_say(c->ui, "x %s", err.text);
	else
		ui_say(c->ui, "Colours and keys were read again.");
}
