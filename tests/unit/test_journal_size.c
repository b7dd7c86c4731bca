/* test_journal_size - memory and files for a step of many paths: tables, chunked files, sizes. */
/* SPDX-License-Identifier: MIT */
#include <malloc.h>
#include <string.h>

#include "core/journal/fs/object.h"
#include "core/journal/journal.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/op.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/util/chunked_io.h"
#include "core/journal/util/codec.h"
#include "core/journal/util/path_set.h"
#include "tests/support/journalfix.h"

#define MANY 20000
/* More than are kept before the oldest ones are checked for writers. */
#define FEW 9000

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* ---- tables -----------------------------------------------------------------------------------
 */

TEST_WITH(names_keep_their_numbers, NULL, NULL)
{
	AUTO_FREE const char **keys = xcalloc(MANY, sizeof(char *));
	AUTO_FREE char *vast = xcalloc(200001, 1);
	struct path_set n = {0};
	bool fresh;

	memset(vast, 'v', 200000);
	memcpy(vast, "0/", 2);
	for (size_t i = 0; i < MANY; i++) {
		AUTO_FREE char *path = xasprintf("dir%zu/name%zu", i % 37, i);

		assert_int_equal(path_set_find(&n, path), PATH_SET_NONE);
		assert_true(path_set_add(&n, i % 3 == 0 ? 0 : (int)(i % 12), path));
		keys[i] = path_set_key(&n, path_set_count(&n) - 1);
		if (i == MANY / 2)
			assert_true(path_set_add_key(&n, vast));
	}
	assert_int_equal(path_set_count(&n), MANY + 1);
	assert_false(path_set_add_key(&n, vast));
	assert_int_equal(path_set_find(&n, vast), MANY / 2 + 1);
	for (size_t i = 0; i < MANY; i++) {
		AUTO_FREE char *path = xasprintf("dir%zu/name%zu", i % 37, i);
		const char *back;
		int root = i % 3 == 0 ? 0 : (int)(i % 12);

		assert_true(path_set_has(&n, root, path));
		assert_false(path_set_has(&n, root + 1, path));
		assert_int_equal(path_key_root(keys[i], &back), root);
		assert_string_equal(back, path);
		assert_int_equal(path_set_put(&n, keys[i], &fresh), i + (i > MANY / 2));
		assert_false(fresh);
	}
	path_set_done(&n);
	assert_false(path_set_has(&n, 0, "x"));
}

/* Compared with a plain array: inodes are added, removed, and added again, on three devices. */
TEST_WITH(inodes_are_found_again, NULL, NULL)
{
	enum {
		INODES = 300,
		TURNS = 60000
	};
	struct {
		bool there;
		int64_t birth;
		unsigned flags;
	} want[3][INODES] = {0};
	const uint64_t devs[3] = {1, (uint64_t)8 << 32 | 1, (uint64_t)0xfff << 32 | 0xfffff};
	struct touched_inodes set = {0};
	uint64_t seed = 7;
	size_t count = 0;

	for (int turn = 0; turn < TURNS; turn++) {
		size_t d = next(&seed) % 3, i = next(&seed) % INODES;
		struct object o = {.mode = S_IFREG, .nlink = 1, .dev = devs[d], .ino = i << 20 | i};
		struct touched_inode *k = touched_inodes_find(&set, object_pack_dev(o.dev), o.ino);
		unsigned flag = 1u << next(&seed) % 4;

		assert_int_equal(k != NULL, want[d][i].there);
		if (k) {
			assert_int_equal(k->flags, want[d][i].flags);
			assert_int_equal(k->btime_ns, want[d][i].birth);
		}
		o.btime_ns = k && next(&seed) % 8 ? k->btime_ns : (int64_t)next(&seed);
		if (k && next(&seed) % 3 == 0) {
			touched_inodes_drop(&set, k);
			want[d][i].there = false;
			count--;
			continue;
		}
		count += !want[d][i].there;
		if (!want[d][i].there || want[d][i].birth != o.btime_ns)
			want[d][i].flags = 0;
		want[d][i].there = true;
		want[d][i].birth = o.btime_ns;
		want[d][i].flags |= flag;
		touched_inodes_learn(&set, &o, flag);
		assert_int_equal(set.n, count);
	}
	for (size_t d = 0; d < 3; d++)
		assert_int_equal(object_unpack_dev(object_pack_dev(devs[d])), devs[d]);
	touched_inodes_done(&set);
}

