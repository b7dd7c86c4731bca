/* test_profiles - no file that a shipped profile allows to be written is executed outside. */
/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/builtin.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/policy/policy.h"
#include "tests/support/check.h"

#define HOME_DIR "/nonexistent/u" /* not a home on this machine */

static struct policy *policy;
static struct config *config;

static void load(const char *profile)
{
	const struct config_spec spec = {.home = HOME_DIR, .profile = profile};
	static const char *const folders[] = {"/nonexistent/work", NULL};
	struct err err = {0};

	if (config_load(&config, &spec, &err) < 0)
		fail_msg("%s: %s", profile, err.text);
	if (policy_new(
		    &policy,
		    &(struct policy_spec){.config = config, .home = HOME_DIR, .folders = folders},
		    &err) < 0)
		fail_msg("%s: %s", profile, err.text);
}

static void unload(void)
{
	policy_free(policy);
	config_free(config);
}

/* Asks like the keeper about a place outside the folders. */
static enum policy_verdict verdict(enum policy_act act, const char *path)
{
	const char *reason;
	enum policy_verdict v = policy_check_outside(policy, act, path, &reason);

	return v == POLICY_ALLOW ? policy_check(policy, act, path, &reason) : v;
}

/* Returns a path that a pattern allows to be written, with a directory "d" for "**" and
 * wildcards. */
static char *place_of(const char *pattern)
{
	AUTO_BUF struct buf b = BUF_INIT;

	buf_str(&b, HOME_DIR);
	assert_true(*pattern == '~');
	for (const char *c = pattern + 1; *c; c++) {
		if (*c == '*' && c[1] == '*')
			c++;
		buf_ch(&b, *c == '*' || *c == '?' ? 'd' : *c);
	}
	return buf_take(&b);
}

static void try_all(const char *profile, const char *dir)
{
	static const struct {
		const char *below;
		enum policy_act act;
		enum policy_verdict at_least;
	} evil[] = {
		{".git/config", POLICY_WRITE, POLICY_VET},
		{".git/config", POLICY_RENAME_TO, POLICY_VET},
		{".git/index", POLICY_RENAME_TO, POLICY_VET},
		{".git/hooks/post-checkout", POLICY_WRITE, POLICY_ASK},
		{".git/hooks/post-checkout", POLICY_RENAME_TO, POLICY_ASK},
		{".git/commondir", POLICY_WRITE, POLICY_ASK},
		{".git/COMMIT_EDITMSG", POLICY_SYMLINK, POLICY_ASK},
		{".git", POLICY_DIR_TO, POLICY_ASK},
		{".git", POLICY_WRITE, POLICY_VET},
		{"x.git/hooks/update", POLICY_WRITE, POLICY_ASK},
		{"a/b/.git/config", POLICY_WRITE, POLICY_VET},
		{".gitconfig", POLICY_WRITE, POLICY_ASK},
		{".envrc", POLICY_WRITE, POLICY_ASK},
		{".bashrc", POLICY_WRITE, POLICY_ASK},
		{".vscode/tasks.json", POLICY_WRITE, POLICY_ASK},
		{".claude/settings.json", POLICY_WRITE, POLICY_ASK},
		{".mcp.json", POLICY_WRITE, POLICY_ASK},
	};

	for (size_t i = 0; i < ARRAY_LEN(evil); i++) {
		AUTO_FREE char *path = path_join(dir, evil[i].below);

		if (verdict(evil[i].act, path) < evil[i].at_least)
			fail_msg("%s: %s, act %d", profile, path, (int)evil[i].act);
	}
}

/* A directory of any name is a git directory once it has a HEAD: either that is asked about, or its
 * settings and hooks are. */
static void try_bare(const char *profile, const char *dir)
{
	AUTO_FREE char *head = path_join(dir, "p/HEAD");
	AUTO_FREE char *conf = path_join(dir, "p/config");
	AUTO_FREE char *hook = path_join(dir, "p/hooks/post-checkout");

	if (verdict(POLICY_RENAME_TO, head) >= POLICY_ASK)
		return;
	if (verdict(POLICY_WRITE, conf) < POLICY_VET || verdict(POLICY_WRITE, hook) < POLICY_ASK)
		fail_msg("%s: %s may be a git directory", profile, dir);
}

static size_t walk(const char *profile)
{
	size_t n = 0;

	load(profile);
	for (size_t i = 0; i < config_rules(config); i++) {
		const struct config_rule rule = config_rule(config, i);
		const char *kinds = rule.value, *pattern = strchr(kinds, ' ');
		AUTO_FREE char *dir = NULL;

		if (!str_eq(rule.key, "allow") || !pattern ||
		    !memmem(kinds, (size_t)(pattern - kinds), "write", 5))
			continue;
		dir = place_of(pattern + strspn(pattern, " "));
		try_all(profile, dir);
		try_bare(profile, dir);
		n++;
	}
	unload();
	return n;
}

