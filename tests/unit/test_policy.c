/* test_policy - protected and hidden names in all their spellings, answers, inert git settings. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/config/config.h"
#include "core/policy/policy.h"

static int setup(void **state)
{
	struct policy *p = NULL;

	unsetenv("XDG_STATE_HOME");
	unsetenv("XDG_CONFIG_HOME");
	assert_int_equal(policy_new(&p, &(struct policy_spec){.home = "/home/u"}, NULL), 0);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	policy_free(*state);
	return 0;
}

struct expect {
	const char *path; /* below /home/u/p/ unless absolute */
	enum policy_act act;
	enum policy_verdict verdict;
};

static void check_all(struct policy *p, const struct expect *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *path = *list[i].path == '/'
					       ? xstrdup(list[i].path)
					       : xasprintf("/home/u/p/%s", list[i].path);
		const char *reason = NULL;
		enum policy_verdict v = policy_check(p, list[i].act, path, &reason);

		if (v != list[i].verdict)
			fail_msg("%s, act %d: %d instead of %d", path, (int)list[i].act, (int)v,
				 (int)list[i].verdict);
		assert_int_equal(v == POLICY_ALLOW, reason == NULL);
	}
}

static void plain_work(void **state)
{
	static const struct expect list[] = {
		{"src/main.c", POLICY_WRITE, POLICY_ALLOW},
		{".gitignore", POLICY_WRITE, POLICY_ALLOW},
		{".gitmodules", POLICY_RENAME_TO, POLICY_ALLOW},
		{".github/workflows/ci.yml", POLICY_WRITE, POLICY_ALLOW},
		{"hooks/post-checkout", POLICY_WRITE, POLICY_ALLOW},
		{"config", POLICY_WRITE, POLICY_ALLOW},
		{"head", POLICY_WRITE, POLICY_ALLOW},
		{"héad/naïve.txt", POLICY_WRITE, POLICY_ALLOW},
		{"\xff\xfe.bin", POLICY_WRITE, POLICY_ALLOW},
		{"a~1/b", POLICY_WRITE, POLICY_ALLOW},
		{".vscode/notes.md", POLICY_WRITE, POLICY_ALLOW},
		{".config/app/x", POLICY_WRITE, POLICY_ALLOW},
		{".bashrc", POLICY_META, POLICY_ALLOW},
		{".bashrc", POLICY_REMOVE, POLICY_ALLOW},
		{".envrcs", POLICY_WRITE, POLICY_ALLOW},
		{"x.git.txt", POLICY_WRITE, POLICY_ALLOW},
		{"", POLICY_META, POLICY_ALLOW},
	};

	check_all(*state, list, ARRAY_LEN(list));
}

/* What git init, commit, checkout, gc, fetch and clone do. */
static void git_works(void **state)
{
	static const struct expect list[] = {
		{".git", POLICY_MKDIR, POLICY_ALLOW},
		{".git/hooks", POLICY_MKDIR, POLICY_ALLOW},
		{".git/hooks/pre-commit.sample", POLICY_WRITE, POLICY_ALLOW},
		{".git/hooks/pre-commit.sample", POLICY_META, POLICY_ALLOW},
		{".git/config.lock", POLICY_WRITE, POLICY_ALLOW},
		{".git/config.lock", POLICY_RENAME_FROM, POLICY_ALLOW},
		{".git/config", POLICY_RENAME_TO, POLICY_VET},
		{".git/config", POLICY_META, POLICY_ALLOW},
		{".git/HEAD.lock", POLICY_RENAME_FROM, POLICY_ALLOW},
		{".git/HEAD", POLICY_RENAME_TO, POLICY_ALLOW},
		{".git/logs/HEAD", POLICY_WRITE, POLICY_ALLOW},
		{".git/refs/remotes/origin/HEAD", POLICY_RENAME_TO, POLICY_ALLOW},
		{".git/logs/refs/remotes/origin/HEAD", POLICY_WRITE, POLICY_ALLOW},
		{".git/refs/heads/config", POLICY_RENAME_TO, POLICY_ALLOW},
		{".git/objects/pack/tmp_pack_1", POLICY_RENAME_FROM, POLICY_ALLOW},
		{".git/objects/pack/pack-1.pack", POLICY_RENAME_TO, POLICY_ALLOW},
		{".git/index.lock", POLICY_WRITE, POLICY_ALLOW},
		{".git/index", POLICY_RENAME_TO, POLICY_VET},
		{".git/logs/refs/.tmp-renamed-log", POLICY_RENAME_FROM, POLICY_ALLOW},
		{".git/modules/m/index.lock", POLICY_RENAME_FROM, POLICY_ALLOW},
		{".git/modules/m/index", POLICY_RENAME_TO, POLICY_VET},
		{".git/modules/m/objects/pack/tmp_pack_1", POLICY_RENAME_FROM, POLICY_ALLOW},
		{".git/modules/m/objects/pack/pack-1.pack", POLICY_RENAME_TO, POLICY_ALLOW},
		{".git/worktrees/w/HEAD", POLICY_RENAME_TO, POLICY_ALLOW},
		{"x.git/HEAD", POLICY_RENAME_TO, POLICY_ALLOW},
		{"x.git/config", POLICY_RENAME_TO, POLICY_VET},
		{"sub/.git/hooks/x", POLICY_REMOVE, POLICY_ALLOW},
		{"sub/.git", POLICY_REMOVE, POLICY_ALLOW},
	};

	check_all(*state, list, ARRAY_LEN(list));
}

