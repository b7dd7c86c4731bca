/* test_journal_store - the life of the store: marks, limits, pruning, versions. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/inject.h"
#include <sys/file.h>
#include "core/journal/journal.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/store.h"
#include "tests/support/journalfix.h"

static struct step_info *steps(struct fix *f, bool undone, size_t *n)
{
	struct step_info *list = NULL;

	assert_int_equal(journal_list(f->j, undone, &list, n, &f->err), 0);
	return list;
}

TEST(a_mark_is_kept_with_the_step)
{
	struct fix *f = *state;
	struct step_info *list;
	size_t n;

	begin(f, "work");
	assert_string_equal(step_why(f->s), "");
	assert_int_equal(put(f, "a", "1"), 0);
	step_mark_incomplete(f->s, "'a' was mapped");
	step_mark_incomplete(f->s, "'a' was mapped");
	step_mark_incomplete(f->s, "'b' too");
	assert_string_equal(step_why(f->s), "'a' was mapped; 'b' too");
	assert_int_equal(commit(f), 1);
	list = steps(f, false, &n);
	assert_int_equal(n, 1);
	assert_true(list[0].incomplete);
	assert_string_equal(list[0].why, "'a' was mapped; 'b' too");
	step_info_free(list, n);
	assert_int_equal(undo(f, 1, false), 0);
	assert_int_equal(redo(f, false), 0);
	list = steps(f, false, &n);
	assert_string_equal(list[0].why, "'a' was mapped; 'b' too");
	step_info_free(list, n);
}

TEST(a_mark_alone_keeps_the_step)
{
	struct fix *f = *state;
	struct step_info *list;
	size_t n;

	begin(f, "work");
	step_mark_incomplete(f->s, "somebody wrote");
	assert_int_equal(commit(f), 1);
	list = steps(f, false, &n);
	assert_int_equal(n, 1);
	assert_true(list[0].incomplete);
	step_info_free(list, n);
}

TEST(a_mark_survives_a_crash)
{
	struct fix *f = *state;
	struct step_info *list;
	size_t n;

	begin(f, "work");
	assert_int_equal(put(f, "a", "1"), 0);
	step_mark_incomplete(f->s, "'a' was mapped");
	fix_reopen(f);
	list = steps(f, true, &n);
	assert_int_equal(n, 1);
	assert_true(list[0].incomplete);
	assert_string_equal(list[0].why, "'a' was mapped");
	step_info_free(list, n);
}

/* ---- limits -----------------------------------------------------------------------------------
 */

static void limit(struct fix *f, struct journal_options options)
{
	f->options = options;
	fix_reopen(f);
}

static int put_kib(struct fix *f, const char *path, size_t kib, char fill)
{
	AUTO_FREE char *text = xmalloc(kib * 1024 + 1);

	memset(text, fill, kib * 1024);
	text[kib * 1024] = '\0';
	return put(f, path, text);
}

static size_t count_steps(struct fix *f)
{
	size_t n;
	struct step_info *list = steps(f, false, &n);

	step_info_free(list, n);
	return n;
}

static size_t count_in(struct fix *f, const char *dir)
{
	AUTO_CLOSE int fd = openat(journal_store_fd(f->j), dir, O_RDONLY | O_DIRECTORY);
	AUTO_DIR DIR *d = fdopendir(fd);
	size_t n = 0;

	assert_non_null(d);
	fd = -1;
	while (readdir(d))
		n++;
	return n - 2;
}

static int content_result(struct fix *f, int64_t id, const char *path, bool after)
{
	struct change *list = NULL;
	size_t n = 0, i = 0;
	int fd = -1, r;

	assert_int_equal(journal_changes(f->j, id, &list, &n, &f->err), 0);
	while (i < n && !str_eq(list[i].path, path))
		i++;
	assert_true(i < n);
	r = journal_content(f->j, id, &list[i], after, &fd, &f->err);
	change_free(list, n);
	if (r == 0)
		close(fd);
	return r;
}

