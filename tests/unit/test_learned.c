/* test_learned - requests become rules that a user can read. */
/* SPDX-License-Identifier: MIT */
#include "core/session/answers/learned.h"
#include "tests/support/check.h"

static void note(struct learned *l, enum rule_kind kind, const char *path, bool is_dir)
{
	char copy[256];

	snprintf(copy, sizeof(copy), "%s", path);
	learned_note(l, &(struct ask){.kind = kind, .path = copy, .is_dir = is_dir});
}

/* Returns the text from the first rule line on. */
static char *rules(struct learned *l)
{
	AUTO_BUF struct buf out = BUF_INIT;
	const char *from;

	learned_rules(l, &out);
	from = strstr(out.data, "\"]\n");
	assert_non_null(from);
	return xstrdup(from + 3);
}

static void assert_rules(struct learned *l, const char *want)
{
	AUTO_FREE char *got = rules(l);

	assert_string_equal(got, want);
	learned_free(l);
}

TEST(each_place_once)
{
	struct learned *l = learned_new("/home/u", "make");

	note(l, RULE_READ, "/home/u/b", false);
	note(l, RULE_READ, "/home/u/a b", false);
	note(l, RULE_READ, "/home/u/b", false);
	note(l, RULE_EXEC, "/opt/x/run", false);
	note(l, RULE_READ, "/home/u", true);
	note(l, RULE_READ, "/home/user/c", false);
	assert_int_equal(learned_count(l), 6);
	assert_rules(l, "\tallow = read /home/u\n"
			"\tallow = read ~/a b\n"
			"\tallow = read ~/b\n"
			"\tallow = read /home/user/c\n"
			"\tallow = read,exec /opt/x/run\n");
}

TEST(many_files_are_their_directory)
{
	struct learned *l = learned_new("/home/u", "make");

	for (const char *name = "wxyz"; *name; name++) {
		char path[64];

		snprintf(path, sizeof(path), "/home/u/lib/%c", *name);
		note(l, RULE_READ, path, false);
		snprintf(path, sizeof(path), "/home/u/%c", *name);
		learned_note(l, &(struct ask){.kind = RULE_READ, .path = path, .no_tree = true});
	}
	note(l, RULE_READ, "/home/u/lib/y/deep", false);
	note(l, RULE_READ, "/home/u/lib", true);
	note(l, RULE_READ, "/home/u/library", false);
	assert_rules(l, "\tallow = read ~/lib/**\n"
			"\tallow = read ~/library\n"
			"\tallow = read ~/w\n"
			"\tallow = read ~/x\n"
			"\tallow = read ~/y\n"
			"\tallow = read ~/z\n");
}

TEST(what_is_not_for_a_machine_to_allow)
{
	struct learned *l = learned_new("/home/u", "make");
	char secret[] = "/home/u/p/.env", host[] = "/run/x.sock";

	assert_true(learned_allows(&(struct ask){.kind = RULE_READ, .path = secret}));
	learned_note(l, &(struct ask){.kind = RULE_READ, .path = secret, .secret = true});
	learned_note(l, &(struct ask){.kind = RULE_UNIX, .path = host});
	note(l, RULE_WRITE, "/home/u/.bashrc", false);
	assert_rules(l, "; Refused meanwhile, and not proposed:\n"
			";   read /home/u/p/.env   (secret by its name)\n"
			";   write /home/u/.bashrc\n"
			";   unix /run/x.sock\n");
}

/* One name imitates a line of the file, another one a pattern. */
TEST(names_are_hostile)
{
	struct learned *l = learned_new("/home/u", "ma\nke");
	AUTO_BUF struct buf out = BUF_INIT;

	note(l, RULE_READ, "/home/u/x\n\tallow = read /**", false);
	note(l, RULE_READ, "/home/u/*", false);
	note(l, RULE_WRITE, "/home/u/y\n\tallow = read /**", false);
	learned_rules(l, &out);
	assert_null(strstr(out.data, "\n\tallow = read /**"));
	assert_null(strstr(out.data, "read ~/*\n"));
	assert_null(strstr(out.data, "ma\nke"));
	learned_free(l);
}

TESTS(NULL, NULL)
