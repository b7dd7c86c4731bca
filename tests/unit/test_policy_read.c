/* test_policy_read - reading in dynamic mode: gates, open places in them, answers. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/policy/policy.h"
#include "tests/support/check.h"

struct home {
	char *dir, *home, *work, *look, *bin, *program;
	struct config *config;
	struct policy *p;
	struct err err;
};

static char *at(struct home *h, const char *name)
{
	return path_join(h->home, name);
}

static void make(struct home *h, const char *name, const char *text)
{
	AUTO_FREE char *path = at(h, name);
	AUTO_FREE char *dir = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	AUTO_CLOSE int fd = -1;

	assert_int_equal(io_mkdir_p(AT_FDCWD, dir, 0755), 0);
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(io_write_file(fd, path_base(path), 0600, text, strlen(text), false), 0);
}

/* Not below /tmp, where the sandbox has its own files and no gate. */
static int setup(void **state)
{
	const char *base = getenv("TEST_TMP");
	struct home *h;

	*state = NULL;
	if (!base || path_is_beneath(base, "/tmp"))
		return 0;
	h = xcalloc(1, sizeof(*h));
	h->dir = xasprintf("%s/read-XXXXXX", base);
	assert_non_null(mkdtemp(h->dir));
	h->home = path_join(h->dir, "home");
	h->work = at(h, "work");
	h->look = at(h, "look");
	h->bin = at(h, "tools/x/bin");
	assert_int_equal(io_mkdir_p(AT_FDCWD, h->work, 0755), 0);
	assert_int_equal(io_mkdir_p(AT_FDCWD, h->look, 0755), 0);
	assert_int_equal(io_mkdir_p(AT_FDCWD, h->bin, 0755), 0);
	make(h, ".gitconfig", "");
	make(h, "notes/a", "");
	make(h, "notes/private/b", "");
	make(h, "pub/a", "");
	make(h, "pub/b", "");
	make(h, "single", "");
	make(h, ".ssh/id", "");
	*state = h;
	return 0;
}

static int teardown(void **state)
{
	struct home *h = *state;

	if (!h)
		return 0;
	policy_free(h->p);
	config_free(h->config);
	assert_int_equal(io_remove_tree(AT_FDCWD, h->dir), 0);
	free(h->dir);
	free(h->home);
	free(h->work);
	free(h->look);
	free(h->bin);
	free(h->program);
	free(h);
	return 0;
}

static void load(struct home *h, const char *rules, bool dynamic)
{
	const char *const folders[] = {h->work, NULL}, *const look[] = {h->look, NULL};
	const struct config_spec spec = {
		.home = h->home, .folder = h->work, .org_file = "/dev/null/none"};
	AUTO_FREE char *path = xasprintf("/usr/bin:%s:relative:%s", h->bin, h->home);
	struct policy_spec about = {.home = h->home,
				    .folders = folders,
				    .read_only = look,
				    .path = path,
				    .program = h->program,
				    .dynamic = dynamic};

	policy_free(h->p);
	config_free(h->config);
	h->p = NULL;
	h->config = NULL;
	make(h, ".config/cordon/config", rules);
	if (config_load(&h->config, &spec, &h->err) < 0)
		fail_msg("%s", h->err.text);
	about.config = h->config;
	if (policy_new(&h->p, &about, &h->err) < 0)
		fail_msg("%s", h->err.text);
}

static enum policy_verdict read_of(struct home *h, const char *name)
{
	AUTO_FREE char *path = at(h, name);
	const char *reason;

	return policy_check_read(h->p, RULE_READ, path, &reason);
}

static bool listed(struct home *h, size_t (*list)(const struct policy *, const char *const **),
		   const char *name)
{
	AUTO_FREE char *path = at(h, name);
	const char *const *all;
	size_t n = list(h->p, &all);

	for (size_t i = 0; i < n; i++)
		if (str_eq(all[i], path))
			return true;
	return false;
}