/* Step 1 sets up, 2 writes a and big2, 3 exceeds its limit. */
static int64_t outgrow(struct fix *f)
{
	begin(f, "set up");
	assert_int_equal(put_kib(f, "big1", 200, '1'), 0);
	assert_int_equal(put_kib(f, "big2", 200, '2'), 0);
	assert_int_equal(put_kib(f, "big3", 400, '3'), 0);
	assert_int_equal(put_kib(f, "big4", 400, '4'), 0);
	assert_int_equal(put(f, "over", "newer"), 0);
	assert_int_equal(put(f, "a", "alpha"), 0);
	assert_int_equal(put(f, "b", "beta"), 0);
	assert_int_equal(md(f, "d"), 0);
	assert_true(commit(f) > 0);
	begin(f, "write");
	assert_int_equal(add(f, "a", "!"), 0);
	assert_int_equal(add(f, "b", "!"), 0);
	assert_true(commit(f) > 0);
	begin(f, "outgrow");
	assert_int_equal(add(f, "a", "?"), 0);
	assert_int_equal(put(f, "big1", "cut"), 0);
	assert_string_equal(step_why(f->s), "");
	assert_int_equal(rm(f, "big3"), 0); /* moved, not copied */
	assert_int_equal(mv(f, "over", "big4", 0), 0);
	assert_string_equal(step_why(f->s), "");
	assert_int_equal(put(f, "big2", "cut"), 0);
	assert_string_not_equal(step_why(f->s), "");
	assert_int_equal(put(f, "new", "n"), 0);
	assert_int_equal(add(f, "b", "?"), 0);
	assert_int_equal(add(f, "a", "?"), 0);
	assert_int_equal(mode(f, "b", 0600), 0);
	assert_int_equal(mv(f, "b", "c", 0), 0);
	assert_int_equal(rd(f, "d"), 0);
	assert_int_equal(md(f, "e"), 0);
	assert_int_equal(ln(f, "c", "e/c"), 0);
	assert_int_equal(sym(f, "c", "s"), 0);
	return commit(f);
}

TEST(a_step_that_is_too_big_goes_on_unprotected)
{
	struct fix *f = *state;
	AUTO_FREE char *after = NULL, *news = NULL;
	struct step_info *list;
	struct undo_plan *plan = NULL;
	struct stat st;
	size_t n, lost = 0;
	int64_t id;

	limit(f, (struct journal_options){.step_size = 240 << 10});
	id = outgrow(f);
	after = snap(f);
	news = journal_news(f->j);
	assert_non_null(strstr(news, "80 %"));
	/* It comes first and is short, because a console has one line for it. */
	assert_non_null(strstr(news, ": unprotected from here: write 'big2': journal.step-size "
				     "(240 KiB) is reached; step"));
	assert_in_range(strstr(news, "; step") - news, 1, 90);
	list = steps(f, false, &n);
	assert_string_equal(list[0].unprotected, "big2");
	assert_non_null(strstr(list[0].why, "unprotected from here: write 'big2'"));
	assert_true(list[0].incomplete);
	step_info_free(list, n);

	/* Exactly the paths that it names are lost. */
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_tree(f, after);
	assert_int_equal(undo(f, 2, 0), -ESTALE);
	assert_int_equal(journal_plan(f->j, UNDO_BACK, 1, 0, &plan, &f->err), 0);
	for (size_t i = 0; i < plan->n_entries; i++) {
		const char *path = plan->entries[i].path;
		bool whole = str_eq(path, "a") || str_eq(path, "big1") || str_eq(path, "big3") ||
			     str_eq(path, "big4") || str_eq(path, "over");

		assert_int_equal(plan->entries[i].lost, !whole);
		lost += plan->entries[i].lost;
	}
	assert_int_equal(plan->n_conflicts, lost);
	undo_plan_free(plan);
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_int_equal(fstatat(journal_folder_fd(f->j), "big1", &st, 0), 0);
	assert_int_equal(st.st_size, 200 << 10);
	assert_int_equal(fstatat(journal_folder_fd(f->j), "a", &st, 0), 0);
	assert_int_equal(st.st_size, 6);
	assert_int_equal(fstatat(journal_folder_fd(f->j), "big2", &st, 0), 0);
	assert_int_equal(st.st_size, 3);
	assert_int_equal(fstatat(journal_folder_fd(f->j), "big3", &st, 0), 0);
	assert_int_equal(st.st_size, 400 << 10);
	assert_int_equal(fstatat(journal_folder_fd(f->j), "big4", &st, 0), 0);
	assert_int_equal(st.st_size, 400 << 10);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, after);

	/* Later content is never returned for content that was not saved. */
	one_step(f, "later", put(f, "c", "later"));
	assert_int_equal(content_result(f, id, "c", false), -ESTALE);
	assert_int_equal(content_result(f, id - 1, "b", true), 0); /* saved in the image */
	assert_int_equal(content_result(f, id - 1, "a", true), 0);
	assert_int_equal(content_result(f, id, "c", true), 0);
}

