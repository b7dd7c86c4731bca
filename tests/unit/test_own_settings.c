/* test_own_settings - an agent's settings for one folder: which files are copied, and obstacles. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/policy/policy.h"
#include "core/session/start/own_settings.h"
#include "tests/support/check.h"

struct place {
	char home[64], *cache;
	struct config *config;
	struct policy *policy;
	struct buf left;
	struct err err;
};

/* Writes a text to a path below the home folder. */
static void put(const struct place *p, const char *name, const char *text)
{
	AUTO_FREE char *path = path_join(p->home, name);
	AUTO_FREE char *dir = xstrndup(path, (size_t)(path_base(path) - path - 1));

	assert_int_equal(io_mkdir_p(AT_FDCWD, dir, 0755), 0);
	assert_int_equal(io_write_file(AT_FDCWD, path, 0644, text, strlen(text), false), 0);
}

/* Returns the copied text, or NULL. */
static char *copied(const struct place *p, const char *name)
{
	AUTO_FREE char *path = xasprintf("%s/own/x-1a/below/%s", p->cache, name);
	char *text = NULL;
	size_t len;

	return io_read_file(AT_FDCWD, path, 1 << 20, &text, &len) == 0 ? text : NULL;
}

static void assert_copied(const struct place *p, const char *name, const char *want)
{
	AUTO_FREE char *text = copied(p, name);

	if (want)
		assert_non_null(text);
	else
		assert_null(text);
	if (want)
		assert_string_equal(text, want);
}

static void load(struct place *p, const char *own)
{
	AUTO_FREE char *setting = xasprintf("sandbox.own-settings=%s", own);
	const char *const settings[] = {setting, NULL};
	const char *const folders[] = {"/nonexistent/work", NULL};
	const struct config_spec spec = {.home = p->home,
					 .profile = "x",
					 .settings = *own ? settings : NULL,
					 .org_file = "/nonexistent"};

	policy_free(p->policy);
	config_free(p->config);
	p->policy = NULL;
	p->config = NULL;
	if (config_load(&p->config, &spec, &p->err) < 0 ||
	    policy_new(&p->policy,
		       &(struct policy_spec){.config = p->config,
					     .home = p->home,
					     .folders = folders,
					     .dynamic = true},
		       &p->err) < 0)
		fail_msg("%s", p->err.text);
}

static int make(struct place *p)
{
	buf_truncate(&p->left, 0);
	return own_settings_make(p->config, p->policy, p->cache, "own/x-1a", &p->left, &p->err);
}

static int setup(void **state)
{
	struct place *p = xcalloc(1, sizeof(*p));

	snprintf(p->home, sizeof(p->home), "/var/tmp/own-XXXXXX");
	assert_non_null(mkdtemp(p->home));
	p->cache = path_join(p->home, "cache");
	assert_int_equal(mkdir(p->cache, 0700), 0);
	put(p, ".config/cordon/profiles/x.profile",
	    "[profile]\n\tsettings-variable = X_HOME/below\n\tsettings = ~/.x.json\n"
	    "\tsettings = ~/.x/dir\n\tsettings = ~/.x/none\n\tsettings = ~/.x/large\n"
	    "[rule \"x\"]\n\tallow = read ~/.x/**\n\tallow = read ~/.x.json\n"
	    "\tdeny = read ~/.x/dir/key\n\tdeny = read ~/.x/dir/vault/**\n");
	put(p, ".x.json", "top");
	put(p, ".x/dir/a", "a");
	put(p, ".x/dir/sub/b", "b");
	put(p, ".x/dir/key", "secret");
	put(p, ".x/dir/vault/of/them", "secret");
	put(p, ".x/other", "not named");
	load(p, "x 1a");
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	policy_free(p->policy);
	config_free(p->config);
	assert_int_equal(io_remove_tree(AT_FDCWD, p->home), 0);
	free(p->cache);
	buf_done(&p->left);
	free(p);
	return 0;
}

TEST(what_is_named_is_copied)
{
	struct place *p = *state;
	AUTO_FREE char *file = xasprintf("%s/own/x-1a/below/dir/a", p->cache);
	AUTO_FREE char *vault = xasprintf("%s/own/x-1a/below/dir/vault", p->cache);
	struct stat st;

	assert_int_equal(make(p), 0);
	assert_int_equal(lstat(vault, &st), -1); /* nor the directories there */
	assert_copied(p, ".x.json", "top");
	assert_copied(p, "dir/a", "a");
	assert_copied(p, "dir/sub/b", "b");
	assert_copied(p, "other", NULL);
	assert_copied(p, "dir/key", NULL); /* a rule denies reading it */
	assert_non_null(strstr(p->left.data, "/.x/dir/key"));
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* A changed copy stays: it is made once. */
	put(p, ".x/dir/a", "changed");
	assert_int_equal(make(p), 0);
	assert_copied(p, "dir/a", "a");
}