#define NEEDS_HOME(h)                                                                              \
	if (!(h))                                                                                  \
	skip()

TEST(gates)
{
	struct home *h = *state;
	const char *const *list, *reason;
	size_t n;
	bool covered = false;

	NEEDS_HOME(h);
	load(h, "", true);
	n = policy_gated(h->p, &list);
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++) {
		struct stat st;

		assert_int_equal(lstat(list[i], &st), 0);
		assert_true(S_ISDIR(st.st_mode));
		covered = covered || path_is_beneath(h->home, list[i]);
		for (size_t k = 0; k < n; k++)
			assert_true(k == i || !path_is_beneath(list[i], list[k]));
		assert_false(path_is_beneath("/usr", list[i]));
		assert_false(path_is_beneath("/etc", list[i]));
	}
	assert_true(covered);
	assert_int_equal(read_of(h, "notes/a"), POLICY_ASK);
	assert_int_equal(read_of(h, ""), POLICY_ASK);
	assert_int_equal(read_of(h, ".ssh/id"), POLICY_HIDE);
	assert_int_equal(read_of(h, ".config/cordon/config"), POLICY_HIDE);
	assert_int_equal(read_of(h, "work/a"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "work/.env"), POLICY_HIDE);
	assert_int_equal(read_of(h, "look/a"), POLICY_ALLOW);
	assert_int_equal(read_of(h, ".gitconfig"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "tools/x/lib/y"), POLICY_ALLOW); /* beside one of $PATH */
	assert_int_equal(read_of(h, "tools/z"), POLICY_ASK);
	assert_int_equal(policy_check_read(h->p, RULE_READ, "/usr/bin/env", &reason), POLICY_ALLOW);
	assert_int_equal(policy_check_read(h->p, RULE_UNIX, "/run/x.sock", &reason), POLICY_ASK);
	assert_true(listed(h, policy_granted, ".gitconfig"));
	assert_true(listed(h, policy_granted, "tools/x"));
	assert_false(listed(h, policy_granted, "work"));
	load(h, "", false);
	assert_int_equal(policy_gated(h->p, &list), 0);
	assert_int_equal(read_of(h, "notes/a"), POLICY_ALLOW);
	assert_int_equal(read_of(h, ".ssh/id"), POLICY_HIDE);
}

static void run_by_the_human(struct home *h, const char *name)
{
	free(h->program);
	h->program = at(h, name);
	load(h, "", true);
}

static void link_to(struct home *h, const char *to, const char *name)
{
	AUTO_FREE char *link = at(h, name);

	assert_int_equal(symlink(to, link), 0);
}

TEST(what_the_human_runs)
{
	struct home *h = *state;

	NEEDS_HOME(h);
	make(h, "own/agent", "");
	make(h, "own/other", "");
	run_by_the_human(h, "own/agent");
	assert_int_equal(read_of(h, "own/agent"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "own/other"), POLICY_ASK);

	make(h, "npm/node_modules/agent/cli.js", "");
	make(h, "npm/node_modules/.bin/x", "");
	link_to(h, "../agent/cli.js", "npm/node_modules/.bin/agent");
	run_by_the_human(h, "npm/node_modules/.bin/agent");
	assert_int_equal(read_of(h, "npm/node_modules/.bin/agent"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "npm/node_modules/agent/cli.js"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "npm/node_modules/uses/x.js"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "npm/x"), POLICY_ASK);
	assert_int_equal(read_of(h, "own/agent"), POLICY_ASK);

	make(h, "venv/a/bin/agent", "");
	run_by_the_human(h, "venv/a/bin/agent");
	assert_int_equal(read_of(h, "venv/a/lib/x.py"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "venv/a/notes"), POLICY_ASK);
	assert_int_equal(read_of(h, "venv/b"), POLICY_ASK);

	/* A link that the agent may have made is not followed, and a secret is not a program. */
	link_to(h, "../own/other", "work/agent");
	run_by_the_human(h, "work/agent");
	assert_int_equal(read_of(h, "own/other"), POLICY_ASK);
	make(h, ".ssh/agent", "");
	run_by_the_human(h, ".ssh/agent");
	assert_int_equal(read_of(h, ".ssh/agent"), POLICY_HIDE);
	run_by_the_human(h, "own");
	assert_int_equal(read_of(h, "own/other"), POLICY_ASK);
	run_by_the_human(h, "none");
	assert_int_equal(read_of(h, "none"), POLICY_ASK);
}

