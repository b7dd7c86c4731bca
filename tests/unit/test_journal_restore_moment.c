/* test_journal_restore_moment - external edits at the very moment when single paths are restored,
 * or a file comes back from another mount. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/inject.h"
#include "tests/support/journalfix.h"

/* An external program edits "file" right before each system call of a restore in turn, as soon as
 * it has certain content: the agent's, or that just restored. Neither the restore nor an undo of it
 * may treat the edit as its own. */
static int stride; /* distance between the tried calls */

enum edit {
	APPENDS,
	SAVES,
	MOVES,
	EDITS
};

struct moment {
	struct fix *f;
	int64_t id;
	enum edit edit;
	const char *when;
	int result;
	bool came;
	bool hunk;
	bool undo; /* of the whole step; the store is on another mount */
};

static char *text_of(struct fix *f, const char *path)
{
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);
	AUTO_CLOSE int fd = open(whole, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char text[4096];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	return n < 0 ? NULL : xstrndup(text, (size_t)n);
}

/* Returns false if it would have to wait for the restore, which waits for us. */
static bool write_to(struct fix *f, const char *path, int flags)
{
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);
	AUTO_CLOSE int fd = open(whole, O_WRONLY | O_NONBLOCK | O_CLOEXEC | flags, 0644);

	if (fd < 0) {
		assert_int_equal(errno, EWOULDBLOCK);
		return false;
	}
	assert_int_equal(write(fd, "a human\n", 8), 8);
	return true;
}

static void human(void *arg)
{
	struct moment *m = arg;
	AUTO_FREE char *text = text_of(m->f, "file");
	AUTO_FREE char *file = xasprintf("%s/file", m->f->folder);
	AUTO_FREE char *save = xasprintf("%s/save", m->f->folder);
	AUTO_FREE char *old = xasprintf("%s/old", m->f->folder);

	if (!text || !str_eq(text, m->when))
		return;
	m->came = true;
	if (m->edit == APPENDS)
		m->came = write_to(m->f, "file", O_APPEND);
	if (m->edit == SAVES)
		m->came = write_to(m->f, "save", O_CREAT | O_EXCL);
	if (m->edit != APPENDS)
		assert_int_equal(rename(m->edit == SAVES ? save : old, file), 0);
}

static void run_restore(void *arg)
{
	struct moment *m = arg;

	if (m->undo)
		m->result = undo(m->f, 1, 0);
	else if (m->hunk)
		m->result = journal_restore_hunk(m->f->j, m->id, "file", 1, &m->f->err);
	else
		m->result = restore(m->f, m->id, "file", 0);
}

static bool has_human(struct fix *f)
{
	AUTO_FREE char *file = text_of(f, "file"), *other = text_of(f, "other");

	return (file && strstr(file, "human\n")) || (other && strstr(other, "human\n"));
}

/* Returns NULL if there are no two file systems. */
static struct fix *new_apart(void)
{
	char there[] = "/dev/shm/cordon-journal-XXXXXX";
	struct fix *f = NULL;
	struct stat a, b;
	char *was;

	if (stat("/tmp", &a) < 0 || stat("/dev/shm", &b) < 0 || a.st_dev == b.st_dev ||
	    !mkdtemp(there))
		return NULL;
	was = getenv("TMPDIR");
	was = was ? xstrdup(was) : NULL;
	setenv("TMPDIR", "/tmp", 1);
	f = fix_new();
	if (was)
		setenv("TMPDIR", was, 1);
	else
		unsetenv("TMPDIR");
	free(was);
	free(f->state);
	f->state = xstrdup(there);
	fix_reopen(f);
	return f;
}

/* Returns false if there are fewer calls. */
static bool try_at(int nth, struct moment m, void (*step)(struct fix *), int *came)
{
	struct inject i = {.nth = nth, .meanwhile = human};
	struct fix *f = m.f = m.undo ? new_apart() : fix_new();
	void *state = f;
	int r = 0;

	if (!f)
		return false;
	outside(f, "file", "found\n");
	outside(f, "old", "an old one\nhuman\n");
	begin(f, "agent");
	step(f);
	m.id = commit(f);
	inject_run(&i, run_restore, &m);
	if (m.came) {
		(*came)++;
		if (m.result < 0) /* the edit was found, and nothing was done */
			assert_int_equal(m.result, -ESTALE);
		if (!has_human(f))
			fail_msg("edit %d of '%.5s' before call %d is gone: restore says %d",
				 m.edit, m.when, nth, m.result);
		r = m.undo ? redo(f, 0) : undo(f, 1, 0);
		if (r < 0)
			assert_int_equal(r, -ESTALE);
		if (!has_human(f))
			fail_msg("edit %d of '%.5s' before call %d is gone: undo says %d", m.edit,
				 m.when, nth, r);
	}
	if (m.undo)
		assert_int_equal(io_remove_tree(AT_FDCWD, f->state), 0);
	fix_teardown(&state);
	return i.seen >= nth;
}

