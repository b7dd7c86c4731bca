/* test_endpoint_session - a session under a simulated Endpoint Security, compared with Linux. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/mac_session.h"

/* ---- one script, two systems ----------------------------------------------------------------- */

/* How the script's calls are made. */
static const struct system {
	const struct backend *backend;
	int (*write)(const char *name, const char *text);
	int (*make_dir)(const char *name);
	int (*remove)(const char *name);
	int (*rename)(const char *name, const char *name2);
	int (*link)(const char *name, const char *name2);
	int (*read)(const char *name);
	void (*exec)(const char *text);
	void (*run)(void (*fn)(void));
} * now_on;

static int linux_write(const char *name, const char *text)
{
	return agent_do("write", name, text);
}

static int linux_mkdir(const char *name)
{
	return agent_do("mkdir", name, NULL);
}

static int linux_remove(const char *name)
{
	return agent_do("unlink", name, NULL);
}

static int linux_rename(const char *name, const char *name2)
{
	return agent_do("rename", name, name2);
}

static int linux_link(const char *name, const char *name2)
{
	return agent_do("link", name, name2);
}

static int linux_read(const char *name)
{
	return agent_do("read", name, NULL);
}

static int macos_write(const char *name, const char *text)
{
	return mac_write(name, text, false);
}

static int macos_mkdir(const char *name)
{
	return mac_make(name, true);
}

static void macos_exec(const char *text)
{
	mac_exec(text);
}

static const struct system on_linux = {&fake_backend, linux_write,  linux_mkdir,
				       linux_remove,  linux_rename, linux_link,
				       linux_read,    agent_exec,   agent_run};
static const struct system on_macos = {&mac_backend, macos_write, macos_mkdir,
				       mac_remove,   mac_rename,  mac_link,
				       mac_read,     macos_exec,  mac_run};

/* "create" and "open" are one call on Linux, which the fake door calls "write". */
static char *plain(const char *log)
{
	static const char *const same[] = {"create ", "open "};
	struct buf out = BUF_INIT;

	while (*log) {
		size_t len = strcspn(log, "\n") + 1;
		AUTO_FREE char *line = xstrndup(log, len);

		for (size_t i = 0; i < ARRAY_LEN(same); i++) {
			char *at = strstr(line, same[i]);

			if (!at || (at != line && at[-1] != ' '))
				continue;
			buf_add(&out, line, (size_t)(at - line));
			buf_str(&out, "write ");
			buf_str(&out, at + strlen(same[i]));
			free(line);
			line = xstrdup("");
		}
		buf_str(&out, line);
		log += len;
	}
	return buf_take(&out);
}

struct outcome {
	char *log, *after, *undone, *redone;
	int status;
};

static void outcome_done(struct outcome *o)
{
	free(o->log);
	free(o->after);
	free(o->undone);
	free(o->redone);
}

static struct outcome run_on(const struct system *s, void (*script)(void), bool allow,
			     bool headless)
{
	struct session *f = mac_session();
	AUTO_FREE char *before = tree_take(f->folder, NULL);
	AUTO_FREE char *undone = NULL;
	struct outcome o = {0};
	size_t n;

	now_on = s;
	f->answer.allow = allow;
	session_start(f, s->backend, script, headless);
	pump(f, &f->exited);
	o.status = f->status;
	o.log = plain(f->log.data);
	o.after = listing(f);
	n = steps_in(f->log.data);
	if (n && !request(f, client_undo(f->client, UNDO_BACK, n, 0, 0, 0)))
		fail_msg("%s: undo: %s\n%s", s->backend->name, f->words, f->log.data);
	o.undone = listing(f);
	undone = tree_take(f->folder, NULL);
	if (!str_eq(undone, before)) /* with times, modes and attributes */
		print_message("%s: after\n%s", s->backend->name, f->log.data);
	assert_string_equal(undone, before);
	if (n && !request(f, client_undo(f->client, UNDO_REDO, n, 0, 0, 0)))
		fail_msg("redo: %s", f->words);
	o.redone = listing(f);
	assert_string_equal(o.redone, o.after);
	session_free(f);
	return o;
}