/* Entries of PATH and of settings may be links in the folder, or lead through it. */
TEST(no_link_of_the_folder_opens_more)
{
	struct home *h = *state;

	NEEDS_HOME(h);
	free(h->bin);
	h->bin = at(h, "work/.venv/bin");
	link_to(h, "..", "work/.venv"); /* the home */
	make(h, "work/nvim/init.vim", "");
	make(h, "bin/x", "");
	load(h, "", true);
	assert_int_equal(read_of(h, "notes/a"), POLICY_ASK);
	assert_int_equal(read_of(h, "bin/x"), POLICY_ASK);
	free(h->bin);
	h->bin = at(h, "tools/y");
	link_to(h, "../work/out", "tools/y"); /* outside the folder, but by a link in it */
	link_to(h, "..", "work/out");
	link_to(h, "../..", ".config/nvim"); /* too wide */
	load(h, "", true);
	assert_int_equal(read_of(h, "notes/a"), POLICY_ASK);
	assert_int_equal(read_of(h, ".config/nvim"), POLICY_ASK);
}

TEST(grants)
{
	struct home *h = *state;
	AUTO_FREE char *link = NULL;

	NEEDS_HOME(h);
	link = at(h, "link");
	assert_int_equal(symlink("pub", link), 0);
	load(h,
	     "[rule \"a\"]\n\tallow = read ~/notes/**\n\tdeny = read ~/notes/private/**\n"
	     "\tallow = read ~/link/**\n\tallow = read ~/single\n\tallow = read ~/absent/**\n",
	     true);
	assert_int_equal(read_of(h, "notes/a"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "notes/private/b"), POLICY_DENY);
	assert_int_equal(read_of(h, "pub/a"), POLICY_ALLOW);
	assert_false(listed(h, policy_granted, "notes")); /* not completely */
	assert_true(listed(h, policy_granted, "pub"));
	assert_false(listed(h, policy_granted, "link"));
	assert_true(listed(h, policy_granted, "single"));
	assert_false(listed(h, policy_granted, "absent"));
	/* Rules about names anywhere, or with an end, keep the gate. */
	load(h, "[rule \"a\"]\n\tallow = read ~/pub/**\n\task = read **/*.key\n", true);
	assert_false(listed(h, policy_granted, "pub"));
	assert_int_equal(read_of(h, "pub/x.key"), POLICY_ASK);
	load(h, "[rule \"a\"]\n\tallow = read ~/pub/**\n\tuntil = 2100-01-01\n", true);
	assert_false(listed(h, policy_granted, "pub"));
	assert_int_equal(read_of(h, "pub/a"), POLICY_ALLOW);
	/* A wide grant uncovers nothing; the grant of one place does. */
	load(h, "[rule \"a\"]\n\tallow = read ~/**\n", true);
	assert_int_equal(read_of(h, "notes/a"), POLICY_ALLOW);
	assert_int_equal(read_of(h, ".ssh/id"), POLICY_HIDE);
	load(h, "[rule \"a\"]\n\tallow = read ~/.ssh/id\n", true);
	assert_int_equal(read_of(h, ".ssh/id"), POLICY_ALLOW);
	assert_int_equal(read_of(h, ".ssh/other"), POLICY_HIDE);
	/* Places that are open by default can be closed by a rule. */
	load(h, "[rule \"a\"]\n\tdeny = read ~/**\n", true);
	assert_int_equal(read_of(h, ".gitconfig"), POLICY_DENY);
	assert_false(listed(h, policy_granted, ".gitconfig"));
	assert_int_equal(read_of(h, "work/a"), POLICY_ALLOW); /* a folder: nearer than the rule */
}

