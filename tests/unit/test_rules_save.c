/* test_rules_save - answers written as rules, read again, and removed. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/config/config.h"
#include "core/policy/policy.h"
#include "core/policy/rules/rules.h"
#include "tests/support/check.h"

struct place {
	char dir[64], home[96], folder[96], user[128];
	struct rules_place where;
	struct err err;
};

static int setup(void **state)
{
	struct place *p = xcalloc(1, sizeof(*p));

	snprintf(p->dir, sizeof(p->dir), "/tmp/cordon-save-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->home, sizeof(p->home), "%s/home", p->dir);
	snprintf(p->folder, sizeof(p->folder), "%s/home/work", p->dir);
	snprintf(p->user, sizeof(p->user), "%s/.config/cordon/config", p->home);
	assert_int_equal(io_mkdir_p(AT_FDCWD, p->folder, 0755), 0);
	p->where = (struct rules_place){.home = p->home, .folder = p->folder};
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	assert_int_equal(io_remove_tree(AT_FDCWD, p->dir), 0);
	free(p);
	return 0;
}

static char *contents(const char *file)
{
	char *text = NULL;
	size_t len;

	assert_int_equal(io_read_file(AT_FDCWD, file, 1 << 20, &text, &len), 0);
	return text;
}

/* Returns the verdict in a new run of this user. */
static enum policy_verdict ask(struct place *p, enum rule_kind kind, const char *path)
{
	const struct config_spec spec = {
		.home = p->home, .folder = p->folder, .org_file = "/dev/null/none"};
	const char *const folders[] = {p->folder, NULL};
	struct policy_spec about = {.home = p->home, .folders = folders};
	struct policy *policy = NULL;
	enum policy_verdict v;
	const char *reason;

	if (config_load((struct config **)(uintptr_t)&about.config, &spec, &p->err) < 0 ||
	    policy_new(&policy, &about, &p->err) < 0)
		fail_msg("%s", p->err.text);
	v = kind == RULE_WRITE ? policy_check_outside(policy, POLICY_WRITE, path, &reason)
			       : policy_check_read(policy, kind, path, &reason);
	policy_free(policy);
	config_free((struct config *)(uintptr_t)about.config);
	return v;
}

TEST(any_name)
{
	static const char *const names[] = {
		"/data/plain",	     "/data/with blank ", "/data/a#b;c",     "/data/\"q\"",
		"/data/back\\slash", "/data/[set]*?",	  "/data/new\nline", "/data/\xff\xfe",
		"/data/tab\there",   "/data/~$HOME",	  "/data/**",	     "/data/\xc3\xa9",
	};
	struct place *p = *state;
	const struct answer allow = {.allow = true, .scope = SCOPE_USER};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		AUTO_FREE char *other = xasprintf("%sx", names[i]);

		assert_int_equal(ask(p, RULE_WRITE, names[i]), POLICY_ASK);
		assert_int_equal(
			rules_save(&p->where, SCOPE_USER, RULE_WRITE, names[i], &allow, &p->err),
			0);
		assert_int_equal(ask(p, RULE_WRITE, names[i]), POLICY_ALLOW);
		assert_int_equal(ask(p, RULE_WRITE, other), POLICY_ASK);
	}
	for (size_t i = ARRAY_LEN(names); i-- > 0;) {
		assert_int_equal(
			rules_forget(&p->where, SCOPE_USER, RULE_WRITE, names[i], &allow, &p->err),
			0);
		assert_int_equal(ask(p, RULE_WRITE, names[i]), POLICY_ASK);
	}
	assert_int_equal(
		rules_save(&p->where, SCOPE_USER, RULE_WRITE, "/data/\x01", &allow, &p->err),
		-EINVAL);
}

