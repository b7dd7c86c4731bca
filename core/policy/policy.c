/* policy - what may be written, what is hidden: built-in lists, settings, session answers. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/policy_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/config/config.h"

#define POLICY_MAX_ANSWERS 10000

/*
 * Below $HOME: keys, tokens, cookies. What exists of it does not exist inside. All begin with a
 * dot, which protect_is_candidate() looks for.
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
	".cargo/credentials",
	".cargo/credentials.toml",
	".gem/credentials",
	".m2/settings.xml",
	".gradle/gradle.properties",
	".composer/auth.json",
	".terraform.d/credentials.tfrc.json",
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
	".local/share/fish/fish_history",
};

static const char *const hidden_in_snap[] = {"snap/firefox", "snap/chromium"};

/* Places that belong to the system, not to a person: nothing to ask about. */
static const char *const system_trees[] = {
	"/bin", "/boot", "/dev", "/etc",  "/lib", "/lib32", "/lib64", "/libx32", "/nix",
	"/opt", "/proc", "/run", "/sbin", "/sys", "/usr",   "/var",   "/snap",
};

static const char hidden_reason[] = "it is hidden from the sandbox";
static const char secret_reason[] = "its name says that it holds secrets";

struct answer {
	char *path;
	bool tree, allow;
	const char *reason; /* policy_protect(): verdict is ASK */
};

struct policy {
	char *home;
	char **hidden;
	size_t n_hidden;
	size_t n_builtin; /* of those, the first ones: hidden_in_home */
	struct answer *answers;
	size_t n_answers;
	struct answer *guarded;
	size_t n_guarded;
	struct buf *scratch; /* folded path, kept between calls */
};

/* ---- life ------------------------------------------------------------------------------------ */

static void hide(struct policy *p, char *path)
{
	p->hidden = xrealloc(p->hidden, (p->n_hidden + 1) * sizeof(*p->hidden));
	p->hidden[p->n_hidden++] = path;
}

/*
 * A link to a secret hides nothing while the secret itself is in sight. Called at every start, and
 * most of the list is not there: what lies below the same missing directory is not looked for.
 */
static void hide_targets(struct policy *p)
{
	AUTO_FREE char *missing = NULL;

	for (size_t i = 0, n = p->n_hidden; i < n; i++) {
		const char *slash = strrchr(p->hidden[i], '/');
		char *real;

		if (missing && path_is_beneath(p->hidden[i], missing))
			continue;
		if (access(p->hidden[i], F_OK) == 0) {
			real = realpath(p->hidden[i], NULL);
			if (real && !str_eq(real, p->hidden[i]))
				hide(p, real);
			else
				free(real);
			continue;
		}
		free(missing);
		missing = xstrndup(p->hidden[i], (size_t)(slash - p->hidden[i]));
		if (access(missing, F_OK) == 0)
			util_free_ptr(&missing);
	}
}

/* cordon's own folders: the undo store, the audit log and the settings are not the agent's. */
static void hide_own(struct policy *p, const char *variable, const char *usual)
{
	const char *set = getenv(variable);

	if (set && *set == '/')
		hide(p, xasprintf("%s/cordon", set));
	else
		hide(p, xasprintf("%s/%s/cordon", p->home, usual));
}

int policy_new(struct policy **ret, const struct config *c, const char *home, struct err *err)
{
	struct policy *p;
	const char *const *list;
	size_t n;

	if (!home || *home != '/')
		return err_say(err, -EINVAL, "HOME is not an absolute path: set it");
	p = xcalloc(1, sizeof(*p));
	p->home = path_clean(home);
	p->scratch = xcalloc(1, sizeof(*p->scratch));
	*p->scratch = (struct buf)BUF_INIT;
	for (size_t i = 0; i < ARRAY_LEN(hidden_in_home); i++)
		hide(p, path_join(p->home, hidden_in_home[i]));
	p->n_builtin = p->n_hidden;
	for (size_t i = 0; i < ARRAY_LEN(hidden_in_snap); i++)
		hide(p, path_join(p->home, hidden_in_snap[i]));
	hide_own(p, "XDG_STATE_HOME", ".local/state");
	hide_own(p, "XDG_CONFIG_HOME", ".config");
	n = c ? config_list(c, "sandbox.hide", &list) : 0;
	for (size_t i = 0; i < n; i++)
		hide(p, xstrdup(list[i]));
	hide_targets(p);
	*ret = p;
	return 0;
}