TEST_WITH(what_was_seen_is_told, NULL, NULL)
{
	const struct object file = {.mode = S_IFREG | 07755,
				    .uid = 4000000000,
				    .gid = 7,
				    .nlink = 3,
				    .dev = (uint64_t)259 << 32 | 70000,
				    .ino = UINT64_MAX - 1,
				    .size = (uint64_t)1 << 45,
				    .mtime_ns = INT64_MIN,
				    .ctime_ns = -1,
				    .btime_ns = INT64_MAX};
	const struct object unseen = {.mode = OBJECT_UNSEEN}, nothing = {0};
	struct touched_paths t = {0};
	struct object o;

	assert_true(touched_paths_add(&t, "0/file", &file));
	assert_true(touched_paths_add(&t, "0/nothing", &nothing));
	assert_true(touched_paths_add(&t, "0/unseen", &unseen));
	assert_false(touched_paths_add(&t, "0/file", &nothing));
	touched_paths_set_after(&t, 1, &file);
	touched_paths_set_after(&t, 1, &file);
	touched_path_before(&t, touched_paths_find(&t, "0/file"), &o);
	assert_int_equal(o.nlink, 2); /* several names */
	o.nlink = 3;
	assert_memory_equal(&o, &file, sizeof(o));
	touched_path_after(&t, touched_paths_find(&t, "0/nothing"), &o);
	assert_true(object_same(&o, &file));
	touched_path_before(&t, touched_paths_find(&t, "0/nothing"), &o);
	assert_int_equal(o.mode, 0);
	touched_path_before(&t, touched_paths_find(&t, "0/unseen"), &o);
	assert_int_equal(o.mode, OBJECT_UNSEEN);
	touched_path_after(&t, touched_paths_find(&t, "0/file"), &o);
	assert_int_equal(o.mode, 0);
	assert_null(touched_paths_find(&t, "1/file"));
	touched_paths_done(&t);
}

/* ---- chunked files --------------------------------------------------------------------------- */

TEST(files_are_read_in_pieces)
{
	struct fix *f = *state;
	AUTO_FREE char *text = xcalloc(100001, 1);
	AUTO_CHUNKED_IN struct chunked_in in = CHUNKED_IN_NONE;
	AUTO_BUF struct buf head = BUF_INIT;
	struct chunked_out out = CHUNKED_OUT_NONE;
	int dir = journal_folder_fd(f->j), own = openat(dir, ".", O_RDONLY | O_DIRECTORY);
	uint64_t seed = 3;

	memset(text, 't', 100000);
	chunked_out_begin(&out, own, "pieces");
	codec_put_u64(&out.buf, 0);
	for (uint32_t i = 0; i < 400; i++) {
		codec_put_u32(&out.buf, i);
		codec_put_str(&out.buf, text, i % 50 ? next(&seed) % 3000 : 100000);
		chunked_out_spill(&out);
		assert_true(out.buf.len < (size_t)64 << 10);
	}
	codec_put_u64(&head, chunked_out_len(&out));
	assert_int_equal(faccessat(own, "pieces", F_OK, 0), -1);
	assert_int_equal(chunked_out_end(&out, 0, (struct span){head.data, head.len}), 0);
	assert_int_equal(chunked_in_open(&in, own, "pieces"), 0);
	assert_int_equal(chunked_in_more(&in), 0);
	seed = 3;
	for (uint32_t i = 0; i < 401;) {
		struct codec_reader g = chunked_in_get(&in);
		uint64_t n = i ? codec_get_u32(&g) : codec_get_u64(&g);
		struct span s = i ? codec_get_str(&g) : (struct span){.data = ""};

		if (g.bad) {
			assert_int_equal(chunked_in_more(&in), 0);
			continue;
		}
		if (i) {
			assert_int_equal(n, i - 1);
			assert_int_equal(s.len, (i - 1) % 50 ? next(&seed) % 3000 : 100000);
		} else {
			struct stat st;

			assert_int_equal(fstatat(own, "pieces", &st, 0), 0);
			assert_int_equal(n, st.st_size);
		}
		chunked_in_took(&in, &g);
		i++;
	}
	assert_int_equal(chunked_in_more(&in), -EBADMSG);
	chunked_out_begin(&out, own, "pieces");
	codec_put_u64(&out.buf, 0);
	assert_int_equal(chunked_out_end(&out, -EIO, (struct span){.data = ""}), -EIO);
	assert_int_equal(faccessat(own, "pieces.tmp", F_OK, 0), -1);
	close(own);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static size_t heap(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* Returns the resident bytes of mapped files of this process. */
static size_t mapped(void)
{
	AUTO_FILE FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	size_t kib = 0, n;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "RssFile: %zu", &n) == 1 || sscanf(line, "RssShmem: %zu", &n) == 1)
			kib += n;
	return kib << 10;
}

static void make_files(struct fix *f, const char *dir, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		AUTO_FREE char *path = xasprintf("%s/file-%zu", dir, i);

		assert_int_equal(put(f, path, ""), 0);
	}
}