/* A bundle is saved and removed by its name; the rest of the file stays. */
TEST(a_bundle_is_kept_by_name)
{
	static const char name[] = "claude's own settings";
	const struct answer a = {.allow = true, .scope = SCOPE_USER, .extent = EXTENT_BUNDLE};
	struct place *p = *state;
	AUTO_FREE char *text = NULL, *after = NULL;

	assert_int_equal(rules_save(&p->where, SCOPE_USER, RULE_WRITE, name, &a, &p->err), 0);
	assert_int_equal(rules_save(&p->where, SCOPE_USER, RULE_WRITE, "/data/x",
				    &(struct answer){.allow = true, .scope = SCOPE_USER}, &p->err),
			 0);
	assert_int_equal(rules_save(&p->where, SCOPE_USER, RULE_WRITE, name, &a, &p->err), 0);
	text = contents(p->user);
	assert_non_null(strstr(text, "[bundle]\n\tallow = claude's own settings\n[rule \"answer"));
	assert_int_equal(rules_forget(&p->where, SCOPE_USER, RULE_WRITE, name, &a, &p->err), 0);
	assert_int_equal(rules_forget(&p->where, SCOPE_USER, RULE_WRITE, name, &a, &p->err), 0);
	assert_int_equal(rules_forget(&p->where, SCOPE_USER, RULE_WRITE, name, &a, &p->err),
			 -ENOENT);
	after = contents(p->user);
	assert_null(strstr(after, "bundle"));
	assert_int_equal(ask(p, RULE_WRITE, "/data/x"), POLICY_ALLOW);
}

/* Reloads the user's file, with what it has already, an answer of this session and another's. */
static void assert_news(struct place *p, struct policy *policy, const struct config_spec *spec,
			const char *answered)
{
	AUTO_FREE char *text = xasprintf("# moved\n[rule \"mine\"]\n\task = write %s\n"
					 "[rule \"answer\"]\n\tallow = write %s\n",
					 answered, answered);
	AUTO_FREE char *more = xasprintf("%s[rule \"of another session\"]\n\tdeny = read /x\n"
					 "\tallow = write /y\n",
					 text);
	const char *const texts[] = {text, more, text};
	const char *const words[] = {"", "now deny read /x and 1 more",
				     "no longer deny read /x and 1 more"};
	struct config *c[ARRAY_LEN(texts)] = {NULL};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		AUTO_BUF struct buf news = BUF_INIT;
		bool restricts;

		assert_int_equal(
			io_write_file(AT_FDCWD, p->user, 0600, texts[i], strlen(texts[i]), false),
			0);
		assert_int_equal(config_load(&c[i], spec, &p->err), 0);
		assert_int_equal(policy_reload(policy, c[i], &p->err), 0);
		policy_news(policy, &news, &restricts);
		assert_string_equal(news.data, words[i]);
		assert_int_equal(restricts, i == 1);
	}
	policy_forget_old(policy);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		config_free(c[i]);
}