/* Both may use reserved space, and after that the oldest steps' space; a failing disk gets neither.
 * No kept step is dropped for the running one: it is refused, which is reported once. */
TEST(a_quota_is_like_a_full_disk)
{
	static const int full[] = {-ENOSPC, -EDQUOT};
	struct fix *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(full); i++) {
		AUTO_FREE char *news = NULL, *again = NULL, *gone = NULL;

		assert_false(reserve_give(f->j, -EIO));
		assert_true(reserve_give(f->j, full[i]));
		assert_false(reserve_give(f->j, full[i])); /* it is used up */
		for (int k = 0; k < 2; k++) {
			one_step(f, "write", put(f, "file", k ? "1" : "2"));
		}
		begin(f, "runs");
		assert_int_equal(put(f, "file", "3"), 0);
		while (store_relieve(f->j, full[i], false))
			;
		assert_int_equal(count_steps(f), 2 * (i + 1));
		assert_int_equal(journal_urges(f->j), i == 0);
		news = journal_news(f->j);
		assert_int_equal(news && strstr(news, "is full"), i == 0);
		assert_false(store_relieve(f->j, full[i], false));
		assert_false(journal_urges(f->j));
		again = journal_news(f->j);
		assert_null(again);
		assert_false(store_relieve(f->j, -EIO, true));
		while (reserve_give(f->j, full[i]))
			;
		assert_true(store_relieve(f->j, full[i], true));
		assert_true(commit(f) > 0);
		assert_int_equal(count_steps(f), 2 * (i + 1));
		assert_true(journal_urges(f->j));
		gone = journal_news(f->j);
		assert_non_null(strstr(gone, "made room for a rollback"));
		reserve_refill(f->j);
	}
}

static int64_t outgrow_off(struct fix *f)
{
	begin(f, "work");
	assert_int_equal(put_kib(f, "big", 100, 'b'), 0);
	assert_int_equal(put_kib(f, "big", 100, 'c'), 0);
	assert_int_equal(put(f, "gone", "g"), 0);
	assert_int_equal(rm(f, "gone"), 0);
	assert_int_equal(mv(f, "big", "large", 0), 0);
	assert_int_equal(mode(f, "large", 0600), 0);
	return commit(f);
}

TEST(without_undo_nothing_is_kept)
{
	struct fix *f = *state;
	AUTO_FREE char *after = NULL, *name = NULL;
	struct step_info *list;
	size_t n;

	limit(f, (struct journal_options){.off = true});
	name = xasprintf("steps/%lld/obj", (long long)outgrow_off(f));
	after = snap(f);
	assert_int_equal(count_in(f, name), 0);
	list = steps(f, false, &n);
	assert_int_equal(n, 1);
	assert_string_equal(list[0].unprotected, "big");
	assert_int_equal(list[0].deleted, 0);
	assert_int_equal(list[0].created, 1);
	step_info_free(list, n);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	assert_tree(f, after);
}

