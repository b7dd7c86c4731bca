/* test_policy - protected and hidden names in all their spellings, answers, inert git settings. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/config/config.h"
#include "core/policy/listed.h"
#include "core/policy/policy.h"
#include "tests/support/check.h"
#include "tests/unit/policy_cases.h"

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

static void check_all(struct policy *p, const struct policy_case *list, size_t n)
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

TEST(plain_work)
{
	check_all(*state, policy_plain_work, ARRAY_LEN(policy_plain_work));
}

/* The changes that git init, commit, checkout, gc, fetch and clone make. */
TEST(git_works)
{
	check_all(*state, policy_git_works, ARRAY_LEN(policy_git_works));
}

TEST(git_is_protected)
{
	check_all(*state, policy_git_is_protected, ARRAY_LEN(policy_git_is_protected));
}

/* The questions of a rollback, for each type. */
TEST(git_is_protected_in_rollbacks)
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

TEST(other_names)
{
	check_all(*state, policy_other_names, ARRAY_LEN(policy_other_names));
	check_all(*state, policy_agents_worktrees, ARRAY_LEN(policy_agents_worktrees));
}

TEST(aliases)
{
	check_all(*state, policy_aliases, ARRAY_LEN(policy_aliases));
}

TEST(secrets)
{
	const char *const *hidden;
	bool found = false;

	check_all(*state, policy_secrets, ARRAY_LEN(policy_secrets));
	for (size_t i = 0, n = policy_hidden(*state, &hidden); i < n; i++)
		found |= str_eq(hidden[i], "/home/u/.aws");
	assert_true(found);
}

static uint64_t answer(struct policy *p, const char *path, enum answer_extent extent, bool allow)
{
	const struct answer a = {.allow = allow, .scope = SCOPE_SESSION, .extent = extent};

	return policy_answer(p, RULE_WRITE, path, &a);
}

TEST(answers)
{
	struct policy *p = *state;
	const char *reason;
	uint64_t denied;

	answer(p, "/home/u/p/.vscode/", EXTENT_TREE, true);
	answer(p, "/home/u/p/", EXTENT_TREE, false);
	answer(p, "/home/u/p/", EXTENT_TREE, true); /* replaces the answer before */
	assert_int_equal(policy_check(p, POLICY_WRITE, "/home/u/p/.bashrc", &reason), POLICY_ALLOW);
	assert_int_equal(policy_check(p, POLICY_WRITE, "/home/u/p/.env", &reason), POLICY_HIDE);
	assert_int_equal(policy_check(p, POLICY_WRITE, "/home/u/q/.bashrc", &reason), POLICY_ASK);
	denied = answer(p, "/home/u/p/.bashrc", EXTENT_EXACT, false);
	assert_int_equal(policy_check(p, POLICY_WRITE, "/home/u/p/.bashrc", &reason), POLICY_DENY);
	assert_string_equal(reason, "you denied it for this session");
	answer(p, "/home/u/p/", EXTENT_TREE, true); /* the nearer answer still counts */
	assert_int_equal(policy_check(p, POLICY_WRITE, "/home/u/p/.bashrc", &reason), POLICY_DENY);
	assert_true(policy_revoke(p, denied));
	assert_false(policy_revoke(p, denied));
	assert_int_equal(policy_check(p, POLICY_WRITE, "/home/u/p/.bashrc", &reason), POLICY_ALLOW);
}

TEST(guarded)
{
	struct policy *p = *state;
	static const struct policy_case list[] = {
		{"build/hooks/x", POLICY_WRITE, POLICY_ASK},
		{"build/hooks/x", POLICY_META, POLICY_ASK},
		{"build", POLICY_RENAME_TO, POLICY_ASK},
		{"build/hooks", POLICY_MKDIR, POLICY_ALLOW},
		{"build/hooks/x", POLICY_REMOVE, POLICY_ALLOW},
		{"build/other", POLICY_WRITE, POLICY_ALLOW},
		{"own/conf", POLICY_REMOVE, POLICY_ASK},
		{"own", POLICY_RENAME_FROM, POLICY_ASK},
		{"own", POLICY_REMOVE, POLICY_ALLOW},
	};

	policy_protect(p, "/home/u/p/build/hooks", "git runs it", false);
	policy_protect(p, "/home/u/p/own/conf", "settings", true);
	check_all(p, list, ARRAY_LEN(list));
}

