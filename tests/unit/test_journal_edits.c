/* test_journal_edits - external edits: left out, merged, restored, never just replaced. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/check.h"
#include "tests/support/journalfix.h"

#include <unistd.h>

#define LINES "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"

static int setup(void **state)
{
	struct fix *f = fix_new();

	begin(f, "setup");
	if (put(f, "a", LINES) < 0 || md(f, "d") < 0 || put(f, "d/x", "x1\n") < 0 ||
	    put(f, "b", "bee\n") < 0)
		return -1;
	commit(f);
	*state = f;
	return 0;
}

static void outside_rm(struct fix *f, const char *path)
{
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);

	assert_int_equal(remove(whole), 0);
}

static struct undo_plan *plan(struct fix *f, enum undo_kind kind, size_t n, unsigned flags)
{
	struct undo_plan *p = NULL;

	if (journal_plan(f->j, kind, n, flags, &p, &f->err) < 0)
		fail_msg("plan: %s", f->err.text);
	return p;
}

static enum undo_fate fate(const struct undo_plan *p, const char *path)
{
	for (size_t i = 0; i < p->n_entries; i++)
		if (str_eq(p->entries[i].path, path))
			return p->entries[i].fate;
	fail_msg("'%s' is not in the plan", path);
	return FATE_STOPS;
}

/* ---- keep mine ------------------------------------------------------------------------------- */

TEST(keep_mine_leaves_the_path_and_undoes_the_rest)
{
	struct fix *f = *state;
	AUTO_FREE char *edited = NULL;
	struct undo_plan *p;

	begin(f, "agent");
	put(f, "a", "agent\n");
	put(f, "b", "agent b\n");
	put(f, "new", "new\n");
	commit(f);
	outside(f, "a", "human\n");
	edited = snap(f);
	p = plan(f, UNDO_BACK, 1, UNDO_KEEP_MINE);
	assert_int_equal(p->n_conflicts, 1);
	assert_int_equal(p->n_stops, 0);
	assert_int_equal(fate(p, "a"), FATE_KEPT);
	undo_plan_free(p);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_cat(f, "a", "human\n");
	assert_cat(f, "b", "bee\n");
	assert_cat(f, "new", NULL);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, edited);
	/* It is still an external edit: a plain undo stops there again, and force undoes all. */
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_cat(f, "a", LINES);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, edited);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
}

TEST(what_redo_brought_back_is_still_the_humans)
{
	struct fix *f = *state;

	one_step(f, "agent", put(f, "a", "agent\n"));
	outside(f, "a", "human\n");
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "a", "human\n");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
}

TEST(keep_mine_keeps_a_deletion_and_a_new_file)
{
	struct fix *f = *state;

	begin(f, "agent");
	put(f, "a", "agent\n");
	rm(f, "b");
	commit(f);
	outside_rm(f, "a");
	outside(f, "b", "human\n");
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_cat(f, "a", NULL);
	assert_cat(f, "b", "human\n");
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "a", NULL);
	assert_cat(f, "b", "human\n");
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_cat(f, "a", LINES);
	assert_cat(f, "b", "bee\n");
}

TEST(keep_mine_keeps_the_directory_around_a_file)
{
	struct fix *f = *state;
	AUTO_FREE char *edited = NULL;

	begin(f, "agent");
	md(f, "n");
	md(f, "n/m");
	put(f, "n/m/agent", "1");
	put(f, "n/other", "2");
	commit(f);
	outside(f, "n/m/human", "mine\n");
	edited = snap(f);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_cat(f, "n/m/human", "mine\n");
	assert_cat(f, "n/m/agent", NULL);
	assert_cat(f, "n/other", NULL);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, edited);
	outside_rm(f, "n/m/human");
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_int_equal(access(f->folder, F_OK), 0);
	assert_cat(f, "n/other", NULL);
}

