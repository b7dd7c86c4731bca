/* hidden - hides keys, tokens, cookies, and cordon's own folders. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/config/config.h"
#include "core/policy/builtin/hidden.h"
#include "core/policy/policy_priv.h"

/*
 * Below $HOME: keys, tokens, cookies. Existing ones do not exist inside. All begin with a dot,
 * which protect_is_candidate() looks for.
 */
static const char *const hidden_in_home[] = {
	".ssh",
	".aws",
	".gnupg",
	".azure",
	".kube",
	".oci",
	".docker/config.json",
	".docker/contexts",
	".netrc",
	".npmrc",
	".pypirc",
	".git-credentials",
	".config/git/credentials",
	".config/gcloud",
	".config/gh/hosts.yml",
	".config/hub",
	".config/glab-cli",
	".config/doctl",
	".config/op",
	".config/1Password",
	".config/Bitwarden",
	".config/Bitwarden CLI",
	".config/sops",
	".config/age",
	".config/containers/auth.json",
	".config/rclone",
	".config/helm",
	/* in the homes of tools (core/config/profiles/toolchains.profile) */
	".cargo/credentials",
	".cargo/credentials.toml",
	".gem/credentials",
	".local/share/gem/credentials",
	".bundle/config",
	".m2/settings.xml",
	".m2/settings-security.xml",
	".gradle/gradle.properties",
	".ivy2/.credentials",
	".sbt/.credentials",
	".sbt/credentials",
	".nuget/NuGet/NuGet.Config",
	".composer/auth.json",
	".config/composer/auth.json",
	".hex/hex.config",
	".pub-cache/credentials.json",
	".config/dart/pub-credentials.json",
	".julia/servers",
	".conan2/credentials.json",
	".terraform.d/credentials.tfrc.json",
	".terraformrc",
	".android/adbkey",
	".yarnrc.yml",
	".bunfig.toml",
	".config/pnpm/rc",
	".cache/huggingface/token",
	".cache/huggingface/stored_tokens",
	".vault-token",
	".pgpass",
	".my.cnf",
	".boto",
	".s3cfg",
	".password-store",
	".local/share/keyrings",
	".local/share/kwalletd",
	".local/share/pass",
	".mozilla",
	".thunderbird",
	".config/google-chrome",
	".config/google-chrome-beta",
	".config/chromium",
	".config/BraveSoftware",
	".config/microsoft-edge",
	".config/vivaldi",
	".config/opera",
	".config/Signal",
	".config/Slack",
	".config/discord",
	".var/app/org.mozilla.firefox",
	".var/app/com.google.Chrome",
	".bash_history",
	".zsh_history",
	".python_history",
	".psql_history",
	".mysql_history",
	".node_repl_history",
	".viminfo",
	".lesshst",
	".local/share/fish/fish_history",
};

static const char *const hidden_in_snap[] = {"snap/firefox", "snap/chromium"};

const char *hidden_builtin(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(hidden_in_home); i++)
		if (path_is_beneath(path, hidden_in_home[i]))
			return hidden_in_home[i];
	return NULL;
}

void hidden_add(struct policy *p, char *path)
{
	p->hidden = xrealloc(p->hidden, (p->n_hidden + 1) * sizeof(*p->hidden));
	p->hidden[p->n_hidden++] = path;
}

static bool is_there(const struct policy *p, const char *path)
{
	return !listing_lacks(p->at_home, path) && access(path, F_OK) == 0;
}

/*
 * Hides the targets of hidden links, too: hiding only a link to a secret is useless. Called at
 * every start, and most paths of the list do not exist: paths below the same missing directory are
 * skipped.
 */
static void hide_targets(struct policy *p)
{
	AUTO_FREE char *missing = NULL;

	for (size_t i = 0, n = p->n_hidden; i < n; i++) {
		const char *slash = strrchr(p->hidden[i], '/');
		char *real;

		if (missing && path_is_beneath(p->hidden[i], missing))
			continue;
		if (is_there(p, p->hidden[i])) {
			real = realpath(p->hidden[i], NULL);
			if (real && !str_eq(real, p->hidden[i]))
				hidden_add(p, real);
			else
				free(real);
			continue;
		}
		free(missing);
		missing = xstrndup(p->hidden[i], (size_t)(slash - p->hidden[i]));
		if (is_there(p, missing))
			util_free_ptr(&missing);
	}
}

/* Hides cordon's folder by the given path and by its real one: cordon makes the folder there
 * later. */
static void hide_own_in(struct policy *p, const char *dir)
{
	AUTO_FREE char *real = realpath(dir, NULL);

	hidden_add(p, path_join(dir, "cordon"));
	if (real && !str_eq(real, dir))
		hidden_add(p, path_join(real, "cordon"));
}

/*
 * Hides cordon's own folders: the undo store, the audit log, the settings and the sockets of
 * sessions. `usual` is below $HOME.
 */
static void hide_own(struct policy *p, const char *variable, const char *usual)
{
	const char *set = getenv(variable);
	AUTO_FREE char *dir = set && *set == '/' ? path_clean(set) : path_join(p->home, usual);

	hide_own_in(p, dir);
}

static void hide_own_sockets(struct policy *p)
{
	const char *set = getenv("XDG_RUNTIME_DIR");
	AUTO_FREE char *given = set && *set == '/' ? path_clean(set) : NULL;
	AUTO_FREE char *usual = xasprintf("/run/user/%u", (unsigned)geteuid());

	hide_own_in(p, usual);
	if (given && !str_eq(given, usual))
		hide_own_in(p, given);
}

void hidden_collect(struct policy *p, const struct policy_spec *spec)
{
	const char *const *list;
	size_t n;

	for (size_t i = 0; i < ARRAY_LEN(hidden_in_home); i++)
		hidden_add(p, path_join(p->home, hidden_in_home[i]));
	p->n_builtin = p->n_hidden;
	for (size_t i = 0; i < ARRAY_LEN(hidden_in_snap); i++)
		hidden_add(p, path_join(p->home, hidden_in_snap[i]));
	hide_own(p, "XDG_STATE_HOME", ".local/state");
	hide_own(p, "XDG_CONFIG_HOME", ".config");
	hide_own_sockets(p);
	n = spec->config ? config_list(spec->config, "sandbox.hide", &list) : 0;
	for (size_t i = 0; i < n; i++)
		hidden_add(p, xstrdup(list[i]));
	for (size_t i = 0; spec->hidden && spec->hidden[i]; i++)
		hidden_add(p, xstrdup(spec->hidden[i]));
	hide_targets(p);
	p->n_set = p->n_hidden;
}

/* Returns false for nearly every name, without a copy, because it cannot fold to ".env". */
static bool may_fold_to_env(const char *name)
{
	if (name[0] == '.' && (name[1] | 0x20) == 'e')
		return true;
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c >= 0x80 || *c == '~')
			return true;
	return false;
}

bool policy_name_is_secret(const struct policy *p, const char *name)
{
	static const char *const harmless[] = {".example", ".sample",	".template",
					       ".dist",	   ".defaults", ".schema"};
	AUTO_BUF struct buf folded = BUF_INIT;

	(void)p;
	if (!may_fold_to_env(name))
		return false;
	names_fold(&folded, name, strlen(name));
	if (strncmp(folded.data, ".env", 4) != 0 || (folded.data[4] && folded.data[4] != '.'))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(harmless); i++)
		if (str_ends(folded.data, harmless[i]))
			return false;
	return true;
}

size_t policy_hidden(const struct policy *p, const char *const **ret)
{
	*ret = (const char *const *)p->hidden;
	return p->n_hidden;
}
