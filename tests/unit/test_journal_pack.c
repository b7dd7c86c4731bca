/* test_journal_pack - saved content is compressed in the background, and restored unchanged. */
/* SPDX-License-Identifier: MIT */
#include <poll.h>

#include "core/journal/history/background.h"
#include "core/journal/journal.h"
#include "core/journal/op.h"
#include "core/journal/step/step.h"
#include "core/journal/store/compressed.h"
#include "core/journal/store/store.h"
#include "core/journal/store/usage.h"
#include "tests/support/inject.h"
#include "tests/support/journalfix.h"

/* Writes text that compresses, data that does not, a hole between two extents, and many small
 * files. */
static void write_files(struct fix *f, int turn)
{
	AUTO_BUF struct buf text = BUF_INIT;
	AUTO_CLOSE int fd = -1;
	struct at a = at(f, "sparse");
	unsigned random = 7u + (unsigned)turn;

	for (int i = 0; i < 20000; i++)
		buf_fmt(&text, "line %d of turn %d\n", i, turn);
	assert_int_equal(put(f, "text", text.data), 0);
	for (int i = 0; i < 300000; i++) {
		random = random * 1103515245u + 12345u;
		text.data[i] = (char)(1 + (random >> 16) % 255);
	}
	text.data[300000] = '\0';
	assert_int_equal(put(f, "noise", text.data), 0);
	memset(text.data, 'a' + turn, text.len);
	fd = op_open(f->s, &a, O_RDWR | O_CREAT, 0640, NULL);
	assert_true(fd >= 0);
	assert_int_equal(io_pwrite_all(fd, text.data, 100000, 1 << 20), 0);
	assert_int_equal(io_pwrite_all(fd, text.data, 50000, 5 << 20), 0);
	assert_int_equal(ftruncate(fd, 9 << 20), 0);
	text.data[9000] = '\0';
	for (int i = 0; i < 40; i++) {
		AUTO_FREE char *name = xasprintf("small%d", i);

		assert_int_equal(put(f, name, text.data), 0);
	}
	assert_int_equal(put(f, "touched", turn ? "again" : "once"), 0);
}

static int64_t make_step(struct fix *f, int turn)
{
	begin(f, "work");
	write_files(f, turn);
	return commit(f);
}

/* Returns the name of a compressed file, heap; *n: their number. */
static char *look_packed(struct fix *f, int64_t id, size_t *n)
{
	AUTO_FREE char *path = xasprintf("steps/%lld/obj", (long long)id);
	AUTO_CLOSE int fd = openat(journal_store_fd(f->j), path, O_RDONLY | O_DIRECTORY);
	AUTO_DIR DIR *d = fdopendir(fd);
	struct dirent *e;
	char *name = NULL;

	assert_non_null(d);
	fd = -1;
	*n = 0;
	while ((e = readdir(d))) {
		if (!str_ends(e->d_name, ".z"))
			continue;
		free(name);
		name = xstrdup(e->d_name);
		++*n;
	}
	return name;
}

static size_t count_packed(struct fix *f, int64_t id)
{
	size_t n;

	free(look_packed(f, id, &n));
	return n;
}

static char *first_packed(struct fix *f, int64_t id)
{
	size_t n;
	char *name = look_packed(f, id, &n);

	assert_non_null(name);
	return name;
}

static void check_content(struct fix *f, int64_t id, const char *path, const char *want)
{
	AUTO_FREE char *text = NULL;
	AUTO_CLOSE int fd = -1;
	struct change *list = NULL;
	size_t n = 0, len = 0;

	assert_int_equal(journal_changes(f->j, id, &list, &n, &f->err), 0);
	for (size_t i = 0; i < n; i++)
		if (str_eq(list[i].path, path))
			assert_int_equal(journal_content(f->j, id, &list[i], false, &fd, &f->err),
					 0);
	change_free(list, n);
	assert_true(fd >= 0);
	assert_int_equal(io_read_all(fd, 16 << 20, &text, &len), 0);
	assert_memory_equal(text, want, strlen(want));
}

TEST(packed_steps_are_undone)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL, *after = NULL;
	struct stat st;
	int64_t id;

	make_step(f, 0);
	before = snap(f);
	id = make_step(f, 1);
	after = snap(f);
	assert_int_equal(count_packed(f, id), 0);
	background_once(f->j);
	assert_int_equal(count_packed(f, id), 2); /* the noise does not compress */
	assert_sound(f);
	check_content(f, id, "text", "line 0 of turn 0\nline 1 of turn 0\n");
	check_content(f, id, "small3", "aaaa");
	background_once(f->j);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
	assert_int_equal(fstatat(journal_folder_fd(f->j), "sparse", &st, 0), 0);
	assert_int_equal(st.st_size, 9 << 20);
	assert_true(st.st_blocks * 512 < 1 << 20);
	assert_sound(f);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, after);
	background_once(f->j);
	assert_sound(f);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
}