TEST(a_renamed_file_stays_where_it_was_edited)
{
	struct fix *f = *state;
	AUTO_FREE char *edited = NULL;
	struct undo_plan *p;

	begin(f, "agent");
	mv(f, "a", "moved", 0);
	put(f, "moved", "agent\n");
	put(f, "b", "agent b\n");
	commit(f);
	outside(f, "moved", "human\n");
	edited = snap(f);
	p = plan(f, UNDO_BACK, 1, UNDO_KEEP_MINE);
	assert_int_equal(fate(p, "moved"), FATE_KEPT);
	assert_int_equal(fate(p, "a"), FATE_KEPT); /* depends on it */
	undo_plan_free(p);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_cat(f, "moved", "human\n");
	assert_cat(f, "a", NULL);
	assert_cat(f, "b", "bee\n");
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, edited);
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_cat(f, "a", LINES);
	assert_cat(f, "moved", NULL);
}

TEST(a_renamed_directory_takes_the_edit_along)
{
	struct fix *f = *state;
	AUTO_FREE char *edited = NULL;

	begin(f, "agent");
	put(f, "d/x", "agent\n");
	mv(f, "d", "e", 0);
	put(f, "e/y", "why\n");
	commit(f);
	outside(f, "e/x", "human\n");
	edited = snap(f);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_cat(f, "d/x", "human\n");
	assert_cat(f, "d/y", NULL);
	assert_cat(f, "e/x", NULL);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, edited);
}

TEST(two_steps_and_a_redo_keep_mine)
{
	struct fix *f = *state;

	begin(f, "one");
	put(f, "a", "1\n");
	put(f, "b", "1\n");
	commit(f);
	begin(f, "two");
	put(f, "a", "2\n");
	put(f, "b", "2\n");
	commit(f);
	outside(f, "a", "human\n");
	assert_int_equal(undo(f, 2, UNDO_KEEP_MINE), 0);
	assert_cat(f, "a", "human\n");
	assert_cat(f, "b", "bee\n");
	outside(f, "b", "human b\n");
	assert_int_equal(redo(f, 0), -ESTALE);
	assert_int_equal(redo(f, UNDO_KEEP_MINE), 0);
	assert_cat(f, "a", "human\n");
	assert_cat(f, "b", "human b\n");
	assert_int_equal(undo(f, 2, 0), -ESTALE);
	assert_int_equal(undo(f, 2, UNDO_FORCE), 0);
	assert_cat(f, "a", LINES);
	assert_cat(f, "b", "human b\n"); /* the redo had left it out */
}

/* ---- merge ----------------------------------------------------------------------------------- */

#define EDITED "one\nAGENT\nthree\nfour\nfive\nsix\nseven\nHUMAN\nnine\n"
#define MERGED "one\ntwo\nthree\nfour\nfive\nsix\nseven\nHUMAN\nnine\n"

TEST(a_clean_merge_has_both)
{
	struct fix *f = *state;
	AUTO_FREE char *edited = NULL;
	struct undo_progress shown = {0};
	struct undo_plan *p;

	one_step(f, "agent",
		 put(f, "a", "one\nAGENT\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"));
	outside(f, "a", EDITED);
	p = plan(f, UNDO_BACK, 1, UNDO_MERGE);
	assert_int_equal(fate(p, "a"), FATE_MERGED);
	assert_int_equal(p->n_stops, 0);
	assert_string_equal(p->entries[0].merge->then, MERGED);
	assert_string_equal(p->entries[0].merge->now, EDITED);
	shown.seal = p->seal;
	undo_plan_free(p);
	outside(f, "a", "one\nAGENT\nthree\nfour\nfive\nsix\nseven\nHUMAN\nMORE\n");
	assert_int_equal(journal_undo(f->j, UNDO_BACK, 1, UNDO_MERGE, &shown, &f->err), -ESTALE);
	outside(f, "a", EDITED);
	edited = snap(f);
	assert_int_equal(journal_undo(f->j, UNDO_BACK, 1, UNDO_MERGE, &shown, &f->err), 0);
	assert_cat(f, "a", MERGED);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, edited);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	/* The edit was not a part of the step: a forced undo replaces it, and a new process does
	 * the same. */
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_cat(f, "a", LINES);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, edited);
	fix_reopen(f);
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_cat(f, "a", LINES);
}