static void git_is_protected(void **state)
{
	static const struct expect list[] = {
		{".git/hooks/post-checkout", POLICY_WRITE, POLICY_ASK},
		{".git/hooks/post-checkout", POLICY_RENAME_TO, POLICY_ASK},
		{".git/hooks/post-checkout", POLICY_LINK_FROM, POLICY_ASK},
		{".git/hooks/post-checkout", POLICY_META, POLICY_ASK},
		{"a/b/.git/hooks/x/y", POLICY_WRITE, POLICY_ASK},
		{".git/hooks", POLICY_RENAME_TO, POLICY_ASK},
		{".git/hooks", POLICY_WRITE, POLICY_ASK},
		{".git", POLICY_WRITE, POLICY_VET},
		{".git", POLICY_RENAME_TO, POLICY_VET},
		{".git", POLICY_DIR_TO, POLICY_ASK},
		{".git", POLICY_SYMLINK, POLICY_ASK},
		{".git", POLICY_RENAME_FROM, POLICY_ASK},
		{".git/config", POLICY_WRITE, POLICY_VET},
		{".git/config", POLICY_LINK_FROM, POLICY_ASK},
		{".git/config.worktree", POLICY_RENAME_TO, POLICY_VET},
		{".git/commondir", POLICY_WRITE, POLICY_ASK},
		{".git/modules/a/b/hooks/x", POLICY_WRITE, POLICY_ASK},
		{".git/modules/a/b/config", POLICY_RENAME_TO, POLICY_VET},
		{".git/modules/a", POLICY_RENAME_TO, POLICY_ASK},
		{".git/modules/a", POLICY_RENAME_FROM, POLICY_ASK},
		{".git/modules/a/info/m", POLICY_RENAME_FROM, POLICY_ASK},
		{".git/modules", POLICY_RENAME_FROM, POLICY_ASK},
		{".git/modules/a/x.lock/HEAD", POLICY_WRITE, POLICY_ASK},
		{".git/worktrees/w/commondir", POLICY_WRITE, POLICY_VET},
		{".git/worktrees/w/config.worktree", POLICY_WRITE, POLICY_VET},
		{".git/refs/remotes/x", POLICY_RENAME_FROM, POLICY_ASK},
		{".git/refs", POLICY_RENAME_FROM, POLICY_ASK},
		{".git/logs", POLICY_RENAME_TO, POLICY_ASK},
		{".git/x/HEAD", POLICY_WRITE, POLICY_ASK},
		{".git/refs/remotes/x/y/HEAD", POLICY_WRITE, POLICY_ASK},
		{"plain/HEAD", POLICY_WRITE, POLICY_ASK},
		{"plain/HEAD", POLICY_RENAME_TO, POLICY_ASK},
		{"x.git/hooks/update", POLICY_WRITE, POLICY_ASK},
		{"x.git", POLICY_RENAME_FROM, POLICY_ASK},
	};

	check_all(*state, list, ARRAY_LEN(list));
}