/* Without a gate, a place that must not be read is hidden. */
TEST(hides)
{
	struct home *h = *state;
	const char *reason;
	AUTO_FREE char *diary = NULL;

	NEEDS_HOME(h);
	make(h, "work/diary/x", "");
	diary = at(h, "work/diary/x");
	load(h, "[rule \"a\"]\n\tdeny = read ~/notes/**\n\task = read $FOLDER/diary/**\n", false);
	assert_true(listed(h, policy_hidden, "notes"));
	assert_true(listed(h, policy_hidden, "work/diary"));
	assert_int_equal(policy_check(h->p, POLICY_WRITE, diary, &reason), POLICY_HIDE);
	assert_non_null(strstr(reason, "rule 'a'"));
	load(h, "[rule \"a\"]\n\tdeny = read ~/notes/**\n", true);
	assert_false(listed(h, policy_hidden, "notes")); /* the gate hides it */
	assert_int_equal(read_of(h, "notes/a"), POLICY_DENY);
}

/* Of many rules about one directory, only those with existing paths count. */
TEST(hides_many)
{
	struct home *h = *state;
	AUTO_BUF struct buf rules = BUF_INIT;

	NEEDS_HOME(h);
	make(h, "many/f7", "");
	make(h, "many/f77", "");
	make(h, "many/g", "");
	make(h, "many/x30", "");
	buf_str(&rules, "[rule \"a\"]\n");
	for (int i = 0; i < 100; i++)
		buf_fmt(&rules, "\tdeny = read ~/many/f%d\n", i);
	for (int i = 0; i < 100; i++)
		buf_fmt(&rules, "\tdeny = exec ~/many/x%d\n", i);
	load(h, rules.data, false);
	assert_true(listed(h, policy_hidden, "many/f7"));
	assert_true(listed(h, policy_hidden, "many/f77"));
	assert_true(listed(h, policy_hidden, "many/x30"));
	assert_false(listed(h, policy_hidden, "many/g"));
	assert_false(listed(h, policy_hidden, "many/f8"));
}

/* A directory is looked up once for all rules that begin with it; each rule is about its real
 * path. */
TEST(links_again)
{
	struct home *h = *state;
	AUTO_FREE char *link = NULL;

	NEEDS_HOME(h);
	link = at(h, "link");
	assert_int_equal(symlink("pub", link), 0);
	load(h,
	     "[rule \"a\"]\n\tdeny = read ~/pub/**/v*\n\tdeny = read ~/pub/**/w*\n"
	     "\tdeny = read ~/link/**/x*\n\tdeny = read ~/link/**/y*\n"
	     "\tdeny = read  ~/link/z*\n\tallow = read ~/link/**\n",
	     true);
	assert_int_equal(read_of(h, "pub/a"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "pub/v"), POLICY_DENY);
	assert_int_equal(read_of(h, "pub/w"), POLICY_DENY);
	assert_int_equal(read_of(h, "pub/in/x"), POLICY_DENY);
	assert_int_equal(read_of(h, "pub/in/y"), POLICY_DENY);
	assert_int_equal(read_of(h, "pub/z"), POLICY_DENY);
}

