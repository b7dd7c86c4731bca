/* test_endpoint_session - a session under a simulated Endpoint Security, beside the same on Linux.
 */
/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/keeper/client.h"
#include "core/policy/policy.h"
#include "tests/support/fake_mac.h"
#include "tests/support/tree.h"

#define PATIENCE_US 30000000

struct session {
	char *root, *folder, *state;
	struct policy *policy;
	struct client *client;
	pid_t pid;
	struct buf log;
	bool started, exited, done;
	int status;
	struct answer answer; /* to every question */
	bool mute;	      /* no answers */
	uint64_t asked;
	char words[512];
};

static void on_event(void *data, enum wire_type type, const struct client_event *ev)
{
	struct session *f = data;
	const char *path = ev->path ? path_below(ev->path, f->folder) : NULL;

	path = path && *path ? path : ev->path ? path_base(ev->path) : NULL;
	if (type == WIRE_STEP_BEGIN)
		buf_fmt(&f->log, "begin%s %s\n", ev->step < 0 ? " ambient" : "", ev->command);
	else if (type == WIRE_STEP_END)
		buf_fmt(&f->log, "end%s kept=%d paths=%d\n", ev->step < 0 ? " ambient" : "",
			ev->kept, (int)ev->total);
	else if (type == WIRE_TOUCH)
		buf_fmt(&f->log, "%s %s\n", ev->op, path);
	else if (type == WIRE_DENY)
		buf_fmt(&f->log, "denied %s %s\n", ev->op, path);
	else if (type == WIRE_ASK)
		buf_fmt(&f->log, "ask %s %s\n", ev->op, path);
	if (type == WIRE_ASK)
		f->asked = ev->id;
	if (type == WIRE_ASK && !f->mute)
		client_answer(f->client, ev->id, &f->answer);
	f->started |= type == WIRE_STARTED;
	f->exited |= type == WIRE_EXIT;
	f->done |= type == WIRE_DONE;
	if (type == WIRE_EXIT)
		f->status = (int)ev->status;
	if (type == WIRE_DONE)
		f->status = ev->result;
	if (type == WIRE_DONE || type == WIRE_NOTE)
		snprintf(f->words, sizeof(f->words), "%s", ev->reason);
}