/* What a rollback asks, of each type. */
static void git_is_protected_in_rollbacks(void **state)
{
	static const struct {
		const char *path;
		bool file, link, dir;
	} list[] = {
		{"src/main.c", false, false, false},
		{".git", true, true, true},
		{".git/index", true, true, true},
		{".git/hooks/x", true, true, true},
		{".git/config", true, true, true},
		{".git/COMMIT_EDITMSG", false, true, true},
		{".git/refs/heads/main", false, true, true},
		{"sub/.git/FETCH_HEAD", false, true, true},
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		AUTO_FREE char *path = xasprintf("/home/u/p/%s", list[i].path);

		if (policy_guards(*state, path, S_IFREG) != list[i].file ||
		    policy_guards(*state, path, S_IFLNK) != list[i].link ||
		    policy_guards(*state, path, S_IFDIR) != list[i].dir ||
		    policy_guards(*state, path, 0) != (list[i].link || list[i].dir))
			fail_msg("%s: %d %d %d", path, policy_guards(*state, path, S_IFREG),
				 policy_guards(*state, path, S_IFLNK),
				 policy_guards(*state, path, S_IFDIR));
	}
}

static void other_names(void **state)
{
	static const struct expect list[] = {
		{".bashrc", POLICY_WRITE, POLICY_ASK},
		{"deep/er/.envrc", POLICY_RENAME_TO, POLICY_ASK},
		{".vscode/tasks.json", POLICY_WRITE, POLICY_ASK},
		{".vscode", POLICY_RENAME_TO, POLICY_ASK},
		{".vscode", POLICY_WRITE, POLICY_ASK},
		{".vscode", POLICY_MKDIR, POLICY_ALLOW},
		{".mcp.json", POLICY_WRITE, POLICY_ASK},
		{".claude/settings.json", POLICY_WRITE, POLICY_ASK},
		{".claude/settings.json", POLICY_REMOVE, POLICY_ASK},
		{".claude/hooks/x.sh", POLICY_WRITE, POLICY_ASK},
		{".cordon.conf", POLICY_WRITE, POLICY_ASK},
		{".cordon.conf", POLICY_REMOVE, POLICY_ASK},
		{".cordon.conf", POLICY_RENAME_FROM, POLICY_ASK},
		{".config/fish/config.fish", POLICY_WRITE, POLICY_ASK},
		{".config/fish", POLICY_RENAME_TO, POLICY_ASK},
		{".husky/pre-commit", POLICY_WRITE, POLICY_ASK},
		{".idea/workspace.xml", POLICY_WRITE, POLICY_ASK},
		{"my.code-workspace", POLICY_WRITE, POLICY_ASK},
		{"opencode.json", POLICY_WRITE, POLICY_ASK},
		{".hg/hgrc", POLICY_WRITE, POLICY_ASK},
		{".hg/store/x", POLICY_WRITE, POLICY_ALLOW},
		{".hg/sharedpath", POLICY_WRITE, POLICY_ASK},
		{".dir-locals-2.el", POLICY_WRITE, POLICY_ASK},
		{".pre-commit-config.yaml", POLICY_WRITE, POLICY_ASK},
		{"lefthook.yml", POLICY_RENAME_TO, POLICY_ASK},
		{".lefthook-local.toml", POLICY_WRITE, POLICY_ASK},
		{"LeftHook.yaml", POLICY_WRITE, POLICY_ASK},
		{"lefthook", POLICY_WRITE, POLICY_ALLOW},
		{"lefthooks/x.yml", POLICY_WRITE, POLICY_ALLOW},
		{"mise.toml", POLICY_WRITE, POLICY_ASK},
		{".mise.local.toml", POLICY_WRITE, POLICY_ASK},
		{".direnv/nix-profile-25.05-x.rc", POLICY_WRITE, POLICY_ASK},
		{".direnv/flake-profile-a5d5b61aa8a61b7d9d765e1daf971a9a578f1cfa", POLICY_SYMLINK,
		 POLICY_ASK},
		{".direnv/bin/nix-direnv-reload", POLICY_WRITE, POLICY_ASK},
		{".direnv/python-3.13/lib/x.py", POLICY_WRITE, POLICY_ALLOW},
		{".direnv/python-3.13/bin/ls", POLICY_WRITE, POLICY_ASK},
		{".direnv/python-3.13", POLICY_RENAME_TO, POLICY_ASK},
		{".direnv/python-3.13", POLICY_MKDIR, POLICY_ALLOW},
		{".direnv/python-3.13/lib/bin/x", POLICY_WRITE, POLICY_ALLOW},
		{".mise/config.toml", POLICY_WRITE, POLICY_ASK},
		{".mise/config.work.toml", POLICY_WRITE, POLICY_ASK},
		{"mise", POLICY_WRITE, POLICY_ALLOW},
		{".mise/tasks/build", POLICY_WRITE, POLICY_ALLOW},
		{"hk.pkl", POLICY_WRITE, POLICY_ASK},
		{".clinerules/hooks/PreToolUse", POLICY_WRITE, POLICY_ASK},
		{".clinerules/style.md", POLICY_WRITE, POLICY_ALLOW},
		{".github/copilot/settings.json", POLICY_WRITE, POLICY_ASK},
		{".github/mcp.json", POLICY_WRITE, POLICY_ASK},
		{"prek.toml", POLICY_WRITE, POLICY_ASK},
		{"mise.en.place.a.name.that.is.long.toml", POLICY_WRITE, POLICY_ASK},
		{"crush.json", POLICY_WRITE, POLICY_ASK},
		{".github/hooks/x.json", POLICY_WRITE, POLICY_ASK},
	};

	check_all(*state, list, ARRAY_LEN(list));
}