static void same_on_both(void (*script)(void), bool allow, bool headless)
{
	struct outcome a = run_on(&on_linux, script, allow, headless);
	struct outcome b = run_on(&on_macos, script, allow, headless);

	assert_int_equal(b.status, a.status);
	assert_string_equal(b.after, a.after);
	assert_string_equal(b.undone, a.undone);
	assert_string_equal(b.log, a.log);
	outcome_done(&a);
	outcome_done(&b);
}

static void write_new(void)
{
	must(now_on->write("new", "made\n"));
	must(now_on->write("dir/new", "made too\n"));
}

static void overwrite(void)
{
	must(now_on->write("old", "WHAT"));
	must(now_on->write("old", "once more"));
}

static void remove_files(void)
{
	must(now_on->remove("old"));
	must(now_on->remove("dir/deep"));
	must(now_on->write("old", "a new one\n"));
}

static void make_dirs(void)
{
	must(now_on->make_dir("made"));
	must(now_on->make_dir("made/deeper"));
	must(now_on->write("made/deeper/file", "x"));
}

static void rename_to_free(void)
{
	must(now_on->rename("old", "moved"));
	must(now_on->write("moved", "then written to"));
}

static void rename_onto(void)
{
	must(now_on->rename("old", "other"));
	must(now_on->rename("other", "dir/deep"));
	must(now_on->write("old", "in its place\n"));
}

static void save_as_editors_do(void)
{
	must(now_on->write("old.tmp", "all of it\n"));
	must(now_on->rename("old.tmp", "old"));
	must(now_on->write("old.tmp", "and again\n"));
	must(now_on->rename("old.tmp", "old"));
}

static void rename_dir(void)
{
	must(now_on->write("dir/deep", "before"));
	must(now_on->rename("dir", "moved"));
	must(now_on->write("moved/deep", "after it"));
	must(now_on->write("moved/new", "new"));
	must(now_on->rename("moved/new", "newer"));
}

static void rename_dir_onto_empty(void)
{
	must(now_on->rename("dir", "empty"));
	must(now_on->remove("empty/deep"));
}

static void link_and_remove(void)
{
	must(now_on->link("old", "second"));
	must(now_on->remove("old"));
}

static void come_and_go(void)
{
	must(now_on->write("tmp1", "x"));
	must(now_on->rename("tmp1", "tmp2"));
	must(now_on->remove("tmp2"));
	must(now_on->write("tmp1", "stays"));
}

static void first_command(void)
{
	now_on->exec("sh|-c|touch a");
	must(now_on->write("a", "a"));
}

static void second_command(void)
{
	now_on->exec("sort|in");
	must(now_on->write("a", "more"));
	must(now_on->write("b", "b"));
}

static void two_commands(void)
{
	now_on->exec("agent|--do|it");
	now_on->run(first_command);
	now_on->run(second_command);
}

TEST(changes_are_the_same_on_both)
{
	void (*const scripts[])(void) = {
		write_new,	 overwrite,   remove_files,	     make_dirs,
		rename_to_free,	 rename_onto, save_as_editors_do,    rename_dir,
		link_and_remove, come_and_go, rename_dir_onto_empty, two_commands,
	};

	for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
		same_on_both(scripts[i], true, false);
}

/* ---- questions ------------------------------------------------------------------------------- */

static void write_protected(void)
{
	_exit(first_result(now_on->write(".envrc", NULL)));
}

static void rename_to_protected(void)
{
	must(now_on->write("tmp", "evil\n"));
	_exit(first_result(now_on->rename("tmp", ".envrc")));
}

static void read_elsewhere(void)
{
	_exit(first_result(now_on->read("/etc/passwd")));
}

TEST(questions_are_the_same_on_both)
{
	void (*const scripts[])(void) = {write_protected, rename_to_protected, read_elsewhere};

	for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
		same_on_both(scripts[i], true, false);
		same_on_both(scripts[i], false, false);
		same_on_both(scripts[i], true, true);
	}
}

TEST(a_life_of_a_session)
{
	struct outcome o = run_on(&on_macos, write_protected, true, false);

	assert_int_equal(o.status, 0);
	assert_non_null(strstr(o.log, "ask write .envrc\n"));
	assert_non_null(strstr(o.after, ".envrc "));
	assert_null(strstr(o.undone, ".envrc"));
	outcome_done(&o);
}

TESTS(NULL, NULL)