TEST(packing_makes_room)
{
	struct fix *f = *state;
	uint64_t plain;

	make_step(f, 0);
	make_step(f, 1);
	plain = store_holds(f->j);
	background_once(f->j);
	assert_true(store_holds(f->j) < plain - (400 << 10));
}

/* Both forms exist after a kill between rename and unlink, or in the middle of an undo. */
TEST(both_forms_may_be_there)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL, *dir = NULL, *slot = NULL, *packed = NULL;
	AUTO_CLOSE int fd = -1;
	int64_t id;

	make_step(f, 0);
	before = snap(f);
	id = make_step(f, 1);
	background_once(f->j);
	dir = xasprintf("steps/%lld/obj", (long long)id);
	fd = openat(journal_store_fd(f->j), dir, O_RDONLY | O_DIRECTORY);
	packed = first_packed(f, id);
	slot = xstrndup(packed, strlen(packed) - 2);
	assert_int_equal(linkat(fd, packed, fd, "aside", 0), 0);
	assert_int_equal(compressed_restore(fd, slot), 0);
	assert_int_equal(faccessat(fd, packed, F_OK, 0), -1);
	assert_int_equal(renameat(fd, "aside", fd, packed), 0);
	assert_sound(f);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
	assert_int_equal(redo(f, 0), 0);
	assert_int_equal(faccessat(fd, packed, F_OK, 0), -1);
	assert_sound(f);
}

TEST(damage_is_found)
{
	struct fix *f = *state;
	AUTO_FREE char *after = NULL, *packed = NULL, *path = NULL;
	AUTO_CLOSE int fd = -1;
	struct journal_sound sound;
	struct stat st;
	int64_t id;
	char c;

	make_step(f, 0);
	id = make_step(f, 1);
	after = snap(f);
	background_once(f->j);
	packed = first_packed(f, id);
	path = xasprintf("steps/%lld/obj/%s", (long long)id, packed);
	fd = openat(journal_store_fd(f->j), path, O_RDWR);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pread(fd, &c, 1, st.st_size / 2), 1);
	c ^= 1;
	assert_int_equal(pwrite(fd, &c, 1, st.st_size / 2), 1);
	assert_int_equal(journal_verify(f->j, print_damage, NULL, &sound, &f->err), -EBADMSG);
	assert_int_equal(sound.damages, 1);
	/* All or nothing. */
	assert_true(undo(f, 1, 0) < 0);
	assert_tree(f, after);
}

TEST(an_undo_does_not_wait)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;
	int64_t id = 0;

	make_step(f, 0);
	before = snap(f);
	for (int i = 0; i < 6; i++) {
		id = make_step(f, 1 + i % 2);
		assert_int_equal(journal_tidy(f->j), 0);
		assert_int_equal(undo(f, 1, 0), 0);
		assert_tree(f, before);
	}
	/* The thread does its work without a further call. */
	id = make_step(f, 1);
	assert_int_equal(journal_tidy(f->j), 0);
	for (int i = 0; i < 3000 && count_packed(f, id) < 2; i++)
		poll(NULL, 0, 10);
	assert_int_equal(count_packed(f, id), 2);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
	assert_sound(f);
}

static size_t count_threads(void)
{
	AUTO_DIR DIR *d = opendir("/proc/self/task");
	struct dirent *e;
	size_t n = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	return n;
}

static void wait_alone(size_t alone)
{
	for (int i = 0; i < 3000 && count_threads() > alone; i++)
		poll(NULL, 0, 10);
	assert_int_equal(count_threads(), alone);
}

static void tidy_to_the_end(struct fix *f, size_t alone)
{
	assert_int_equal(journal_tidy(f->j), 0);
	wait_alone(alone);
}

TEST(the_thread_is_there_for_its_work_alone)
{
	struct fix *f = *state;
	size_t alone = count_threads();
	int64_t id;

	make_step(f, 0);
	tidy_to_the_end(f, alone);
	id = make_step(f, 1);
	tidy_to_the_end(f, alone);
	assert_int_equal(count_packed(f, id), 2);
	/* Without work no thread is started, not even for a moment. */
	one_step(f, "little", put(f, "new", "x"));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(journal_tidy(f->j), 0);
		assert_int_equal(count_threads(), alone);
	}
	fix_reopen(f);
	assert_int_equal(journal_tidy(f->j), 0);
	assert_int_equal(count_threads(), alone);
}

