/* test_endpoint_macos - behaviour of a session under Endpoint Security that differs from Linux. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/mac_session.h"

/* Returns a path of the agent's own outside the folder; two can be used at once. */
static const char *beside(const char *name)
{
	static char text[2][512];
	static int turn;

	turn = !turn;
	snprintf(text[turn], sizeof(text[turn]), "%.*s/%s",
		 (int)(strrchr(mac.folder, '/') - mac.folder), mac.folder, name);
	return text[turn];
}

static bool make_beside(const char *name, const char *text)
{
	int fd = open(beside(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	return close(fd) == 0 && ok;
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

TEST(what_was_not_performed_undoes_nothing)
{
	struct session *f;
	AUTO_FREE char *after = NULL, *before = NULL;

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

TEST(metadata_and_cuts_are_undone)
{
	struct session *f = mac_session();
	AUTO_FREE char *before = tree_take(f->folder, NULL);

	session_start(f, &mac_backend, metadata, false);
	pump(f, &f->exited);
	assert_int_equal(f->status, 3 << 8);
	undo_all(f, before);
	session_free(f);
}

static void across_folders(void)
{
	must(mac_rename("old", beside("away")));
	must(mac_rename(beside("away"), "back"));
	must(mac_rename("other", beside("away")));
	must(mac_rename(beside("away"), "dir/deep"));
}

TEST(a_rename_to_elsewhere_is_undone)
{
	struct session *f = mac_session();
	AUTO_FREE char *before = tree_take(f->folder, NULL);

	session_start(f, &mac_backend, across_folders, false);
	pump(f, &f->exited);
	assert_int_equal(f->status, 3 << 8);
	undo_all(f, before);
	session_free(f);
}

/* Outside the folder protected names are not checked; in the folder the host would obey them. */
static void bring_from_elsewhere(void)
{
	if (mkdir(beside("tree"), 0700) < 0 || mkdir(beside("tree/.vscode"), 0700) < 0 ||
	    symlink("tree", beside("link")) < 0 || !make_beside("file", "x"))
		_exit(1);
	if (mac_rename(beside("tree"), "new") != -EACCES ||
	    mac_rename(beside("tree"), "empty") != -EACCES ||
	    mac_ask(ES_CLONE, beside("tree"), "new") || mac_ask(ES_CLONE, "dir", "new"))
		_exit(2);
	if (mac_rename(beside("link"), "new") != -EACCES)
		_exit(4);
	if (!mac_ask(ES_CLONE, beside("file"), "new") ||
	    mac_rename(beside("file"), "new") == -EACCES)
		_exit(5);
	_exit(0);
}

TEST(no_tree_comes_from_elsewhere)
{
	struct session *f = on_mac(bring_from_elsewhere, false);

	pump(f, &f->exited);
	assert_int_equal(f->status, 0);
	assert_non_null(strstr(f->log.data, "denied rename new\n"));
	session_free(f);
}

/* A regular file of that name is harmless, a link to a directory is not. */
static void link_at_a_name(void)
{
	if (mac_symlink("../dir", "dir/mise") != -EACCES)
		_exit(1);
	if (mac_symlink("dir", "other-link") != 0 || mac_write("dir/mise", "x", false) != 0)
		_exit(2);
	_exit(0);
}

TEST(links_are_judged_as_links)
{
	struct session *f = mac_session();
	AUTO_FREE char *before = tree_take(f->folder, NULL);

	session_start(f, &mac_backend, link_at_a_name, true);
	pump(f, &f->exited);
	assert_int_equal(f->status, 0);
	undo_all(f, before);
	session_free(f);
}

static void write_sign(void)
{
	must(mac_write("a", "a", false));
}

/* Denied before the deadline; the answer counts for the next try. */
static void try_until_allowed(void)
{
	int r = mac_write(".envrc", NULL, false);
	int64_t end = clock_mono_us() + PATIENCE_US;

	if (r != -EACCES)
		_exit(1);
	mac_run(write_sign); /* the test answers when it sees this */
	while (r == -EACCES && clock_mono_us() < end)
		r = mac_write(".envrc", NULL, false);
	_exit(r == 0 ? 0 : 2);
}

TEST(nobody_answers_in_time)
{
	struct session *f;
	struct answer yes = {.allow = true};

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
	call.ino++; /* another file has the name */
	_exit(mac_send(&call) ? 0 : 13);
}

TEST(a_path_that_leads_elsewhere_by_now_is_refused)
{
	struct session *f = on_mac(write_other_file, false);

	pump(f, &f->exited);
	assert_int_equal(f->status, 13 << 8);
	session_free(f);
}

static void into_the_store(void)
{
	_exit(first_result(mac_make(".cordon", true)));
}

TEST(the_undo_store_is_nobodys)
{
	struct session *f = on_mac(into_the_store, false);

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

TEST(a_killed_keeper_leaves_what_the_next_one_repairs)
{
	struct session *f = mac_session();
	AUTO_FREE char *before = tree_take(f->folder, NULL);
	AUTO_FREE char *after = NULL;
	bool never = false;

	session_start(f, &mac_backend, change_and_wait, false);
	await(f, "create last\n");
	kill(f->pid, SIGKILL);
	pump(f, &never);
	client_free(f->client);
	waitpid(f->pid, NULL, 0);
	session_start(f, NULL, NULL, true);
	pump(f, &f->started);
	after = tree_take(f->folder, NULL);
	assert_string_equal(after, before);
	session_free(f);
}

/* ---- exchanged names ------------------------------------------------------------------------- */

/* The kernel reports it like a rename: both names are checked, and both contents are saved. */
static void swap_files(void)
{
	must(mac_swap("old", "other"));
	must(mac_write("new", "made\n", false));
	must(mac_swap("new", "dir/deep"));
	must(mac_swap("dir/deep", "old"));
}

TEST(a_swap_of_files_is_undone)
{
	struct session *f = mac_session();
	AUTO_FREE char *before = tree_take(f->folder, NULL);
	AUTO_FREE char *after = NULL;

	session_start(f, &mac_backend, swap_files, false);
	pump(f, &f->exited);
	assert_int_equal(f->status, 3 << 8);
	after = listing(f);
	assert_non_null(strstr(after, "other 644: what was there\n"));
	assert_non_null(strstr(after, "old 644: made\n"));
	undo_all(f, before);
	session_free(f);
}

/* A swap of directories looks like a rename onto a directory that is not empty, which is
 * impossible. */
static void swap_directories(void)
{
	if (mac_swap("empty", "dir") != -EACCES)
		_exit(1);
	must(mac_make("full", true));
	must(mac_write("full/x", "x", false));
	if (mac_swap("dir", "full") != -EACCES)
		_exit(2);
	if (mac_swap("old", "dir") != -EACCES || mac_swap("dir", "old") != -EACCES)
		_exit(3);
	_exit(0);
}

/* With an empty directory a swap cannot be told from a rename onto it. */
static void swap_with_empty(void)
{
	must(mac_swap("dir", "empty"));
	must(mac_write("empty/deep", "changed\n", true));
	must(mac_write("dir/new", "new\n", false));
}

TEST(a_swap_with_an_empty_directory_is_undone)
{
	struct session *f = mac_session();
	AUTO_FREE char *before = tree_take(f->folder, NULL);

	session_start(f, &mac_backend, swap_with_empty, false);
	pump(f, &f->exited);
	assert_int_equal(f->status, 3 << 8);
	undo_all(f, before);
	session_free(f);
}

TEST(directories_do_not_change_places)
{
	struct session *f = on_mac(swap_directories, false);

	pump(f, &f->exited);
	assert_int_equal(f->status, 0);
	assert_non_null(strstr(f->log.data, "denied rename dir\n"));
	session_free(f);
}

/* The second name's file comes to the first, which is protected. */
static void swap_from_protected(void)
{
	_exit(first_result(mac_swap(".envrc", "old")));
}

static void swap_to_protected(void)
{
	_exit(first_result(mac_swap("old", ".envrc")));
}

/* Outside the folder the agent may make any file. */
static void swap_protected_with_elsewhere(void)
{
	if (!make_beside("evil", "evil\n"))
		_exit(1);
	_exit(first_result(mac_swap(".envrc", beside("evil"))));
}

static void swap_elsewhere_with_protected(void)
{
	if (!make_beside("evil", "evil\n"))
		_exit(1);
	_exit(first_result(mac_swap(beside("evil"), ".envrc")));
}

static void rename_onto_protected_from_elsewhere(void)
{
	if (!make_beside("evil", "evil\n"))
		_exit(1);
	_exit(first_result(mac_rename(beside("evil"), ".envrc")));
}

static void copy_onto_protected(void)
{
	_exit(mac_ask(ES_CLONE, "old", ".envrc") ? 0 : 13);
}

TEST(whatever_comes_to_a_protected_name_is_asked_about)
{
	void (*const scripts[])(void) = {swap_from_protected,
					 swap_to_protected,
					 swap_protected_with_elsewhere,
					 swap_elsewhere_with_protected,
					 rename_onto_protected_from_elsewhere,
					 copy_onto_protected};

	for (size_t i = 0; i < ARRAY_LEN(scripts) * 2; i++) {
		struct session *f = mac_session();
		AUTO_FREE char *before = NULL;

		write_file(f, ".envrc", "mine\n");
		before = tree_take(f->folder, NULL);
		f->answer.allow = i % 2;
		session_start(f, &mac_backend, scripts[i / 2], false);
		pump(f, &f->exited);
		if (f->status != (i % 2 ? 0 : 13 << 8) || !strstr(f->log.data, "ask "))
			fail_msg("script %zu: %d\n%s", i, f->status, f->log.data);
		undo_all(f, before);
		session_free(f);
	}
}

/* Tries to bring content from outside into the folder by a swap. */
static void swap_in_a_tree(void)
{
	if (mkdir(beside("tree"), 0700) < 0 || mkdir(beside("tree/.vscode"), 0700) < 0 ||
	    symlink("/", beside("link")) < 0)
		_exit(1);
	if (mac_swap("empty", beside("tree")) != -EACCES ||
	    mac_swap("old", beside("link")) != -EACCES ||
	    mac_swap(beside("tree"), "empty") != -EACCES)
		_exit(2);
	_exit(0);
}

TEST(no_swap_brings_a_tree)
{
	struct session *f = on_mac(swap_in_a_tree, false);

	pump(f, &f->exited);
	assert_int_equal(f->status, 0);
	session_free(f);
}

/* The directory's content would leave with it, and could not be restored. */
static void take_directories_away(void)
{
	if (mac_rename("dir", beside("away")) != -EACCES || !make_beside("file", "x") ||
	    mac_swap("dir", beside("file")) != -EACCES ||
	    mac_swap(beside("file"), "dir") != -EACCES)
		_exit(1);
	must(mac_rename("empty", beside("away")));
	_exit(0);
}

TEST(no_directory_leaves_with_what_is_in_it)
{
	struct session *f = mac_session();
	AUTO_FREE char *before = tree_take(f->folder, NULL);

	session_start(f, &mac_backend, take_directories_away, false);
	pump(f, &f->exited);
	assert_int_equal(f->status, 0);
	undo_all(f, before);
	session_free(f);
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *name_of(int byte, char end, char out[8])
{
	snprintf(out, 8, "n%c%c", byte, end);
	return out;
}

/* Names of all bytes but two, and of 255 bytes. */
static void every_byte_in_names(void)
{
	char one[8], two[8], longest[256];

	for (int byte = 1; byte < 256; byte++) {
		if (byte == '/')
			continue;
		must(mac_write(name_of(byte, 'a', one), "made\n", false));
		must(mac_rename(one, name_of(byte, 'b', two)));
		if (byte % 2)
			must(mac_swap(two, "old"));
		if (byte % 3 == 0)
			must(mac_remove(two));
	}
	memset(longest, 0xff, 255);
	longest[255] = '\0';
	must(mac_write(longest, "made\n", false));
	must(mac_link(longest, "second"));
	must(mac_rename(longest, "first"));
}

TEST(names_of_every_byte_are_undone)
{
	struct session *f = mac_session();
	AUTO_FREE char *before = tree_take(f->folder, NULL);

	session_start(f, &mac_backend, every_byte_in_names, false);
	pump(f, &f->exited);
	assert_int_equal(f->status, 3 << 8);
	undo_all(f, before);
	session_free(f);
}

/* ---- refusals are reported ------------------------------------------------------------------- */

static void link_and_mount(void)
{
	if (!make_beside("file", "x") || mac_link(beside("file"), "joined") != -EACCES ||
	    mac_link("old", beside("out")) != -EACCES || mac_ask(ES_MOUNT, "dir", NULL))
		_exit(1);
	_exit(0);
}

TEST(refusals_are_told)
{
	struct session *f = on_mac(link_and_mount, false);

	pump(f, &f->exited);
	assert_int_equal(f->status, 0);
	assert_non_null(strstr(f->log.data, "denied link joined\n"));
	assert_non_null(strstr(f->log.data, "denied link out\n"));
	assert_non_null(strstr(f->log.data, "denied mount dir\n"));
	session_free(f);
}

TESTS(NULL, NULL)