/* The ask lines of a profile's section, and nothing beside them; not of a rule of the human's. */
TEST(a_bundle_is_a_section_of_a_profile)
{
	struct place *p = *state;
	const char *const folders[] = {p->folder, NULL};
	const struct config_spec spec = {.home = p->home,
					 .folder = p->folder,
					 .org_file = "/dev/null/none",
					 .command = "claude"};
	const struct answer yes = {.allow = true, .scope = SCOPE_SESSION, .extent = EXTENT_BUNDLE};
	struct policy_spec about = {.home = p->home, .folders = folders};
	AUTO_FREE char *json = xasprintf("%s/.claude.json", p->home),
		       *settings = xasprintf("%s/.claude/settings.json", p->home),
		       *hook = xasprintf("%s/.claude/hook", p->home),
		       *mine = xasprintf("%s/mine", p->home);
	AUTO_BUF struct buf places = BUF_INIT;
	struct policy *policy = NULL;
	const char *reason;
	uint64_t id;

	assert_int_equal(io_mkdir_p(AT_FDCWD, p->home, 0755), 0);
	{
		AUTO_FREE char *dir = xasprintf("%s/.config/cordon", p->home);
		AUTO_FREE char *line = xasprintf("[rule \"mine\"]\n\task = write %s\n", mine);

		assert_int_equal(io_mkdir_p(AT_FDCWD, dir, 0755), 0);
		assert_int_equal(io_write_file(AT_FDCWD, p->user, 0600, line, strlen(line), false),
				 0);
	}
	if (config_load((struct config **)(uintptr_t)&about.config, &spec, &p->err) < 0 ||
	    policy_new(&policy, &about, &p->err) < 0)
		fail_msg("%s", p->err.text);
	assert_string_equal(policy_bundle(policy, json), "claude's own settings");
	assert_string_equal(policy_bundle(policy, settings), "claude's own settings");
	assert_null(policy_bundle(policy, hook));
	assert_null(policy_bundle(policy, mine));
	policy_bundle_places(policy, "claude's own settings", &places);
	assert_non_null(strstr(places.data, "~/.claude.json, "));
	assert_int_equal(policy_check_outside(policy, POLICY_WRITE, json, &reason), POLICY_ASK);
	assert_non_null(strstr(reason, "claude saves its own settings")); /* the profile's words */
	assert_false(policy_extent_offered(policy, hook, EXTENT_BUNDLE));
	id = policy_answer(policy, RULE_WRITE, json, &yes);
	assert_int_not_equal(id, 0);
	assert_int_equal(policy_check_outside(policy, POLICY_WRITE, json, &reason), POLICY_ALLOW);
	assert_int_equal(policy_check_outside(policy, POLICY_WRITE, settings, &reason),
			 POLICY_ALLOW);
	assert_int_equal(policy_check_outside(policy, POLICY_WRITE, hook, &reason), POLICY_ASK);
	assert_int_equal(policy_reload(policy, about.config, &p->err), 0); /* answers stay */
	assert_int_equal(policy_check_outside(policy, POLICY_WRITE, settings, &reason),
			 POLICY_ALLOW);
	assert_true(policy_revoke(policy, id));
	assert_int_equal(policy_check_outside(policy, POLICY_WRITE, json, &reason), POLICY_ASK);
	/* For a path of no bundle it is about that path alone. */
	assert_int_not_equal(policy_answer(policy, RULE_WRITE, mine, &yes), 0);
	assert_int_equal(policy_check_outside(policy, POLICY_WRITE, mine, &reason), POLICY_ALLOW);
	assert_int_equal(policy_check_outside(policy, POLICY_WRITE, json, &reason), POLICY_ASK);
	assert_news(p, policy, &spec, mine);
	policy_free(policy);
	config_free((struct config *)(uintptr_t)about.config);
}

TEST(extents)
{
	static const struct {
		enum answer_extent extent;
		const char *path;
		bool dir, in_dir, deeper, beside;
	} list[] = {
		{EXTENT_EXACT, "/data/d/f", false, false, false, false},
		{EXTENT_DIR, "/data/d/f", true, true, false, false},
		{EXTENT_TREE, "/data/d/f", true, true, true, false},
		{EXTENT_EXACT, "/data/d/", true, false, false, false},
		{EXTENT_DIR, "/data/d/", true, true, false, false},
		{EXTENT_TREE, "/data/d/", true, true, true, false},
	};
	struct place *p = *state;

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		const struct answer a = {.allow = true, .extent = list[i].extent};

		assert_int_equal(
			rules_save(&p->where, SCOPE_PROJECT, RULE_WRITE, list[i].path, &a, &p->err),
			0);
		assert_int_equal(ask(p, RULE_WRITE, "/data/d"),
				 list[i].dir ? POLICY_ALLOW : POLICY_ASK);
		assert_int_equal(ask(p, RULE_WRITE, "/data/d/other"),
				 list[i].in_dir ? POLICY_ALLOW : POLICY_ASK);
		assert_int_equal(ask(p, RULE_WRITE, "/data/d/e/f"),
				 list[i].deeper ? POLICY_ALLOW : POLICY_ASK);
		assert_int_equal(ask(p, RULE_WRITE, "/data/dd"), POLICY_ASK);
		assert_int_equal(rules_forget(&p->where, SCOPE_PROJECT, RULE_WRITE, list[i].path,
					      &a, &p->err),
				 0);
	}
}