/* The same for grants, for links on the way (most rules have none), and for missing paths. */
TEST(grants_many)
{
	struct home *h = *state;
	AUTO_BUF struct buf rules = BUF_INIT;
	AUTO_FREE char *link = NULL;
	AUTO_FREE char *deep = NULL;

	NEEDS_HOME(h);
	make(h, "many/d7/in/x", "");
	make(h, "many/d50", "");
	make(h, "real/in/x", "");
	make(h, "real/other", "");
	link = at(h, "many/d60");
	deep = at(h, "many/d7/to");
	assert_int_equal(symlink("../real", link), 0);
	assert_int_equal(symlink("../../pub", deep), 0);
	buf_str(&rules, "[rule \"a\"]\n");
	for (int i = 0; i < 100; i++)
		buf_fmt(&rules, "\tallow = read ~/many/d%d/in/**\n", i);
	for (int i = 0; i < 100; i++)
		buf_fmt(&rules, "\tallow = read ~/many/d%d\n", i);
	for (int i = 0; i < 100; i++)
		buf_fmt(&rules, "\tallow = read ~/many/d%d/to/a\n", i);
	for (int i = 0; i < 100; i++)
		buf_fmt(&rules, "\tallow = read ~/gone/d%d/in/**\n", i);
	load(h, rules.data, true);
	assert_true(listed(h, policy_granted, "many/d7/in"));
	assert_true(listed(h, policy_granted, "many/d50"));
	assert_false(listed(h, policy_granted, "many/d60"));
	assert_false(listed(h, policy_granted, "many/d8/in"));
	assert_false(listed(h, policy_granted, "gone/d8/in"));
	assert_true(listed(h, policy_granted, "real/in"));
	assert_true(listed(h, policy_granted, "pub/a"));
	assert_int_equal(read_of(h, "many/d7/in/x"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "real/in/x"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "pub/a"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "pub/b"), POLICY_ASK);
	assert_int_equal(read_of(h, "real/other"), POLICY_ASK);
	assert_int_equal(read_of(h, "gone/d8/in/later"), POLICY_ALLOW);
}

static uint64_t answer(struct home *h, enum rule_kind kind, const char *name,
		       enum answer_extent extent, bool allow, int64_t until)
{
	const struct answer a = {
		.allow = allow, .scope = SCOPE_SESSION, .extent = extent, .until = until};
	AUTO_FREE char *path = at(h, name);

	return policy_answer(h->p, kind, path, &a);
}

TEST(answers)
{
	struct home *h = *state;
	AUTO_FREE char *in_home = NULL;
	AUTO_FREE char *beside_secrets = NULL;
	const struct answer once = {.allow = true};
	uint64_t id;

	NEEDS_HOME(h);
	in_home = at(h, "single");
	beside_secrets = at(h, ".ssh/");
	load(h, "", true);
	assert_int_equal(policy_answer(h->p, RULE_READ, in_home, &once), 0);
	assert_int_equal(read_of(h, "single"), POLICY_ASK);
	id = answer(h, RULE_READ, "notes/a", EXTENT_EXACT, true, 0);
	assert_true(id > 0);
	assert_int_equal(read_of(h, "notes/a"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "notes/c"), POLICY_ASK);
	assert_true(policy_revoke(h->p, id));
	assert_int_equal(read_of(h, "notes/a"), POLICY_ASK);
	answer(h, RULE_READ, "notes/a", EXTENT_DIR, true, 0);
	assert_int_equal(read_of(h, "notes"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "notes/c"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "notes/private/b"), POLICY_ASK);
	answer(h, RULE_READ, "notes/", EXTENT_TREE, true, 0);
	assert_int_equal(read_of(h, "notes/private/b"), POLICY_ALLOW);
	answer(h, RULE_READ, "notes/private/", EXTENT_TREE, false, 0);
	assert_int_equal(read_of(h, "notes/private/b"), POLICY_DENY);
	answer(h, RULE_READ, "pub/a", EXTENT_EXACT, true, 1000); /* long over */
	assert_int_equal(read_of(h, "pub/a"), POLICY_ASK);
	answer(h, RULE_EXEC, "tools/z", EXTENT_EXACT, true, 0);
	assert_int_equal(read_of(h, "tools/z"), POLICY_ALLOW);
	/* Never a whole home, nor a directory with secrets. */
	assert_false(policy_extent_offered(h->p, in_home, EXTENT_TREE));
	assert_false(policy_extent_offered(h->p, in_home, EXTENT_DIR));
	assert_false(policy_extent_offered(h->p, beside_secrets, EXTENT_TREE));
	assert_false(policy_extent_offered(h->p, "/etc/x", EXTENT_TREE));
	answer(h, RULE_READ, "single", EXTENT_TREE, true, 0);
	assert_int_equal(read_of(h, "single"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "other"), POLICY_ASK);
	answer(h, RULE_READ, ".ssh/", EXTENT_TREE, true, 0);
	assert_int_equal(read_of(h, ".ssh/id"), POLICY_HIDE);
	answer(h, RULE_READ, ".ssh/id", EXTENT_EXACT, true, 0);
	assert_int_equal(read_of(h, ".ssh/id"), POLICY_ALLOW);
	answer(h, RULE_READ, ".config/cordon/config", EXTENT_EXACT, true, 0);
	assert_int_equal(read_of(h, ".config/cordon/config"), POLICY_HIDE);
}