TEST(old_steps_go)
{
	struct fix *f = *state;
	AUTO_FREE char *news = NULL;
	struct step_info *list;
	size_t n;

	limit(f, (struct journal_options){.steps = 3});
	for (int i = 0; i < 6; i++) {
		one_step(f, "write", put(f, "a", i % 2 ? "odd" : "even"));
	}
	news = journal_news(f->j);
	assert_non_null(strstr(news, "the oldest step, 3, can no longer be undone"));
	list = steps(f, false, &n);
	assert_int_equal(n, 3);
	assert_int_equal(list[2].id, 4);
	step_info_free(list, n);
	assert_int_equal(count_in(f, "trash"), 0);
	assert_int_equal(undo(f, 3, 0), 0);
	assert_int_equal(undo(f, 1, 0), -ENOENT);
	assert_int_equal(redo(f, 0), 0);
	limit(f, (struct journal_options){.steps = 1});
	assert_int_equal(count_steps(f), 1);
}

/* `cordon log PATH` reads beside a session without the lock, step by step. */
TEST(steps_may_go_while_they_are_read)
{
	static const char *const paths[] = {"a"};
	struct fix *f = *state;
	struct step_info *list = NULL;
	bool touched[3];
	size_t n = 0;

	limit(f, (struct journal_options){.steps = 3});
	for (int i = 0; i < 5; i++) {
		one_step(f, "write", put(f, "a", i % 2 ? "odd" : "even"));
		if (i == 2)
			list = steps(f, false, &n);
	}
	assert_int_equal(n, 3);
	assert_int_equal(journal_touched(f->j, list, n, paths, 1, touched, &f->err), 0);
	assert_true(touched[0]);
	assert_false(touched[1] || touched[2]);
	step_info_free(list, n);
}

TEST(the_store_stays_within_its_size)
{
	struct fix *f = *state;
	struct step_info *list;
	size_t n;

	limit(f, (struct journal_options){.size = 1 << 20});
	one_step(f, "set up", put_kib(f, "big", 300, '0'));
	for (char c = '1'; c < '8'; c++) {
		one_step(f, "write", put_kib(f, "big", 300, c));
	}
	n = count_steps(f);
	assert_in_range(n, 1, 3);
	/* Data for redo counts as well: the oldest step was dropped for it. */
	one_step(f, "create", put_kib(f, "new", 900, 'n'));
	assert_int_equal(undo(f, 1, 0), 0);
	list = steps(f, false, &n);
	assert_int_equal(n, 1);
	step_info_free(list, n);
	assert_int_equal(redo(f, 0), 0);
}

TEST(images_of_the_past_go_with_it)
{
	struct fix *f = *state;

	limit(f, (struct journal_options){.steps = 2});
	for (int i = 0; i < 6; i++) {
		one_step(f, "write", put(f, "a", i % 2 ? "odd" : "even"));
		one_step(f, "write", put(f, "b", i % 2 ? "odd" : "even"));
		assert_int_equal(undo(f, 1, 0), 0);
	}
	assert_true(count_in(f, "posts") <= 2);
}

/* ---- damage -----------------------------------------------------------------------------------
 */

static void count_damage(void *data, const char *words)
{
	char *last = data;

	snprintf(last, 256, "%s", words);
}

static void assert_damaged(struct fix *f, const char *words)
{
	struct journal_sound sound;
	char last[256] = "";

	f->err = (struct err){0};
	assert_int_equal(journal_verify(f->j, count_damage, last, &sound, &f->err), -EBADMSG);
	if (sound.damages != 1 || !strstr(last, words))
		fail_msg("%zu damages: %s", sound.damages, last);
}

static int64_t make_step(struct fix *f)
{
	begin(f, "set up");
	assert_int_equal(put_kib(f, "big", 100, 'b'), 0);
	assert_int_equal(put(f, "small", "s"), 0);
	assert_int_equal(put(f, "gone", "g"), 0);
	assert_true(commit(f) > 0);
	begin(f, "work");
	assert_int_equal(add(f, "big", "b"), 0);
	assert_int_equal(add(f, "small", "t"), 0);
	assert_int_equal(rm(f, "gone"), 0);
	return commit(f);
}