TEST(keeps_what_is_there)
{
	static const char mine[] = "# mine\n[ui]\n\tmouse = off\n[rule \"x\"]\n\tdeny = read ~/x";
	const struct answer a = {.allow = false, .extent = EXTENT_TREE, .until = 4102444800};
	const struct answer b = {.allow = true};
	struct place *p = *state;
	AUTO_FREE char *dir = xasprintf("%s/.config/cordon", p->home);
	AUTO_FREE char *real = xasprintf("%s/dotfiles", p->home);
	AUTO_FREE char *saved = NULL;
	AUTO_FREE char *after = NULL;
	AUTO_CLOSE int fd = -1;
	struct stat st;

	/* A link stays a link: some users keep their settings elsewhere. */
	assert_int_equal(io_mkdir_p(AT_FDCWD, dir, 0755), 0);
	fd = open(p->home, O_PATH | O_CLOEXEC);
	assert_int_equal(io_write_file(fd, "dotfiles", 0640, mine, strlen(mine), false), 0);
	assert_int_equal(symlink(real, p->user), 0);
	assert_int_equal(rules_save(&p->where, SCOPE_USER, RULE_READ, "/data/f", &a, &p->err), 0);
	assert_int_equal(rules_save(&p->where, SCOPE_USER, RULE_EXEC, "/data/f", &b, &p->err), 0);
	assert_int_equal(lstat(p->user, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(real, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	saved = contents(real);
	assert_int_equal(strncmp(saved, mine, strlen(mine)), 0);
	assert_non_null(strstr(saved, "\tdeny = read /data/**\n\tuntil = 2100-01-01"));
	assert_non_null(strstr(saved, "\tallow = read,exec /data/f\n"));
	assert_int_equal(ask(p, RULE_READ, "/data/other"), POLICY_DENY);
	assert_int_equal(ask(p, RULE_READ, "/data/f"), POLICY_ALLOW);
	assert_int_equal(rules_forget(&p->where, SCOPE_USER, RULE_READ, "/data/f", &a, &p->err), 0);
	assert_int_equal(rules_forget(&p->where, SCOPE_USER, RULE_READ, "/data/f", &a, &p->err),
			 -ENOENT);
	assert_int_equal(ask(p, RULE_READ, "/data/other"), POLICY_ALLOW);
	assert_int_equal(rules_forget(&p->where, SCOPE_USER, RULE_EXEC, "/data/f", &b, &p->err), 0);
	after = contents(real);
	saved[strlen(mine)] = '\0';
	assert_int_equal(strncmp(after, saved, strlen(mine)), 0);
	assert_string_equal(after + strlen(mine), "\n");
}

/* By the name of its section alone, as a rule shows it; an edited section stays. */
TEST(forgets_by_name)
{
	static const char head[] = "[rule \"";
	const struct answer a = {.allow = true, .extent = EXTENT_TREE, .until = 4102444800};
	struct place *p = *state;
	AUTO_FREE char *one = NULL;
	AUTO_FREE char *name = NULL;
	AUTO_FREE char *edited = NULL;
	AUTO_FREE char *both = NULL;
	AUTO_FREE char *left = NULL;
	AUTO_FREE char *same = NULL;

	assert_int_equal(rules_save(&p->where, SCOPE_USER, RULE_READ, "/data/f", &a, &p->err), 0);
	one = contents(p->user);
	assert_true(str_starts(one, head));
	name = xstrndup(one + strlen(head), strcspn(one + strlen(head), "\""));
	assert_true(rules_is_answer(name));
	assert_false(rules_is_answer("mine"));
	both = xasprintf("[rule \"mine\"]\n\tdeny = read /x\n%s[ui]\n\tmouse = off\n", one);
	assert_int_equal(io_write_file(AT_FDCWD, p->user, 0600, both, strlen(both), false), 0);
	assert_int_equal(rules_forget_named(p->user, "mine", &p->err), -ENOENT);
	assert_int_equal(rules_forget_named(p->user, "answer of x", &p->err), -ENOENT);
	assert_int_equal(rules_forget_named(p->user, name, &p->err), 0);
	left = contents(p->user);
	assert_string_equal(left, "[rule \"mine\"]\n\tdeny = read /x\n[ui]\n\tmouse = off\n");
	edited = xasprintf("%s\tmatch = read /data/f/x\n", one);
	assert_int_equal(io_write_file(AT_FDCWD, p->user, 0600, edited, strlen(edited), false), 0);
	assert_int_equal(rules_forget_named(p->user, name, &p->err), -ENOENT);
	same = contents(p->user);
	assert_string_equal(same, edited);
}

/* Two answers at the same time, one with an end and one without, stay two. */
TEST(expires)
{
	const struct answer past = {.allow = true, .until = 1000};
	const struct answer open = {.allow = true};
	struct place *p = *state;

	assert_int_equal(rules_save(&p->where, SCOPE_USER, RULE_WRITE, "/data/a", &past, &p->err),
			 0);
	assert_int_equal(rules_save(&p->where, SCOPE_USER, RULE_WRITE, "/data/b", &open, &p->err),
			 0);
	assert_int_equal(ask(p, RULE_WRITE, "/data/a"), POLICY_ASK);
	assert_int_equal(ask(p, RULE_WRITE, "/data/b"), POLICY_ALLOW);
}

TEST(nowhere)
{
	const struct answer a = {.allow = true};
	struct place *p = *state;

	assert_int_equal(rules_save(&p->where, SCOPE_SESSION, RULE_READ, "/a", &a, &p->err),
			 -EINVAL);
	p->where.folder = NULL;
	assert_int_equal(rules_save(&p->where, SCOPE_PROJECT, RULE_READ, "/a", &a, &p->err),
			 -EINVAL);
	p->where.org_file = "/dev/null/none";
	assert_true(rules_save(&p->where, SCOPE_ORG, RULE_READ, "/a", &a, &p->err) < 0);
}

/* Other settings stay; the last value counts; a later save replaces the earlier one. */
TEST(a_setting)
{
	struct place *p = *state;
	static const char before[] = "[ui]\n\ttheme = dark ; mine\n\tmouse = no\n[rule \"x\"]\n"
				     "\tallow = read /x";
	AUTO_FREE char *text = NULL, *again = NULL, *want = NULL;
	struct config *c = NULL;

	assert_int_equal(rules_save_setting(p->user, "ui", "theme", "light", &p->err), 0);
	text = contents(p->user);
	assert_string_equal(text, "[ui]\n\ttheme = light\n");
	assert_int_equal(io_write_file(AT_FDCWD, p->user, 0600, before, sizeof(before) - 1, false),
			 0);
	assert_int_equal(rules_save_setting(p->user, "ui", "theme", "a;b", &p->err), 0);
	assert_int_equal(rules_save_setting(p->user, "ui", "theme", "mono", &p->err), 0);
	again = contents(p->user);
	want = xasprintf("%s\n[ui]\n\ttheme = mono\n", before);
	assert_string_equal(again, want);
	assert_int_equal(
		config_load(&c,
			    &(struct config_spec){.home = p->home, .org_file = "/dev/null/none"},
			    &p->err),
		0);
	assert_string_equal(config_str(c, "ui.theme"), "mono");
	assert_false(config_bool(c, "ui.mouse"));
	config_free(c);
	assert_int_equal(rules_save_setting(p->user, "ui", "theme", "a\nb", &p->err), -EINVAL);
}

TESTS(setup, teardown)