TEST(a_path_takes_few_bytes)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	size_t heap0, mapped0, n;

	begin(f, "many");
	assert_int_equal(
		op_mkdir(f->s,
			 &(struct at){.dirfd = journal_folder_fd(f->j), .dir = "", .name = "d"},
			 0755, NULL),
		0);
	make_files(f, "d", 0, FEW);
	heap0 = heap();
	mapped0 = mapped();
	make_files(f, "d", FEW, MANY);
	n = MANY - FEW;
	/* A path, its facts and its inode's: with half as much in reserve. */
	assert_in_range(heap() - heap0, 0, n * 160);
	assert_in_range(mapped() - mapped0, 0, (size_t)1 << 20);
	commit(f);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
	assert_int_equal(redo(f, 0), 0);
	assert_sound(f);
}

/* Closed files have left the list of open files: a close event still counts as the steps' while
 * events of that time are queued. */
TEST(a_closing_is_the_steps_own_while_it_is_queued)
{
	enum {
		FILES = 9000
	};
	struct fix *f = *state;
	size_t shut = 0;

	begin(f, "write");
	for (size_t i = 0; i < FILES; i++) {
		AUTO_FREE char *path = xasprintf("file-%zu", i);

		assert_int_equal(put(f, path, "ours"), 0);
	}
	assert_in_range(HASH_COUNT(f->j->writers), 8000, 8400);
	for (size_t i = 0; i < FILES; i++) {
		AUTO_FREE char *path = xasprintf("file-%zu", i);
		AUTO_CLOSE int fd = -1;

		assert_false(journal_is_foreign(f->j, path, SEEN_CLOSED, 0));
		assert_non_null(f->j->shut);
		assert_false(journal_is_foreign(f->j, path, SEEN_CLOSED, 0));
		journal_all_seen(f->j);
		assert_null(f->j->shut);
		fd = openat(journal_folder_fd(f->j), path, O_WRONLY | O_APPEND);
		assert_int_equal(write(fd, "theirs", 6), 6);
		shut += journal_is_foreign(f->j, path, SEEN_CLOSED, 0);
	}
	assert_int_equal(shut, FILES);
	commit(f);
}

/* Another step begins or ends, at which all open files are checked for writers. */
TEST(a_closing_stays_the_steps_own_beside_others)
{
	struct fix *f = *state;
	struct step *other = NULL;
	AUTO_CLOSE int fd = -1;

	begin(f, "write");
	assert_int_equal(put(f, "file", "ours"), 0);
	assert_int_equal(put(f, "later", "ours"), 0);
	assert_int_equal(journal_begin(f->j, STEP_COMMAND, "other", &other, &f->err), 0);
	assert_false(journal_is_foreign(f->j, "file", SEEN_CLOSED, 0));
	assert_int_equal(journal_commit(other, 0, &f->err), 0);
	assert_false(journal_is_foreign(f->j, "file", SEEN_CLOSED, 0));
	assert_false(journal_is_foreign(f->j, "later", SEEN_CLOSED, 0));
	journal_all_seen(f->j);
	fd = openat(journal_folder_fd(f->j), "file", O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "theirs", 6), 6);
	assert_true(journal_is_foreign(f->j, "file", SEEN_CLOSED, 0));
	commit(f);
}

/* The check for writers adds a bit to the mode, which causes the same event. */
TEST(a_change_of_the_mode_makes_no_other)
{
	struct fix *f = *state;
	struct stat before, now;

	begin(f, "write");
	assert_int_equal(put(f, "file", "ours"), 0);
	assert_int_equal(
		linkat(journal_folder_fd(f->j), "file", journal_folder_fd(f->j), "other", 0), 0);
	assert_int_equal(fchmodat(journal_folder_fd(f->j), "file", 0200, 0), 0);
	assert_int_equal(fstatat(journal_folder_fd(f->j), "file", &before, 0), 0);
	assert_false(journal_is_foreign(f->j, "other", SEEN_META, 0));
	assert_int_equal(fstatat(journal_folder_fd(f->j), "file", &now, 0), 0);
	assert_memory_equal(&now.st_ctim, &before.st_ctim, sizeof(now.st_ctim));
	commit(f);
}

/* The file has no record: the step only added a name, and moved it. */
TEST(a_new_name_that_is_moved_is_the_steps_own)
{
	struct fix *f = *state;

	begin(f, "before");
	assert_int_equal(put(f, "a", "alpha") || put(f, "b", "beta"), 0);
	commit(f);
	begin(f, "agent");
	assert_int_equal(ln(f, "b", "b2"), 0);
	assert_int_equal(mv(f, "b2", "moved", 0), 0);
	assert_false(journal_is_foreign(f->j, "b2", SEEN_MOVED, 0));
	assert_false(journal_is_foreign(f->j, "moved", SEEN_MOVED, 0));
	assert_int_equal(renameat(journal_folder_fd(f->j), "a", journal_folder_fd(f->j), "moved"),
			 0);
	assert_true(journal_is_foreign(f->j, "moved", SEEN_MOVED, 0));
	commit(f);
}