/* Finds the first call at which the edit happens, in larger steps. */
static void sweep(void (*step)(struct fix *), bool hunk, const char *when)
{
	for (enum edit e = 0; e < EDITS; e++) {
		struct moment m = {.edit = e, .when = when, .hunk = hunk};
		int came = 0, nth = 1;

		while (try_at(nth, m, step, &came) && !came)
			nth += 8;
		assert_true(came > 0);
		/* The first such call differs between kinds of edit, and so do the skipped ones. */
		for (nth = MAX(nth - 7, 1); try_at(nth, m, step, &came); nth += stride)
			continue;
	}
}

static void remove_file(struct fix *f)
{
	must(f, rm(f, "file"));
}

static void change_file(struct fix *f)
{
	must(f, put(f, "file", "agent\n"));
}

static void change_in_place(struct fix *f)
{
	assert_int_equal(
		linkat(journal_folder_fd(f->j), "file", journal_folder_fd(f->j), "second", 0), 0);
	must(f, put(f, "file", "agent\n"));
}

static void change_mode(struct fix *f)
{
	must(f, mode(f, "file", 0600));
}

static void move_file(struct fix *f)
{
	must(f, mv(f, "file", "other", 0));
}

TEST(a_removed_file)
{
	sweep(remove_file, false, "found\n");
}

TEST(a_changed_file)
{
	sweep(change_file, false, "found\n");
}

TEST(one_of_two_names)
{
	sweep(change_in_place, false, "found\n");
}

TEST(a_mode)
{
	sweep(change_mode, false, "found\n");
}

TEST(a_moved_file)
{
	sweep(move_file, false, "found\n");
}

TEST(a_hunk)
{
	sweep(change_file, true, "found\n");
}

/* The edit comes before the restore writes the old bytes. */
TEST(what_the_agent_left)
{
	sweep(change_file, false, "agent\n");
	sweep(change_in_place, false, "agent\n");
}

TEST(what_the_hunk_is_in)
{
	sweep(change_file, true, "agent\n");
}

TEST(from_another_mount)
{
	struct moment m = {.when = "found\n", .undo = true};
	int came = 0, nth = 1;

	while (try_at(nth, m, remove_file, &came) && !came)
		nth += 8;
	for (nth = MAX(nth - 7, 1); try_at(nth, m, remove_file, &came); nth++)
		continue;
}

/* A process of an earlier step continues to write to its log while the restore gives up. */
struct logging {
	struct moment m;
	int fd;
};

static void write_a_line(void *arg)
{
	struct logging *l = arg;

	assert_int_equal(write(l->fd, "line\n", 5), 5);
	human(&l->m);
}

static void restore_logged(void *arg)
{
	run_restore(&((struct logging *)arg)->m);
}

TEST(what_others_write)
{
	int refused = 0;
	bool more = true;

	for (int nth = 1; more; nth += stride) {
		struct fix *f = fix_new();
		struct logging l = {.m = {.f = f, .edit = APPENDS, .when = "agent\n"}};
		struct inject i = {.nth = nth, .meanwhile = write_a_line};
		AUTO_FREE char *text = NULL;
		void *own = f;
		struct at a;

		outside(f, "file", "found\n");
		begin(f, "agent");
		must(f, put(f, "file", "agent\n"));
		a = at(f, "log");
		l.fd = op_open(f->s, &a, O_WRONLY | O_APPEND | O_CREAT, 0644, NULL);
		assert_true(l.fd >= 0);
		l.m.id = commit(f);
		inject_run(&i, restore_logged, &l);
		more = i.seen >= nth;
		refused += l.m.result == -ESTALE;
		text = cat(f, "log");
		assert_string_equal(text, more ? "line\n" : "");
		close(l.fd);
		fix_teardown(&own);
	}
	assert_true(refused > 0);
}

/* Without an external edit everything is the restore's own, repeatedly. */
TEST(nobody)
{
	static void (*const steps[])(struct fix *) = {remove_file, change_file, change_in_place,
						      change_mode, move_file};

	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		struct fix *f = fix_new();
		void *own = f;
		int64_t id;

		outside(f, "file", "found\n");
		begin(f, "agent");
		steps[i](f);
		id = commit(f);
		must(f, restore(f, id, "file", 0));
		for (int k = 0; k < 3; k++) {
			must(f, undo(f, 1, 0));
			must(f, redo(f, 0));
		}
		assert_cat(f, "file", "found\n");
		must(f, undo(f, 2, 0));
		assert_sound(f);
		fix_teardown(&own);
	}
}

int main(void)
{
	if (access("/dev/shm", W_OK) == 0) /* hundreds of small stores */
		setenv("TMPDIR", "/dev/shm", 1);
	stride = getenv("CORDON_TEST_THOROUGH") ? 1 : 9;
	return run_all(NULL, NULL, NULL, NULL);
}