TEST(every_path_of_every_profile)
{
	size_t profiles = 0, paths = 0;

	for (const struct builtin_file *f = builtin_files; f->name; f++) {
		AUTO_FREE char *name = NULL;

		if (!str_ends(f->name, ".profile"))
			continue;
		name = xstrndup(f->name, strlen(f->name) - strlen(".profile"));
		paths += walk(name);
		profiles++;
	}
	print_message("# %zu paths of %zu profiles\n", paths, profiles);
	assert_true(profiles >= 13 && paths >= 25);
}

/* Files that these programs are known to execute, or to read as settings. */
TEST(what_they_run)
{
	static const struct {
		const char *profile, *path;
		enum policy_act act;
	} list[] = {
		{"claude", ".claude/shell-snapshots/snapshot-bash-1-x.sh", POLICY_WRITE},
		{"claude", ".claude/shell-snapshots/snapshot-bash-1-x.sh", POLICY_RENAME_TO},
		{"claude", ".claude/session-env/s/sessionstart-hook-1.sh", POLICY_WRITE},
		{"claude", ".claude/backups/.claude.json.backup.1", POLICY_WRITE},
		{"claude", ".claude/shell-snapshots", POLICY_SYMLINK},
		{"claude", ".claude/session-env/s", POLICY_SYMLINK},
		{"claude", ".claude/sessions", POLICY_SYMLINK},
		{"claude", ".claude/sessions/2.json", POLICY_WRITE},
		{"claude", ".local/share/applications/claude.desktop", POLICY_WRITE},
		{"claude", ".claude/settings.json", POLICY_WRITE},
		{"claude", ".claude/hooks/x.sh", POLICY_WRITE},
		{"claude", ".claude/plugins/p/hooks/hooks.json", POLICY_WRITE},
		{"claude", ".claude.json", POLICY_RENAME_TO},
		{"codex", ".codex/config.toml", POLICY_WRITE},
		{"codex", ".codex/tmp/arg0/codex-arg0x/apply_patch", POLICY_SYMLINK},
		{"codex", ".codex/skills/x/run.sh", POLICY_WRITE},
		{"gemini", ".gemini/settings.json", POLICY_WRITE},
		{"gemini", ".gemini/tmp/bin/rg", POLICY_WRITE},
		{"gemini", ".gemini/history/h/.git/hooks/post-commit", POLICY_WRITE},
		{"gemini", ".gemini/history/h/.git/config", POLICY_WRITE},
		{"gemini", ".gemini/history/h/.gitconfig", POLICY_WRITE},
		{"gemini", ".gemini/history/h/git/config", POLICY_WRITE},
		{"opencode", ".local/share/opencode/snapshot/p/config", POLICY_WRITE},
		{"opencode", ".local/share/opencode/snapshot/p/h/config", POLICY_WRITE},
		{"opencode", ".local/share/opencode/snapshot/p/h/hooks/post-index-change",
		 POLICY_WRITE},
		{"opencode", ".local/share/opencode/snapshot/p/h/commondir", POLICY_WRITE},
		{"opencode", ".local/share/opencode/repos/h/o/r/.git/config", POLICY_WRITE},
		{"opencode", ".local/share/opencode/storage/project/1.json", POLICY_WRITE},
		{"opencode", ".config/opencode/opencode.json", POLICY_WRITE},
		{"aider", ".aider.conf.yml", POLICY_WRITE},
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		AUTO_FREE char *path = path_join(HOME_DIR, list[i].path);

		load(list[i].profile);
		if (verdict(list[i].act, path) == POLICY_ALLOW)
			fail_msg("%s: %s", list[i].profile, path);
		unload();
	}
}

/* Files that they need are allowed, or vetted. */
TEST(what_they_need)
{
	static const struct {
		const char *profile, *path;
	} list[] = {
		{"claude", ".claude/projects/p/1.jsonl"},
		{"claude", ".claude/todos/1.json"},
		{"codex", ".codex/sessions/2026/1.jsonl"},
		{"gemini", ".gemini/tmp/h/chats/1.json"},
		{"gemini", ".gemini/history/h/.git/HEAD"},
		{"gemini", ".gemini/history/h/.git/objects/ab/cd"},
		{"opencode", ".local/share/opencode/snapshot/p/h/HEAD"},
		{"opencode", ".local/share/opencode/snapshot/p/h/objects/ab/cd"},
		{"opencode", ".local/share/opencode/storage/session/1.json"},
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		AUTO_FREE char *path = path_join(HOME_DIR, list[i].path);

		load(list[i].profile);
		if (verdict(POLICY_WRITE, path) != POLICY_ALLOW)
			fail_msg("%s: %s", list[i].profile, path);
		unload();
	}
	load("opencode");
	assert_int_equal(
		verdict(POLICY_RENAME_TO, HOME_DIR "/.local/share/opencode/snapshot/p/h/config"),
		POLICY_VET);
	unload();
}

int main(void)
{
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_STATE_HOME");
	return run_all(NULL, NULL, NULL, NULL);
}