TEST(a_merge_follows_a_rename_and_steps)
{
	struct fix *f = *state;

	one_step(f, "one", put(f, "a", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"));
	begin(f, "two");
	mv(f, "a", "m", 0);
	put(f, "m", "ONE\ntwo\nTHREE\nfour\nfive\nsix\nseven\neight\nnine\n");
	commit(f);
	outside(f, "m", "ONE\ntwo\nTHREE\nfour\nfive\nsix\nseven\neight\nHUMAN\n");
	assert_int_equal(undo(f, 2, UNDO_MERGE), 0);
	assert_cat(f, "a", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nHUMAN\n");
	assert_cat(f, "m", NULL);
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "m", "ONE\ntwo\nTHREE\nfour\nfive\nsix\nseven\neight\nHUMAN\n");
	assert_cat(f, "a", NULL);
}

TEST(a_conflicting_merge_stops_or_is_marked)
{
	struct fix *f = *state;
	AUTO_FREE char *text = NULL;
	struct undo_plan *p;

	begin(f, "agent");
	put(f, "a", "one\nAGENT\nthree\n");
	put(f, "b", "agent b\n");
	commit(f);
	outside(f, "a", "one\nHUMAN\nthree\n");
	outside_rm(f, "b");
	p = plan(f, UNDO_BACK, 1, UNDO_MERGE);
	assert_int_equal(p->n_stops, 2);
	undo_plan_free(p);
	assert_int_equal(undo(f, 1, UNDO_MERGE), -ESTALE);
	assert_cat(f, "a", "one\nHUMAN\nthree\n");
	assert_int_equal(undo(f, 1, UNDO_MERGE | UNDO_KEEP_MINE), 0);
	assert_cat(f, "a", "one\nHUMAN\nthree\n");
	assert_cat(f, "b", NULL);
	assert_int_equal(redo(f, 0), 0);
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_cat(f, "b", "bee\n");
	assert_int_equal(redo(f, 0), 0);
	begin(f, "agent again");
	put(f, "b", "agent b\n");
	put(f, "a", "one\nAGENT\nthree\n");
	commit(f);
	outside(f, "a", "one\nHUMAN 2\nthree\n");
	assert_int_equal(undo(f, 1, UNDO_MERGE | UNDO_FORCE), 0);
	text = cat(f, "a");
	assert_non_null(strstr(text, "<<<<<<< edited since\nHUMAN 2\n"));
	assert_non_null(strstr(text, "HUMAN\n>>>>>>> before the step"));
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "a", "one\nHUMAN 2\nthree\n");
}

TEST(binary_and_large_files_are_not_merged)
{
	struct fix *f = *state;
	struct undo_plan *p;
	char *big = xmalloc((2 << 20) + 1);

	memset(big, 'x', 2 << 20);
	big[2 << 20] = '\0';
	begin(f, "agent");
	put(f, "a", big);
	put(f, "new", "new\n");
	commit(f);
	free(big);
	outside(f, "a", "human\n");
	outside(f, "new", "human\n");
	p = plan(f, UNDO_BACK, 1, UNDO_MERGE);
	assert_int_equal(p->n_stops, 2);
	for (size_t i = 0; i < p->n_entries; i++)
		if (p->entries[i].conflict)
			assert_non_null(p->entries[i].why);
	undo_plan_free(p);
	assert_int_equal(undo(f, 1, UNDO_MERGE), -ESTALE);
	assert_cat(f, "a", "human\n");
}

TEST(a_hard_link_keeps_its_inode_through_a_merge)
{
	struct fix *f = *state;
	AUTO_FREE char *edited = NULL;

	one_step(f, "link", ln(f, "a", "twin"));
	one_step(f, "agent", add(f, "a", "AGENT\n"));
	outside(f, "a", "HUMAN\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nAGENT\n");
	edited = snap(f);
	assert_int_equal(undo(f, 1, UNDO_MERGE | UNDO_FORCE), 0);
	assert_cat(f, "twin", "HUMAN\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
	assert_cat(f, "a", "HUMAN\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, edited);
}

/* The content after a step stays readable although the file was edited later. */
TEST(the_image_serves_a_diff)
{
	struct fix *f = *state;
	struct change *list = NULL;
	size_t n = 0;
	char text[64] = "";
	int64_t id;
	int fd = -1;

	id = one_step(f, "agent", put(f, "b", "agent b\n"));
	outside(f, "b", "human\n");
	assert_int_equal(journal_changes(f->j, id, &list, &n, &f->err), 0);
	assert_int_equal(n, 1);
	assert_int_equal(journal_content(f->j, id, &list[0], true, &fd, &f->err), 0);
	assert_int_equal(io_pread_full(fd, text, sizeof(text) - 1, 0), 8);
	assert_string_equal(text, "agent b\n");
	close(fd);
	change_free(list, n);
}

/* ---- barriers -------------------------------------------------------------------------------- */

static void barrier(struct fix *f, const char *path)
{
	assert_int_equal(journal_add_barrier(f->j, &path, 1, &f->err), 1);
}

static void assert_barriers(struct fix *f, const char *want)
{
	AUTO_BUF struct buf said = BUF_INIT;
	struct barrier *list = NULL;
	size_t n = 0;

	assert_int_equal(journal_barriers(f->j, &list, &n, &f->err), 0);
	for (size_t i = 0; i < n; i++) {
		buf_fmt(&said, "%lld(%zu)", (long long)list[i].after, list[i].count);
		for (size_t k = 0; k < list[i].n_paths; k++)
			buf_fmt(&said, " %s", list[i].paths[k]);
		buf_ch(&said, ';');
	}
	barrier_free(list, n);
	assert_string_equal(said.data, want);
}

TEST(a_rollback_stops_at_a_barrier)
{
	struct fix *f = *state;
	struct undo_plan *p;

	one_step(f, "two", put(f, "b", "2\n"));
	outside(f, "notes", "human\n");
	barrier(f, "b");
	barrier(f, "other");
	barrier(f, "b"); /* the same place, so one barrier */
	one_step(f, "three", put(f, "b", "3\n"));
	assert_barriers(f, "2(2) b other;");
	assert_int_equal(undo(f, 1, 0), 0); /* it is before step 3 */
	p = plan(f, UNDO_BACK, 1, 0);
	assert_int_equal(p->n_barriers, 1);
	assert_true(undo_plan_stops(p));
	undo_plan_free(p);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_non_null(strstr(f->err.text, "'b' and others were changed from outside"));
	assert_cat(f, "b", "2\n");
	assert_int_equal(undo(f, 1, UNDO_CROSS), 0);
	assert_cat(f, "b", "bee\n");
	assert_int_equal(undo(f, 1, 0), 0); /* no barrier left to cross */
	assert_int_equal(redo(f, 0), 0);
	assert_int_equal(redo(f, 0), 0);
	assert_int_equal(undo(f, 1, 0), -ESTALE); /* it is an obstacle again */
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	assert_cat(f, "notes", "human\n");
}

static void assert_met(struct fix *f, const char *path, bool met)
{
	struct undo_plan *p;

	begin(f, "one");
	assert_int_equal(md(f, "dir"), 0);
	put(f, "dir/file", "1\n");
	put(f, "b", "2\n");
	commit(f);
	barrier(f, path);
	p = plan(f, UNDO_BACK, 1, 0);
	if ((p->n_barriers > 0) != met)
		print_error("barrier at '%s'\n", path);
	assert_int_equal(p->n_barriers, met);
	undo_plan_free(p);
	assert_int_equal(undo(f, 1, UNDO_CROSS), 0);
}

TEST(a_barrier_stops_where_paths_meet)
{
	struct fix *f = *state;

	assert_met(f, "b", true);
	assert_met(f, "dir/file", true);
	assert_met(f, "dir", true);
	assert_met(f, "dir/of/mine", true); /* the step made that directory */
	assert_met(f, "notes", false);
	assert_met(f, "directory", false);
	assert_met(f, "b.swp", false);
}

TEST(a_barrier_in_a_running_step)
{
	struct fix *f = *state;
	const char *path = "notes";

	begin(f, "nothing in the end");
	put(f, "t", "1");
	barrier(f, "notes");
	rm(f, "t");
	assert_int_equal(commit(f), 0);
	assert_barriers(f, "1(1) notes;"); /* the barrier is before step 1 */
	begin(f, "kept");
	put(f, "b", "2\n");
	barrier(f, "b");
	commit(f);
	assert_barriers(f, "3(1) b;1(1) notes;");
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_int_equal(undo(f, 2, UNDO_FORCE), 0);
	assert_int_equal(journal_add_barrier(f->j, &path, 1, &f->err), 0); /* no step before */
	one_step(f, "new", put(f, "b", "2\n"));
	assert_barriers(f, ""); /* the steps before them are pruned */
}

TEST(a_barrier_beside_a_step_that_goes_on)
{
	struct fix *f = *state;
	struct step *first;

	begin(f, "a server in the background");
	put(f, "log", "1\n");
	first = f->s;
	one_step(f, "kept meanwhile", put(f, "b", "2\n"));
	outside(f, "notes", "human\n");
	barrier(f, "b");
	assert_barriers(f, "3(1) b;");
	f->s = first;
	commit(f);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_int_equal(undo(f, 1, UNDO_CROSS), 0);
	assert_cat(f, "b", "bee\n");
	assert_cat(f, "log", "1\n");
}

TEST(a_barrier_names_a_hundred)
{
	struct fix *f = *state;
	struct barrier *list = NULL;
	size_t n = 0;

	for (int i = 0; i < 300; i++) {
		AUTO_FREE char *name = xasprintf("file%d", i);

		barrier(f, name);
	}
	assert_int_equal(journal_barriers(f->j, &list, &n, &f->err), 0);
	assert_int_equal(n, 1);
	assert_int_equal(list[0].n_paths, 100);
	assert_int_equal(list[0].count, 300);
	barrier_free(list, n);
	fix_reopen(f);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
}

/* ---- interruptions --------------------------------------------------------------------------- */

static bool stop_at(void *data, size_t done, size_t total)
{
	(void)total;
	(void)data;
	return done < 32;
}

TEST(a_cancel_puts_a_merge_back)
{
	struct fix *f = *state;
	const struct undo_progress progress = {.tick = stop_at};
	AUTO_FREE char *edited = NULL;

	begin(f, "agent");
	add(f, "a", "AGENT\n");
	put(f, "b", "agent b\n");
	for (int i = 0; i < 100; i++) {
		AUTO_FREE char *name = xasprintf("many%d", i);

		put(f, name, "x");
	}
	commit(f);
	outside(f, "a", "HUMAN\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nAGENT\n");
	outside(f, "b", "human b\n");
	edited = snap(f);
	assert_int_equal(
		journal_undo(f->j, UNDO_BACK, 1, UNDO_MERGE | UNDO_KEEP_MINE, &progress, &f->err),
		-ECANCELED);
	assert_tree(f, edited);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_int_equal(undo(f, 1, UNDO_MERGE | UNDO_KEEP_MINE), 0);
	assert_cat(f, "a", "HUMAN\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
	assert_cat(f, "b", "human b\n");
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, edited);
}

/* A rollback died before its first record: the present files do not show what the step left. */
TEST(a_rollback_that_just_began_is_resumed)
{
	struct fix *f = *state;
	AUTO_FREE char *text = NULL;
	int64_t id;

	id = one_step(f, "agent", mv(f, "b", "moved", 0));
	outside_rm(f, "moved");
	outside(f, "moved", "human\n");
	text = xasprintf("undo on %d\nsteps/%lld\n", 1000, (long long)id);
	assert_int_equal(
		io_write_file(journal_store_fd(f->j), "rollback", 0600, text, strlen(text), false),
		0);
	fix_reopen(f);
	assert_cat(f, "moved", NULL);
	assert_cat(f, "b", "human\n");
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "moved", "human\n");
}

/* The file that the undo would remove is already gone. */
TEST(what_is_gone_already_is_no_conflict)
{
	struct fix *f = *state;
	AUTO_FREE char *path = xasprintf("%s/made", f->folder), *before = snap(f);

	begin(f, "make");
	assert_int_equal(put(f, "made", "m\n"), 0);
	assert_int_equal(put(f, "other", "o\n"), 0);
	assert_true(commit(f) > 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
	assert_int_equal(redo(f, 0), 0);
	assert_cat(f, "other", "o\n");
	assert_cat(f, "made", NULL); /* as it was at the undo */
	outside(f, "made", "human\n");
	assert_true(undo(f, 1, 0) < 0);
	assert_cat(f, "made", "human\n");
}

TESTS(setup, fix_teardown)