static void aliases(void **state)
{
	static const struct expect list[] = {
		{".GIT/hooks/x", POLICY_WRITE, POLICY_ASK},
		{".git/Hooks/x", POLICY_WRITE, POLICY_ASK},
		{".g\xe2\x80\x8cit/hooks/x", POLICY_WRITE, POLICY_ASK}, /* zero width non-joiner */
		{".\xef\xbb\xbfgit/hooks/x", POLICY_WRITE, POLICY_ASK}, /* byte order mark */
		{".git/hoo\xe2\x84\xaas/x", POLICY_WRITE, POLICY_ASK},	/* Kelvin sign */
		{".git/hook\xc5\xbf/x", POLICY_WRITE, POLICY_ASK},	/* long s */
		{".ba\xc5\xbfhrc", POLICY_WRITE, POLICY_ASK},		/* the same */
		{"\xef\xbc\x8egit/hooks/x", POLICY_WRITE, POLICY_ASK},	/* full width dot */
		{"git~1/hooks/x", POLICY_WRITE, POLICY_ASK},
		{"GIT~2/config", POLICY_WRITE, POLICY_VET},
		{"BASHRC~1", POLICY_WRITE, POLICY_ASK},
		{".git./hooks/x", POLICY_WRITE, POLICY_ASK},
		{".git /hooks/x", POLICY_WRITE, POLICY_ASK},
		{".git::$INDEX_ALLOCATION/hooks/x", POLICY_WRITE, POLICY_ASK},
		{".EnvRC", POLICY_WRITE, POLICY_ASK},
		{".CLAUDE/settings.json", POLICY_WRITE, POLICY_ASK},
	};

	check_all(*state, list, ARRAY_LEN(list));
}

static void secrets(void **state)
{
	static const struct expect list[] = {
		{".env", POLICY_WRITE, POLICY_HIDE},
		{"a/.env.local", POLICY_WRITE, POLICY_HIDE},
		{"a/.ENV", POLICY_WRITE, POLICY_HIDE},
		{".env", POLICY_MKDIR, POLICY_ALLOW},
		{".env/bin/python", POLICY_WRITE, POLICY_ALLOW},
		{".env.example", POLICY_WRITE, POLICY_ALLOW},
		{".env.local.sample", POLICY_WRITE, POLICY_ALLOW},
		{".environment", POLICY_WRITE, POLICY_ALLOW},
		{"/home/u/.ssh/id_rsa", POLICY_WRITE, POLICY_HIDE},
		{"/home/u/.ssh", POLICY_RENAME_FROM, POLICY_HIDE},
		{"/home/u", POLICY_RENAME_FROM, POLICY_HIDE},
		{"/home/u/.config", POLICY_RENAME_FROM, POLICY_HIDE},
		{"/home/u/.local/state/cordon/x", POLICY_WRITE, POLICY_HIDE},
		{"/home/u/snap/firefox/x", POLICY_WRITE, POLICY_HIDE},
		{"/home/u/.sshx", POLICY_WRITE, POLICY_ALLOW},
		{"sub/.cordon", POLICY_MKDIR, POLICY_HIDE},
		{"sub/.Cordon/version", POLICY_WRITE, POLICY_HIDE},
		{".cordonx", POLICY_WRITE, POLICY_ALLOW},
	};
	const char *const *hidden;
	bool found = false;

	check_all(*state, list, ARRAY_LEN(list));
	for (size_t i = 0, n = policy_hidden(*state, &hidden); i < n; i++)
		found |= str_eq(hidden[i], "/home/u/.aws");
	assert_true(found);
}