/* Loads new rules into the policy in use. Returns -EINVAL if they are invalid. */
static int reload(struct home *h, const char *rules)
{
	const struct config_spec spec = {
		.home = h->home, .folder = h->work, .org_file = "/dev/null/none"};
	struct config *fresh = NULL, *copy = config_of_rules();
	int r;

	make(h, ".config/cordon/config", rules);
	assert_int_equal(config_load(&fresh, &spec, &h->err), 0);
	for (size_t i = 0; i < config_rules(fresh); i++) {
		const struct config_rule rule = config_rule(fresh, i);

		config_add_rule(copy, &rule);
	}
	config_free(fresh); /* the policy has a copy */
	r = policy_reload(h->p, copy, &h->err);
	config_free(copy);
	return r;
}

TEST(rules_change)
{
	struct home *h = *state;
	const struct answer yes = {.allow = true, .scope = SCOPE_SESSION};
	AUTO_FREE char *single = NULL;
	uint64_t id;

	NEEDS_HOME(h);
	load(h, "[rule \"a\"]\n\tallow = read ~/notes/**\n", true);
	single = at(h, "single");
	id = policy_answer(h->p, RULE_READ, single, &yes);
	assert_true(id != 0);
	assert_int_equal(reload(h, "[rule \"b\"]\n\tallow = read ~/pub/a\n"
				   "\tdeny = read ~/notes/**\n"),
			 0);
	assert_int_equal(read_of(h, "notes/a"), POLICY_DENY);
	assert_int_equal(read_of(h, "pub/a"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "pub/b"), POLICY_ASK);
	assert_int_equal(read_of(h, "single"), POLICY_ALLOW); /* the answer stays, */
	assert_int_equal(read_of(h, "work/a"), POLICY_ALLOW); /* and the folders do */
	assert_int_equal(read_of(h, "look/a"), POLICY_ALLOW);
	/* All rules are loaded, or none. */
	assert_int_equal(reload(h, "[rule \"c\"]\n\tallow = read ~/pub/b\n"
				   "\tdeny = touch ~/single\n"),
			 -EINVAL);
	assert_non_null(strstr(h->err.text, "config:3: "));
	assert_int_equal(read_of(h, "pub/b"), POLICY_ASK);
	assert_int_equal(read_of(h, "notes/a"), POLICY_DENY);
	assert_int_equal(read_of(h, "single"), POLICY_ALLOW);
	assert_int_equal(reload(h, ""), 0);
	assert_int_equal(read_of(h, "notes/a"), POLICY_ASK);
	assert_true(policy_revoke(h->p, id)); /* it has the same number */
}