TEST(a_step_that_ends_late_is_packed_too)
{
	struct fix *f = *state;
	size_t alone = count_threads();
	struct step *long_one, *other;
	int64_t id;

	make_step(f, 0);
	begin(f, "long");
	write_files(f, 1);
	long_one = f->s;
	id = step_id(long_one);
	assert_int_equal(journal_begin(f->j, STEP_COMMAND, "other", &other, &f->err), 0);
	f->s = other;
	assert_int_equal(put(f, "quick", "x"), 0);
	commit(f);
	tidy_to_the_end(f, alone);
	f->s = long_one;
	commit(f);
	tidy_to_the_end(f, alone);
	assert_int_equal(count_packed(f, id), 2);
}

static size_t count_trash(const struct fix *f)
{
	AUTO_NAMES struct names names = {0};

	assert_int_equal(store_names(f->j, "trash", &names), 0);
	return names.n;
}

/* The end of a session does not wait until the trash is empty; later sessions continue. */
TEST(an_end_does_not_wait_for_the_trash)
{
	struct fix *f = *state;
	atomic_bool stop = true;

	for (int i = 0; i < 20; i++) {
		AUTO_FREE char *name = xasprintf("trash/%d", 1000 + i);

		assert_int_equal(mkdirat(journal_store_fd(f->j), name, 0700), 0);
	}
	assert_true(store_empty_trash(f->j, &stop));
	assert_in_range(count_trash(f), 1, 19);
	tidy_to_the_end(f, count_threads());
	assert_int_equal(count_trash(f), 0);
}

/* ---- with a reader --------------------------------------------------------------------------- */

struct reader {
	int dir, fd;
};

static void read_slot(void *data)
{
	struct reader *r = data;

	r->fd = compressed_open(r->dir, "slot");
}

static void no_lock(void *data)
{
	(void)data;
}

static void pack_slot(void *data)
{
	const struct reader *r = data;
	atomic_bool never = false;
	const struct compressed_gate gate = {.lock = no_lock, .unlock = no_lock, .stop = &never};

	if (compressed_make(r->dir, "slot", &gate) != 1)
		abort();
}

static void unpack_slot(void *data)
{
	const struct reader *r = data;

	if (compressed_restore(r->dir, "slot") < 0)
		abort();
}