static void assert_two_listed(struct fix *f)
{
	struct journal_spec spec = {.folder = f->folder, .state_dir = f->state, .read_only = true};
	struct step_info *list = NULL;
	struct journal *j = NULL;
	char *was = NULL;
	size_t n = 0;

	assert_int_equal(journal_open(&j, &spec, NULL, &f->err), 0);
	assert_int_equal(journal_list(j, false, &list, &n, &f->err), 0);
	assert_int_equal(n, 2);
	step_info_free(list, n);
	journal_close(j);
	assert_int_equal(journal_find_moved(&spec, &was, &f->err), 0);
}

/* Readers and undo find the same steps. */
TEST(a_store_without_its_version_has_its_steps)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;

	make_step(f);
	before = snap(f);
	assert_int_equal(unlinkat(journal_store_fd(f->j), "version", 0), 0);
	assert_two_listed(f);
	fix_reopen(f);
	assert_int_equal(faccessat(journal_store_fd(f->j), "version", F_OK, 0), 0);
	assert_two_listed(f);
	assert_int_equal(undo(f, 2, 0), 0);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, before);
}

struct second { /* a second process at a store that another has just made */
	struct journal_spec spec;
	char *store, *step;
	int lock, r;
};

static void open_first(void *arg)
{
	struct second *s = arg;
	struct journal *j = NULL;
	struct err err = {0};

	s->r = journal_open(&j, &s->spec, NULL, &err);
	journal_close(j);
}

static void take_it(void *arg)
{
	struct second *s = arg;
	AUTO_FREE char *lock = xasprintf("%s/lock", s->store);
	AUTO_FREE char *steps = xasprintf("%s/steps", s->store);

	if (access(s->store, F_OK) < 0 || access(lock, F_OK) == 0)
		return;
	s->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (flock(s->lock, LOCK_EX | LOCK_NB) < 0 || mkdir(steps, 0700) < 0 ||
	    mkdir(s->step, 0700) < 0)
		abort();
}

/* Two first starts: the one that made the directory is not the one with the lock. */
TEST(a_store_that_another_has_locked_is_not_unmade)
{
	struct fix *f = *state;
	AUTO_FREE char *folder = xasprintf("%s/new", f->top);
	struct second s = {.spec = {.folder = folder, .state_dir = f->state}, .lock = -1};
	struct inject in = {.meanwhile = take_it};
	struct err err = {0};

	for (in.nth = 1; s.lock < 0; in.nth++) {
		free(s.store);
		free(s.step);
		rmdir(folder);
		assert_int_equal(mkdir(folder, 0700), 0);
		assert_int_equal(journal_store_path(&s.store, &s.spec, &err), 0);
		s.step = xasprintf("%s/steps/1", s.store);
		assert_int_equal(io_remove_tree(AT_FDCWD, s.store), 0);
		inject_run(&in, open_first, &s);
	}
	assert_int_equal(s.r, -EBUSY);
	assert_int_equal(access(s.step, F_OK), 0);
	close(s.lock);
	free(s.store);
	free(s.step);
}

static void change_byte(struct fix *f, int64_t id, const char *name, off_t at)
{
	AUTO_FREE char *path = xasprintf("steps/%lld/%s", (long long)id, name);
	AUTO_CLOSE int fd = openat(journal_store_fd(f->j), path, O_RDWR);
	unsigned char c;

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &c, 1, at), 1);
	c ^= 0x40;
	assert_int_equal(pwrite(fd, &c, 1, at), 1);
}

TEST(damage_is_found)
{
	struct fix *f = *state;
	int64_t id = make_step(f);
	AUTO_FREE char *dir = xasprintf("steps/%lld", (long long)id);
	AUTO_FREE char *obj = xasprintf("%s/obj", dir);
	AUTO_CLOSE int fd = openat(journal_store_fd(f->j), dir, O_RDONLY | O_DIRECTORY);
	AUTO_CLOSE int objects = openat(journal_store_fd(f->j), obj, O_RDONLY | O_DIRECTORY);

	assert_sound(f);
	for (off_t at = 70; at < 400; at += 33) {
		change_byte(f, id, "undo", at);
		assert_damaged(f, "undo log");
		change_byte(f, id, "undo", at);
		assert_sound(f);
	}
	change_byte(f, id, "summary", 0);
	assert_damaged(f, "summary");
	change_byte(f, id, "summary", 0);
	change_byte(f, id, "post", 0);
	assert_damaged(f, "image");
	change_byte(f, id, "post", 0);
	assert_int_equal(renameat(objects, "2", fd, "aside"), 0);
	assert_damaged(f, "'big': its old content is missing from the store");
	assert_int_equal(renameat(fd, "aside", objects, "2"), 0);
	assert_sound(f);
}