TEST(learns_hooks)
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

TEST(outside)
{
	const char *reason;

	for (size_t i = 0; i < ARRAY_LEN(policy_outside); i++) {
		assert_int_equal(
			policy_check_outside(*state, POLICY_WRITE, policy_outside[i].path, &reason),
			policy_outside[i].verdict);
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

TEST(vet_inert)
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

TEST(vet_dangerous)
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
		"[core]\n\tworktree = /home/u/p\n",
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
		"[remote \"o\"]\n\tfetch = +refs/heads/w*:refs/heads/w*\n",
		"[remote \"o\"]\n\tfetch = +refs/tags/*:refs/tags/*\n",
		"[remote \"o\"]\n\tfetch = +refs/*:refs/remotes/o/../../heads/*\n",
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

/* An agent keeps copies of a working folder in a repository of its own, in its home. */
TEST(vet_snapshots)
{
	static const char own[] = "/home/u/.local/share/opencode/snapshot/a/b";
	static const struct {
		const char *file, *text;
		bool passes;
	} cases[] = {
		{"config", "[core]\n\tbare = false\n\tworktree = /home/u/p\n", true},
		{"config", "[core]\n\tworktree = /home/u\n", false},
		{"config", "[core]\n\tworktree = /home/u/p/../q\n", false},
		{"config", "[core]\n\tworktree = /home/u/p/.git\n", false},
		{"config", "[core]\n\tworktree = /home/u/p\n\thooksPath = hooks\n", false},
		{"objects/info/alternates", "/home/u/p/.git/objects\n", true},
		{"objects/info/alternates", "/home/u/p/.git/objects\n/home/u/q/.git/objects\n",
		 false},
		{"objects/info/alternates", "/home/u/p/x/../../q/.git/objects\n", false},
		{"objects/info/alternates", "/home/u/p/made/.git/objects\n", false},
		{"objects/info/alternates", "/home/u/repo.git/objects\n", true},
		{"objects/info/alternates", "/home/u/repo.git/x/objects\n", false},
		{"objects/info/alternates", "../../../x\n", false},
		{"objects/info/alternates", "/home/u/p/fifo\n", false},
	};
	const char *const folders[] = {"/home/u/p", "/home/u/repo.git", NULL};
	const struct policy_spec spec = {
		.home = "/home/u", .folders = folders, .repositories = folders + 1};
	struct policy *p = NULL;

	assert_int_equal(policy_new(&p, &spec, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_FREE char *path = xasprintf("%s/%s", own, cases[i].file);

		if (policy_vet(p, path, cases[i].text, strlen(cases[i].text)) != cases[i].passes)
			fail_msg("%s: %s", cases[i].file, cases[i].text);
	}
	policy_free(p);
}

static bool change(struct policy *p, const char *old, const char *now)
{
	return policy_vet_change(p, "/home/u/p/.git/config", old, strlen(old), now, strlen(now));
}

TEST(vet_changes)
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
	/* Continued lines are not judged, so they are refused. */
	assert_false(change(p, "[alias]\n\tx = !y \\\n\t z\n", "[alias]\n\tx = !y \\\n\t z\n"));
}

/* With a remote of the user, and without one. */
TEST(vet_wider)
{
	static const char none[] = "[core]\n\tbare = false\n",
			  known[] = "[remote \"o\"]\n\turl = https://x/y\n";
	static const struct {
		const char *text;
		bool inert; /* with a remote, too */
	} list[] = {
		{"[remote \"o\"]\n\tprune = true\n", false},
		{"[remote \"o\"]\n\tprune\n", false},
		{"[remote \"o\"]\n\tpruneTags = 1\n", false},
		{"[fetch]\n\tprune = true\n", false},
		{"[fetch]\n\tpruneTags = true\n", false},
		{"[push]\n\tdefault = matching\n", false},
		{"[push]\n\trecurseSubmodules = on-demand\n", false},
		{"[submodule]\n\trecurse = true\n", false},
		{"[remote \"o\"]\n\tpush = refs/heads/*\n", false},
		{"[remote \"n\"]\n\tfetch = +refs/heads/*:refs/remotes/o/*\n", false},
		{"[remote \"n\"]\n\tfetch = +refs/heads/*:refs/remotes/*\n", false},
		{"[remote \"n\"]\n\tfetch = +refs/heads/x:refs/remotes/o/x\n", false},
		{"[remote \"n\"]\n\tfetch = +refs/heads/*:refs/remotes/other/*\n", true},
		{"[remote \"o\"]\n\tprune = false\n", true},
		{"[fetch]\n\tprune = No\n", true},
		{"[push]\n\tdefault = current\n", true},
		{"[push]\n\trecurseSubmodules = check\n", true},
		{"[remote \"n\"]\n\turl = https://x/z\n\tprune = true\n"
		 "\tfetch = +refs/heads/*:refs/remotes/n/*\n",
		 true},
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		AUTO_FREE char *without = xasprintf("%s%s", none, list[i].text);
		AUTO_FREE char *with = xasprintf("%s%s", known, list[i].text);
		AUTO_FREE char *a = xasprintf("/home/u/p/a%zu/.git/config", i);
		AUTO_FREE char *b = xasprintf("/home/u/p/b%zu/.git/config", i);

		if (!policy_vet_change(*state, a, none, strlen(none), without, strlen(without)) ||
		    policy_vet_change(*state, b, known, strlen(known), with, strlen(with)) !=
			    list[i].inert)
			fail_msg("%s", list[i].text);
		/* It was in the file before, so it may stay. */
		assert_true(policy_vet_change(*state, b, with, strlen(with), with, strlen(with)));
	}
}

/* Each changing call pays this time. */
TEST(speed)
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

/* Each rule applies to all directories above the folder, with any number of rules. */
TEST(above_the_folder)
{
	static const char *const places[] = {"/q/a/b", "/q/a", "/q"};
	const char *const folders[] = {"/q/a/b/c", NULL};
	struct config *c = config_of_rules();
	const struct policy_spec spec = {.config = c, .home = "/home/u", .folders = folders};
	struct policy *p = NULL;
	const char *reason;

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

/* Returns the path that a row of the table is about, with a letter for `*`. */
static char *row_path(const struct policy_name *n, const char *want, size_t len)
{
	AUTO_BUF struct buf b = BUF_INIT;

	buf_fmt(&b, "/q/p/%s%s%.*s", n->name, len ? "/" : "", (int)len, want);
	for (char *c = b.data; *c; c++)
		*c = *c == '*' ? 'x' : *c;
	return xstrdup(b.data);
}

static void rule_decides(const char *path)
{
	static const enum policy_act acts[] = {POLICY_WRITE, POLICY_RENAME_TO, POLICY_SYMLINK,
					       POLICY_DIR_TO, POLICY_LINK_FROM};
	const char *const folders[] = {"/q/p", NULL};
	struct config *c = config_of_rules();
	const struct policy_spec spec = {.config = c, .home = "/home/u", .folders = folders};
	AUTO_FREE char *value = xasprintf("write %s", path);
	struct policy *p = NULL;
	const char *reason;

	config_add_rule(c, &(struct config_rule){.name = "it",
						 .key = "allow",
						 .value = value,
						 .file = "x",
						 .level = CONFIG_USER});
	assert_int_equal(policy_new(&p, &spec, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(acts); i++)
		if (policy_check(p, acts[i], path, &reason) != POLICY_ALLOW)
			fail_msg("act %d of %s: %s", (int)acts[i], path, reason);
	policy_free(p);
	config_free(c);
}

TEST(rules_about_rows)
{
	struct policy_name n;

	for (size_t i = 0; policy_name_at(i, &n); i++) {
		AUTO_FREE char *name = row_path(&n, "", 0);

		rule_decides(name);
		for (const char *want = n.below; want && *want;) {
			const size_t len = strcspn(want, " ");
			const char *slash = memrchr(want, '/', len);
			AUTO_FREE char *path = row_path(&n, want, len);
			AUTO_FREE char *above =
				row_path(&n, want, slash ? (size_t)(slash - want) : len);

			rule_decides(path);
			rule_decides(above);
			want += len + (want[len] == ' ');
		}
	}
}

TESTS(setup, teardown)