/* Files that git reads for the user's own configuration, but none by a link of the agent. */
TEST(git_may_read_what_its_configuration_names)
{
	struct home *h = *state;
	AUTO_FREE char *secret = NULL;
	AUTO_FREE char *link = NULL;

	if (!h)
		skip();
	secret = at(h, "notes/private/b");
	link = at(h, "work/inc");
	assert_int_equal(symlink(secret, link), 0);
	make(h, ".gitconfig",
	     "[core]\n\texcludesFile = ~/.ignored\n[include]\n\tpath = inc/one\n"
	     "[includeIf \"gitdir:~/work/\"]\n\tpath = \"~/inc/two words\"\n"
	     "[include]\n\tpath = ~/work/inc\n\tpath = ~/pub\n\tpath = ~/.tokens.inc\n"
	     "\tpath = ~/.ssh/id\n\tpath = ~/not/there\n[user]\n\tpath = ~/single\n");
	make(h, ".ignored", "*.o\n");
	make(h, "inc/one", "[include]\n\tpath = three\n\tpath = one\n");
	make(h, "inc/three", "");
	make(h, "inc/two words", "");
	make(h, "inc/four", "");
	make(h, ".tokens.inc", "");
	load(h, "", true);
	assert_int_equal(read_of(h, ".ignored"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "inc/one"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "inc/two words"), POLICY_ALLOW);
	assert_int_equal(read_of(h, "inc/three"), POLICY_ALLOW);
	assert_true(listed(h, policy_granted, "inc/one"));
	assert_int_equal(read_of(h, "inc/four"), POLICY_ASK);
	assert_int_equal(read_of(h, "inc"), POLICY_ASK);
	assert_int_equal(read_of(h, "notes/private/b"), POLICY_ASK);
	assert_int_equal(read_of(h, "pub/a"), POLICY_ASK);
	assert_int_equal(read_of(h, ".tokens.inc"), POLICY_ASK);
	assert_int_equal(read_of(h, ".ssh/id"), POLICY_HIDE);
	assert_int_equal(read_of(h, "single"), POLICY_ASK);
}

static enum policy_verdict outside(struct home *h, enum policy_act act, const char *name)
{
	AUTO_FREE char *path = at(h, name);
	const char *reason;

	return policy_check_outside(h->p, act, path, &reason);
}

TEST(the_way_to_a_grant_may_be_made)
{
	struct home *h = *state;

	NEEDS_HOME(h);
	load(h,
	     "[rule \"a\"]\n\tallow = write ~/new/deep/place/**\n\task = write ~/new/deep\n"
	     "\tallow = write ~/od[d]/x*\n\tallow = write ~/past/x\n"
	     "[rule \"b\"]\n\tallow = write ~/gone/x\n\tuntil = 2001-01-01\n",
	     true);
	assert_int_equal(outside(h, POLICY_MKDIR, "new"), POLICY_ALLOW);
	assert_int_equal(outside(h, POLICY_MKDIR, "new/deep"), POLICY_ASK);
	assert_int_equal(outside(h, POLICY_MKDIR, "new/deep/place"), POLICY_ALLOW);
	assert_int_equal(outside(h, POLICY_WRITE, "new"), POLICY_ASK);
	assert_int_equal(outside(h, POLICY_MKDIR, "ne"), POLICY_ASK);
	assert_int_equal(outside(h, POLICY_MKDIR, "new2"), POLICY_ASK);
	assert_int_equal(outside(h, POLICY_MKDIR, "new/other"), POLICY_ASK);
	assert_int_equal(outside(h, POLICY_MKDIR, "gone"), POLICY_ASK);
}

TEST(directories_above_the_folder)
{
	struct home *h = *state;
	const char *reason;

	NEEDS_HOME(h);
	load(h, "[rule \"way\"]\n\tallow = read $ABOVE\n\tdeny = write $ABOVE/keep\n", true);
	assert_int_equal(policy_check_read(h->p, RULE_READ, h->home, &reason), POLICY_ALLOW);
	assert_int_equal(policy_check_read(h->p, RULE_READ, h->dir, &reason), POLICY_ALLOW);
	assert_int_equal(read_of(h, "notes"), POLICY_ASK); /* beside the folder, not above it */
	assert_int_equal(read_of(h, "single"), POLICY_ASK);
	assert_int_equal(outside(h, POLICY_WRITE, "keep"), POLICY_DENY);
	assert_int_equal(outside(h, POLICY_WRITE, "notes/keep"), POLICY_ASK);
}

TESTS(setup, teardown)