TEST(links_and_what_is_large_are_left)
{
	struct place *p = *state;
	AUTO_FREE char *link = path_join(p->home, ".x/dir/link");
	AUTO_FREE char *large = path_join(p->home, ".x/large");
	AUTO_FREE char *pipe = path_join(p->home, ".x/dir/pipe");

	assert_int_equal(symlink("a", link), 0);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	put(p, ".x/large", "");
	assert_int_equal(truncate(large, 33 << 20), 0);
	assert_int_equal(make(p), 0);
	assert_copied(p, "dir/link", NULL);
	assert_copied(p, "large", NULL);
	assert_copied(p, "dir/a", "a");
	assert_non_null(strstr(p->left.data, "/.x/dir/link"));
	assert_non_null(strstr(p->left.data, "/.x/dir/pipe"));
	assert_non_null(strstr(p->left.data, "/.x/large"));
}

TEST(nothing_in_the_way_is_followed)
{
	struct place *p = *state;
	AUTO_FREE char *own = path_join(p->cache, "own");
	AUTO_FREE char *name = path_join(own, "x-1a");
	AUTO_FREE char *fresh = path_join(own, ".x-1a.new");

	assert_int_equal(symlink(p->home, own), 0);
	assert_true(make(p) < 0);
	assert_non_null(strstr(p->err.text, "--shared-settings"));
	assert_int_equal(unlink(own), 0);
	assert_int_equal(mkdir(own, 0700), 0);
	assert_int_equal(symlink(p->home, name), 0);
	assert_int_equal(make(p), -ENOTDIR);
	assert_int_equal(unlink(name), 0);
	/* The remains of an interrupted copy are removed, also if another process put them
	 * there. */
	assert_int_equal(symlink(p->home, fresh), 0);
	assert_int_equal(make(p), 0);
	assert_copied(p, "dir/a", "a");
}

/* Programs that the agent runs use XDG_CONFIG_HOME, too: git finds its own configuration. */
TEST(others_find_theirs_by_links)
{
	struct place *p = *state;
	AUTO_FREE char *want = path_join(p->home, ".config/git");
	AUTO_FREE char *link = xasprintf("%s/own/x-1a/git", p->cache);
	AUTO_FREE char *mine = xasprintf("%s/own/x-1a/nvim", p->cache);
	AUTO_FREE char *copy = xasprintf("%s/own/x-1a/x", p->cache);
	char *is = NULL;
	struct stat st;

	put(p, ".config/cordon/profiles/x.profile",
	    "[profile]\n\tsettings-variable = XDG_CONFIG_HOME/x\n\tsettings = ~/.config/x/a\n"
	    "[rule \"x\"]\n\tallow = read ~/.config/x/**\n");
	put(p, ".config/x/a", "a");
	put(p, ".config/git/config", "[user]");
	load(p, "x 1a");
	assert_int_equal(make(p), 0);
	is = realpath(link, NULL);
	assert_string_equal(is, want);
	free(is);
	assert_int_equal(lstat(copy, &st), 0);
	assert_true(S_ISDIR(st.st_mode)); /* its own directory is the copy */
	/* Files of the agent stay, and new files of the user appear at the next start. */
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("/nonexistent", link), 0);
	put(p, ".config/nvim/init.lua", "");
	assert_int_equal(make(p), 0);
	assert_null(realpath(link, NULL));
	assert_int_equal(lstat(mine, &st), 0);
}

TEST(settings_say_for_whom)
{
	static const struct {
		const char *own, *dir;
	} list[] = {
		{"x 1a", "own/x-1a"}, {"x", "own/x"}, {"y 1a", NULL}, {"xy 1a", NULL}, {"", NULL}};
	struct place *p = *state;
	AUTO_FREE char *env = own_settings_env(p->config, "own/x-1a");

	assert_string_equal(env, "X_HOME=$CORDON_CACHE/own/x-1a");
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		AUTO_FREE char *dir = NULL;

		load(p, list[i].own);
		dir = own_settings_dir(p->config);
		assert_true(str_eq(dir, list[i].dir));
		assert_int_equal(own_settings_offered(p->config), dir == NULL);
	}
}

TEST(an_answer_is_remembered)
{
	static const char *const profiles[] = {"x", "other", "x"};
	struct place *p = *state;
	AUTO_FREE char *file = config_project_file(p->home, NULL, "/nonexistent/work");
	AUTO_FREE char *text = NULL;
	size_t len, n = 0;

	for (size_t i = 0; i < ARRAY_LEN(profiles); i++)
		assert_int_equal(
			own_settings_save(p->home, NULL, "/nonexistent/work", profiles[i], &p->err),
			0);
	assert_int_equal(io_read_file(AT_FDCWD, file, 1 << 20, &text, &len), 0);
	for (const char *at = text; (at = strstr(at, "\town-settings = ")); at++)
		n++;
	assert_int_equal(n, ARRAY_LEN(profiles)); /* each profile has its own place */
}

TESTS(setup, teardown)