struct seen_records {
	size_t n;
	char types[512];
};

static void see_record(void *data, const struct journal_record *r)
{
	struct seen_records *s = data;
	size_t len = strlen(s->types);

	s->n++;
	snprintf(s->types + len, sizeof(s->types) - len, "%s:%s ", r->type, r->path);
}

TEST(records_are_listed)
{
	struct fix *f = *state;
	int64_t id = make_step(f);
	struct seen_records seen = {0};

	assert_int_equal(journal_dump(f->j, id, see_record, &seen, &f->err), 0);
	assert_string_equal(seen.types, "step: times: content:big content:small gone:gone end: ");
	assert_int_equal(journal_dump(f->j, 0, see_record, &seen, &f->err), 0);
	assert_int_equal(journal_dump(f->j, 99, see_record, &seen, &f->err), -ENOENT);
}

/* ---- pruning ----------------------------------------------------------------------------------
 */

TEST(old_steps_are_pruned)
{
	struct fix *f = *state;
	struct journal_prune p = {.steps = 2, .look_only = true};

	for (int i = 0; i < 5; i++) {
		one_step(f, "write", put_kib(f, "a", 64, (char)('0' + i)));
	}
	assert_int_equal(journal_prune(f->j, &p), 0);
	assert_int_equal(p.n, 3);
	assert_int_equal(p.first, 1);
	assert_int_equal(p.last, 3);
	assert_int_equal(count_steps(f), 5);
	p = (struct journal_prune){.steps = 4};
	assert_int_equal(journal_prune(f->j, &p), 0);
	assert_int_equal(count_steps(f), 4);
	p = (struct journal_prune){.size = 350 << 10};
	assert_int_equal(journal_prune(f->j, &p), 0);
	assert_in_range(count_steps(f), 1, 3);
	assert_sound(f);
	p = (struct journal_prune){.before_us = INT64_MAX, .spare = 1};
	assert_int_equal(journal_prune(f->j, &p), 0);
	assert_int_equal(count_steps(f), 1);
	p = (struct journal_prune){.at_least = PRUNE_ALL};
	assert_int_equal(journal_prune(f->j, &p), 0);
	assert_int_equal(count_steps(f), 0);
	assert_sound(f);
	fix_reopen(f);
	assert_int_equal(count_in(f, "trash"), 0);
}

/* A start does not wait for the removal of gigabytes; on a full disk the trash is emptied before a
 * step is dropped. */
TEST(what_is_thrown_away_gives_room_first)
{
	struct fix *f = *state;

	one_step(f, "write", put(f, "a", "step"));
	assert_int_equal(mkdirat(journal_store_fd(f->j), "trash/7", 0700), 0);
	fix_reopen(f);
	assert_int_equal(count_in(f, "trash"), 1);
	begin(f, "write");
	assert_false(store_relieve(f->j, -EIO, false));
	assert_true(store_relieve(f->j, -ENOSPC, false));
	assert_int_equal(count_in(f, "trash"), 0);
	assert_true(store_relieve(f->j, -ENOSPC, false)); /* a part of the reserved space */
	assert_false(store_relieve(f->j, -ENOSPC, false));
	assert_int_equal(count_steps(f), 1);
	while (reserve_give(f->j, -ENOSPC))
		;
	assert_true(store_relieve(f->j, -ENOSPC, true));
	assert_int_equal(count_steps(f), 0);
	assert_false(store_relieve(f->j, -ENOSPC, true));
}

TESTS(fix_setup, fix_teardown)