static uint64_t answer(struct policy *p, const char *path, enum answer_extent extent, bool allow)
{
	const struct answer a = {.allow = allow, .scope = SCOPE_SESSION, .extent = extent};

	return policy_answer(p, RULE_WRITE, path, &a);
}

static void answers(void **state)
{
	struct policy *p = *state;
	const char *reason;
	uint64_t denied;

	answer(p, "/home/u/p/.vscode/", EXTENT_TREE, true);
	answer(p, "/home/u/p/", EXTENT_TREE, false);
	answer(p, "/home/u/p/", EXTENT_TREE, true); /* takes the place of the one before */
	assert_int_equal(policy_check(p, POLICY_WRITE, "/home/u/p/.bashrc", &reason), POLICY_ALLOW);
	assert_int_equal(policy_check(p, POLICY_WRITE, "/home/u/p/.env", &reason), POLICY_HIDE);
	assert_int_equal(policy_check(p, POLICY_WRITE, "/home/u/q/.bashrc", &reason), POLICY_ASK);
	denied = answer(p, "/home/u/p/.bashrc", EXTENT_EXACT, false);
	assert_int_equal(policy_check(p, POLICY_WRITE, "/home/u/p/.bashrc", &reason), POLICY_DENY);
	assert_string_equal(reason, "you denied it for this session");
	answer(p, "/home/u/p/", EXTENT_TREE, true); /* the nearer one still counts */
	assert_int_equal(policy_check(p, POLICY_WRITE, "/home/u/p/.bashrc", &reason), POLICY_DENY);
	assert_true(policy_revoke(p, denied));
	assert_false(policy_revoke(p, denied));
	assert_int_equal(policy_check(p, POLICY_WRITE, "/home/u/p/.bashrc", &reason), POLICY_ALLOW);
}

static void guarded(void **state)
{
	struct policy *p = *state;
	static const struct expect list[] = {
		{"build/hooks/x", POLICY_WRITE, POLICY_ASK},
		{"build/hooks/x", POLICY_META, POLICY_ASK},
		{"build", POLICY_RENAME_TO, POLICY_ASK},
		{"build/hooks", POLICY_MKDIR, POLICY_ALLOW},
		{"build/other", POLICY_WRITE, POLICY_ALLOW},
	};

	policy_protect(p, "/home/u/p/build/hooks", "git runs it");
	check_all(p, list, ARRAY_LEN(list));
}

static void learns_hooks(void **state)
{
	static const char text[] = "[core]\n\tbare = false\n\thooksPath = tools/git\n";
	struct policy *p = *state;
	char dir[] = "/tmp/cordon-policy-XXXXXX";
	AUTO_FREE char *git = NULL;
	AUTO_FREE char *hook = NULL;
	AUTO_CLOSE int fd = -1;
	const char *reason;

	assert_non_null(mkdtemp(dir));
	git = xasprintf("%s/.git", dir);
	hook = xasprintf("%s/tools/git/pre-push", dir);
	assert_int_equal(io_mkdir_p(AT_FDCWD, git, 0755), 0);
	fd = open(git, O_PATH | O_CLOEXEC);
	assert_int_equal(io_write_file(fd, "config", 0644, text, strlen(text), false), 0);
	assert_int_equal(policy_check(p, POLICY_WRITE, hook, &reason), POLICY_ALLOW);
	policy_learn(p, dir);
	assert_int_equal(policy_check(p, POLICY_WRITE, hook, &reason), POLICY_ASK);
	assert_non_null(strstr(reason, "core.hooksPath"));
	assert_int_equal(io_remove_tree(AT_FDCWD, dir), 0);
}