/* `cordon diff` reads while the keeper undoes or compresses. */
TEST(a_reader_finds_one_of_the_forms)
{
	struct fix *f = *state;
	AUTO_CLOSE int dir = open(f->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FREE char *text = xcalloc(40001, 1);
	struct reader r = {.dir = dir};

	memset(text, 'x', 40000);
	assert_int_equal(io_write_file(dir, "slot", 0600, text, 40000, false), 0);
	for (int undo = 0; undo < 2; undo++)
		for (struct inject i = {.nth = 1}; i.nth == 1 || i.seen >= i.nth - 1; i.nth++) {
			AUTO_FREE char *got = NULL;

			if (undo)
				pack_slot(&r);
			i.meanwhile = undo ? unpack_slot : pack_slot;
			inject_run(&i, read_slot, &r);
			if (r.fd < 0)
				fail_msg("%s before call %d: %s", undo ? "unpacked" : "packed",
					 i.nth, strerror(-r.fd));
			assert_int_equal(io_read_all(r.fd, 1 << 20, &got, NULL), 0);
			close(r.fd);
			assert_string_equal(got, text);
			unpack_slot(&r);
		}
}

static void tidy(void *data)
{
	background_once(data);
}

TEST(what_there_is_no_room_for_is_packed_later)
{
	struct inject first = {.nth = 1, .err = ENOSPC, .space = true};
	struct fix *f = *state;
	AUTO_FREE char *text = xcalloc(100001, 1);
	int64_t id = 0;

	for (int turn = 0; turn < 2; turn++) {
		background_once(f->j);
		memset(text, 'a' + turn, 100000);
		id = one_step(f, "work", put(f, "text", text));
	}
	inject_run(&first, tidy, f->j);
	assert_int_equal(count_packed(f, id), 0);
	assert_sound(f);
	background_once(f->j);
	assert_int_equal(count_packed(f, id), 1);
	assert_sound(f);
}

/* ---- with an undo ---------------------------------------------------------------------------- */

struct gate {
	atomic_bool stop;
	int locked;
	bool stops; /* an undo has begun when the lock is taken */
};

static void gate_lock(void *data)
{
	struct gate *g = data;

	g->locked++;
	if (g->stops)
		atomic_store(&g->stop, true);
}

static void gate_unlock(void *data)
{
	((struct gate *)data)->locked--;
}

static int pack_text(struct fix *f, struct gate *g)
{
	const struct compressed_gate gate = {gate_lock, gate_unlock, g, &g->stop};
	int r = compressed_make(journal_folder_fd(f->j), "text", &gate);

	assert_int_equal(g->locked, 0);
	return r;
}

static void assert_plain(struct fix *f, bool plain)
{
	int dir = journal_folder_fd(f->j);

	assert_int_equal(faccessat(dir, "text", F_OK, 0), plain ? 0 : -1);
	assert_int_equal(faccessat(dir, "text.z", F_OK, 0), plain ? -1 : 0);
	assert_int_equal(faccessat(dir, "text.z~", F_OK, 0), -1);
}

/* The holder of the journal knows the file's form: it must not change. */
TEST(nothing_is_packed_under_an_undo)
{
	struct fix *f = *state;
	AUTO_BUF struct buf text = BUF_INIT;
	struct gate g = {.stops = true};

	for (int i = 0; i < 20000; i++)
		buf_fmt(&text, "line %d\n", i);
	outside(f, "text", text.data);
	assert_int_equal(pack_text(f, &g), 0);
	assert_plain(f, true);
	g = (struct gate){0};
	assert_int_equal(pack_text(f, &g), 1);
	assert_plain(f, false);
}

/* The file's other name is, or will be, a file in the folder. */
TEST(what_has_another_name_is_not_packed)
{
	struct fix *f = *state;
	AUTO_FREE char *from = xasprintf("%s/text", f->folder), *to = xasprintf("%s/b", f->folder);
	AUTO_BUF struct buf text = BUF_INIT;
	struct gate g = {0};

	for (int i = 0; i < 20000; i++)
		buf_fmt(&text, "line %d\n", i);
	outside(f, "text", text.data);
	assert_int_equal(link(from, to), 0);
	assert_int_equal(pack_text(f, &g), 0);
	assert_plain(f, true);
}

/* ---- plans ------------------------------------------------------------------------------------
 */

#define PIECES 300 /* each is a write if the file is unpacked */

static int write_pieces(struct fix *f, char what)
{
	AUTO_CLOSE int fd = -1;
	struct at a = at(f, "pieces");
	char piece[4096];

	memset(piece, what, sizeof(piece));
	fd = op_open(f->s, &a, O_RDWR | O_CREAT, 0644, NULL);
	for (int i = 0; fd >= 0 && i < PIECES; i++)
		assert_int_equal(io_pwrite_all(fd, piece, sizeof(piece), (off_t)i << 18), 0);
	return MIN(fd, 0);
}

static void plan_two(void *data)
{
	struct fix *f = data;
	struct undo_plan *plan = NULL;

	assert_int_equal(journal_plan(f->j, UNDO_BACK, 2, 0, &plan, &f->err), 0);
	undo_plan_free(plan);
}

static int calls_of_plan(struct fix *f)
{
	struct inject calls = {0};

	inject_run(&calls, plan_two, f);
	return calls.seen;
}

TEST(a_plan_unpacks_no_large_file)
{
	struct fix *f = *state;
	AUTO_FREE char *path = xasprintf("%s/pieces", f->folder);
	struct stat st;
	int64_t id;
	int plain;

	one_step(f, "first", write_pieces(f, 'a'));
	assert_int_equal(stat(path, &st), 0);
	id = one_step(f, "second", write_pieces(f, 'b'));
	plain = calls_of_plan(f);
	background_once(f->j);
	assert_int_equal(count_packed(f, id), 1);
	assert_true(calls_of_plan(f) < plain + PIECES / 2);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_int_equal(truncate(path, 80 << 20), 0); /* its time stays */
	assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[]){st.st_atim, st.st_mtim}, 0),
			 0);
	id = one_step(f, "third", write_pieces(f, 'c'));
	background_once(f->j);
	assert_int_equal(count_packed(f, id), 1);
	assert_int_equal(undo(f, 2, 0), -ESTALE); /* the size tells */
}

TESTS(fix_setup, fix_teardown)