static void answers_free(struct answer *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i].path);
	free(list);
}

void policy_free(struct policy *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_hidden; i++)
		free(p->hidden[i]);
	free(p->hidden);
	answers_free(p->answers, p->n_answers);
	answers_free(p->guarded, p->n_guarded);
	buf_done(p->scratch);
	free(p->scratch);
	free(p->home);
	free(p);
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool answer_covers(const struct answer *a, const char *path)
{
	return a->tree ? path_is_beneath(path, a->path) : str_eq(a->path, path);
}

/* The newest answer that covers the path. */
static const struct answer *find_answer(const struct policy *p, const char *path)
{
	for (size_t i = p->n_answers; i > 0; i--)
		if (answer_covers(&p->answers[i - 1], path))
			return &p->answers[i - 1];
	return NULL;
}

void policy_remember(struct policy *p, const char *path, bool tree, bool allow)
{
	struct answer *a;

	/* Each answer is a human's deed; a flood of them is none; forgetting asks again. */
	if (p->n_answers >= POLICY_MAX_ANSWERS)
		return;
	p->answers = xrealloc(p->answers, (p->n_answers + 1) * sizeof(*p->answers));
	a = &p->answers[p->n_answers++];
	*a = (struct answer){path_clean(path), tree, allow, NULL};
}

void policy_protect(struct policy *p, const char *path, const char *reason)
{
	p->guarded = xrealloc(p->guarded, (p->n_guarded + 1) * sizeof(*p->guarded));
	p->guarded[p->n_guarded++] = (struct answer){path_clean(path), true, false, reason};
}

static void learn_from(struct policy *p, const char *file, const char *folder)
{
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *value = NULL;
	AUTO_FREE char *expanded = NULL;
	AUTO_FREE char *joined = NULL;
	AUTO_FREE char *clean = NULL;
	size_t len;

	if (io_read_file(AT_FDCWD, file, 256 << 10, &text, &len) < 0)
		return;
	value = vet_find_hooks_path(text, len);
	if (!value || !*value)
		return;
	expanded = path_expand_home(value, p->home);
	joined = path_join(folder, expanded);
	clean = path_clean(joined);
	if (path_is_beneath(clean, folder) && !str_eq(clean, folder))
		policy_protect(p, clean, "core.hooksPath names it: git on the host runs it");
}

void policy_learn_hooks(struct policy *p, const char *folder)
{
	AUTO_FREE char *own = path_join(folder, ".git/config");
	AUTO_FREE char *global = path_join(p->home, ".gitconfig");

	learn_from(p, own, folder);
	learn_from(p, global, folder);
}

/* ---- checks ---------------------------------------------------------------------------------- */

bool policy_name_is_secret(const struct policy *p, const char *name)
{
	static const char *const harmless[] = {".example", ".sample",	".template",
					       ".dist",	   ".defaults", ".schema"};

	(void)p;
	if (strncmp(name, ".env", 4) != 0 || (name[4] && name[4] != '.'))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(harmless); i++)
		if (str_ends(name, harmless[i]))
			return false;
	return true;
}

static bool is_hidden(const struct policy *p, const char *path, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (path_is_beneath(path, p->hidden[i]))
			return true;
	return false;
}

/* Would renaming this carry a hidden place along? What is in ~/.config would show elsewhere. */
static bool holds_hidden(const struct policy *p, const char *path)
{
	bool all = protect_is_candidate(path) || path_is_beneath(p->home, path);

	for (size_t i = all ? 0 : p->n_builtin; i < p->n_hidden; i++)
		if (path_is_beneath(p->hidden[i], path))
			return true;
	return false;
}

static enum policy_verdict check_guarded(const struct policy *p, enum policy_act act,
					 const char *path, const char **ret_reason)
{
	if (act == POLICY_MKDIR || act == POLICY_REMOVE)
		return POLICY_ALLOW;
	for (size_t i = 0; i < p->n_guarded; i++) {
		const struct answer *g = &p->guarded[i];

		/* META is the mode bits of what the host runs; above it only renames matter. */
		if (answer_covers(g, path) ||
		    (act != POLICY_META && path_is_beneath(g->path, path))) {
			*ret_reason = g->reason;
			return POLICY_ASK;
		}
	}
	return POLICY_ALLOW;
}