static void write_file(const struct session *f, const char *name, const char *text)
{
	AUTO_FREE char *path = path_join(f->folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void make_dir(const struct session *f, const char *name)
{
	AUTO_FREE char *path = path_join(f->folder, name);

	assert_int_equal(mkdir(path, 0755), 0);
}

static struct session *session_new(void)
{
	struct session *f = xcalloc(1, sizeof(*f));
	char template[] = "/tmp/cordon-endpoint-XXXXXX";
	struct err err = {0};

	assert_non_null(mkdtemp(template));
	f->root = xstrdup(template);
	f->folder = path_join(f->root, "work");
	f->state = path_join(f->root, "state");
	assert_int_equal(mkdir(f->folder, 0755), 0);
	assert_int_equal(mkdir(f->state, 0700), 0);
	assert_int_equal(policy_new(&f->policy, &(struct policy_spec){.home = f->root}, &err), 0);
	f->log = (struct buf)BUF_INIT;
	f->answer = (struct answer){.allow = true};
	write_file(f, "old", "what was there\n");
	write_file(f, "other", "another one\n");
	make_dir(f, "dir");
	write_file(f, "dir/deep", "deep\n");
	make_dir(f, "empty");
	return f;
}

static void start(struct session *f, const struct backend *backend, void (*script)(void),
		  bool headless)
{
	static const char *const argv[] = {"agent", "--do", "it", NULL};
	struct spawn_spec spawn = {.argv = argv, .stdio = {0, 1, 2}, .dynamic = true};
	const char *const folders[] = {f->folder, NULL};
	struct err err = {0};
	int pair[2];

	agent_script = script;
	mac.folder = f->folder;
	f->exited = f->started = false;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(keeper_fork(&(struct keeper_spec){.sock = pair[1],
							   .folders = folders,
							   .state_dir = f->state,
							   .policy = f->policy,
							   .headless = headless,
							   .backend = backend,
							   .spawn = backend ? &spawn : NULL},
				     &f->pid, &err),
			 0);
	close(pair[1]);
	f->client = client_new(pair[0], on_event, f);
}

static void pump(struct session *f, const bool *flag)
{
	int64_t end = clock_mono_us() + PATIENCE_US;

	while (!*flag) {
		struct pollfd p = {.fd = client_fd(f->client), .events = POLLIN};

		assert_true(clock_mono_us() < end);
		poll(&p, 1, 100);
		if (p.revents && client_read(f->client) < 0)
			return;
	}
}

static void await(struct session *f, const char *words)
{
	int64_t end = clock_mono_us() + PATIENCE_US;

	while (!strstr(f->log.data, words)) {
		struct pollfd p = {.fd = client_fd(f->client), .events = POLLIN};

		if (clock_mono_us() > end)
			fail_msg("waited for '%s' in vain; there is:\n%s", words, f->log.data);
		poll(&p, 1, 100);
		if (p.revents)
			assert_int_equal(client_read(f->client), 0);
	}
}

static void stop(struct session *f)
{
	bool never = false;

	if (!f->client)
		return;
	client_shutdown(f->client);
	pump(f, &never);
	client_free(f->client);
	f->client = NULL;
	waitpid(f->pid, NULL, 0);
}

static void session_free(struct session *f)
{
	stop(f);
	policy_free(f->policy);
	assert_int_equal(io_remove_tree(AT_FDCWD, f->root), 0);
	free(f->root);
	free(f->folder);
	free(f->state);
	buf_done(&f->log);
	free(f);
}

static bool request(struct session *f, uint64_t id)
{
	assert_true(id > 0);
	f->done = false;
	f->status = 0;
	pump(f, &f->done);
	return f->status == 0;
}

/* The names and what they hold, without times and numbers. */
static void list_into(struct buf *out, const char *dir, const char *below)
{
	struct dirent **list;
	int n = scandir(dir, &list, NULL, alphasort);

	assert_true(n >= 0);
	for (int i = 0; i < n; i++) {
		AUTO_FREE char *path = path_join(dir, list[i]->d_name);
		AUTO_FREE char *name = xasprintf("%s%s", below, list[i]->d_name);
		AUTO_FREE char *text = NULL;
		struct stat st;

		if (str_eq(list[i]->d_name, ".") || str_eq(list[i]->d_name, "..")) {
			free(list[i]);
			continue;
		}
		free(list[i]);
		assert_int_equal(lstat(path, &st), 0);
		if (S_ISDIR(st.st_mode)) {
			AUTO_FREE char *under = xasprintf("%s/", name);

			buf_fmt(out, "%s %o\n", under, (unsigned)st.st_mode & 0777);
			list_into(out, path, under);
			continue;
		}
		assert_int_equal(io_read_file(AT_FDCWD, path, 4096, &text, NULL) < 0, 0);
		buf_fmt(out, "%s %o: %s\n", name, (unsigned)st.st_mode & 0777, text);
	}
	free(list);
}

static char *listing(const struct session *f)
{
	struct buf out = BUF_INIT;

	list_into(&out, f->folder, "");
	return buf_take(&out);
}

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

static size_t steps_in(const char *log)
{
	size_t n = 0;

	while ((log = strstr(log, "kept=1"))) {
		log += strlen("kept=1");
		n++;
	}
	return n;
}

static struct outcome run_on(const struct system *s, void (*script)(void), bool allow,
			     bool headless)
{
	struct session *f = session_new();
	AUTO_FREE char *before = tree_take(f->folder, NULL);
	AUTO_FREE char *undone = NULL;
	struct outcome o = {0};
	size_t n;

	now_on = s;
	f->answer.allow = allow;
	start(f, s->backend, script, headless);
	pump(f, &f->exited);
	o.status = f->status;
	o.log = plain(f->log.data);
	o.after = listing(f);
	n = steps_in(f->log.data);
	if (n && !request(f, client_undo(f->client, UNDO_BACK, n, 0, 0, 0)))
		fail_msg("%s: undo: %s\n%s", s->backend->name, f->words, f->log.data);
	o.undone = listing(f);
	undone = tree_take(f->folder, NULL);
	if (!str_eq(undone, before)) /* times, modes and attributes too */
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

static void must(int r)
{
	if (r < 0)
		_exit(100 + -r % 100);
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

static void changes_are_the_same_on_both(void **state)
{
	void (*const scripts[])(void) = {
		write_new,	 overwrite,   remove_files,	     make_dirs,
		rename_to_free,	 rename_onto, save_as_editors_do,    rename_dir,
		link_and_remove, come_and_go, rename_dir_onto_empty, two_commands,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
		same_on_both(scripts[i], true, false);
}

/* ---- questions ------------------------------------------------------------------------------- */

static int first_result(int r)
{
	return r == 0 ? 0 : r == -EACCES ? 13 : 1;
}

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

static void questions_are_the_same_on_both(void **state)
{
	void (*const scripts[])(void) = {write_protected, rename_to_protected, read_elsewhere};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
		same_on_both(scripts[i], true, false);
		same_on_both(scripts[i], false, false);
		same_on_both(scripts[i], true, true);
	}
}

static void a_life_of_a_session(void **state)
{
	struct outcome o = run_on(&on_macos, write_protected, true, false);

	(void)state;
	assert_int_equal(o.status, 0);
	assert_non_null(strstr(o.log, "ask write .envrc\n"));
	assert_non_null(strstr(o.after, ".envrc "));
	assert_null(strstr(o.undone, ".envrc"));
	outcome_done(&o);
}

/* ---- what is macOS' alone -------------------------------------------------------------------- */

static struct session *on_mac(void (*script)(void), bool mute)
{
	struct session *f = session_new();

	now_on = &on_macos;
	f->mute = mute;
	start(f, &mac_backend, script, false);
	return f;
}

/* All of it, and compared with the tree of before. */
static void undo_all(struct session *f, const char *before)
{
	size_t n = steps_in(f->log.data);
	AUTO_FREE char *now = NULL;

	if (n && !request(f, client_undo(f->client, UNDO_BACK, n, 0, 0, 0)))
		fail_msg("undo: %s\n%s", f->words, f->log.data);
	now = tree_take(f->folder, NULL);
	assert_string_equal(now, before);
}

static void allowed_and_not_done(void)
{
	mac_ask(ES_UNLINK, "old", NULL);
	mac_ask(ES_RENAME, "old", "other");
	mac_ask(ES_RENAME, "old", "nowhere");
	mac_ask(ES_RENAME, "dir", "empty");
	mac_ask(ES_UNLINK, "empty", NULL);
	mac_ask(ES_CREATE, "never", NULL);
	mac_ask(ES_TRUNCATE, "old", NULL);
	mac_ask(ES_META, "old", NULL);
	must(mac_write("dir/deep", "this is done\n", true));
}

static void what_was_not_performed_undoes_nothing(void **state)
{
	struct session *f;
	AUTO_FREE char *after = NULL, *before = NULL;

	(void)state;
	f = on_mac(allowed_and_not_done, false);
	before = xstrdup("dir/ 755\ndir/deep 644: deep\n\nempty/ 755\nold 644: what was there\n\n"
			 "other 644: another one\n\n");
	pump(f, &f->exited);
	after = listing(f);
	assert_non_null(strstr(after, "dir/deep 644: this is done\n"));
	assert_true(request(f, client_undo(f->client, UNDO_BACK, steps_in(f->log.data), 0, 0, 0)));
	free(after);
	after = listing(f);
	assert_string_equal(after, before);
	session_free(f);
}

static void metadata(void)
{
	must(mac_chmod("old", 0600));
	must(mac_truncate("old"));
	must(mac_chmod("old", 0640));
	must(mac_chmod("dir", 0700));
}

static void metadata_and_cuts_are_undone(void **state)
{
	struct session *f = session_new();
	AUTO_FREE char *before = tree_take(f->folder, NULL);

	(void)state;
	start(f, &mac_backend, metadata, false);
	pump(f, &f->exited);
	assert_int_equal(f->status, 3 << 8);
	undo_all(f, before);
	session_free(f);
}

static void across_folders(void)
{
	must(mac_rename("old", "/tmp/cordon-endpoint-away"));
	must(mac_rename("/tmp/cordon-endpoint-away", "back"));
	must(mac_rename("other", "/tmp/cordon-endpoint-away"));
	must(mac_rename("/tmp/cordon-endpoint-away", "dir/deep"));
}

static void a_rename_to_elsewhere_is_undone(void **state)
{
	struct session *f = session_new();
	AUTO_FREE char *before = tree_take(f->folder, NULL);

	(void)state;
	unlink("/tmp/cordon-endpoint-away");
	start(f, &mac_backend, across_folders, false);
	pump(f, &f->exited);
	assert_int_equal(f->status, 3 << 8);
	undo_all(f, before);
	session_free(f);
}

#define BROUGHT "/tmp/cordon-endpoint-brought"

/* Its names are nobody's to judge where it was made; in the folder the host would obey them. */
static void bring_from_elsewhere(void)
{
	if (mkdir(BROUGHT, 0700) < 0 || mkdir(BROUGHT "/.vscode", 0700) < 0 ||
	    symlink(BROUGHT, BROUGHT "-link") < 0 ||
	    close(open(BROUGHT "-file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) < 0)
		_exit(1);
	if (mac_rename(BROUGHT, "new") != -EACCES || mac_rename(BROUGHT, "empty") != -EACCES ||
	    mac_ask(ES_CLONE, BROUGHT, "new") || mac_ask(ES_CLONE, "dir", "new"))
		_exit(2);
	if (mac_rename(BROUGHT "-link", "new") != -EACCES)
		_exit(4);
	if (!mac_ask(ES_CLONE, BROUGHT "-file", "new") ||
	    mac_rename(BROUGHT "-file", "new") == -EACCES)
		_exit(5);
	_exit(0);
}

static void remove_brought(void)
{
	(void)!rmdir(BROUGHT "/.vscode");
	(void)!rmdir(BROUGHT);
	(void)!unlink(BROUGHT "-link");
	(void)!unlink(BROUGHT "-file");
}

static void no_tree_comes_from_elsewhere(void **state)
{
	struct session *f;

	(void)state;
	remove_brought();
	f = on_mac(bring_from_elsewhere, false);
	pump(f, &f->exited);
	assert_int_equal(f->status, 0);
	assert_non_null(strstr(f->log.data, "denied rename new\n"));
	session_free(f);
	remove_brought();
}

/* As a file the name means nothing, as a link to a directory it does. */
static void link_at_a_name(void)
{
	if (mac_symlink("../dir", "dir/mise") != -EACCES)
		_exit(1);
	if (mac_symlink("dir", "other-link") != 0 || mac_write("dir/mise", "x", false) != 0)
		_exit(2);
	_exit(0);
}

static void links_are_judged_as_links(void **state)
{
	struct session *f = session_new();
	AUTO_FREE char *before = tree_take(f->folder, NULL);

	(void)state;
	start(f, &mac_backend, link_at_a_name, true);
	pump(f, &f->exited);
	assert_int_equal(f->status, 0);
	undo_all(f, before);
	session_free(f);
}

/* Denied before the deadline; the answer is good for the next try. */
static void try_until_allowed(void)
{
	int r = mac_write(".envrc", NULL, false);
	int64_t end = clock_mono_us() + PATIENCE_US;

	if (r != -EACCES)
		_exit(1);
	mac_run(first_command); /* the test answers when it sees this */
	while (r == -EACCES && clock_mono_us() < end)
		r = mac_write(".envrc", NULL, false);
	_exit(r == 0 ? 0 : 2);
}

static void nobody_answers_in_time(void **state)
{
	struct session *f;
	struct answer yes = {.allow = true};

	(void)state;
	mac.deadline_us = 1500000;
	mac.hurried = ".envrc";
	f = on_mac(try_until_allowed, true);
	await(f, "denied create .envrc\n");
	await(f, "create a\n");
	client_answer(f->client, f->asked, &yes);
	pump(f, &f->exited);
	assert_int_equal(f->status, 0);
	mac.hurried = NULL;
	session_free(f);
}

static void write_other_file(void)
{
	struct mac_call call = mac_call_of(ES_OPEN, "old", NULL);

	call.writes = true;
	call.ino++; /* another one has the name by now */
	_exit(mac_send(&call) ? 0 : 13);
}

static void a_path_that_leads_elsewhere_by_now_is_refused(void **state)
{
	struct session *f = on_mac(write_other_file, false);

	(void)state;
	pump(f, &f->exited);
	assert_int_equal(f->status, 13 << 8);
	session_free(f);
}

static void into_the_store(void)
{
	_exit(first_result(mac_make(".cordon", true)));
}

static void the_undo_store_is_nobodys(void **state)
{
	struct session *f = on_mac(into_the_store, false);

	(void)state;
	pump(f, &f->exited);
	assert_int_equal(f->status, 13 << 8);
	session_free(f);
}

static void change_and_wait(void)
{
	must(mac_remove("old"));
	must(mac_rename("other", "moved"));
	must(mac_rename("dir", "moved-dir"));
	must(mac_write("moved-dir/deep", "changed\n", true));
	must(mac_write("last", "x", false));
	for (;;)
		pause();
}

static void a_killed_keeper_leaves_what_the_next_one_repairs(void **state)
{
	struct session *f = session_new();
	AUTO_FREE char *before = tree_take(f->folder, NULL);
	AUTO_FREE char *after = NULL;
	bool never = false;

	(void)state;
	start(f, &mac_backend, change_and_wait, false);
	await(f, "create last\n");
	kill(f->pid, SIGKILL);
	pump(f, &never);
	client_free(f->client);
	waitpid(f->pid, NULL, 0);
	start(f, NULL, NULL, true);
	pump(f, &f->started);
	after = tree_take(f->folder, NULL);
	assert_string_equal(after, before);
	session_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_life_of_a_session),
		cmocka_unit_test(changes_are_the_same_on_both),
		cmocka_unit_test(questions_are_the_same_on_both),
		cmocka_unit_test(what_was_not_performed_undoes_nothing),
		cmocka_unit_test(metadata_and_cuts_are_undone),
		cmocka_unit_test(a_rename_to_elsewhere_is_undone),
		cmocka_unit_test(no_tree_comes_from_elsewhere),
		cmocka_unit_test(links_are_judged_as_links),
		cmocka_unit_test(nobody_answers_in_time),
		cmocka_unit_test(a_path_that_leads_elsewhere_by_now_is_refused),
		cmocka_unit_test(the_undo_store_is_nobodys),
		cmocka_unit_test(a_killed_keeper_leaves_what_the_next_one_repairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
