/* template - see template.h. */
/* SPDX-License-Identifier: MIT */
#include "core/setup/template.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/config/config.h"

#define WIDTH 96 /* columns of a comment */

static const char user_head[] =
	"# Settings of cordon for you, in every folder. A line counts once its \"#\" is removed.\n"
	"# `man cordon-config` explains them; `cordon policy check FILE` checks a file.\n"
	"#\n"
	"# [rule \"notes\"]\n"
	"#\tallow = write ~/notes/**\n"
	"#\tdeny = read,write ~/notes/private/**\n"
	"#\treason = my notes\n";

static const char project_head[] =
	"# Settings of cordon for this folder. A line counts once its \"#\" is removed.\n"
	"# They can only tighten, until you run `cordon policy trust` here: then rules that allow "
	"count,\n"
	"# too. Any change of this file ends that trust.\n"
	"#\n"
	"# [rule \"this project\"]\n"
	"#\tdeny = read,write secrets/**\n"
	"#\task = write migrations/**\n"
	"#\treason = ask before a migration changes\n";

/* Adds the help text as comment lines. */
static void add_help(struct buf *b, const char *help)
{
	size_t column = 0;

	for (const char *p = help; *p;) {
		size_t len = strcspn(p, " ");

		if (column == 0 || column + 1 + len > WIDTH) {
			buf_str(b, column ? "\n\t#" : "\t#");
			column = 9;
		}
		buf_fmt(b, " %.*s", (int)len, p);
		column += len + 1;
		p += len + strspn(p + len, " ");
	}
	buf_ch(b, '\n');
}

static void add_key(struct buf *b, const struct config_key *key, const char *name, bool project)
{
	const char *value = project && key->tight ? key->tight : key->value;

	add_help(b, key->help);
	if (key->words)
		buf_fmt(b, "\t# one of: %s\n", key->words);
	buf_fmt(b, "\t#%s =%s%s\n", name, value ? " " : "", value ? value : "");
}

static bool means_something(const struct config_key *key)
{
#ifdef __APPLE__
	(void)key;
	return true;
#else
	return !str_starts(key->help, CONFIG_MACOS);
#endif
}

char *template_settings(bool project)
{
	struct buf b = BUF_INIT;
	const char *section = "";
	size_t len = 0, n;
	const struct config_key *keys = config_keys(&n);

	buf_str(&b, project ? project_head : user_head);
	for (size_t i = 0; i < n; i++) {
		const char *dot = strchr(keys[i].name, '.');

		if (!dot || (project && keys[i].project == PROJECT_NEVER) ||
		    str_starts(keys[i].name, "profile.") || !means_something(&keys[i]))
			continue;
		if ((size_t)(dot - keys[i].name) != len ||
		    strncmp(section, keys[i].name, len) != 0) {
			section = keys[i].name;
			len = (size_t)(dot - section);
			buf_fmt(&b, "\n[%.*s]\n", (int)len, section);
		}
		add_key(&b, &keys[i], dot + 1, project);
	}
	return buf_take(&b);
}