TEST(what_has_no_name_is_nobodys)
{
	struct fix *f = *state;

	begin(f, "write");
	assert_int_equal(put(f, "file", "ours"), 0);
	assert_false(journal_is_foreign(f->j, "#12345", SEEN_META, 0));
	assert_false(journal_is_foreign(f->j, "#12345", SEEN_CLOSED, 0));
	assert_true(journal_is_foreign(f->j, "theirs", SEEN_GONE, 0));
	commit(f);
}

/* ---- a directory that is renamed again and again ------------------------------------------------
 */

#define RENAMES 5000 /* more than are stored for files open for writing */

static void rename_often(struct fix *f, int *last)
{
	for (int i = 0; i < RENAMES; i++) {
		AUTO_FREE char *from = xasprintf("d%d", *last), *to = xasprintf("d%d", ++*last);
		AUTO_FREE char *file = xasprintf("%s/f%d", from, i);

		assert_int_equal(put(f, file, "x"), 0);
		assert_int_equal(mv(f, from, to, 0), 0);
		fix_drop_dirs(f);
	}
}

TEST(names_on_the_way_take_no_room)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f), *after = NULL;
	int last = 0;

	begin(f, "rename");
	assert_int_equal(md(f, "d0"), 0);
	rename_often(f, &last);
	assert_in_range(step_paths(f->s), RENAMES, 3 * RENAMES);
	assert_true(commit(f) > 0);
	assert_sound(f);
	after = snap(f);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
	assert_int_equal(redo(f, 0), 0);
	assert_tree(f, after);
}

/* An open file of one step moves with another step's directory. */
TEST(what_is_written_is_found_where_it_was_moved)
{
	struct fix *f = *state;
	AUTO_FREE char *before = NULL, *name = NULL;
	struct step *other;
	struct at at_file;
	int last = 0, fd;

	begin(f, "make");
	assert_int_equal(md(f, "d0"), 0);
	assert_int_equal(put(f, "d0/log", "one\n"), 0);
	assert_true(commit(f) > 0);
	journal_no_writers(f->j);
	begin(f, "write");
	at_file = at(f, "d0/log");
	fd = op_open(f->s, &at_file, O_WRONLY | O_APPEND, 0, NULL);
	assert_true(fd >= 0);
	other = f->s;
	begin(f, "rename");
	rename_often(f, &last);
	assert_true(commit(f) > 0);
	f->s = other;
	assert_int_equal(write(fd, "two\n", 4), 4);
	assert_true(commit(f) > 0);
	before = snap(f);
	begin(f, "later");
	assert_int_equal(put(f, "new", "x"), 0);
	assert_int_equal(write(fd, "three\n", 6), 6);
	assert_true(commit(f) > 0);
	close(fd);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
	assert_int_equal(undo(f, 2, 0), 0);
	assert_cat(f, "d0/log", "one\n");
	assert_int_equal(redo(f, 0), 0);
	name = xasprintf("d%d/log", last);
	assert_cat(f, name, "one\ntwo\n");
}

/* ---- external edits of many paths ------------------------------------------------------------ */

#define FILES 12000

TEST(edits_by_the_thousand_stay)
{
	struct fix *f = *state;

	begin(f, "write");
	assert_int_equal(md(f, "d"), 0);
	for (int i = 0; i < FILES; i++) {
		AUTO_FREE char *path = xasprintf("d/f%d", i);

		assert_int_equal(put(f, path, "x"), 0);
		fix_drop_dirs(f);
	}
	assert_int_equal(mv(f, "d", "e", 0), 0);
	assert_true(commit(f) > 0);
	for (int i = 0; i < FILES; i += 3) {
		AUTO_FREE char *path = xasprintf("e/f%d", i);

		outside(f, path, "theirs");
	}
	assert_int_equal(undo(f, 1, UNDO_KEEP_MINE), 0);
	for (int i = 0; i < FILES; i++) {
		AUTO_FREE char *there = xasprintf("d/f%d", i), *gone = xasprintf("e/f%d", i);

		if (i % 3)
			assert_int_equal(faccessat(journal_folder_fd(f->j), there, F_OK, 0), -1);
		else
			assert_cat(f, there, "theirs");
		assert_int_equal(faccessat(journal_folder_fd(f->j), gone, F_OK, 0), -1);
	}
}

TESTS(fix_setup, fix_teardown)