static bool has_component(const char *path, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = path; (at = strstr(at, name)); at++)
		if (at > path && at[-1] == '/' && (at[n] == '/' || at[n] == '\0'))
			return true;
	return false;
}

static enum policy_verdict check_builtin(const struct policy *p, enum policy_act act,
					 const char *path, const char **ret_reason)
{
	const char *leaf, *below;

	if (!protect_is_candidate(path))
		return POLICY_ALLOW;
	below = path_below(path, p->home);
	if (below && *below == '.' && is_hidden(p, path, 0, p->n_builtin)) {
		*ret_reason = hidden_reason;
		return POLICY_HIDE;
	}
	buf_clear(p->scratch);
	names_fold_path(p->scratch, path);
	if (has_component(p->scratch->data, ".cordon")) {
		*ret_reason = "it is an undo store of cordon's";
		return POLICY_HIDE;
	}
	leaf = strrchr(p->scratch->data, '/');
	if (leaf && act != POLICY_MKDIR && policy_name_is_secret(p, leaf + 1)) {
		*ret_reason = secret_reason;
		return POLICY_HIDE;
	}
	return protect_check(act, p->scratch->data, path_base(path), ret_reason);
}

enum policy_verdict policy_check(const struct policy *p, enum policy_act act, const char *path,
				 const char **ret_reason)
{
	const struct answer *a;
	enum policy_verdict v;

	*ret_reason = hidden_reason;
	if (is_hidden(p, path, p->n_builtin, p->n_hidden) ||
	    ((act == POLICY_RENAME_FROM || act == POLICY_RENAME_TO) && holds_hidden(p, path)))
		return POLICY_HIDE;
	*ret_reason = NULL;
	v = check_builtin(p, act, path, ret_reason);
	if (v == POLICY_ALLOW && p->n_guarded)
		v = check_guarded(p, act, path, ret_reason);
	if (v == POLICY_HIDE || p->n_answers == 0)
		return v;
	/* No answer about a tree uncovers what is hidden in it. */
	a = find_answer(p, path);
	if (!a || (a->allow && v == POLICY_ALLOW))
		return v;
	*ret_reason =
		a->allow ? "you allowed it for this session" : "you denied it for this session";
	return a->allow ? POLICY_ALLOW : POLICY_DENY;
}

bool policy_vet(const struct policy *p, const char *path, const char *data, size_t len)
{
	return policy_vet_change(p, path, NULL, 0, data, len);
}

bool policy_vet_change(const struct policy *p, const char *path, const char *old, size_t old_len,
		       const char *data, size_t len)
{
	const char *reason;

	return policy_check(p, POLICY_RENAME_TO, path, &reason) == POLICY_VET &&
	       vet_git_config(data, len, old, old_len);
}

enum policy_verdict policy_check_outside(const struct policy *p, const char *path,
					 const char **ret_reason)
{
	const struct answer *a = find_answer(p, path);

	*ret_reason = hidden_reason;
	if (is_hidden(p, path, 0, p->n_hidden))
		return POLICY_HIDE;
	*ret_reason = a && a->allow ? "you allowed it for this session"
		      : a	    ? "you denied it for this session"
				    : "it lies outside the working folder";
	if (a)
		return a->allow ? POLICY_ALLOW : POLICY_DENY;
	if (path_is_beneath(path, p->home) && !str_eq(p->home, "/"))
		return POLICY_ASK;
	*ret_reason = "it belongs to the system";
	if (!strchr(path + 1, '/')) /* a new name in / */
		return POLICY_DENY;
	for (size_t i = 0; i < ARRAY_LEN(system_trees); i++)
		if (path_is_beneath(path, system_trees[i]))
			return POLICY_DENY;
	if (path_is_beneath(path, "/root")) /* not ours, or $HOME would have said so */
		return POLICY_DENY;
	*ret_reason = "it lies outside the working folder";
	return POLICY_ASK;
}

size_t policy_hidden(const struct policy *p, const char *const **ret)
{
	*ret = (const char *const *)p->hidden;
	return p->n_hidden;
}