static void outside(void **state)
{
	static const struct {
		const char *path;
		enum policy_verdict verdict;
	} list[] = {
		{"/etc/passwd", POLICY_DENY},	 {"/usr/bin/x", POLICY_DENY},
		{"/newdir", POLICY_DENY},	 {"/home/u/notes", POLICY_ASK},
		{"/home/u/.ssh/x", POLICY_HIDE}, {"/srv/data/x", POLICY_ASK},
		{"/root/x", POLICY_DENY},	 {"/var/lib/x", POLICY_DENY},
	};
	const char *reason;

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		assert_int_equal(policy_check_outside(*state, POLICY_WRITE, list[i].path, &reason),
				 list[i].verdict);
		assert_non_null(reason);
	}
	answer(*state, "/srv/data/", EXTENT_TREE, true);
	assert_int_equal(policy_check_outside(*state, POLICY_WRITE, "/srv/data/x", &reason),
			 POLICY_ALLOW);
}

static bool vet(struct policy *p, const char *text)
{
	return policy_vet(p, "/home/u/p/.git/config", text, strlen(text));
}

static void vet_inert(void **state)
{
	static const char *const good[] = {
		"",
		"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
		"\tlogallrefupdates = true\n",
		"[remote \"origin\"]\n\turl = https://example.org/a.git\n"
		"\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
		"[branch \"feature/x\"]\n\tremote = origin\n\tmerge = refs/heads/x\n",
		"# a comment\n; another\n[user]\n\tname = J. D\xc3\xb6rfler\n\temail = j@x.y\n",
		"[remote \"o\"]\n\turl = git@example.org:a/b.git\n\turl = ../other\n",
		"[commit]\n\tgpgsign = false\n",
		"[init]\n\tdefaultBranch = main\n",
		"[core]\n\tbare\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		if (!vet(*state, good[i]))
			fail_msg("refused: %s", good[i]);
}

static void vet_dangerous(void **state)
{
	static const char *const bad[] = {
		"[core]\n\tfsmonitor = x\n",
		"[core]\n\thooksPath = x\n",
		"[CORE]\n\tFSMONITOR = x\n",
		"[core] fsmonitor = x\n",
		"[core]\n\tfilemode = true \\\n\n",
		"[core]\r\n\tbare = true\r\n",
		"\xef\xbb\xbf[core]\n\tbare = true\n",
		"[core]\n\tworktree = ../x\n",
		"[core]\n\tsshCommand = x\n",
		"[core]\n\tpager = x\n",
		"[include]\n\tpath = x\n",
		"[includeIf \"gitdir:/\"]\n\tpath = x\n",
		"[alias]\n\tst = !x\n",
		"[filter \"x\"]\n\tclean = x\n",
		"[diff \"x\"]\n\ttextconv = x\n",
		"[diff]\n\texternal = x\n",
		"[merge \"x\"]\n\tdriver = x\n",
		"[credential]\n\thelper = x\n",
		"[gpg]\n\tprogram = x\n",
		"[commit]\n\tgpgsign = true\n",
		"[url \"ext::x\"]\n\tinsteadOf = y\n",
		"[protocol \"ext\"]\n\tallow = always\n",
		"[gc]\n\trecentObjectsHook = x\n",
		"[uploadpack]\n\tpackObjectsHook = x\n",
		"[remote \"o\"]\n\tuploadpack = x\n",
		"[remote \"o\"]\n\tvcs = x\n",
		"[remote \"o\"]\n\tmirror = true\n",
		"[remote \"o\"]\n\tpromisor = true\n",
		"[remote \"o\"]\n\tpush = +refs/heads/*:refs/heads/*\n",
		"[remote \"o\"]\n\tpush = :refs/heads/main\n",
		"[gc]\n\tpruneExpire = now\n",
		"[core]\n\tprotectNTFS = false\n",
		"[remote \"o\"]\n\turl = ext::sh -c x\n",
		"[remote \"o\"]\n\turl = -x\n",
		"[remote \"o\"]\n\turl = ssh://-oProxyCommand=x/y\n",
		"[remote \"o\"]\n\turl = foo://x\n",
		"[remote \"--upload-pack=x\"]\n\turl = x\n",
		"[remote \"o\"]\n\turl = \"https://x\"\n",
		"[branch \"m\"]\n\tremote = ext::x\n",
		"[branch \"m\"]\n\tmergeoptions = -s x\n",
		"[submodule \"m\"]\n\tupdate = !x\n",
		"[core\n\tbare = true\n",
		"[core.x]\n\tbare = true\n",
		"[core \"a\\\"]\n\tbare = true\n",
		"bare = true\n",
		"[core]\n\tbare true\n",
		"[core]\n\tbare = true # comment\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (vet(*state, bad[i]))
			fail_msg("let through: %s", bad[i]);
	assert_false(policy_vet(*state, "/home/u/p/.git/config", "[core]\n\0", 8));
	assert_false(policy_vet(*state, "/home/u/p/.git/hooks/x", "", 0));
	assert_false(policy_vet(*state, "/home/u/p/README", "", 0));
}

static bool change(struct policy *p, const char *old, const char *now)
{
	return policy_vet_change(p, "/home/u/p/.git/config", old, strlen(old), now, strlen(now));
}

static void vet_changes(void **state)
{
	static const char old[] = "[core]\n\tbare = false\n\thooksPath = .husky\n"
				  "[alias]\n\tst = \"!x \\\"y\\\"\"\n";
	struct policy *p = *state;

	assert_true(change(p, old, old));
	assert_true(change(p, old,
			   "[core]\n\tbare = true\n\thooksPath = .husky\n"
			   "[remote \"o\"]\n\turl = https://x/y\n"
			   "[alias]\n\tst = \"!x \\\"y\\\"\"\n"));
	assert_false(
		change(p, old, "[core]\n\thooksPath = evil\n[alias]\n\tst = \"!x \\\"y\\\"\"\n"));
	assert_false(change(p, old, "[core]\n\thooksPath = .husky\n"));
	assert_false(change(p, old,
			    "[core]\n\thooksPath = .husky\n[remote \"o\"]\n"
			    "\tst = \"!x \\\"y\\\"\"\n"));
	assert_false(change(p, "[a]\n\tx = !y\n[b]\n", "[b]\n\tx = !y\n"));
	/* A continued line is never judged. */
	assert_false(change(p, "[alias]\n\tx = !y \\\n\t z\n", "[alias]\n\tx = !y \\\n\t z\n"));
}

/* Every changing call pays for this. */
static void speed(void **state)
{
	static const char *const paths[] = {
		"/home/u/projects/linux/drivers/gpu/drm/amd/display/dc/core/dc_link.c",
		"/home/u/projects/linux/.git/objects/ab/cdef0123456789abcdef0123456789abcdef01",
	};
	const char *reason;

	for (size_t k = 0; k < ARRAY_LEN(paths); k++) {
		const int rounds = 100000;
		int64_t t = clock_mono_us();

		for (int i = 0; i < rounds; i++)
			assert_true(policy_check(*state, POLICY_WRITE, paths[k], &reason) ==
				    POLICY_ALLOW);
		t = clock_mono_us() - t;
		print_message("# %.0f ns: %s\n", (double)t * 1000 / rounds, paths[k]);
	}
}

/* Each rule is about all directories above the folder, however many rules say so. */
static void above_the_folder(void **state)
{
	static const char *const places[] = {"/q/a/b", "/q/a", "/q"};
	const char *const folders[] = {"/q/a/b/c", NULL};
	struct config *c = config_of_rules();
	const struct policy_spec spec = {.config = c, .home = "/home/u", .folders = folders};
	struct policy *p = NULL;
	const char *reason;

	(void)state;
	for (int i = 0; i < 8; i++) {
		AUTO_FREE char *value = xasprintf("read $ABOVE/k%d", i);

		config_add_rule(c, &(struct config_rule){.name = "way",
							 .key = "deny",
							 .value = value,
							 .file = "x",
							 .level = CONFIG_USER});
	}
	assert_int_equal(policy_new(&p, &spec, NULL), 0);
	for (int i = 0; i < 8; i++)
		for (size_t k = 0; k < ARRAY_LEN(places); k++) {
			AUTO_FREE char *path = xasprintf("%s/k%d", places[k], i);

			if (policy_check_read(p, RULE_READ, path, &reason) != POLICY_DENY)
				fail_msg("%s", path);
		}
	policy_free(p);
	config_free(c);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(plain_work),
		T(git_works),
		T(git_is_protected),
		T(other_names),
		T(git_is_protected_in_rollbacks),
		T(aliases),
		T(secrets),
		T(answers),
		T(guarded),
		T(learns_hooks),
		T(outside),
		T(vet_inert),
		T(vet_dangerous),
		T(vet_changes),
		T(speed),
		T(above_the_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
