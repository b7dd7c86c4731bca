/* signing - finds out whether git signs commits with keys that are not available inside. */
/* SPDX-License-Identifier: MIT */
#include "core/session/start/signing.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/policy/git/git_settings.h"
#include "core/session/start/repository.h"

#define CONFIG_MAX (256u << 10)

struct found {
	bool commits, by_ssh;
};

/* Returns whether the value is true (git-config(1), Values). */
static bool is_true(const char *value)
{
	static const char *const words[] = {"true", "yes", "on", "1"};

	for (size_t i = 0; value && i < ARRAY_LEN(words); i++)
		if (strcasecmp(value, words[i]) == 0)
			return true;
	return !value;
}

static void look(void *data, const char *section, const char *name, const char *value)
{
	struct found *f = data;

	if (str_eq(section, "commit") && str_eq(name, "gpgsign"))
		f->commits = is_true(value);
	else if (str_eq(section, "gpg") && str_eq(name, "format"))
		f->by_ssh = value && strcasecmp(value, "ssh") == 0;
}

static void read_config(struct found *f, const char *dir, const char *name)
{
	AUTO_FREE char *path = path_join(dir, name);
	AUTO_FREE char *text = NULL;

	if (io_read_file(AT_FDCWD, path, CONFIG_MAX, &text, NULL) == 0)
		git_each_setting(text, look, f);
}

enum signing signing_of(const char *folder, const char *home)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");
	AUTO_FREE char *config = xdg && *xdg == '/' ? xstrdup(xdg) : path_join(home, ".config");
	AUTO_FREE char *dot = path_join(folder, ".git");
	CLEANUP(repository_done) struct repository r = {0};
	struct found f = {0};

	if (access(dot, F_OK) < 0)
		return SIGNING_NONE;
	(void)repository_find(&r, folder);
	read_config(&f, "/etc", "gitconfig");
	read_config(&f, config, "git/config");
	read_config(&f, home, ".gitconfig");
	read_config(&f, r.common ? r.common : dot, "config");
	return !f.commits ? SIGNING_NONE : f.by_ssh ? SIGNING_SSH : SIGNING_GPG;
}
